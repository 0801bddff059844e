//! mem0: a JSON export (`get_all`), or the local history database, in which every change of a memory
//! is an event. Its vector database is not read.

use crate::collector::{Collector, memory_at};
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::json::{self, Items, Shape};
use crate::rows::{self, Fields, Record};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::ForeignMemory;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

/// Fields with the text, of mem0, `OpenMemory` and others.
const TEXTS: [&str; 4] = ["memory", "content", "text", "data"];
/// Fields of an event with the text after it.
const TEXTS_OF_EVENT: [&str; 5] = ["new_memory", "memory", "content", "text", "data"];
/// Fields that only serve mem0.
const OWN: &str = "event is_deleted role state";

/// Reads an export or a history.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    if path.extension().is_some_and(|end| end == "json" || end == "jsonl") {
        return document(collector, path);
    }
    let name = collector.name_of(path);
    let events = ForeignStore::open(path)?.rows("history")?;
    if collector.begin_file(path) {
        for (id, mut event) in latest(collector, &name, events) {
            if event.text("event") == Some("DELETE") || event.take_flag("is_deleted") {
                collector.skip(&name, &event.place, "was deleted");
            } else {
                add(collector, ForeignMemory { own_id: Some(id), ..memory_at(&name) }, event);
            }
        }
    }
    Ok(())
}

fn document(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let Some(file) = collector.text_file(path) else { return Ok(()) };
    let shape = Shape { lists: &[], texts: &TEXTS };
    let Items { items, left_out } = json::items(&file.text, shape).map_err(|error| {
        let message = format!("{} is not JSON: {error}", file.name);
        Failure::new(Code::Invalid, message).hint("Use what get_all() of mem0 returns")
    })?;
    collector.leave_out(&file, left_out);
    for item in items {
        let record = match item.value(&file.text) {
            Value::String(text) => {
                let fields = Fields::from_iter([("memory".to_owned(), Value::from(text))]);
                let place = file.lines.place(&file.text, &item.bytes, true);
                Some(Record { fields, place })
            }
            _ => collector.record(&file, &item),
        };
        let Some(mut record) = record else { continue };
        let base = ForeignMemory {
            own_id: record.take_id(&["id"]),
            place: format!("line {}", file.lines.at(item.bytes.start)),
            created_at: file.changed_at,
            ..memory_at(&file.name)
        };
        add(collector, base, record);
    }
    Ok(())
}

/// Returns the last event of each memory, with the time of its first.
fn latest(
    collector: &mut Collector<'_>,
    path: &str,
    events: Vec<Record>,
) -> BTreeMap<String, Record> {
    let mut found: BTreeMap<String, Record> = BTreeMap::new();
    for mut event in events {
        let Some(id) = event.take_id(&["memory_id"]) else {
            collector.skip(path, &event.place, "an event without the id of a memory");
            continue;
        };
        let fields = &mut event.fields;
        if let Some(at) = fields.get("created_at").cloned() {
            fields.entry("updated_at").or_insert(at);
        }
        if let Some(earlier) = found.get(&id) {
            collector.skip(path, &earlier.place, "was replaced by a later event");
            let is_time = |fields: &Fields| fields.get("created_at").and_then(rows::time).is_some();
            if is_time(&earlier.fields) && (is_time(fields) || !fields.contains_key("created_at")) {
                fields.insert("created_at".to_owned(), earlier.fields["created_at"].clone());
            }
            let text = fields.get("old_memory").and_then(Value::as_str);
            if text.is_some() && TEXTS_OF_EVENT.iter().any(|name| earlier.text(name) == text) {
                fields.remove("old_memory");
            }
        }
        found.insert(id, event);
    }
    found
}

fn add(collector: &mut Collector<'_>, mut memory: ForeignMemory, mut record: Record) {
    let Some(content) = record.take_text(&TEXTS_OF_EVENT) else {
        return collector.skip(&memory.path, &record.place, "has no text");
    };
    memory.content = content;
    if let Some(id) = &memory.own_id {
        memory.place.clone_from(id);
    }
    for field in ["user_id", "agent_id", "categories"] {
        if let Some(value) = record.fields.remove(field).filter(|value| !value.is_null()) {
            memory.metadata.insert(field.to_owned(), value);
        }
    }
    record.date(&mut memory, &["created_at"]);
    collector.add_with(memory, record, OWN);
}
