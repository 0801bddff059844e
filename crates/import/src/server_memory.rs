//! The knowledge graph of the reference server `server-memory`: JSON lines with entities and
//! relations. Each observation becomes a statement that begins with the name of its entity.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::json::{self, Item, Items};
use crate::places::Places;
use crate::regular_file;
use crate::rows::{self, Fields};
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

/// Fields of a document with parts of the graph.
const LISTS: [&str; 5] = ["entities", "relations", "graph", "result", "data"];
/// Fields that an entity has as a memory.
const KNOWN: [&str; 7] =
    ["type", "name", "entityType", "entity_type", "observations", "contents", "entityName"];
/// Fields of a relation.
const KNOWN_OF_RELATION: [&str; 6] =
    ["type", "from", "to", "relationType", "relation_type", "relation"];
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
enum Record {
    Entity(Fields),
    /// Observations of an entity that is elsewhere.
    Observations(Fields),
    Relation(Fields),
}

/// Reads a file of the graph: as the server writes it, or as `read_graph` returns it.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let Some(file) = collector.text_file(path) else { return Ok(()) };
    if file.text.trim().is_empty() {
        return Ok(());
    }
    let Items { items, left_out } = json::items(&file.text, &LISTS).map_err(|error| {
        Failure::new(Code::Invalid, format!("{} is not JSON: {error}", file.name))
            .hint("Name the memory.jsonl of server-memory")
    })?;
    collector.leave_out(&file, left_out);
    let mut relations: HashMap<String, Vec<ForeignRelation>> = HashMap::new();
    let (mut names, mut related) = (HashSet::new(), Vec::new());
    for item in &items {
        match record(&file, item) {
            Ok(Record::Entity(fields)) => names.extend(name_of(&fields).map(str::to_owned)),
            Ok(Record::Relation(fields)) => match relation(&fields) {
                Some((from, relation)) => {
                    if fields.keys().any(|name| !KNOWN_OF_RELATION.contains(&name.as_str())) {
                        collector.skip_item(&file, item, "further fields of a relation");
                    }
                    related.push((item, from, relation));
                }
                None => collector.skip_item(&file, item, "a relation without its ends or type"),
            },
            Ok(Record::Observations(_)) => {}
            Err(reason) => collector.skip_item(&file, item, reason),
        }
    }
    for (item, from, relation) in related {
        if let Some(unknown) = [&from, &relation.to].into_iter().find(|name| !names.contains(*name))
        {
            let reason = format!("a relation to an unknown entity: {unknown}");
            collector.skip_item(&file, item, &reason);
        }
        relations.entry(from).or_default().push(relation);
    }
    for item in &items {
        match record(&file, item) {
            Ok(Record::Entity(fields)) => {
                let of_entity = name_of(&fields).and_then(|name| relations.remove(name));
                entity(collector, &file, (item, &fields), of_entity.unwrap_or_default());
            }
            Ok(Record::Observations(fields)) => observations(collector, &file, (item, &fields)),
            _ => {}
        }
    }
    Ok(())
}

/// Returns what an item is, by its type, its list or its fields.
fn record(file: &TextFile, item: &Item) -> std::result::Result<Record, &'static str> {
    let fields = item.fields(&file.text).ok_or("is no JSON object")?;
    let kind = rows::text(&fields, "type").filter(|kind| ["entity", "relation"].contains(kind));
    let has_ends = fields.contains_key("from") && fields.contains_key("to");
    match (kind, item.list.as_str()) {
        (Some("relation"), _) | (None, "relations") => Ok(Record::Relation(fields)),
        (Some(_), _) | (None, "entities") => match name_of(&fields) {
            Some(_) => Ok(Record::Entity(fields)),
            None => Err("an entity without a name"),
        },
        _ if has_ends => Ok(Record::Relation(fields)),
        _ if rows::text(&fields, "entityName").is_some() => Ok(Record::Observations(fields)),
        _ if name_of(&fields).is_some() => Ok(Record::Entity(fields)),
        _ => Err("is neither an entity nor a relation"),
    }
}

fn name_of(fields: &Fields) -> Option<&str> {
    rows::text(fields, "name")
}

fn relation(fields: &Fields) -> Option<(String, ForeignRelation)> {
    let predicate = ["relationType", "relation_type", "relation"]
        .iter()
        .find_map(|name| rows::text(fields, name))?
        .to_owned();
    let to = rows::text(fields, "to")?.to_owned();
    Some((rows::text(fields, "from")?.to_owned(), ForeignRelation { predicate, to, path: None }))
}

fn entity(
    collector: &mut Collector<'_>,
    file: &TextFile,
    (item, fields): (&Item, &Fields),
    relations: Vec<ForeignRelation>,
) {
    let name = name_of(fields).unwrap_or_default();
    let base = ForeignMemory { scope: Scope::Global, ..memory_of(file, None) };
    let kind = ["entityType", "entity_type"].iter().find_map(|name| rows::text(fields, name));
    let kind = kind.unwrap_or("entity");
    let mut metadata = Fields::new();
    metadata.insert("name".to_owned(), Value::from(name));
    metadata.insert("entity_type".to_owned(), Value::from(kind));
    if let Some(names) = rows::keep_rest(&mut metadata, fields, &KNOWN) {
        collector.skip_item(file, item, &format!("has too large fields: {names}"));
    }
    collector.add(ForeignMemory {
        place: name.to_owned(),
        own_id: Some(name.to_owned()),
        kind: MemoryType::Entity,
        metadata,
        relations,
        content: format!("{name} ({kind})"),
        ..base
    });
    observations(collector, file, (item, fields));
}

/// Adds the observations of an entity: texts, or objects with a text.
fn observations(collector: &mut Collector<'_>, file: &TextFile, (item, fields): (&Item, &Fields)) {
    let name = name_of(fields).or_else(|| rows::text(fields, "entityName")).unwrap_or_default();
    let base = ForeignMemory { scope: Scope::Global, ..memory_of(file, None) };
    let place = file.lines.place(&file.text, &item.bytes, true);
    let lists = ["observations", "contents"].iter().filter_map(|name| fields.get(*name));
    let all = lists.flat_map(|list| match list {
        Value::Array(items) => items.as_slice(),
        other => std::slice::from_ref(other),
    });
    for observation in all {
        let mut metadata = Fields::from_iter([("subject".to_owned(), Value::from(name))]);
        let (text, at) = match observation {
            Value::String(text) => (text.clone(), None),
            Value::Null => continue,
            Value::Object(object) => {
                let text = OBSERVATION_TEXTS.iter().find_map(|name| rows::text(object, name));
                let Some(text) = text else {
                    let reason = format!("an observation without a text: {observation}");
                    collector.skip(&file.name, &place, &reason);
                    continue;
                };
                let known = [OBSERVATION_TEXTS.as_slice(), &TIMES].concat();
                if let Some(names) = rows::keep_rest(&mut metadata, object, &known) {
                    collector.skip_item(file, item, &format!("has too large fields: {names}"));
                }
                (text.to_owned(), rows::time(object, &TIMES))
            }
            other => (other.to_string(), None),
        };
        let created_at = at.unwrap_or(base.created_at);
        let memory = ForeignMemory {
            place: name.to_owned(),
            metadata,
            created_at,
            updated_at: base.updated_at.max(created_at),
            content: format!("{name}: {text}"),
            ..base.clone()
        };
        collector.add_from(memory, &place);
    }
}
