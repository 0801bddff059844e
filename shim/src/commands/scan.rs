//! `loci scan`: lists secrets that are stored, and replaces them after asking for confirmation.

use crate::cli::store_admin::Scan;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id::short;
use crate::commands::reply_text::to_json;
use crate::output::{Problem, Screen, confirm, plain, say, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::scan::{ScanFinding, ScanReply, ScanRequest};
use std::io;
use std::process::ExitCode;

/// Rows that are printed; `--json` prints up to 1,000.
const MAX_ROWS: usize = 50;

/// Lists the findings; with `--redact` replaces them.
///
/// # Errors
/// No daemon, or no confirmation.
pub async fn run(args: Scan) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let listed = call(&client, false).await?;
    if !args.redact || listed.found == 0 {
        say(if args.json { to_json(&listed)? } else { findings_text(&listed) })?;
        return Ok(Exit::Ok.into());
    }
    if !args.json {
        say(findings_text(&listed))?;
    }
    let question = format!("Replace these {} findings? This cannot be undone.", listed.found);
    confirm(&question, args.yes.into())?;
    let done = call(&client, true).await?;
    say(if args.json { to_json(&done)? } else { redacted_text(&done) })?;
    Ok(Exit::Ok.into())
}

/// A large store takes longer than other calls may.
async fn call(client: &VerbClient, redact: bool) -> Result<ScanReply, Problem> {
    let answer = client.start("/long/scan", &ScanRequest { redact }).await?.read_all().await?;
    Ok(serde_json::from_slice(&answer).map_err(io::Error::from)?)
}

fn findings_text(reply: &ScanReply) -> String {
    if reply.found == 0 {
        return format!("No secret in {} texts", reply.texts);
    }
    let row = |finding: &ScanFinding| {
        let id = if finding.id.len() == 36 { short(&finding.id) } else { finding.id.clone() };
        let position = format!("{}..{}", finding.start, finding.end);
        vec![finding.place.clone(), plain(&id), finding.kind.clone(), position]
    };
    let heading = ["PLACE", "ID", "KIND", "CHARACTERS"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(heading).chain(reply.findings.iter().take(MAX_ROWS).map(row)).collect();
    let more = reply.found.saturating_sub(MAX_ROWS);
    let rest = if more > 0 { format!("  … and {more} more; use --json") } else { String::new() };
    (table_on(Screen::of_stdout(), &rows) + &rest).trim_end().to_owned()
}

fn redacted_text(reply: &ScanReply) -> String {
    let note = reply.note.as_ref().map_or_else(String::new, |note| format!(". {note}"));
    format!("{} texts redacted{note}", reply.redacted)
}
