//! `loci import --from history`: shows what the transcripts of clients teach and is not stored yet, asks, and imports it as candidates.
//!
//! Not here: what is taken (`crate::history`), the rules for secrets, which the daemon applies to every line.

use crate::cli::import::Import;
use crate::client::call::VerbClient;
use crate::commands::transfer::import::{foreign, native};
use crate::history::clients::Client;
use crate::history::findings::Found;
use crate::history::{NotRead, Reading, lines, read};
use crate::output::{Consent, Problem, confirm, escape_line, print_line};
use loci_proto::error::Exit;
use loci_proto::foreign::Source;
use loci_proto::requests::config::{ConfigReply, ConfigRequest};
use loci_proto::requests::import::{ImportChange, ImportReply, ImportRequest, PreviewedMemory};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// The key of the project of sessions outside any project.
const DEFAULT_GROUP: &str = "storage.default_group";

/// A finding, and what becomes of it.
type Planned<'a> = (&'a Found, &'a PreviewedMemory);

/// Reads the transcripts, shows what was found, asks, and imports it.
///
/// # Errors
/// The daemon cannot be reached, the user does not confirm, or the import fails.
pub async fn run(args: Import) -> Result<ExitCode, Problem> {
    let home = directories::BaseDirs::new().map(|folders| folders.home_dir().to_path_buf());
    let home = home.ok_or_else(|| Problem::new("The home folder is unknown").hint("Set HOME"))?;
    let client = VerbClient::of_process()?;
    let outside = default_group(&client).await?;
    let request = foreign::request(Source::Transcripts, &args);
    let clients = if args.client.is_empty() { Client::ALL.to_vec() } else { args.client };
    let since = args.since.map_or(0, |seconds| now().saturating_sub(seconds.saturating_mul(1000)));
    let name = outside.clone();
    let reading = tokio::task::spawn_blocking(move || read(&clients, &home, since, &name))
        .await
        .map_err(io::Error::other)?;
    let lines = foreign::to_bytes(&lines(&reading.found, &outside));
    let preview = ImportRequest { preview: true, ..request.clone() };
    let previewed = foreign::send(&client, &preview, &lines).await?.preview.unwrap_or_default();
    let planned: Vec<Planned<'_>> = reading.found.iter().zip(&previewed.memories).collect();
    let is_new = |(_, becomes): &&Planned<'_>| becomes.change == ImportChange::New;
    let new = planned.iter().filter(is_new).count();
    if !args.json || args.dry_run || planned.is_empty() {
        let text = if args.json {
            preview_json(&reading, &planned).to_string()
        } else {
            shown(&reading, &planned)
        };
        print_line(text.trim_end())?;
    }
    if args.dry_run || new == 0 {
        if args.json && !args.dry_run && !planned.is_empty() {
            let reply = ImportReply { unchanged: planned.len(), ..ImportReply::default() };
            print_line(serde_json::to_string(&reply).map_err(io::Error::from)?)?;
        }
        return Ok(Exit::Ok.into());
    }
    let question = format!("Import {} as candidates?", counted(new, "statement"));
    confirm(&question, Consent::from(args.yes))?;
    let reply = foreign::send(&client, &request, &lines).await?;
    if args.json {
        print_line(serde_json::to_string(&reply).map_err(io::Error::from)?)?;
    } else {
        let text = native::report_text(&reply);
        print_line(format!("{text}Review them: loci review --candidates --all-groups"))?;
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
fn shown(reading: &Reading, planned: &[Planned<'_>]) -> String {
    let mut text = String::new();
    let mut project = None;
    let (mut new, mut known, mut left_out) = (0, Counts::new(), Counts::new());
    for (found, becomes) in planned {
        let reason = becomes.reason.as_deref().unwrap_or_default();
        match becomes.change {
            ImportChange::New | ImportChange::Changed => new += 1,
            ImportChange::Unchanged => *known.entry(reason).or_default() += 1,
            ImportChange::LeftOut => *left_out.entry(reason).or_default() += 1,
        }
        if becomes.change != ImportChange::New {
            continue;
        }
        let group = &found.project.group;
        if project != Some(&group.id) {
            let _ = writeln!(text, "{}", escape_line(&group.name));
            project = Some(&group.id);
        }
        let statement = found.finding.text();
        let mut lines = statement.lines().map(escape_line);
        let first = lines.next().unwrap_or_default();
        let _ = writeln!(text, "  {:<10}  {}  {first}", found.finding.kind(), day(found));
        lines.for_each(|line| {
            let _ = writeln!(text, "{:26}{line}", "");
        });
    }
    let news = if known.is_empty() { "" } else { "new " };
    let _ = write!(
        text,
        "{new} {news}{} in {}",
        if new == 1 { "statement" } else { "statements" },
        counted(reading.transcripts, "transcript")
    );
    let others = [
        (known.values().sum(), format!("imported before ({})", parts(&known))),
        (left_out.values().sum(), format!("left out ({})", parts(&left_out))),
        (reading.with_secrets, "left out because they may hold a secret".to_owned()),
        (over_limit(reading), format!("left out because there are too many ({})", kinds(reading))),
        (reading.skipped_lines, "lines that cannot be read".to_owned()),
        (reading.unreadable, "files that cannot be read".to_owned()),
    ];
    for (count, what) in others.iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, "; {count} {what}");
    }
    text.push('\n');
    for NotRead { file, reason } in &reading.not_read {
        let _ = writeln!(text, "Not read: {}: {}", escape_line(file), escape_line(reason));
    }
    text
}

/// How many findings have which status, or are left out for which reason.
type Counts<'a> = BTreeMap<&'a str, usize>;

/// Returns counts as text: `12 candidate, 3 forgotten`.
fn parts(counts: &Counts<'_>) -> String {
    let parts: Vec<String> =
        counts.iter().map(|(what, count)| format!("{count} {}", escape_line(what))).collect();
    parts.join(", ")
}

fn over_limit(reading: &Reading) -> usize {
    reading.over_limit.iter().map(|(_, _, count)| count).sum()
}

/// Returns which findings were left out: `5 commands in shop`.
fn kinds(reading: &Reading) -> String {
    let part = |(project, kind, count): &(String, &'static str, usize)| {
        let place = if project.is_empty() {
            String::new()
        } else {
            format!(" in {}", escape_line(project))
        };
        format!("{}{place}", counted(*count, kind))
    };
    reading.over_limit.iter().map(part).collect::<Vec<_>>().join(", ")
}

fn day(found: &Found) -> String {
    let at = chrono::DateTime::from_timestamp_millis(found.pointer.at).unwrap_or_default();
    at.format("%Y-%m-%d").to_string()
}

fn preview_json(reading: &Reading, planned: &[Planned<'_>]) -> Value {
    let found = |(found, becomes): &Planned<'_>| {
        json!({
            "status": becomes.reason.as_deref().unwrap_or("new"),
            "text": found.finding.text(), "kind": found.finding.kind(), "group": found.project.group.name, "count": found.count,
            "date": day(found), "metadata": found.metadata(),
        })
    };
    let not_read = |file: &NotRead| json!({"file": file.file, "reason": file.reason});
    let left_out = |(project, kind, count): &(String, &'static str, usize)| json!({"group": project, "kind": kind, "count": count});
    json!({
        "found": planned.iter().map(found).collect::<Vec<_>>(), "transcripts": reading.transcripts,
        "skipped_lines": reading.skipped_lines, "unreadable": reading.unreadable,
        "not_read": reading.not_read.iter().map(not_read).collect::<Vec<_>>(), "with_secrets": reading.with_secrets,
        "over_limit": over_limit(reading), "left_out": reading.over_limit.iter().map(left_out).collect::<Vec<_>>(),
    })
}
