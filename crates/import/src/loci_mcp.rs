//! The database of loci-mcp: tables `memories` and `entity_relations`.
//!
//! Its usual place is that of loci's own database, so the tables are looked at before they are read.

use crate::collector::Collector;
use crate::db::stores::ForeignStore;
use crate::error::Result;
use crate::places::Places;
use crate::rows::{self, Fields};
use loci_proto::error::{Code, Failure};
use loci_proto::foreign::{ForeignMemory, ForeignProject, ForeignRelation};
use loci_proto::memory::{Confidence, MemoryType, Scope};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

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
    let mut relations: HashMap<String, Vec<Fields>> = HashMap::new();
    for relation in store.rows("entity_relations")? {
        let subject = rows::text(&relation, "subject_id").unwrap_or_default().to_owned();
        relations.entry(subject).or_default().push(relation);
    }
    if !collector.begin_file(path) {
        return Ok(());
    }
    for row in store.rows("memories")? {
        let id = rows::id(&row, "id").unwrap_or_default();
        let related = relations.remove(&id).unwrap_or_default();
        memory(collector, &name, &row, &related);
    }
    for relation in relations.into_values().flatten() {
        let id = rows::id(&relation, "id").unwrap_or_default();
        collector.skip(&name, &id, "a relation of a memory that is not there");
    }
    Ok(())
}

fn memory(collector: &mut Collector<'_>, name: &str, row: &Fields, relations: &[Fields]) {
    let Some(id) = rows::id(row, "id") else {
        return collector.skip(name, "", "a memory without an id");
    };
    if let Some(by) = rows::text(row, "superseded_by") {
        let reason = if by == "forgotten" { "was forgotten" } else { "was replaced" };
        return collector.skip(name, &id, reason);
    }
    let Some(kind) = rows::text(row, "type").and_then(|kind| kind.parse::<MemoryType>().ok())
    else {
        return collector.skip(name, &id, "has an unknown type");
    };
    let related = relations.iter().filter_map(|relation| {
        let predicate = rows::text(relation, "predicate")?.to_owned();
        Some(ForeignRelation {
            predicate,
            to: rows::text(relation, "object_id")?.to_owned(),
            path: None,
        })
    });
    let group = rows::text(row, "source_group").filter(|group| *group != "default");
    let is_of_group = rows::text(row, "scope") == Some("group");
    let created_at = rows::time(row, &["created_at"]).unwrap_or(0);
    collector.add(ForeignMemory {
        root: None,
        path: name.to_owned(),
        place: id.clone(),
        kind,
        scope: if is_of_group { Scope::Group } else { Scope::Global },
        project: group.map(|group| ForeignProject::Named(group.to_owned())),
        by_person: false,
        pinned: false,
        created_at,
        updated_at: rows::time(row, &["updated_at"]).unwrap_or(created_at).max(created_at),
        confidence: row
            .get("confidence")
            .and_then(Value::as_f64)
            .and_then(|confidence| Confidence::new(confidence).ok()),
        metadata: rows::object(row, "metadata"),
        relations: related.collect(),
        content: rows::text(row, "content").unwrap_or_default().to_owned(),
        learned: None,
        own_id: Some(id),
    });
}
