//! The knowledge graph of the reference server `server-memory`: JSON lines with entities and
//! relations. Each observation becomes a statement that begins with the name of its entity.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::json::{self, Items, Shape};
use crate::places::Places;
use crate::regular_file;
use crate::rows::{self, Fields, Record};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignRelation};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Configuration files of clients that may name the file of the graph.
const CLIENTS: [&str; 5] = [
    ".claude.json",
    ".config/Claude/claude_desktop_config.json",
    "Library/Application Support/Claude/claude_desktop_config.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
];
/// The file of the server's package.
const IN_PACKAGE: &str = "node_modules/@modelcontextprotocol/server-memory/dist";

const SHAPE: Shape =
    Shape { lists: &["entities", "relations"], texts: &["name", "entityName", "from", "to"] };
/// Fields of an observation with its text.
const OBSERVATION_TEXTS: [&str; 4] = ["content", "text", "observation", "contents"];
/// Fields of an observation with its time.
const TIMES: [&str; 4] = ["created_at", "createdAt", "timestamp", "date"];

/// Returns the files that clients' configurations name, and those in the caches of npx.
pub(crate) fn usual_paths(places: &Places) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for client in CLIENTS {
        let text = regular_file::read_text(&places.home.join(client)).unwrap_or_default();
        let config: Value = serde_json::from_str(&text).unwrap_or_default();
        named_files(&config, &places.home, &mut found);
    }
    let caches = fs::read_dir(places.home.join(".npm/_npx")).into_iter().flatten().flatten();
    for cache in caches {
        let folder = cache.path().join(IN_PACKAGE);
        found.extend(["memory.jsonl", "memory.json"].map(|name| folder.join(name)));
    }
    found
}

/// Finds every `MEMORY_FILE_PATH` of a configuration.
fn named_files(config: &Value, home: &Path, found: &mut Vec<PathBuf>) {
    match config {
        Value::Object(fields) => {
            if let Some(path) = rows::text(fields, "MEMORY_FILE_PATH") {
                let below =
                    ["~/", "$HOME/", "${HOME}/"].iter().find_map(|home| path.strip_prefix(home));
                found.push(below.map_or_else(|| PathBuf::from(path), |below| home.join(below)));
            }
            fields.values().for_each(|value| named_files(value, home, found));
        }
        Value::Array(items) => items.iter().for_each(|value| named_files(value, home, found)),
        _ => {}
    }
}

/// What a value of a graph is.
enum Kind {
    Entity,
    /// Observations of an entity that is elsewhere.
    Observations,
    Relation,
}

/// Reads a file of the graph: as the server writes it, or as `read_graph` returns it.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let Some(file) = collector.text_file(path) else { return Ok(()) };
    if file.text.trim().is_empty() {
        return Ok(());
    }
    let Items { items, left_out } = json::items(&file.text, SHAPE).map_err(|error| {
        Failure::new(Code::Invalid, format!("{} is not JSON: {error}", file.name))
            .hint("Name the memory.jsonl of server-memory")
    })?;
    collector.leave_out(&file, left_out);
    let (mut names, mut entities, mut related) = (HashSet::new(), Vec::new(), Vec::new());
    for item in &items {
        let Some(record) = collector.record(&file, item) else { continue };
        match kind_of(&item.list, &record) {
            Ok(Kind::Relation) => related.push(record),
            Ok(kind) => {
                names.extend(record.text("name").map(str::to_owned));
                entities.push((kind, record));
            }
            Err(reason) => collector.skip(&file.name, &record.place, reason),
        }
    }
    let mut relations: HashMap<String, Vec<ForeignRelation>> = HashMap::new();
    for mut record in related {
        let predicate = record.take_text(&["relationType", "relation_type", "relation"]);
        let ends = [record.take_text(&["from"]), record.take_text(&["to"]), predicate];
        let [Some(from), Some(to), Some(predicate)] = ends else {
            collector.skip(&file.name, &record.place, "a relation without its ends or type");
            continue;
        };
        if let Some(unknown) = [&from, &to].into_iter().find(|name| !names.contains(*name)) {
            let reason = format!("a relation to an unknown entity: {unknown}");
            collector.skip(&file.name, &record.place, &reason);
        }
        record.take_one_of("type", &["relation"]);
        collector.skip_rest(&file.name, record, "a relation");
        relations.entry(from).or_default().push(ForeignRelation { predicate, to, path: None });
    }
    for (kind, record) in entities {
        match kind {
            Kind::Entity => entity(collector, &file, record, &mut relations),
            _ => observations_alone(collector, &file, record),
        }
    }
    Ok(())
}

/// Returns what a record is, by its type, its list or its fields.
fn kind_of(list: &str, record: &Record) -> std::result::Result<Kind, &'static str> {
    let kind = record.text("type").filter(|kind| ["entity", "relation"].contains(kind));
    let has_name = record.text("name").is_some();
    let has_ends = ["from", "to"].iter().all(|name| record.fields.contains_key(*name));
    match (kind, list) {
        (Some("relation"), _) | (None, "relations") => Ok(Kind::Relation),
        (Some(_), _) | (None, "entities") if has_name => Ok(Kind::Entity),
        (Some(_), _) | (None, "entities") => Err("an entity without a name"),
        _ if has_ends => Ok(Kind::Relation),
        _ if record.text("entityName").is_some() => Ok(Kind::Observations),
        _ if has_name => Ok(Kind::Entity),
        _ => Err("is neither an entity nor a relation"),
    }
}

fn entity(
    collector: &mut Collector<'_>,
    file: &TextFile,
    mut record: Record,
    relations: &mut HashMap<String, Vec<ForeignRelation>>,
) {
    let name = record.take_text(&["name"]).unwrap_or_default();
    record.take_one_of("type", &["entity"]);
    let kind = record.take_text(&["entityType", "entity_type", "type"]);
    let kind = kind.unwrap_or_else(|| "entity".to_owned());
    let metadata = Fields::from_iter([
        ("name".to_owned(), Value::from(name.as_str())),
        ("entity_type".to_owned(), Value::from(kind.as_str())),
    ]);
    let observed = take_observations(&mut record);
    let place = record.place.clone();
    let memory = ForeignMemory {
        place: name.clone(),
        own_id: Some(name.clone()),
        kind: MemoryType::Entity,
        scope: Scope::Global,
        metadata,
        relations: relations.remove(&name).unwrap_or_default(),
        content: format!("{name} ({kind})"),
        ..memory_of(file, None)
    };
    collector.add_with(memory, record, "");
    observations(collector, file, (&name, &place), observed);
}

fn observations_alone(collector: &mut Collector<'_>, file: &TextFile, mut record: Record) {
    let name = record.take_text(&["entityName"]).unwrap_or_default();
    let observed = take_observations(&mut record);
    if observed.is_empty() {
        return collector.skip(&file.name, &record.place, "names an entity without observations");
    }
    observations(collector, file, (&name, &record.place), observed);
    collector.skip_rest(&file.name, record, "observations");
}

/// Takes observations: lists of texts and of objects with a text, one inside another or alone.
fn take_observations(record: &mut Record) -> Vec<Value> {
    let mut open: Vec<Value> = ["contents", "observations"]
        .iter()
        .filter_map(|name| record.fields.remove(*name))
        .collect();
    let mut found = Vec::new();
    while let Some(value) = open.pop() {
        match value {
            Value::Array(items) => open.extend(items.into_iter().rev()),
            Value::Null => {}
            value => found.push(value),
        }
    }
    found
}

fn observations(
    collector: &mut Collector<'_>,
    file: &TextFile,
    (name, place): (&str, &str),
    observed: Vec<Value>,
) {
    for value in observed {
        let mut record = Record { fields: Fields::new(), place: place.to_owned() };
        let text = match value {
            Value::String(text) => text,
            Value::Object(fields) => {
                record.fields = fields;
                let Some(text) = record.take_text(&OBSERVATION_TEXTS) else {
                    let reason =
                        format!("an observation without a text: {}", Value::from(record.fields));
                    collector.skip(&file.name, place, &reason);
                    continue;
                };
                text
            }
            other => other.to_string(),
        };
        let base = memory_of(file, None);
        let created_at = record.take(&TIMES, rows::time).unwrap_or(base.created_at);
        let memory = ForeignMemory {
            place: name.to_owned(),
            scope: Scope::Global,
            metadata: Fields::from_iter([("subject".to_owned(), Value::from(name))]),
            created_at,
            updated_at: base.updated_at.max(created_at),
            content: format!("{name}: {text}"),
            ..base
        };
        collector.add_with(memory, record, "");
    }
}
