//! `loci import --from history`: shows what the transcripts of clients teach and is not stored yet, asks, and imports it as candidates.
//!
//! Not here: what is taken (`crate::history`), the rules for secrets, which the daemon applies to every line.

use crate::cli::import::Import;
use crate::client::call::VerbClient;
use crate::commands::transfer::import::native::{self, Source};
use crate::commands::transfer::import::switched_off::SwitchedOff;
use crate::history::clients::Client;
use crate::history::findings::Found;
use crate::history::{NotRead, Reading, export_lines, id, read};
use crate::output::{Consent, Problem, confirm, escape_line, print_line};
use loci_proto::error::Exit;
use loci_proto::requests::config::{ConfigReply, ConfigRequest};
use loci_proto::requests::import::ImportRequest;
use loci_proto::requests::list::{ListReply, ListRequest};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

/// The key of the project of sessions outside any project.
const DEFAULT_GROUP: &str = "storage.default_group";

/// Ids of one look-up.
const IDS_PER_CALL: usize = 1000;

/// The statuses of the findings that are stored already, by id.
type Known = HashMap<String, String>;

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
    let off = SwitchedOff::load(&client).await?;
    let needs_file = off.needs_file;
    let mut reading =
        tokio::task::spawn_blocking(move || read(&clients, &home, since, &outside, needs_file))
            .await
            .map_err(io::Error::other)?;
    reading.found.retain(|found| !off.has(&found.group.id));
    let known = known(&client, &reading.found).await?;
    let new: Vec<&Found> =
        reading.found.iter().filter(|found| !known.contains_key(&id_text(found))).collect();
    let has_nothing = if args.json { reading.found.is_empty() } else { new.is_empty() };
    if args.dry_run || has_nothing {
        let text = if args.json {
            preview_json(&reading, &known).to_string()
        } else {
            preview(&reading, &new, &known)
        };
        print_line(text.trim_end())?;
        return Ok(Exit::Ok.into());
    }
    if !args.json {
        print_line(preview(&reading, &new, &known))?;
    }
    let question = format!("Import {} as candidates?", counted(new.len(), "statement"));
    confirm(&question, Consent::from(args.yes))?;
    let request = ImportRequest { skip_bad: true, ..ImportRequest::default() };
    let source = Source::of_bytes(export_lines(&new).into());
    let body = native::upload(&client, &request, source).await?;
    let mut reply = native::parse(&body)?;
    reply.unchanged += known.len();
    if args.json {
        print_line(serde_json::to_string(&reply).map_err(io::Error::from)?)?;
    } else {
        let text = native::report_text(&reply);
        print_line(format!("{text}Review them: loci review --candidates --all-groups"))?;
    }
    Ok(Exit::Ok.into())
}

/// Returns the statuses of those findings that are stored, in whatever project.
async fn known(client: &VerbClient, found: &[Found]) -> Result<Known, Problem> {
    let ids: Vec<String> = found.iter().map(id_text).collect();
    let mut known = Known::new();
    for ids in ids.chunks(IDS_PER_CALL) {
        let request = ListRequest {
            ids: Some(ids.iter().filter_map(|id| id.parse().ok()).collect()),
            status: Some("all".to_owned()),
            all_groups: true,
            ..ListRequest::default()
        };
        let reply: ListReply = client.call("list", &request).await?;
        let statuses = reply.memories.into_iter();
        known.extend(statuses.map(|memory| (memory.id.to_string(), memory.status)));
    }
    Ok(known)
}

fn id_text(found: &Found) -> String {
    id(found).to_string()
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
fn preview(reading: &Reading, new: &[&Found], known: &Known) -> String {
    let mut text = String::new();
    let mut project = None;
    for found in new {
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
    let news = if known.is_empty() { "" } else { "new " };
    let _ = write!(
        text,
        "{} {news}{} in {}",
        new.len(),
        if new.len() == 1 { "statement" } else { "statements" },
        counted(reading.transcripts, "transcript")
    );
    let left_out = [
        (known.len(), format!("imported before ({})", statuses(known))),
        (reading.with_secrets, "left out because they may hold a secret".to_owned()),
        (over_limit(reading), format!("left out because there are too many ({})", kinds(reading))),
        (reading.skipped_lines, "lines that cannot be read".to_owned()),
        (reading.unreadable, "files that cannot be read".to_owned()),
    ];
    for (count, what) in left_out.iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, "; {count} {what}");
    }
    text.push('\n');
    for NotRead { file, reason } in &reading.not_read {
        let _ = writeln!(text, "Not read: {}: {}", escape_line(file), escape_line(reason));
    }
    text
}

/// Returns how many of the known findings have which status: `12 candidate, 3 forgotten`.
fn statuses(known: &Known) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for status in known.values() {
        *counts.entry(status).or_default() += 1;
    }
    let parts: Vec<String> =
        counts.iter().map(|(status, count)| format!("{count} {}", escape_line(status))).collect();
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

fn preview_json(reading: &Reading, known: &Known) -> Value {
    let found = |found: &Found| {
        json!({
            "status": known.get(&id_text(found)).map_or("new", String::as_str),
            "text": found.finding.text(), "kind": found.finding.kind(), "group": found.group.name, "count": found.count,
            "date": day(found), "metadata": found.metadata(),
        })
    };
    let not_read = |file: &NotRead| json!({"file": file.file, "reason": file.reason});
    let left_out = |(project, kind, count): &(String, &'static str, usize)| json!({"group": project, "kind": kind, "count": count});
    json!({
        "found": reading.found.iter().map(found).collect::<Vec<_>>(), "transcripts": reading.transcripts,
        "skipped_lines": reading.skipped_lines, "unreadable": reading.unreadable,
        "not_read": reading.not_read.iter().map(not_read).collect::<Vec<_>>(), "with_secrets": reading.with_secrets,
        "over_limit": over_limit(reading), "left_out": reading.over_limit.iter().map(left_out).collect::<Vec<_>>(),
    })
}
