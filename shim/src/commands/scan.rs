//! `loci scan`: lists the secrets of the store by id, kind and position, never by value; replaces them after confirmation.

use crate::cli::store_admin::Scan;
use crate::client::call::VerbClient;
use crate::commands::reply_text::to_json;
use crate::output::{Problem, Screen, confirm, counted, escape_line, print_line, table_on};
use loci_proto::error::Exit;
use loci_proto::requests::scan::{ScanFinding, ScanReply, ScanRequest};
use std::io;
use std::process::ExitCode;

/// Maximum number of rows that are printed; `--json` prints all.
const MAX_ROWS: usize = 100;

/// Lists the secrets of the store; with `--redact`, replaces them.
///
/// # Errors
/// No daemon, a refusal, or no confirmation.
pub async fn run(args: Scan) -> Result<ExitCode, Problem> {
    let client = VerbClient::of_process()?;
    let found = call(&client, false).await?;
    if !args.redact || found.found == 0 {
        print_line(if args.json { to_json(&found)? } else { findings_text(&found) })?;
        return Ok(Exit::Ok.into());
    }
    if !args.json {
        print_line(findings_text(&found))?;
    }
    let question = format!("Replace these {} findings? This cannot be undone.", found.found);
    confirm(&question, args.yes.into())?;
    let reply = call(&client, true).await?;
    if args.json {
        print_line(to_json(&reply)?)?;
        return Ok(Exit::Ok.into());
    }
    let note = reply.note.as_deref().map(|note| format!("\n  {}", escape_line(note)));
    let changed = counted(reply.redacted, "text", "texts");
    print_line(format!("{changed} changed{}", note.unwrap_or_default()))?;
    Ok(Exit::Ok.into())
}

/// The scan of a large store takes longer than other calls may.
async fn call(client: &VerbClient, redact: bool) -> Result<ScanReply, Problem> {
    let request = ScanRequest { redact };
    let answer = client.call_streamed("/long/scan", &request).await?.read_all().await?;
    Ok(serde_json::from_slice(&answer).map_err(io::Error::from)?)
}

fn findings_text(reply: &ScanReply) -> String {
    if reply.found == 0 {
        return format!("No secret in {}", counted(reply.texts, "text", "texts"));
    }
    let row = |finding: &ScanFinding| {
        vec![
            escape_line(&finding.kind),
            finding.place.clone(),
            escape_line(&finding.id),
            format!("{}..{}", finding.start, finding.end),
        ]
    };
    let heading = ["KIND", "PLACE", "ID", "CHARACTERS"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> =
        std::iter::once(heading).chain(reply.findings.iter().take(MAX_ROWS).map(row)).collect();
    let more = match reply.found.saturating_sub(MAX_ROWS) {
        0 => String::new(),
        more => format!("  … and {more} more; use --json to list up to 1000\n"),
    };
    let table = table_on(Screen::of_stdout(), &rows);
    let found = counted(reply.found, "finding", "findings");
    format!("{table}{more}{found} in {}", counted(reply.texts, "text", "texts"))
}
