//! Loomem: its memories ("chunks") as JSON: a list, an object with `chunks`, `entities` and `edges` (each may be missing), or one chunk per
//! line.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::rows::{self, Fields};
use loci_base::model::time::moment_of;
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignProject, ForeignRelation};
use loci_proto::memory::{Confidence, MemoryType, Scope};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// The stream of what belongs to no project.
const DEFAULT_STREAM: &str = "__user_default__";
/// The categories of the types of facts.
const CATEGORIES: [(&str, &str); 3] =
    [("PreferenceOrDecision", "preference"), ("ProjectState", "project_state"), ("Fact", "fact")];

/// Fields that a chunk has as a memory, and those that start anew or only serve Loomem.
const KNOWN: [&str; 22] = [
    "id",
    "content",
    "stream",
    "level",
    "score",
    "timestamp",
    "created_at",
    "persistent",
    "is_latest",
    "superseded_by",
    "extraction_meta",
    "importance",
    "access_count",
    "source_ids",
    "prompt_version",
    "version",
    "supersedes_id",
    "root_memory_id",
    "consolidated",
    "chunk_ids",
    "embedding",
    "last_accessed",
];

/// Fields that an entity has as a memory, and those that only serve Loomem.
const KNOWN_OF_ENTITY: [&str; 6] =
    ["id", "canonical_name", "entity_type", "aliases", "stream_id", "chunk_ids"];

/// Reads an export.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let Some(file) = collector.text_file(path) else { return Ok(()) };
    let document = parse(collector, &file)?;
    let all = |name: &str| {
        let items = if document.is_array() && name == "chunks" {
            document.as_array()
        } else {
            document.get(name).and_then(Value::as_array)
        };
        items.into_iter().flatten()
    };
    let list = |name: &str| all(name).filter_map(Value::as_object);
    left_out(collector, &file, &document);
    for (number, chunk) in all("chunks").enumerate() {
        let place = format!("chunk {}", number + 1);
        match chunk.as_object() {
            Some(chunk) => self::chunk(collector, &file, &place, chunk),
            None => collector.skip(&file.name, &place, &format!("is no JSON object: {chunk}")),
        }
    }
    let edges: Vec<&Fields> = list("edges").collect();
    let names: HashSet<&str> =
        list("entities").filter_map(|node| rows::text(node, "canonical_name")).collect();
    for edge in &edges {
        let end = |name: &str| rows::text(edge, name).unwrap_or("nothing");
        let [source, target] = ["source", "target"].map(end);
        let missing = [source, target].into_iter().find(|end| !names.contains(*end));
        let reason = match (missing, rows::text(edge, "relation_type")) {
            (Some(missing), _) => format!("relates {missing}, which is no entity of the file"),
            (None, None) => "relates without a type".to_owned(),
            (None, Some(_)) => continue,
        };
        collector.skip(&file.name, &format!("{source} to {target}"), &reason);
    }
    let mut by_source: HashMap<&str, Vec<&Fields>> = HashMap::new();
    for edge in edges {
        if let Some(source) = rows::text(edge, "source") {
            by_source.entry(source).or_default().push(edge);
        }
    }
    for node in list("entities") {
        entity(collector, &file, node, &by_source);
    }
    Ok(())
}

/// Notes what of a document is no chunk, entity or edge.
fn left_out(collector: &mut Collector<'_>, file: &TextFile, document: &Value) {
    for (name, value) in document.as_object().into_iter().flatten() {
        match value {
            Value::Array(items) if ["chunks", "entities", "edges"].contains(&name.as_str()) => {
                for item in items.iter().filter(|item| name != "chunks" && !item.is_object()) {
                    collector.skip(&file.name, name, &format!("is no JSON object: {item}"));
                }
            }
            Value::Null => {}
            value => {
                collector.skip(&file.name, name, &format!("is a field of the document: {value}"));
            }
        }
    }
}

fn parse(collector: &mut Collector<'_>, file: &TextFile) -> Result<Value> {
    let whole = serde_json::from_str::<Value>(&file.text);
    if let Ok(document) = &whole
        && is_document(document)
    {
        return Ok(whole.unwrap_or_default());
    }
    let mut chunks = Vec::new();
    for (number, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty())
    {
        let reason = match serde_json::from_str::<Value>(line) {
            Ok(chunk) if chunk.is_object() => {
                chunks.push(chunk);
                continue;
            }
            Ok(_) => "is no JSON object".to_owned(),
            Err(error) => format!("is not JSON: {error}"),
        };
        if chunks.is_empty() {
            let reason = whole.map_or_else(|error| format!(": {error}"), |_| String::new());
            let message = format!("{} is not JSON of loomem{reason}", file.name);
            return Err(
                Failure::new(Code::Invalid, message).hint("Name a file with its chunks as JSON")
            );
        }
        collector.skip(&file.name, &format!("line {}", number + 1), &reason);
    }
    Ok(Value::from(chunks))
}

/// Returns true for a list of chunks, and for an object of lists; false for a single chunk.
fn is_document(value: &Value) -> bool {
    let has_list = |name| value.get(name).is_some_and(Value::is_array);
    value.is_array()
        || value.get("chunks").is_some()
        || (value.get("id").is_none() && (has_list("entities") || has_list("edges")))
}

fn chunk(collector: &mut Collector<'_>, file: &TextFile, place: &str, chunk: &Fields) {
    let Some(id) = rows::id(chunk, "id") else {
        return collector.skip(&file.name, place, "a chunk without an id");
    };
    let is_latest = chunk.get("is_latest").and_then(Value::as_bool).unwrap_or(true);
    if !is_latest || rows::text(chunk, "superseded_by").is_some() {
        return collector.skip(&file.name, &id, "was replaced");
    }
    let facts = rows::object(chunk, "extraction_meta");
    let category = rows::text(&facts, "fact_type")
        .and_then(|given| CATEGORIES.iter().find(|(name, _)| *name == given));
    let is_fact = category.is_some() || chunk.get("level").and_then(Value::as_i64) == Some(1);
    let project = stream(chunk, "stream");
    let created_at = rows::time(chunk, &["timestamp", "created_at"]);
    let base = memory_of(file, project);
    let created_at = created_at.unwrap_or(base.created_at);
    let mut metadata = Fields::new();
    if let Some((_, category)) = category {
        metadata.insert("category".to_owned(), Value::from(*category));
    }
    let event_date = rows::text(&facts, "event_date").filter(|date| moment_of(date).is_some());
    for (field, value) in [("subject", rows::text(&facts, "subject")), ("event_date", event_date)] {
        if let Some(value) = value {
            metadata.insert(field.to_owned(), Value::from(value));
        }
    }
    if let Some(names) = rows::keep_rest(&mut metadata, chunk, &KNOWN) {
        collector.skip(&file.name, &id, &format!("has too large fields: {names}"));
    }
    collector.add(ForeignMemory {
        place: id.clone(),
        own_id: Some(id),
        kind: if is_fact { MemoryType::Semantic } else { MemoryType::Episodic },
        scope: if is_fact && base.project.is_none() { Scope::Global } else { Scope::Group },
        created_at,
        updated_at: created_at,
        pinned: rows::is_set(chunk, "persistent"),
        confidence: chunk
            .get("score")
            .and_then(Value::as_f64)
            .and_then(|score| Confidence::new(score).ok()),
        metadata,
        content: rows::text(chunk, "content").unwrap_or_default().to_owned(),
        ..base
    });
}

fn entity(
    collector: &mut Collector<'_>,
    file: &TextFile,
    node: &Fields,
    edges: &HashMap<&str, Vec<&Fields>>,
) {
    let Some(name) = rows::text(node, "canonical_name") else {
        return collector.skip(&file.name, "", "an entity without a name");
    };
    let kind = rows::text(node, "entity_type").unwrap_or("entity").to_lowercase();
    let mut metadata = Fields::new();
    metadata.insert("name".to_owned(), Value::from(name));
    metadata.insert("entity_type".to_owned(), Value::from(kind.as_str()));
    if let Some(aliases) = node.get("aliases").filter(|aliases| aliases.is_array()) {
        metadata.insert("aliases".to_owned(), aliases.clone());
    }
    if let Some(names) = rows::keep_rest(&mut metadata, node, &KNOWN_OF_ENTITY) {
        collector.skip(&file.name, name, &format!("has too large fields: {names}"));
    }
    let related = edges.get(name).into_iter().flatten().filter_map(|edge| {
        let predicate = rows::text(edge, "relation_type")?.to_owned();
        Some(ForeignRelation { predicate, to: rows::text(edge, "target")?.to_owned(), path: None })
    });
    let base = memory_of(file, stream(node, "stream_id"));
    collector.add(ForeignMemory {
        place: name.to_owned(),
        own_id: Some(name.to_owned()),
        kind: MemoryType::Entity,
        scope: if base.project.is_none() { Scope::Global } else { Scope::Group },
        metadata,
        relations: related.collect(),
        content: format!("{name} ({kind})"),
        ..base
    });
}

/// Returns the project of a stream.
fn stream(fields: &Fields, name: &str) -> Option<ForeignProject> {
    let stream = rows::text(fields, name).filter(|stream| *stream != DEFAULT_STREAM)?;
    Some(ForeignProject::Named(stream.to_owned()))
}
