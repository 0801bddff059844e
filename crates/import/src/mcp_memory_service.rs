//! The database of mcp-memory-service: `sqlite_vec.db` with the table `memories`.

use crate::collector::Collector;
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::places::Places;
use crate::rows;
use loci_proto::foreign::ForeignMemory;
use loci_proto::memory::{MemoryType, Scope};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Returns the database files of Linux, macOS and earlier versions.
pub(crate) fn usual_paths(places: &Places) -> Vec<PathBuf> {
    [
        ".local/share/mcp-memory/sqlite_vec.db",
        "Library/Application Support/mcp-memory/sqlite_vec.db",
        ".mcp-memory-service/sqlite_vec.db",
    ]
    .map(|name| places.home.join(name))
    .to_vec()
}

/// Columns that a memory has, or that only serve the program.
const KNOWN: [&str; 10] = [
    "id",
    "content_hash",
    "content",
    "tags",
    "memory_type",
    "created_at",
    "updated_at",
    "created_at_iso",
    "updated_at_iso",
    "deleted_at",
];

/// Reads a database.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let store = ForeignStore::open(path)?;
    let found = store.rows("memories")?;
    if !collector.begin_file(path) {
        return Ok(());
    }
    let name = collector.name_of(path);
    for (number, row) in found.into_iter().enumerate() {
        let Some(id) = rows::id(&row, "content_hash").or_else(|| rows::id(&row, "id")) else {
            collector.skip(&name, &format!("row {}", number + 1), "a memory without an id");
            continue;
        };
        if rows::is_set(&row, "deleted_at") {
            collector.skip(&name, &id, "was deleted");
            continue;
        }
        let kind = rows::text(&row, "memory_type").unwrap_or_default().to_owned();
        let mut metadata = Map::new();
        if !kind.is_empty() {
            metadata.insert("category".to_owned(), Value::from(kind.as_str()));
        }
        let tags: Vec<Value> = rows::text(&row, "tags")
            .into_iter()
            .flat_map(|tags| tags.split(','))
            .map(str::trim)
            .filter(|tag| !tag.is_empty())
            .map(Value::from)
            .collect();
        if !tags.is_empty() {
            metadata.insert("tags".to_owned(), Value::Array(tags));
        }
        if let Some(names) = rows::keep_rest(&mut metadata, &row, &KNOWN) {
            collector.skip(&name, &id, &format!("has too large fields: {names}"));
        }
        let created_at = rows::time(&row, &["created_at", "created_at_iso"]).unwrap_or(0);
        collector.add(ForeignMemory {
            root: None,
            path: name.clone(),
            place: id.clone(),
            learned: None,
            own_id: Some(id),
            kind: type_of(&kind),
            scope: Scope::Global,
            project: None,
            by_person: false,
            pinned: false,
            created_at,
            updated_at: rows::time(&row, &["updated_at"]).unwrap_or(created_at).max(created_at),
            confidence: None,
            metadata,
            relations: Vec::new(),
            content: rows::text(&row, "content").unwrap_or_default().to_owned(),
        });
    }
    Ok(())
}

/// Returns the type of a memory of the program's own types, which have the form `kind/detail`.
fn type_of(kind: &str) -> MemoryType {
    match kind.split('/').next().unwrap_or_default() {
        "session" | "meeting" | "event" | "task" | "status" | "error" | "milestone" => {
            MemoryType::Episodic
        }
        "process" | "procedure" | "workflow" | "howto" => MemoryType::Procedural,
        _ => MemoryType::Semantic,
    }
}
