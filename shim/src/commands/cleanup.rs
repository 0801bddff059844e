//! `loci cleanup`: forgets memories that have faded and were not used for months, after showing them.

use crate::cli::daemon::Cleanup;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id::short;
use crate::commands::reply_text::to_json;
use crate::output::{Problem, Screen, confirm, escape_line, print_line, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::cleanup::{CleanupCandidate, CleanupReply, CleanupRequest};
use std::process::ExitCode;

/// Rows that are printed; `--json` prints all.
const MAX_ROWS: usize = 50;

/// Forgets the candidates after showing them and asking for confirmation.
///
/// # Errors
/// No daemon, a refusal, or no confirmation.
pub async fn run(args: Cleanup) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let listed: CleanupReply =
        client.call("cleanup", &CleanupRequest { dry_run: true, at: None }).await?;
    if args.dry_run || listed.memories.is_empty() {
        print_line(if args.json { to_json(&listed)? } else { candidates_text(&listed) })?;
        return Ok(Exit::Ok.into());
    }
    if !args.json {
        print_line(candidates_text(&listed))?;
    }
    confirm(&format!("Forget these {} memories?", listed.memories.len()), args.yes.into())?;
    let done: CleanupReply =
        client.call("cleanup", &CleanupRequest { dry_run: false, at: Some(listed.at) }).await?;
    print_line(match done.act {
        _ if args.json => to_json(&done)?,
        Some(act) => {
            format!("{} forgotten; undo within 30 days: loci undo {act}", done.memories.len())
        }
        None => "Nothing was forgotten: all of them were used or changed meanwhile".to_owned(),
    })?;
    Ok(Exit::Ok.into())
}

fn candidates_text(reply: &CleanupReply) -> String {
    if reply.memories.is_empty() {
        return "No memory has faded far enough".to_owned();
    }
    let row = |memory: &CleanupCandidate| {
        let last_used = memory.used_at.get(..10).unwrap_or(&memory.used_at);
        vec![
            short(memory.id.as_str()),
            format!("{:.3}", memory.confidence.get()),
            last_used.to_owned(),
            escape_line(&memory.preview),
        ]
    };
    let heading = ["ID", "CONFIDENCE", "LAST USED", "MEMORY"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(heading).chain(reply.memories.iter().take(MAX_ROWS).map(row)).collect();
    let more = reply.memories.len().saturating_sub(MAX_ROWS);
    let rest = if more > 0 {
        format!("  … and {more} more; use --json to list all")
    } else {
        String::new()
    };
    (table_on(Screen::of_stdout(), &rows) + &rest).trim_end().to_owned()
}
