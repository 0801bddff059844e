//! Writes what is imported as the lines of an export.

use crate::commands::transfer::import::plan::{Change, Plan, Planned, Standing};
use crate::commands::transfer::import::projects::Projects;
use loci_proto::foreign::IMPORTED;
use loci_proto::memory::{MemoryId, MemoryType, Scope};
use loci_proto::requests::export::FORMAT_VERSION;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};

/// Returns the lines of a plan.
pub(super) fn of_plan(plan: &Plan, projects: &Projects) -> Vec<u8> {
    let written: Vec<&Planned> = plan
        .planned
        .iter()
        .filter(|planned| matches!(planned.change, Change::New | Change::Changed(_)))
        .collect();
    let mut groups: BTreeMap<&str, i64> = BTreeMap::new();
    for Planned { group, memory, .. } in &written {
        let oldest = groups.entry(group).or_insert(memory.created_at);
        *oldest = memory.created_at.min(*oldest);
    }
    let mut records: Vec<Value> = groups
        .iter()
        .map(|(id, created_at)| {
            let name = projects.names.get(*id).map_or(*id, String::as_str);
            json!({"kind": "group", "id": id, "name": name, "created_at": created_at})
        })
        .collect();
    let now = now();
    records.extend(written.iter().map(|planned| memory(planned, projects, now)));
    records.extend(relations(plan));
    of_records(&records)
}

/// Returns records as a file.
pub(super) fn of_records(records: &[Value]) -> Vec<u8> {
    let mut text = json!({"loci": "export", "version": FORMAT_VERSION}).to_string();
    for record in records {
        text.push('\n');
        text.push_str(&record.to_string());
    }
    let end = json!({"kind": "end", "lines": records.len() + 1});
    format!("{text}\n{end}\n").into_bytes()
}

/// Returns the time in milliseconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or_default()
}

fn memory(planned: &Planned, projects: &Projects, now: i64) -> Value {
    let Planned { memory, origin, change, .. } = planned;
    let mut fields = match change {
        Change::Changed(old) => changed(old, planned),
        Change::New | Change::Unchanged | Change::Kept(_) => added(planned, projects, now),
    };
    let mut metadata = match fields.remove("metadata") {
        Some(Value::Object(metadata)) => metadata,
        _ => Map::new(),
    };
    metadata.extend(memory.metadata.clone());
    metadata.insert(IMPORTED.to_owned(), json!(origin));
    fields.insert("metadata".to_owned(), Value::Object(metadata));
    fields.insert("content".to_owned(), Value::from(memory.content.as_str()));
    if planned.standing.is_trusted() {
        fields.insert("trust".to_owned(), Value::from("person"));
    }
    Value::Object(fields)
}

/// Returns the line of a new memory without its text. It begins to fade now.
fn added(planned: &Planned, projects: &Projects, now: i64) -> Map<String, Value> {
    let Planned { id, memory, group, .. } = planned;
    let is_of_project = projects.is_forced() || planned.standing == Standing::Confirmed;
    let scope = if is_of_project { Scope::Group } else { memory.scope };
    let created_at = if memory.created_at == 0 { now } else { memory.created_at };
    let line = json!({
        "kind": "memory", "id": id, "type": memory.kind, "scope": scope, "group": group,
        "status": "active", "status_at": created_at, "pinned": memory.pinned,
        "confidence": memory.confidence.map_or(1.0, loci_proto::memory::Confidence::get),
        "confidence_at": now,
        "created_at": created_at, "updated_at": memory.updated_at.max(created_at),
    });
    line.as_object().cloned().unwrap_or_default()
}

/// Returns the stored line of a memory whose text is new: later than anything that is stored, so that it is taken.
fn changed(old: &Map<String, Value>, planned: &Planned) -> Map<String, Value> {
    let mut fields = old.clone();
    for name in ["origin", "trust", "flags", "echo", "event_date_derived"] {
        fields.remove(name);
    }
    let stored_at = old.get("updated_at").and_then(Value::as_i64).unwrap_or_default();
    let updated_at = planned.memory.updated_at.max(stored_at + 1);
    fields.insert("updated_at".to_owned(), Value::from(updated_at));
    fields
}

/// Returns the relations whose entities are both imported or stored.
fn relations(plan: &Plan) -> Vec<Value> {
    let ids = plan.ids();
    let left_out: HashSet<&MemoryId> = plan
        .planned
        .iter()
        .filter(|planned| {
            matches!(planned.change, Change::Kept(_)) || planned.memory.kind != MemoryType::Entity
        })
        .map(|planned| &planned.id)
        .collect();
    let mut found = Vec::new();
    for planned in plan.planned.iter().filter(|planned| !left_out.contains(&planned.id)) {
        for relation in &planned.memory.relations {
            let path = relation.path.as_deref().unwrap_or(&planned.memory.path);
            let key = (path, relation.to.as_str());
            let Some(object) = ids.get(&key).filter(|object| !left_out.contains(**object)) else {
                continue;
            };
            if **object != planned.id {
                found.push(json!({
                    "kind": "relation", "id": relation_id(&planned.id, &relation.predicate, object),
                    "subject": planned.id, "predicate": relation.predicate, "object": object,
                    "confidence": 1.0, "created_at": planned.memory.created_at,
                }));
            }
        }
    }
    found
}

fn relation_id(subject: &MemoryId, predicate: &str, object: &MemoryId) -> String {
    let text = format!("{subject} {predicate} {object}");
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&Sha256::digest(text.as_bytes())[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid().to_string()
}
