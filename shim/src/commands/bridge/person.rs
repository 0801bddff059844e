//! Refuses to an agent what only a person may do with the files of a client.

use crate::client::call::agent_session_of_process;
use crate::output::Problem;

/// Refuses to write a file of a client to an agent: only a person may have it written.
///
/// # Errors
/// The command runs in an agent's session.
pub fn require_person() -> Result<(), Problem> {
    if agent_session_of_process().is_none() {
        return Ok(());
    }
    Err(Problem::new("This writes a memory file of a client, which only a person may do")
        .hint("Nothing was written. Run it in a terminal outside the agent; --dry-run only shows the difference"))
}
