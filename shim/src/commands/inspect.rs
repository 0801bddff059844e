//! `loci inspect`: prints everything about one memory.

use crate::cli::memories::Inspect;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{date_time, print_json};
use crate::output::{Problem, Style, escape_line, escape_lines, print_line, table};
use loci_proto::requests::inspect::{
    AuditEntry, InspectReply, InspectRequest, MemoryDetails, Version,
};
use loci_proto::requests::relate::{MemoryPreview, Relation};
use serde_json::Value;
use std::fmt::Write as _;

/// Prints the memory.
///
/// # Errors
/// A refusal of the daemon.
pub async fn run(client: &VerbClient, args: Inspect) -> Result<(), Problem> {
    let resolved = memory_id::find(client, &args.id, args.project.group.as_ref()).await?;
    let request = InspectRequest {
        memory_id: resolved.id,
        include_relations: None,
        include_log: args.log,
        log_before: args.log_before,
        group: args.project.group,
    };
    let raw_reply = client.call_raw("memory_inspect", &request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    print_line(screen(&raw_reply.parse()?, Style::of(&std::io::stdout())).trim_end())
}

fn screen(reply: &InspectReply, style: Style) -> String {
    let mut text = memory(&reply.memory, style);
    let mut part = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{}\n  {}", style.bold(title), lines.join("\n  "));
        }
    };
    let neighbours = |some: &[MemoryPreview]| some.iter().map(neighbour).collect::<Vec<_>>();
    part("Variants", reply.memory.variants.iter().map(|text| escape_line(text)).collect());
    part("Relations", reply.relations.iter().map(relation).collect());
    part("Mentions", neighbours(&reply.mentions));
    part("Mentioned in", neighbours(&reply.mentioned_in));
    part("Sources", neighbours(&reply.sources));
    if let Some(versions) = &reply.versions {
        part(
            "Versions",
            versions
                .chain
                .iter()
                .map(|other| version(other, other.version == versions.version))
                .collect(),
        );
    }
    if !reply.log.is_empty() {
        let _ = write!(text, "\n{}\n{}", style.bold("Log"), log(&reply.log));
    }
    if let Some(next) = reply.log_next {
        let _ = writeln!(text, "  next page: --log --log-before {next}");
    }
    text
}

fn memory(memory: &MemoryDetails, style: Style) -> String {
    let mut text = format!("{}\n\n", style.bold(&memory.id.to_string()));
    for line in escape_lines(&memory.content).lines() {
        let _ = writeln!(text, "  {line}");
    }
    text.push('\n');
    let mut row = |name: &str, value: String| {
        let _ = writeln!(text, "  {name:<11} {value}");
    };
    let project = memory
        .group
        .as_deref()
        .map(|group| format!(", stored in {}", escape_line(group)))
        .unwrap_or_default();
    row("type", memory.kind.to_string());
    row("scope", format!("{}{project}", memory.scope));
    let by = memory
        .superseded_by
        .as_deref()
        .filter(|by| *by != memory.status)
        .map(|by| format!(" by {}", escape_line(by)))
        .unwrap_or_default();
    let why = memory
        .forgotten_reason
        .as_deref()
        .map(|why| format!(": {}", escape_line(why)))
        .unwrap_or_default();
    row("status", format!("{}{by}{why}", escape_line(&memory.status)));
    let marks = [(memory.pinned, ", pinned"), (memory.flagged, ", cleanup candidate")];
    let marks: String = marks.iter().filter(|(is, _)| *is).map(|(_, mark)| *mark).collect();
    row("confidence", format!("{:.2}{marks}", memory.confidence.get()));
    row("created", date_time(&memory.created_at));
    if memory.updated_at != memory.created_at {
        row("updated", date_time(&memory.updated_at));
    }
    let last = memory
        .last_accessed
        .as_deref()
        .map(|at| format!(", last {}", date_time(at)))
        .unwrap_or_default();
    let times = match memory.access_count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    row("used", format!("{times}{last}"));
    if let Some(at) = &memory.expires_at {
        row("expires", date_time(at));
    }
    for (key, value) in &memory.metadata {
        row(&escape_line(key), escape_line(&text_of(value)));
    }
    text
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn neighbour(other: &MemoryPreview) -> String {
    format!("{}  {}", memory_id::short(other.id.as_str()), escape_line(&other.preview))
}

/// Formats a relation as seen from one of its entities.
pub(crate) fn relation(relation: &Relation) -> String {
    let predicate = escape_line(&relation.predicate);
    let sure = relation
        .confidence
        .map_or(String::new(), |confidence| format!(" ({:.2})", confidence.get()));
    let evidence: Vec<String> =
        relation.evidence.iter().map(|id| memory_id::short(id.as_str())).collect();
    let evidence =
        if evidence.is_empty() { String::new() } else { format!("  [{}]", evidence.join(" ")) };
    let ends = match (&relation.object, &relation.subject) {
        (Some(object), _) => format!("{predicate} → {}", neighbour(object)),
        (None, Some(subject)) => format!("← {predicate}  {}", neighbour(subject)),
        (None, None) => predicate,
    };
    format!("{ends}{sure}{evidence}")
}

fn version(other: &Version, is_this: bool) -> String {
    let preview = other.preview.as_deref().map(escape_line).unwrap_or_default();
    let mark = if is_this { "*" } else { " " };
    format!(
        "{mark} {}  {}  {:<10}  {preview}",
        other.version,
        memory_id::short(other.id.as_str()),
        escape_line(&other.status)
    )
}

/// Formats details as `name: value`; omits null values.
fn details(details: &Value) -> String {
    let Some(details) = details.as_object() else { return text_of(details) };
    let present = details.iter().filter(|(_, value)| !value.is_null());
    present
        .map(|(name, value)| format!("{name}: {}", text_of(value)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn log(log: &[AuditEntry]) -> String {
    let row = |line: &AuditEntry| {
        let details = line.details.as_ref().map(details).unwrap_or_default();
        [
            date_time(&line.at),
            escape_line(&line.operation),
            escape_line(line.client.as_deref().unwrap_or("-")),
            escape_line(&details),
        ]
    };
    let heading = ["TIME", "OPERATION", "CLIENT", "DETAILS"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(log.iter().map(row)).collect();
    table(&rows)
}
