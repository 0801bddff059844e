//! The database of mcp-memory-service: `sqlite_vec.db` with the table `memories`.

use crate::collector::{Collector, memory_at};
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::places::Places;
use loci_proto::foreign::ForeignMemory;
use loci_proto::memory::MemoryType;
use serde_json::Value;
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

/// Reads a database.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let found = ForeignStore::open(path)?.rows("memories")?;
    if !collector.begin_file(path) {
        return Ok(());
    }
    let name = collector.name_of(path);
    for mut row in found {
        let Some(id) = row.take_id(&["content_hash"]).or_else(|| row.take_id(&["id"])) else {
            collector.skip(&name, &row.place, "a memory without an id");
            continue;
        };
        if row.take_flag("deleted_at") {
            collector.skip(&name, &row.place, "was deleted");
            continue;
        }
        let kind = row.take_text(&["memory_type"]);
        let mut memory = ForeignMemory {
            place: id.clone(),
            own_id: Some(id),
            kind: type_of(kind.as_deref().unwrap_or_default()),
            content: row.take_text(&["content"]).unwrap_or_default(),
            ..memory_at(&name)
        };
        memory.metadata.extend(kind.map(|kind| ("category".to_owned(), Value::from(kind))));
        let tags = row.take_text(&["tags"]).unwrap_or_default();
        let tags = tags.split(',').map(str::trim).filter(|tag| !tag.is_empty());
        let tags: Vec<Value> = tags.map(Value::from).collect();
        if !tags.is_empty() {
            memory.metadata.insert("tags".to_owned(), Value::Array(tags));
        }
        row.date(&mut memory, &["created_at", "created_at_iso"]);
        collector.add_with(memory, row, "");
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
