//! The knowledge graph of the reference server `server-memory`: JSON lines with entities and
//! relations. Each observation becomes a statement that begins with the name of its entity.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::places::Places;
use crate::regular_file;
use crate::rows::{self, Fields};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignRelation};
use loci_proto::memory::{MemoryType, Scope};
use serde_json::{Value, json};
use std::collections::HashSet;
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

/// Returns the files that clients' configurations name, and those in the caches of npx.
pub(crate) fn usual_paths(places: &Places) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for client in CLIENTS {
        let text = regular_file::read_text(&places.home.join(client)).unwrap_or_default();
        let config: Value = serde_json::from_str(&text).unwrap_or_default();
        named_files(&config, &mut found);
    }
    let caches = fs::read_dir(places.home.join(".npm/_npx")).into_iter().flatten().flatten();
    for cache in caches {
        let folder = cache.path().join(IN_PACKAGE);
        found.extend(["memory.jsonl", "memory.json"].map(|name| folder.join(name)));
    }
    found
}

/// Finds every `MEMORY_FILE_PATH` of a configuration.
fn named_files(config: &Value, found: &mut Vec<PathBuf>) {
    match config {
        Value::Object(fields) => {
            if let Some(path) = rows::text(fields, "MEMORY_FILE_PATH") {
                found.push(PathBuf::from(path));
            }
            fields.values().for_each(|value| named_files(value, found));
        }
        Value::Array(items) => items.iter().for_each(|value| named_files(value, found)),
        _ => {}
    }
}

/// Reads a file of the graph.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let Some(file) = collector.text_file(path) else { return Ok(()) };
    let mut lines: Vec<Fields> = Vec::new();
    for (number, line) in file.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty())
    {
        match serde_json::from_str(line) {
            Ok(fields) => lines.push(fields),
            Err(_) if lines.is_empty() => {
                let message = format!("line {} of {} is not JSON", number + 1, file.name);
                return Err(Failure::new(Code::Invalid, message)
                    .hint("Name the memory.jsonl of server-memory"));
            }
            Err(_) => collector.skip(&file.name, &format!("line {}", number + 1), "is not JSON"),
        }
    }
    let relations: Vec<&Fields> =
        lines.iter().filter(|line| rows::text(line, "type") == Some("relation")).collect();
    let is_entity = |line: &&Fields| rows::text(line, "type") == Some("entity");
    let names: HashSet<&str> =
        lines.iter().filter(is_entity).filter_map(|line| rows::text(line, "name")).collect();
    for relation in &relations {
        let field = |name: &str| rows::text(relation, name).unwrap_or_default();
        let (from, predicate, to) = (field("from"), field("relationType"), field("to"));
        if let Some(unknown) = [from, to].into_iter().find(|name| !names.contains(name)) {
            let reason = format!("a relation to an unknown entity: {unknown}");
            collector.skip(&file.name, &format!("{from} {predicate} {to}"), &reason);
        }
    }
    for line in &lines {
        if rows::text(line, "type") == Some("entity") {
            entity(collector, &file, line, &relations);
        }
    }
    Ok(())
}

fn entity(collector: &mut Collector<'_>, file: &TextFile, line: &Fields, relations: &[&Fields]) {
    let Some(name) = rows::text(line, "name") else {
        return collector.skip(&file.name, "", "an entity without a name");
    };
    let base = ForeignMemory { scope: Scope::Global, ..memory_of(file, None) };
    let kind = rows::text(line, "entityType").unwrap_or("entity");
    let mut metadata = Fields::new();
    metadata.insert("name".to_owned(), Value::from(name));
    metadata.insert("entity_type".to_owned(), Value::from(kind));
    let of_entity = relations.iter().filter(|relation| rows::text(relation, "from") == Some(name));
    let related = of_entity.filter_map(|relation| {
        let predicate = rows::text(relation, "relationType")?.to_owned();
        Some(ForeignRelation { predicate, to: rows::text(relation, "to")?.to_owned(), path: None })
    });
    collector.add(ForeignMemory {
        place: name.to_owned(),
        own_id: Some(name.to_owned()),
        kind: MemoryType::Entity,
        metadata,
        relations: related.collect(),
        content: format!("{name} ({kind})"),
        ..base.clone()
    });
    let observations = line.get("observations").and_then(Value::as_array);
    for observation in observations.into_iter().flatten().filter_map(Value::as_str) {
        let metadata = json!({"subject": name}).as_object().cloned().unwrap_or_default();
        collector.add(ForeignMemory {
            place: name.to_owned(),
            metadata,
            content: format!("{name}: {observation}"),
            ..base.clone()
        });
    }
}
