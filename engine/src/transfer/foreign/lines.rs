//! Writes what is imported as the lines of an export.

use crate::error::{Error, Result};
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::transfer::foreign::projects::{Projects, UNASSIGNED};
use crate::transfer::foreign::reconcile::{Change, Plan, Planned};
use crate::transfer::record::{EndLine, GroupLine, Header, MemoryLine, Record, RelationLine};
use loci_proto::error::Failure;
use loci_proto::foreign::{IMPORTED, Learned};
use loci_proto::memory::{Confidence, MemoryId, MemoryType, Scope, Trust};
use loci_proto::requests::export::FORMAT_VERSION;
use loci_proto::requests::import::Standing;
use serde::Serialize;
use serde_json::{Map, json};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Returns the lines of a plan, and the position in the plan of each line of a memory.
pub(super) fn of_plan(
    plan: &Plan,
    projects: &Projects<'_>,
    now: Timestamp,
) -> Result<(Vec<u8>, HashMap<usize, usize>)> {
    let written: Vec<(usize, &Planned)> = plan
        .planned
        .iter()
        .enumerate()
        .filter_map(|(at, planned)| planned.as_ref().map(|planned| (at, planned)))
        .filter(|(_, planned)| matches!(planned.change, Change::New | Change::Changed(_)))
        .collect();
    let mut groups: BTreeMap<&str, i64> = BTreeMap::new();
    for (_, planned) in &written {
        let created_at = created_at(planned, now);
        let oldest = groups.entry(&planned.group).or_insert(created_at);
        *oldest = created_at.min(*oldest);
    }
    let mut lines = Lines { bytes: Vec::new(), count: 0 };
    lines.add(&Header { loci: "export".to_owned(), version: FORMAT_VERSION, vectors: None })?;
    for (id, created_at) in groups {
        let name = projects.names.get(id).map_or(id, String::as_str).to_owned();
        lines.add(&Record::Group(GroupLine {
            id: id.to_owned(),
            name,
            created_at,
            aliases: Vec::new(),
            isolated: false,
        }))?;
    }
    let mut positions = HashMap::new();
    for (at, planned) in written {
        let line = memory(planned, projects, now);
        let client = line.client.clone().or_else(|| plan.client.clone());
        lines.add(&Record::Memory(Box::new(MemoryLine { client, ..line })))?;
        positions.insert(lines.count, at);
    }
    for relation in relations(plan) {
        lines.add(&Record::Relation(relation))?;
    }
    let end = EndLine { lines: lines.count, left_out: 0 };
    lines.add(&Record::End(end))?;
    Ok((lines.bytes, positions))
}

/// Lines as they are written.
struct Lines {
    bytes: Vec<u8>,
    count: usize,
}

impl Lines {
    fn add(&mut self, line: &impl Serialize) -> Result<()> {
        serde_json::to_writer(&mut self.bytes, line).map_err(|error| {
            Error::from(Failure::invalid("the lines", format!("cannot be written: {error}")))
        })?;
        self.bytes.push(b'\n');
        self.count += 1;
        Ok(())
    }
}

fn created_at(planned: &Planned, now: Timestamp) -> i64 {
    let of_source = planned.memory.created_at;
    if of_source == 0 { now.0 } else { of_source }
}

fn memory(planned: &Planned, projects: &Projects<'_>, now: Timestamp) -> MemoryLine {
    let mut line = match &planned.change {
        Change::Changed(old) => changed(old, planned, projects),
        _ => added(planned, projects, now),
    };
    line.metadata.extend(planned.memory.metadata.clone());
    if let Some(origin) = &planned.origin {
        line.metadata.insert(IMPORTED.to_owned(), json!(origin));
    }
    line.content.clone_from(&planned.memory.content);
    if planned.standing.is_trusted() {
        line.trust = Some(Trust::Person.as_str().to_owned());
    }
    line
}

fn scope(planned: &Planned, projects: &Projects<'_>) -> Scope {
    let is_of_project = projects.is_forced()
        || planned.standing == Standing::Confirmed
        || planned.memory.learned.is_some();
    if is_of_project { Scope::Group } else { planned.memory.scope }
}

/// Returns the line of a new memory without its text. It begins to fade now, a finding with its session.
fn added(planned: &Planned, projects: &Projects<'_>, now: Timestamp) -> MemoryLine {
    let Planned { id, memory, group, .. } = planned;
    let learned = memory.learned.as_ref();
    let created_at = created_at(planned, now);
    let status = if learned.is_some() { Status::Candidate } else { Status::Active };
    let of_client = |field: fn(&Learned) -> &String| learned.map(|learned| field(learned).clone());
    MemoryLine {
        id: id.clone(),
        kind: memory.kind,
        scope: scope(planned, projects),
        group: Some(group.clone()),
        status: status.as_str().to_owned(),
        status_at: created_at,
        superseded_by: None,
        forgotten_reason: None,
        confidence: memory.confidence.unwrap_or(Confidence::FULL),
        confidence_at: if learned.is_some() { created_at } else { now.0 },
        pinned: memory.pinned,
        access_count: 0,
        last_accessed: None,
        boosted_at: None,
        importance: None,
        created_at,
        updated_at: memory.updated_at.max(created_at),
        expires_at: None,
        origin: None,
        client: of_client(|learned| &learned.client),
        session: of_client(|learned| &learned.session),
        trust: None,
        flags: Vec::new(),
        echo: false,
        branch: None,
        commit: None,
        event_date_derived: None,
        metadata: Map::new(),
        content: String::new(),
    }
}

/// Returns the stored line of a memory whose text is new: later than anything that is stored, so that it is taken.
fn changed(old: &MemoryLine, planned: &Planned, projects: &Projects<'_>) -> MemoryLine {
    let is_assigned = old.group.as_deref() == Some(UNASSIGNED);
    let scope = if is_assigned { scope(planned, projects) } else { old.scope };
    let group = if is_assigned { Some(planned.group.clone()) } else { old.group.clone() };
    MemoryLine {
        scope,
        group,
        origin: None,
        trust: None,
        flags: Vec::new(),
        echo: false,
        event_date_derived: None,
        updated_at: planned.memory.updated_at.max(old.updated_at + 1),
        ..old.clone()
    }
}

/// Returns the relations whose entities are both imported or stored.
fn relations(plan: &Plan) -> Vec<RelationLine> {
    let ids = plan.ids();
    let is_left_out = |planned: &&Planned| {
        matches!(planned.change, Change::LeftOut(_)) || planned.memory.kind != MemoryType::Entity
    };
    let all = || plan.planned.iter().flatten();
    let left_out: HashSet<&MemoryId> =
        all().filter(is_left_out).map(|planned| &planned.id).collect();
    let mut found = Vec::new();
    for planned in all().filter(|planned| !left_out.contains(&planned.id)) {
        for relation in &planned.memory.relations {
            let path = relation.path.as_deref().unwrap_or(&planned.memory.path);
            let object = ids.get(&(path, relation.to.as_str())).copied();
            let Some(object) = object.filter(|object| !left_out.contains(object)) else { continue };
            if *object != planned.id {
                found.push(RelationLine {
                    id: relation.id(&planned.id, object),
                    subject: planned.id.clone(),
                    predicate: relation.predicate.clone(),
                    object: object.clone(),
                    confidence: Confidence::FULL,
                    created_at: planned.memory.created_at,
                    evidence: Vec::new(),
                });
            }
        }
    }
    found
}
