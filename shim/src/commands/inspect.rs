//! `loci inspect`: prints everything about one memory.

use crate::cli::memories::Inspect;
use crate::client::call::VerbClient;
use crate::commands::input::memory_id;
use crate::commands::reply_text::{date, date_time, print_as_of, print_json};
use crate::output::{
    Ink, MarkedText, Problem, Screen, escape_line, escape_lines, print_line, table,
};
use loci_proto::memory::Provenance;
use loci_proto::requests::inspect::{
    AuditEntry, InspectReply, InspectRequest, MemoryDetails, Version,
};
use loci_proto::requests::relate::{MemoryPreview, Relation};
use serde_json::Value;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr;

/// Prints the memory.
///
/// # Errors
/// The daemon cannot be reached, or refuses the call.
pub async fn run(client: &VerbClient, args: Inspect) -> Result<(), Problem> {
    let resolved = memory_id::resolve(client, &args.id, args.project.group.as_ref()).await?;
    let request = InspectRequest {
        memory_id: resolved.id,
        include_relations: None,
        include_log: args.log,
        log_before: args.log_before,
        relations_before: args.relations_before,
        group: args.project.group,
        as_of: args.as_of,
    };
    let raw_reply = client.ask(&request).await?;
    if args.format.json {
        return print_json(&raw_reply);
    }
    let reply: InspectReply = raw_reply.parse()?;
    print_as_of(reply.as_of.as_ref());
    print_line(inspect_text(&reply, Screen::of_stdout()).trim_end())
}

fn inspect_text(reply: &InspectReply, screen: Screen) -> String {
    let mut text = memory_text(&reply.memory, screen);
    let mut add_section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let _ = writeln!(text, "\n{}", screen.style.bold(title));
            for line in &lines {
                push_wrapped(&mut text, screen, "  ", line);
            }
        }
    };
    let preview_lines =
        |memories: &[MemoryPreview]| memories.iter().map(preview_line).collect::<Vec<_>>();
    add_section("Variants", reply.memory.variants.iter().map(|text| escape_line(text)).collect());
    add_section("Relations", reply.relations.iter().map(relation_line).collect());
    if let Some(next) = &reply.relations_next {
        add_section(
            "More relations",
            vec![format!("next page: --relations-before {}", escape_line(next))],
        );
    }
    add_section("Mentions", preview_lines(&reply.mentions));
    add_section("Mentioned in", preview_lines(&reply.mentioned_in));
    add_section("Sources", preview_lines(&reply.sources));
    if let Some(versions) = &reply.versions {
        add_section(
            "Versions",
            versions
                .chain
                .iter()
                .map(|version| version_line(version, version.version == versions.version))
                .collect(),
        );
    }
    if !reply.log.is_empty() {
        let _ = write!(text, "\n{}\n{}", screen.style.bold("Log"), log_table(&reply.log));
    }
    if let Some(next) = reply.log_next {
        let _ = writeln!(text, "  next page: --log --log-before {next}");
    }
    text
}

/// Appends a text that is wrapped at words; every line begins with `first`, or with as many spaces.
fn push_wrapped(text: &mut String, screen: Screen, first: &str, value: &str) {
    push_marked(text, screen, first, MarkedText::new(value.to_owned()));
}

fn push_marked(text: &mut String, screen: Screen, first: &str, value: MarkedText) {
    let indent = first.width();
    let lines = value.lines(screen.width.saturating_sub(indent), screen);
    for (at, line) in lines.iter().enumerate() {
        let start = if at == 0 { first.to_owned() } else { " ".repeat(indent) };
        text.push_str(format!("{start}{line}").trim_end());
        text.push('\n');
    }
    if lines.is_empty() {
        text.push_str(first.trim_end());
        text.push('\n');
    }
}

/// Makes a value a link if it is the path of a file that exists.
fn with_file_link(value: String) -> MarkedText {
    let target =
        value.starts_with('/').then(|| std::path::Path::new(&value)).filter(|p| p.exists());
    let target = target.map(|path| format!("file://{}", path.display()));
    let length = value.len();
    let mut marked = MarkedText::new(value);
    if let Some(target) = target {
        marked.link(0..length, target);
    }
    marked
}

fn memory_text(memory: &MemoryDetails, screen: Screen) -> String {
    let mut text = format!("{}\n\n", screen.style.bold(&memory.id.to_string()));
    push_wrapped(&mut text, screen, "  ", &escape_lines(memory.content.trim_end()));
    text.push('\n');
    let mut row = |name: &str, value: String| {
        let mut value = with_file_link(value);
        if name == "type" {
            value.mark(0..memory.kind.as_str().len(), Ink::Type(memory.kind));
        }
        push_marked(&mut text, screen, &format!("  {name:<11} "), value);
    };
    let project = memory
        .group
        .as_deref()
        .map(|group| format!(", stored in {}", escape_line(group)))
        .unwrap_or_default();
    row("type", memory.kind.to_string());
    row("scope", format!("{}{project}", memory.scope));
    // The field contains the id of the newer memory, or repeats the status.
    let superseded_by = memory
        .superseded_by
        .as_deref()
        .filter(|value| *value != memory.status)
        .map(|value| format!(" by {}", escape_line(value)))
        .unwrap_or_default();
    let reason = memory
        .forgotten_reason
        .as_deref()
        .map(|reason| format!(": {}", escape_line(reason)))
        .unwrap_or_default();
    row("status", format!("{}{superseded_by}{reason}", escape_line(&memory.status)));
    let marks = [(memory.pinned, ", pinned"), (memory.flagged, ", faded")];
    let marks: String = marks.iter().filter(|(is_set, _)| *is_set).map(|(_, mark)| *mark).collect();
    let importance = memory.importance.map_or_else(String::new, |i| format!(", importance {i:.2}"));
    row("confidence", format!("{:.2}{importance}{marks}", memory.confidence.get()));
    row("stored by", stored_by(memory));
    if !memory.provenance.flags.is_empty() {
        row(
            "flags",
            format!(
                "{} (loci confirm clears them)",
                escape_line(&memory.provenance.flags.join(", "))
            ),
        );
    }
    row("created", date_time(&memory.created_at));
    if let Some(day) = &memory.event_date_derived {
        row("day", format!("{} (from the text)", escape_line(day)));
    }
    if memory.updated_at != memory.created_at {
        row("updated", date_time(&memory.updated_at));
    }
    let last_use = memory
        .last_accessed
        .as_deref()
        .map(|time| format!(", last {}", date_time(time)))
        .unwrap_or_default();
    let uses = match memory.access_count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    row("used", format!("{uses}{last_use}"));
    if let Some(at) = &memory.expires_at {
        row("expires", date_time(at));
    }
    for (key, value) in &memory.metadata {
        row(&escape_line(key), escape_line(&value_text(value)));
    }
    text
}

/// Names who stored a memory, in which session, and how far it is trusted if that differs.
fn stored_by(memory: &MemoryDetails) -> String {
    let Provenance { origin, client, session, trust, .. } = &memory.provenance;
    let origin = origin.map_or("unknown", |origin| origin.as_str());
    let client = client.as_deref().map_or_else(String::new, |c| format!(", {}", escape_line(c)));
    let session =
        session.as_deref().map_or_else(String::new, |s| format!(", session {}", escape_line(s)));
    let trust = trust.as_str();
    let trust = if trust == origin { String::new() } else { format!(", trusted as {trust}") };
    format!("{origin}{client}{session}{trust}")
}

fn value_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn preview_line(memory: &MemoryPreview) -> String {
    format!("{}  {}", memory_id::short(memory.id.as_str()), escape_line(&memory.preview))
}

/// Formats a relation as seen from one of its entities.
pub(crate) fn relation_line(relation: &Relation) -> String {
    let predicate = escape_line(&relation.predicate);
    let confidence = relation
        .confidence
        .map_or(String::new(), |confidence| format!(" ({:.2})", confidence.get()));
    let evidence: Vec<String> =
        relation.evidence.iter().map(|id| memory_id::short(id.as_str())).collect();
    let evidence =
        if evidence.is_empty() { String::new() } else { format!("  [{}]", evidence.join(" ")) };
    let edge = match (&relation.object, &relation.subject) {
        (Some(object), _) => format!("{predicate} → {}", preview_line(object)),
        (None, Some(subject)) => format!("← {predicate}  {}", preview_line(subject)),
        (None, None) => predicate,
    };
    format!("{edge}{confidence}{evidence}")
}

fn version_line(version: &Version, is_inspected: bool) -> String {
    let preview = version.preview.as_deref().map(escape_line).unwrap_or_default();
    let mark = if is_inspected { "*" } else { " " };
    format!(
        "{mark} {}  {}  {}  {:<10}  {preview}",
        version.version,
        memory_id::short(version.id.as_str()),
        date(&version.created_at),
        escape_line(&version.status)
    )
}

/// Formats details as `name: value`; omits null values.
fn details_text(details: &Value) -> String {
    let Some(details) = details.as_object() else { return value_text(details) };
    let present = details.iter().filter(|(_, value)| !value.is_null());
    present
        .map(|(name, value)| format!("{name}: {}", value_text(value)))
        .collect::<Vec<_>>()
        .join(", ")
}

fn log_table(log: &[AuditEntry]) -> String {
    let row = |entry: &AuditEntry| {
        let details = entry.details.as_ref().map(details_text).unwrap_or_default();
        [
            date_time(&entry.at),
            escape_line(&entry.operation),
            escape_line(entry.client.as_deref().unwrap_or("-")),
            escape_line(&details),
        ]
    };
    let heading = ["TIME", "OPERATION", "CLIENT", "DETAILS"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(heading).chain(log.iter().map(row)).collect();
    table(&rows)
}
