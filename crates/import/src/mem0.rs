//! mem0: a JSON export (`get_all`), or the local history database, in which every change of a memory
//! is an event. Its vector database is not read.

use crate::collector::Collector;
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::json::{self, Items};
use crate::rows::{self, Fields};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::ForeignMemory;
use loci_proto::memory::{MemoryType, Scope};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Fields of a document with memories.
const LISTS: [&str; 4] = ["results", "memories", "data", "items"];
/// Fields with the text, of mem0, `OpenMemory` and others.
const TEXTS: [&str; 4] = ["memory", "content", "text", "data"];
/// Fields that a memory has, and those that only serve mem0.
const KNOWN: [&str; 19] = [
    "id",
    "memory_id",
    "memory",
    "content",
    "text",
    "data",
    "user_id",
    "agent_id",
    "categories",
    "created_at",
    "updated_at",
    "hash",
    "score",
    "event",
    "is_deleted",
    "old_memory",
    "role",
    "state",
    "actor_id",
];

/// Reads an export or a history.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    if path.extension().is_some_and(|end| end == "json" || end == "jsonl") {
        return document(collector, path);
    }
    let name = collector.name_of(path);
    let store = ForeignStore::open(path)?;
    let events = store.rows("history")?;
    if collector.begin_file(path) {
        for event in events.iter().filter(|event| rows::id(event, "memory_id").is_none()) {
            let id = rows::id(event, "id").unwrap_or_default();
            collector.skip(&name, &id, "an event without the id of a memory");
        }
        for (id, item) in latest(&events) {
            if rows::is_set(&item, "is_deleted") || rows::text(&item, "event") == Some("DELETE") {
                collector.skip(&name, &id, "was deleted");
            } else {
                let memory = memory(&name, &item, Some(id.clone()));
                add(collector, memory, &item, &id);
            }
        }
    }
    Ok(())
}

fn document(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let Some(file) = collector.text_file(path) else { return Ok(()) };
    let Items { items, left_out } = json::items(&file.text, &LISTS).map_err(|error| {
        let message = format!("{} is not JSON: {error}", file.name);
        Failure::new(Code::Invalid, message).hint("Use what get_all() of mem0 returns")
    })?;
    collector.leave_out(&file, left_out);
    for item in items {
        let place = file.lines.place(&file.text, &item.bytes, true);
        let fields = match item.value(&file.text) {
            Value::Object(fields) => fields,
            Value::String(text) => Fields::from_iter([("memory".to_owned(), Value::from(text))]),
            _ => {
                collector.skip_item(&file, &item, "is neither an object nor a text");
                continue;
            }
        };
        if TEXTS.iter().all(|name| rows::text(&fields, name).is_none()) {
            collector.skip_item(&file, &item, "has no text");
            continue;
        }
        let id = rows::id(&fields, "id");
        let mut memory = memory(&file.name, &fields, id);
        if memory.own_id.is_none() {
            memory.place = format!("line {}", file.lines.at(item.bytes.start));
        }
        if memory.created_at == 0 {
            (memory.created_at, memory.updated_at) = (file.changed_at, file.changed_at);
        }
        add(collector, memory, &fields, &place);
    }
    Ok(())
}

/// Adds a memory with what else is known of it; `place` is where it is noted to be if something is left out.
fn add(collector: &mut Collector<'_>, mut memory: ForeignMemory, item: &Fields, place: &str) {
    if let Some(names) = rows::keep_rest(&mut memory.metadata, item, &KNOWN) {
        collector.skip(&memory.path, place, &format!("has too large fields: {names}"));
    }
    collector.add_from(memory, place);
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

fn memory(path: &str, item: &Fields, own_id: Option<String>) -> ForeignMemory {
    let mut metadata = Map::new();
    for field in ["user_id", "agent_id", "categories"] {
        if let Some(value) = item.get(field).filter(|value| !value.is_null()) {
            metadata.insert(field.to_owned(), value.clone());
        }
    }
    let created_at = rows::time(item, &["created_at"]).unwrap_or(0);
    let mut texts = TEXTS.iter().filter_map(|name| rows::text(item, name));
    ForeignMemory {
        root: None,
        path: path.to_owned(),
        place: own_id.clone().unwrap_or_default(),
        learned: None,
        own_id,
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
        content: texts.next().unwrap_or_default().to_owned(),
    }
}
