//! Files that `loci export --format markdown` has written, as the records that they are.
//!
//! A field is one line of JSON; a field that a person has edited may be any YAML in one line.

use crate::front_matter;
use loci_base::model::time::moment_of;
use serde_json::{Map, Value, json};

/// The line below which a file has links.
pub const LINKS: &str = "<!-- loci: links -->";
/// The field that says what a file is: `memory`, `project` or `erased`.
pub const MARK: &str = "loci";
/// What the file of the ids of erased memories is, and its field.
pub const ERASED: &str = "erased";
/// Fields that are times: in files as text, in milliseconds elsewhere.
pub const TIMES: [&str; 7] = [
    "created_at",
    "updated_at",
    "status_at",
    "confidence_at",
    "last_accessed",
    "boosted_at",
    "expires_at",
];
/// The records of one file.
#[derive(Debug, Default)]
pub(crate) struct FileRecords {
    pub group: Option<Value>,
    pub memory: Option<Value>,
    /// Variants, sources, relations and tombstones.
    pub others: Vec<Value>,
}

/// Returns the records of a file; `None` if loci has not written it.
pub(crate) fn read(text: &str) -> Option<FileRecords> {
    let (block, body) = text.strip_prefix("---\n")?.split_once("\n---\n")?;
    let mut fields = fields(block);
    let mark = fields.remove(MARK)?;
    for name in TIMES {
        let at = fields.get(name).and_then(Value::as_str).and_then(moment_of);
        if let Some(at) = at {
            fields.insert(name.to_owned(), Value::from(at.0));
        }
    }
    match mark.as_str()? {
        "project" => {
            let has_id = fields.contains_key("id");
            fields.insert("kind".to_owned(), Value::from("group"));
            let group = has_id.then_some(Value::Object(fields));
            Some(FileRecords { group, ..FileRecords::default() })
        }
        ERASED => {
            let erased = fields.get(ERASED).and_then(Value::as_array);
            let tombstone = |line: &Value| {
                let mut line = line.as_object().cloned().unwrap_or_default();
                line.insert("kind".to_owned(), Value::from("tombstone"));
                Value::Object(line)
            };
            let others = erased.into_iter().flatten().map(tombstone).collect();
            Some(FileRecords { others, ..FileRecords::default() })
        }
        "memory" => Some(memory(fields, body)),
        _ => None,
    }
}

fn fields(block: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    for line in block.lines() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let value = serde_json::from_str(value.trim()).ok().or_else(|| {
            // A person has edited it.
            front_matter::fields(line).remove(name)
        });
        if let Some(value) = value {
            fields.insert(name.to_owned(), value);
        }
    }
    fields
}

fn memory(mut fields: Map<String, Value>, body: &str) -> FileRecords {
    let id = fields.get("id").cloned().unwrap_or_default();
    let mut others = Vec::new();
    let mut list = |name: &str| match fields.remove(name) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let with = |item: Value, kind: &str, field: &str| {
        let mut object = item.as_object().cloned().unwrap_or_default();
        object.insert("kind".to_owned(), Value::from(kind));
        object.insert(field.to_owned(), id.clone());
        Value::Object(object)
    };
    others.extend(list("variants").into_iter().map(|item| with(item, "variant", "memory")));
    others.extend(
        list("sources")
            .into_iter()
            .map(|source| json!({"kind": "source", "memory": id, "source": source})),
    );
    others.extend(list("relations").into_iter().map(|item| with(item, "relation", "subject")));
    if !fields.contains_key("content") {
        let body = body.strip_prefix('\n').unwrap_or(body);
        let end = body.rfind(&format!("\n\n{LINKS}")).unwrap_or(body.len());
        fields.insert("content".to_owned(), Value::from(&body[..end]));
    }
    fields.insert("kind".to_owned(), Value::from("memory"));
    FileRecords { memory: Some(Value::Object(fields)), others, group: None }
}
