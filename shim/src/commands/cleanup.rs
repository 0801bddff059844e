//! `loci cleanup`: forgets memories of low confidence that were not used for months, after showing them.

use crate::cli::daemon::Cleanup;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::to_json;
use crate::output::local_time::date;
use crate::output::{Problem, Screen, confirm, counted, escape_line, print_line, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::cleanup::{CleanupCandidate, CleanupReply, CleanupRequest};
use std::process::ExitCode;

/// Maximum number of rows that are printed; `--json` prints all.
const MAX_ROWS: usize = 50;

/// Forgets the candidates after showing them and asking for confirmation.
///
/// # Errors
/// The daemon cannot be reached or refuses the call, or the user does not confirm.
pub async fn run(args: Cleanup) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let planned: CleanupReply = client.call(&CleanupRequest { dry_run: true, at: None }).await?;
    if args.dry_run || planned.memories.is_empty() {
        print_line(if args.json { to_json(&planned)? } else { candidates_text(&planned) })?;
        return Ok(Exit::Ok.into());
    }
    if !args.json {
        print_line(candidates_text(&planned))?;
    }
    let count = counted(planned.memories.len(), "memory", "memories");
    confirm(&format!("Forget {count}?"), args.yes.into())?;
    let reply: CleanupReply =
        client.call(&CleanupRequest { dry_run: false, at: Some(planned.at) }).await?;
    print_line(match reply.act {
        _ if args.json => to_json(&reply)?,
        Some(act) => {
            format!("{} forgotten; undo within 30 days: loci undo {act}", reply.memories.len())
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
        let last_used = date(&memory.used_at);
        vec![
            memory_id::short(memory.id.as_str()),
            format!("{:.3}", memory.confidence.get()),
            last_used,
            escape_line(&memory.preview),
        ]
    };
    let heading = ["ID", "CONFIDENCE", "LAST USED", "MEMORY"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(heading).chain(reply.memories.iter().take(MAX_ROWS).map(row)).collect();
    let omitted = reply.memories.len().saturating_sub(MAX_ROWS);
    let more_line = if omitted > 0 {
        format!("  … and {omitted} more; use --json to list all")
    } else {
        String::new()
    };
    (table_on(Screen::of_stdout(), &rows) + &more_line).trim_end().to_owned()
}
