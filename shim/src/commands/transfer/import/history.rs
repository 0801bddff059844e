//! `loci import --from history`: shows what the transcripts of clients teach, asks, and imports it as candidates.
//!
//! Not here: what is taken (`crate::history`), the rules for secrets, which the daemon applies to every line.

use crate::cli::import::Import;
use crate::client::call::VerbClient;
use crate::commands::transfer::import::native::{self, Source};
use crate::history::clients::Client;
use crate::history::collector::Found;
use crate::history::{Reading, export_lines, read};
use crate::output::{Consent, Problem, confirm, escape_line, print_line};
use loci_proto::error::Exit;
use loci_proto::requests::config::{ConfigReply, ConfigRequest};
use loci_proto::requests::import::ImportRequest;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// The key of the project of sessions outside any project.
const DEFAULT_GROUP: &str = "storage.default_group";

/// Reads the transcripts, shows what was found, asks, and imports it.
///
/// # Errors
/// The daemon cannot be reached, the user does not confirm, or the import fails.
pub async fn run(args: Import) -> Result<ExitCode, Problem> {
    let home = directories::BaseDirs::new().map(|folders| folders.home_dir().to_path_buf());
    let home = home.ok_or_else(|| Problem::new("The home folder is unknown").hint("Set HOME"))?;
    let client = VerbClient::of_process()?;
    let outside = default_group(&client).await?;
    let clients = if args.client.is_empty() { Client::ALL.to_vec() } else { args.client };
    let since = args.since.map_or(0, |seconds| now().saturating_sub(seconds.saturating_mul(1000)));
    let reading = tokio::task::spawn_blocking(move || read(&clients, &home, since, &outside))
        .await
        .map_err(io::Error::other)?;
    if args.dry_run || reading.found.is_empty() {
        let text = if args.json { preview_json(&reading).to_string() } else { preview(&reading) };
        print_line(text.trim_end())?;
        return Ok(Exit::Ok.into());
    }
    if !args.json {
        print_line(preview(&reading))?;
    }
    let question = format!("Import {} as candidates?", counted(reading.found.len(), "statement"));
    confirm(&question, Consent::from(args.yes))?;
    let request = ImportRequest { skip_bad: true, ..ImportRequest::default() };
    let source = Source::of_bytes(export_lines(&reading.found).into());
    let body = native::upload(&client, &request, source).await?;
    if args.json {
        print_line(String::from_utf8_lossy(&body))?;
    } else {
        let text = native::report_text(&native::parse(&body)?);
        print_line(format!("{text}Review them: loci review --candidates"))?;
    }
    Ok(Exit::Ok.into())
}

async fn default_group(client: &VerbClient) -> Result<String, Problem> {
    let config: ConfigReply = client.call("config", &ConfigRequest::default()).await?;
    let value = config.keys.into_iter().find(|key| key.key == DEFAULT_GROUP);
    Ok(value
        .and_then(|key| key.value.as_str().map(str::to_owned))
        .unwrap_or_else(|| "default".to_owned()))
}

fn now() -> i64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_1970.as_millis()).unwrap_or(i64::MAX)
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Returns what would be taken, by project, and what was left out.
fn preview(reading: &Reading) -> String {
    let mut text = String::new();
    let mut project = None;
    for found in &reading.found {
        if project != Some(&found.group.id) {
            let _ = writeln!(text, "{}", escape_line(&found.group.name));
            project = Some(&found.group.id);
        }
        let statement = found.finding.text();
        let mut lines = statement.lines().map(escape_line);
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(text, "  {:<10}  {}  {first}", found.finding.kind(), day(found));
        lines.for_each(|line| {
            let _ = writeln!(text, "{:26}{line}", "");
        });
    }
    let _ = write!(
        text,
        "{} in {}",
        counted(reading.found.len(), "statement"),
        counted(reading.transcripts, "transcript")
    );
    let left_out = [
        (reading.with_secrets, "left out because they may hold a secret"),
        (reading.over_limit, "left out because there are too many"),
        (reading.skipped_lines, "lines that cannot be read"),
        (reading.unreadable, "files that cannot be read"),
    ];
    for (count, what) in left_out.iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, "; {count} {what}");
    }
    text.push('\n');
    text
}

fn day(found: &Found) -> String {
    let at = chrono::DateTime::from_timestamp_millis(found.pointer.at).unwrap_or_default();
    at.format("%Y-%m-%d").to_string()
}

fn preview_json(reading: &Reading) -> Value {
    let found = |found: &Found| {
        json!({
            "text": found.finding.text(), "kind": found.finding.kind(), "group": found.group.name, "count": found.count,
            "date": day(found), "metadata": found.metadata(),
        })
    };
    json!({
        "found": reading.found.iter().map(found).collect::<Vec<_>>(), "transcripts": reading.transcripts,
        "skipped_lines": reading.skipped_lines, "unreadable": reading.unreadable, "with_secrets": reading.with_secrets,
        "over_limit": reading.over_limit,
    })
}
