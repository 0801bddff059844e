//! The database of loci-mcp: tables `memories` and `entity_relations`.
//!
//! Its usual place is that of loci's own database, so the tables are looked at before they are read.

use crate::collector::{Collector, memory_at};
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::places::Places;
use crate::rows::Record;
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignProject, ForeignRelation};
use loci_proto::memory::{Confidence, MemoryType, Scope};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Fields that only serve loci-mcp.
const OWN: &str = "last_accessed";

/// Returns the usual database, unless it is loci's own.
pub(crate) fn usual_paths(places: &Places) -> Vec<PathBuf> {
    let path = places.home.join(".loci/memory.db");
    if is_of_loci_mcp(&path) { vec![path] } else { Vec::new() }
}

fn is_of_loci_mcp(path: &Path) -> bool {
    path.is_file()
        && ForeignStore::open(path).is_ok_and(|store| {
            store.has_table("schema_meta").unwrap_or(false)
                && store.has_table("entity_relations").unwrap_or(false)
                && !store.has_table("vector_sets").unwrap_or(true)
        })
}

/// Reads a database.
pub(crate) fn read(collector: &mut Collector<'_>, path: &Path) -> Result<()> {
    let name = collector.name_of(path);
    if !is_of_loci_mcp(path) {
        let message = format!("{name} is not a database of loci-mcp");
        return Err(Failure::new(Code::Invalid, message)
            .hint("A backup of loci itself is restored with loci backup restore"));
    }
    let store = ForeignStore::open(path)?;
    let (rows, all) = (store.rows("memories")?, store.rows("entity_relations")?);
    if !collector.begin_file(path) {
        return Ok(());
    }
    let mut relations: HashMap<String, Vec<(String, ForeignRelation)>> = HashMap::new();
    for mut row in all {
        let place = row.place.clone();
        let [subject, predicate, to] =
            ["subject_id", "predicate", "object_id"].map(|name| row.take_id(&[name]));
        if let (Some(subject), Some(predicate), Some(to)) = (subject, predicate, to) {
            let relation = ForeignRelation { predicate, to, path: None };
            relations.entry(subject).or_default().push((place, relation));
            collector.skip_rest(&name, row, "a relation");
        } else {
            collector.skip(&name, &place, "a relation without its ends or type");
        }
    }
    for row in rows {
        memory(collector, &name, row, &mut relations);
    }
    for (place, _) in relations.into_values().flatten() {
        collector.skip(&name, &place, "a relation of a memory that is not there");
    }
    Ok(())
}

fn memory(
    collector: &mut Collector<'_>,
    name: &str,
    mut row: Record,
    relations: &mut HashMap<String, Vec<(String, ForeignRelation)>>,
) {
    let Some(id) = row.take_id(&["id"]) else {
        return collector.skip(name, &row.place, "a memory without an id");
    };
    if let Some(by) = row.text("superseded_by") {
        let reason = if by == "forgotten" { "was forgotten" } else { "was replaced" };
        return collector.skip(name, &row.place, reason);
    }
    let Some(kind) = row.take(&["type"], |kind| kind.as_str()?.parse::<MemoryType>().ok()) else {
        return collector.skip(name, &row.place, "has an unknown type");
    };
    let group = row.take_text(&["source_group"]).filter(|group| group != "default");
    let is_of_group = row.take_one_of("scope", &["group", "global"]).as_deref() == Some("group");
    let confidence = |value: &Value| Confidence::new(value.as_f64()?).ok();
    let related = relations.remove(&id).into_iter().flatten();
    let mut memory = ForeignMemory {
        place: id.clone(),
        kind,
        scope: if is_of_group { Scope::Group } else { Scope::Global },
        project: group.map(ForeignProject::Named),
        confidence: row.take(&["confidence"], confidence),
        metadata: row.take_object("metadata"),
        relations: related.map(|(_, relation)| relation).collect(),
        content: row.take_text(&["content"]).unwrap_or_default(),
        own_id: Some(id),
        ..memory_at(name)
    };
    row.date(&mut memory, &["created_at"]);
    collector.add_with(memory, row, OWN);
}
