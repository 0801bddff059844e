//! The database of engram: `~/.engram/engram.db` with the table `observations`, or the JSON of
//! `engram export`.

use crate::collector::{Collector, TextFile};
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::json::{self, Items};
use crate::rows::{self, Fields};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignProject};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// Fields that an observation has as a memory, and those that only serve engram.
const KNOWN: [&str; 17] = [
    "id",
    "sync_id",
    "session_id",
    "type",
    "title",
    "content",
    "project",
    "scope",
    "created_at",
    "updated_at",
    "deleted_at",
    "normalized_hash",
    "revision_count",
    "duplicate_count",
    "last_seen_at",
    "review_after",
    "expires_at",
];

/// Reads a database or an export.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let name = collector.name_of(path);
    let (observations, sessions) = if path.extension().is_some_and(|end| end == "json") {
        let Some(file) = collector.text_file(path) else { return Ok(()) };
        document(collector, &file)?
    } else {
        let store = ForeignStore::open(path)?;
        let observations = store.rows("observations")?;
        let has_sessions = store.has_table("sessions")?;
        if !collector.begin_file(path) {
            return Ok(());
        }
        let sessions = if has_sessions { store.rows("sessions")? } else { Vec::new() };
        let number = |(number, row)| (row, format!("row {}", number + 1));
        (observations.into_iter().enumerate().map(number).collect(), sessions)
    };
    for session in &sessions {
        if let Some(summary) = rows::text(session, "summary") {
            let place = format!("session {}", rows::id(session, "id").unwrap_or_default());
            collector.skip(&name, &place, &format!("the summary of a session: {summary}"));
        }
    }
    let folders: HashMap<String, &str> = sessions
        .iter()
        .filter_map(|row| Some((rows::id(row, "id")?, rows::text(row, "directory")?)))
        .collect();
    for (row, place) in &observations {
        observation(collector, (&name, place), row, &folders);
    }
    Ok(())
}

/// Rows with the place of each, and sessions.
type Rows = (Vec<(Fields, String)>, Vec<Fields>);

fn document(collector: &mut Collector<'_>, file: &TextFile) -> Result<Rows> {
    let lists = ["observations", "sessions"];
    let Items { items, left_out } = json::items(&file.text, &lists).map_err(|error| {
        let message = format!("{} is not JSON: {error}", file.name);
        Failure::new(Code::Invalid, message).hint("Use the file that engram export has written")
    })?;
    // Numbers of the export itself.
    let left_out = left_out
        .into_iter()
        .filter(|part| !["version", "exported_at"].iter().any(|name| part.reason.contains(name)));
    collector.leave_out(file, left_out.collect());
    let (mut observations, mut sessions) = (Vec::new(), Vec::new());
    for item in items {
        match (item.fields(&file.text), item.list.as_str()) {
            (Some(fields), "sessions") => sessions.push(fields),
            (Some(fields), _) => {
                observations.push((fields, file.lines.place(&file.text, &item.bytes, true)));
            }
            (None, _) => collector.skip_item(file, &item, "is no JSON object"),
        }
    }
    Ok((observations, sessions))
}

fn observation(
    collector: &mut Collector<'_>,
    (name, place): (&str, &str),
    row: &Fields,
    folders: &HashMap<String, &str>,
) {
    let Some(id) = rows::id(row, "sync_id").or_else(|| rows::id(row, "id")) else {
        return collector.skip(name, place, "an observation without an id");
    };
    if rows::is_set(row, "deleted_at") {
        return collector.skip(name, place, "was deleted");
    }
    let folder = rows::id(row, "session_id").and_then(|session| folders.get(&session).copied());
    let project = match (folder, rows::text(row, "project")) {
        (Some(folder), _) => Some(ForeignProject::Folder(folder.to_owned())),
        (None, Some(name)) => Some(ForeignProject::Named(name.to_owned())),
        (None, None) => None,
    };
    let kind = rows::text(row, "type").unwrap_or_default();
    let (title, content) = (
        rows::text(row, "title").unwrap_or_default(),
        rows::text(row, "content").unwrap_or_default(),
    );
    let content = match (title, content) {
        ("", content) => content.to_owned(),
        (title, content) if content.starts_with(title) => content.to_owned(),
        (title, content) => format!("{title}\n\n{content}"),
    };
    let mut metadata = Map::new();
    if !kind.is_empty() {
        metadata.insert("category".to_owned(), Value::from(kind));
    }
    if let Some(names) = rows::keep_rest(&mut metadata, row, &KNOWN) {
        collector.skip(name, place, &format!("has too large fields: {names}"));
    }
    let is_personal = rows::text(row, "scope").is_some_and(|scope| scope != "project");
    let created_at = rows::time(row, &["created_at"]).unwrap_or(0);
    let memory = ForeignMemory {
        root: None,
        path: name.to_owned(),
        place: id.clone(),
        learned: None,
        own_id: Some(id),
        kind: match kind {
            "bugfix" | "session_summary" | "discovery" | "decision" => MemoryType::Episodic,
            "pattern" | "how-to" => MemoryType::Procedural,
            _ => MemoryType::Semantic,
        },
        scope: if is_personal || project.is_none() { Scope::Global } else { Scope::Group },
        project,
        by_person: false,
        pinned: false,
        created_at,
        updated_at: rows::time(row, &["updated_at"]).unwrap_or(created_at).max(created_at),
        confidence: None,
        metadata,
        relations: Vec::new(),
        content,
    };
    collector.add_from(memory, place);
}
