//! Loomem: its memories ("chunks") as JSON: a list, an object with `chunks`, `entities` and `edges` (each may be missing), or one chunk per
//! line.

use crate::collector::{Collector, TextFile, memory_of};
use crate::error::Result;
use crate::json::{self, Items, Shape};
use crate::rows::{Fields, Record};
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

/// Fields of a chunk that an import resets, or that only Loomem uses.
const OWN: &str = "level is_latest importance access_count source_ids prompt_version supersedes_id root_memory_id consolidated chunk_ids last_accessed";
const SHAPE: Shape = Shape {
    lists: &["chunks", "entities", "edges"],
    texts: &["content", "canonical_name", "relation_type"],
};

/// Reads an export.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let Some(file) = collector.text_file(path) else { return Ok(()) };
    let Items { items, left_out } = json::items(&file.text, SHAPE).map_err(|error| {
        let message = format!("{} is not JSON of loomem: {error}", file.name);
        Failure::new(Code::Invalid, message).hint("Name a file with its chunks as JSON")
    })?;
    collector.leave_out(&file, left_out);
    let (mut entities, mut edges) = (Vec::new(), Vec::new());
    for item in items {
        let Some(record) = collector.record(&file, &item) else { continue };
        match item.list.as_str() {
            "entities" => entities.push(record),
            "edges" => edges.push(record),
            _ => chunk(collector, &file, record),
        }
    }
    let names: HashSet<String> =
        entities.iter().filter_map(|node| node.text("canonical_name").map(str::to_owned)).collect();
    let mut by_source: HashMap<String, Vec<ForeignRelation>> = HashMap::new();
    for mut edge in edges {
        let ends = ["source", "target", "relation_type"].map(|name| edge.take_text(&[name]));
        let [Some(source), Some(to), Some(predicate)] = ends else {
            collector.skip(&file.name, &edge.place, "an edge without its ends or type");
            continue;
        };
        if let Some(missing) = [&source, &to].into_iter().find(|end| !names.contains(*end)) {
            let reason = format!("relates {missing}, which is no entity of the file");
            collector.skip(&file.name, &edge.place, &reason);
        }
        by_source.entry(source).or_default().push(ForeignRelation { predicate, to, path: None });
        collector.skip_rest(&file.name, edge, "an edge");
    }
    for node in entities {
        entity(collector, &file, node, &mut by_source);
    }
    Ok(())
}

fn chunk(collector: &mut Collector<'_>, file: &TextFile, mut chunk: Record) {
    let Some(id) = chunk.take_id(&["id"]) else {
        return collector.skip(&file.name, &chunk.place, "a chunk without an id");
    };
    let is_replaced = chunk.fields.get("is_latest") == Some(&Value::Bool(false));
    if is_replaced || chunk.text("superseded_by").is_some() {
        return collector.skip(&file.name, &chunk.place, "was replaced");
    }
    let is_level_1 = chunk.fields.get("level").and_then(Value::as_i64) == Some(1);
    let base = memory_of(file, stream(&mut chunk, "stream"));
    let mut facts = Record { fields: chunk.take_object("extraction_meta"), place: String::new() };
    let category = facts.take(&["fact_type"], |kind| {
        CATEGORIES
            .iter()
            .find(|(name, _)| kind.as_str() == Some(name))
            .map(|(_, category)| *category)
    });
    let is_fact = category.is_some() || is_level_1;
    let is_date =
        |date: &Value| date.as_str().filter(|date| moment_of(date).is_some()).map(str::to_owned);
    let metadata = [
        ("category", category.map(str::to_owned)),
        ("subject", facts.take_text(&["subject"])),
        ("event_date", facts.take(&["event_date"], is_date)),
    ];
    let metadata = metadata
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))));
    if !facts.fields.is_empty() {
        chunk.fields.insert("extraction_meta".to_owned(), Value::Object(facts.fields));
    }
    let score = |score: &Value| Confidence::new(score.as_f64()?).ok();
    let mut memory = ForeignMemory {
        place: id.clone(),
        own_id: Some(id),
        kind: if is_fact { MemoryType::Semantic } else { MemoryType::Episodic },
        scope: if is_fact && base.project.is_none() { Scope::Global } else { Scope::Group },
        pinned: chunk.take(&["persistent"], Value::as_bool).unwrap_or(false),
        confidence: chunk.take(&["score"], score),
        metadata: metadata.collect(),
        content: chunk.take_text(&["content"]).unwrap_or_default(),
        ..base
    };
    chunk.date(&mut memory, &["timestamp", "created_at"]);
    collector.add_with(memory, chunk, OWN);
}

fn entity(
    collector: &mut Collector<'_>,
    file: &TextFile,
    mut node: Record,
    edges: &mut HashMap<String, Vec<ForeignRelation>>,
) {
    let Some(name) = node.take_text(&["canonical_name"]) else {
        return collector.skip(&file.name, &node.place, "an entity without a name");
    };
    let kind =
        node.take_text(&["entity_type"]).map_or("entity".to_owned(), |kind| kind.to_lowercase());
    let mut metadata = Fields::from_iter([
        ("name".to_owned(), Value::from(name.as_str())),
        ("entity_type".to_owned(), Value::from(kind.as_str())),
    ]);
    let aliases = node.take(&["aliases"], |aliases| aliases.is_array().then(|| aliases.clone()));
    metadata.extend(aliases.map(|aliases| ("aliases".to_owned(), aliases)));
    let base = memory_of(file, stream(&mut node, "stream_id"));
    let memory = ForeignMemory {
        place: name.clone(),
        kind: MemoryType::Entity,
        scope: if base.project.is_none() { Scope::Global } else { Scope::Group },
        metadata,
        relations: edges.remove(&name).unwrap_or_default(),
        content: format!("{name} ({kind})"),
        own_id: Some(name),
        ..base
    };
    collector.add_with(memory, node, OWN);
}

/// Takes the project of a stream.
fn stream(record: &mut Record, name: &str) -> Option<ForeignProject> {
    record.take_text(&[name]).filter(|stream| stream != DEFAULT_STREAM).map(ForeignProject::Named)
}
