//! The program `locid` itself, for processes that the daemon starts: also after an update has replaced its file.
//!
//! Not here: which processes (`embedding`).

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// The file that this process runs, even if it has no name any more.
const RUNNING: &str = "/proc/self/exe";

/// Returns the command that runs this program: the version that runs now, as both sides must speak the same protocol.
///
/// # Errors
/// The system's, if it is not known where the program is.
pub(crate) fn command() -> io::Result<Command> {
    Ok(command_of(&std::env::current_exe()?))
}

fn command_of(path: &Path) -> Command {
    if path.exists() || !Path::new(RUNNING).exists() {
        return Command::new(path);
    }
    // Linux names a replaced file `locid (deleted)`.
    let mut command = Command::new(RUNNING);
    let shown = path.to_string_lossy();
    command.arg0(shown.strip_suffix(" (deleted)").unwrap_or(&shown));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_whose_file_was_replaced_still_starts_itself() {
        let own = command().expect("the program is known");
        assert_eq!(own.get_program(), std::env::current_exe().expect("it is known"));
        if !Path::new(RUNNING).exists() {
            return;
        }
        let mut replaced = command_of(Path::new("/missing/locid (deleted)"));
        assert_eq!(replaced.get_program(), RUNNING);
        // The program of this test lists its tests.
        let output = replaced.arg("--list").output().expect("it starts");
        assert!(output.status.success() && !output.stdout.is_empty());
    }
}
