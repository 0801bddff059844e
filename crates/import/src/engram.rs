//! The database of engram: `~/.engram/engram.db` with the table `observations`, or the JSON of
//! `engram export`.

use crate::collector::Collector;
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::rows::{self, Fields};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignProject};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// Reads a database or an export.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let name = collector.name_of(path);
    let (observations, sessions) = if path.extension().is_some_and(|end| end == "json") {
        let Some(file) = collector.text_file(path) else { return Ok(()) };
        let document: Fields = serde_json::from_str(&file.text).map_err(|error| {
            let message = format!("{name} is not JSON: {error}");
            Failure::new(Code::Invalid, message).hint("Use the file that engram export has written")
        })?;
        let list = |field: &str| -> Vec<Fields> {
            let items = document.get(field).and_then(Value::as_array);
            items.into_iter().flatten().filter_map(Value::as_object).cloned().collect()
        };
        (list("observations"), list("sessions"))
    } else {
        let store = ForeignStore::open(path)?;
        let observations = store.rows("observations")?;
        let has_sessions = store.has_table("sessions")?;
        if !collector.begin_file(path) {
            return Ok(());
        }
        (observations, if has_sessions { store.rows("sessions")? } else { Vec::new() })
    };
    let folders: HashMap<String, &str> = sessions
        .iter()
        .filter_map(|row| Some((rows::id(row, "id")?, rows::text(row, "directory")?)))
        .collect();
    for row in &observations {
        observation(collector, &name, row, &folders);
    }
    Ok(())
}

fn observation(
    collector: &mut Collector<'_>,
    name: &str,
    row: &Fields,
    folders: &HashMap<String, &str>,
) {
    let Some(id) = rows::id(row, "sync_id").or_else(|| rows::id(row, "id")) else { return };
    if rows::is_set(row, "deleted_at") {
        return collector.skip(name, &id, "was deleted");
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
    let is_personal = rows::text(row, "scope").is_some_and(|scope| scope != "project");
    let created_at = rows::time(row, &["created_at"]).unwrap_or(0);
    collector.add(ForeignMemory {
        root: None,
        path: name.to_owned(),
        place: id.clone(),
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
        flags: Vec::new(),
        content,
    });
}
