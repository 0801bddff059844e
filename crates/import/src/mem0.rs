//! mem0: a JSON export (`get_all`), or the local history database, in which every change of a memory
//! is an event. Its vector database is not read.

use crate::collector::Collector;
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::rows::{self, Fields};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::ForeignMemory;
use loci_proto::memory::{MemoryType, Scope};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads an export or a history.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let name = collector.name_of(path);
    if path.extension().is_some_and(|end| end == "json") {
        let Some(file) = collector.text_file(path) else { return Ok(()) };
        let document: Value = serde_json::from_str(&file.text).map_err(|error| {
            let message = format!("{name} is not JSON: {error}");
            Failure::new(Code::Invalid, message).hint("Use what get_all() of mem0 returns")
        })?;
        let items = match &document {
            Value::Array(items) => items.as_slice(),
            Value::Object(fields) => ["results", "memories"]
                .iter()
                .find_map(|field| fields.get(*field)?.as_array())
                .map_or(&[][..], Vec::as_slice),
            _ => &[],
        };
        for item in items.iter().filter_map(Value::as_object) {
            memory(collector, &name, item);
        }
        return Ok(());
    }
    let store = ForeignStore::open(path)?;
    let events = store.rows("history")?;
    if collector.begin_file(path) {
        for (id, item) in latest(&events) {
            if rows::is_set(&item, "is_deleted") || rows::text(&item, "event") == Some("DELETE") {
                collector.skip(&name, &id, "was deleted");
            } else {
                memory(collector, &name, &item);
            }
        }
    }
    Ok(())
}

/// Returns the last event of each memory, with the time of its first.
fn latest(events: &[Fields]) -> BTreeMap<String, Fields> {
    let mut found: BTreeMap<String, Fields> = BTreeMap::new();
    for event in events {
        let Some(id) = rows::id(event, "memory_id") else { continue };
        let mut event = event.clone();
        event.insert("id".to_owned(), Value::from(id.as_str()));
        if let Some(text) = event.remove("new_memory") {
            event.insert("memory".to_owned(), text);
        }
        if !event.contains_key("updated_at")
            && let Some(at) = event.get("created_at").cloned()
        {
            event.insert("updated_at".to_owned(), at);
        }
        if let Some(first) = found.get(&id).and_then(|earlier| earlier.get("created_at")) {
            event.insert("created_at".to_owned(), first.clone());
        }
        found.insert(id, event);
    }
    found
}

fn memory(collector: &mut Collector<'_>, name: &str, item: &Fields) {
    let Some(id) = rows::id(item, "id") else {
        return collector.skip(name, "", "a memory without an id");
    };
    let mut metadata = Map::new();
    for field in ["user_id", "agent_id", "categories"] {
        if let Some(value) = item.get(field).filter(|value| !value.is_null()) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    let created_at = rows::time(item, &["created_at"]).unwrap_or(0);
    collector.add(ForeignMemory {
        root: None,
        path: name.to_owned(),
        place: id.clone(),
        own_id: Some(id),
        kind: MemoryType::Semantic,
        scope: Scope::Global,
        project: None,
        by_person: false,
        pinned: false,
        created_at,
        updated_at: rows::time(item, &["updated_at"]).unwrap_or(created_at).max(created_at),
        confidence: None,
        metadata,
        relations: Vec::new(),
        flags: Vec::new(),
        content: rows::text(item, "memory").unwrap_or_default().to_owned(),
    });
}
