//! `relate`: stores a relation of two entities. Storing the same relation again adds evidence.

use crate::db::log::Operation;
use crate::db::relations;
use crate::db::relations::NewRelation;
use crate::db::rows::Row;
use crate::error::Result;
use crate::handles::writer::Writer;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::visibility::Visibility;
use crate::operations::verbs::write_verb;
use crate::operations::visible_memory::FindVisible;
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::Failure;
use loci_proto::limits;
use loci_proto::memory::{Confidence, MemoryId, MemoryType};
use loci_proto::requests::relate::{RelateReply, RelateRequest};
use loci_proto::sanitize;
use serde_json::json;

write_verb!(RelateRequest, Writer::relate, Complete);

impl Writer {
    /// Relates two entities.
    ///
    /// # Errors
    /// `not_found` for an entity or evidence; `invalid` if subject or object is not an active
    /// entity, if both are the same, or for the predicate; `Database`.
    pub fn relate(&mut self, call: &CallContext, request: &RelateRequest) -> Result<RelateReply> {
        self.run_idempotent(call, |change| {
            let predicate = clean_predicate(&request.predicate)?;
            let visibility = Visibility::new(
                change.shared,
                change.conn,
                (&call.actor).into(),
                request.group.as_ref(),
            )?;
            let subject = entity(change, &visibility, "subject_id", &request.subject_id)?;
            let object = entity(change, &visibility, "object_id", &request.object_id)?;
            if subject.seq == object.seq {
                return Err(Failure::invalid("object_id", "is the subject itself")
                    .hint("Name another entity")
                    .into());
            }
            if request.evidence.len() > limits::EVIDENCE_IDS {
                return Err(Failure::invalid(
                    "evidence",
                    format!("has more than {} ids", limits::EVIDENCE_IDS),
                )
                .into());
            }
            let existing = relations::find(change.conn, &subject.id, &predicate, &object.id)?;
            let created = existing.is_none();
            let id = match existing {
                Some(id) => id,
                None => insert(change, &subject, &predicate, &object)?,
            };
            let row = Row::Relation(id.clone());
            if let Some(confidence) = request.confidence {
                change.record_before(row)?;
                relations::set_confidence(change.conn, &id, confidence)?;
            }
            for memory in &request.evidence {
                let memory = visibility.find(change.conn, "evidence", memory)?;
                if relations::add_evidence(change.conn, &id, &memory.id)? {
                    change.record_created(Row::Evidence(id.clone(), memory.id.to_string()));
                }
            }
            Ok(RelateReply { id, created, act: change.commit_to_journal("relate")? })
        })
    }
}

fn insert(
    change: &mut Change<'_>,
    subject: &Memory,
    predicate: &str,
    object: &Memory,
) -> Result<String> {
    let id = uuid::Uuid::now_v7().to_string();
    let new = NewRelation {
        id: &id,
        subject: &subject.id,
        predicate,
        object: &object.id,
        confidence: Confidence::FULL,
    };
    relations::insert(change.conn, &new, change.call.now)?;
    change.record_created(Row::Relation(id.clone()));
    change.log(
        Operation::Relate,
        &subject.id,
        &json!({"relation": id, "predicate": predicate, "object": object.id}),
    )?;
    change.log(
        Operation::Relate,
        &object.id,
        &json!({"relation": id, "predicate": predicate, "subject": subject.id}),
    )?;
    Ok(id)
}

fn entity(
    change: &Change<'_>,
    visibility: &Visibility,
    field: &str,
    id: &MemoryId,
) -> Result<Memory> {
    let memory = visibility.find_to_change(change.conn, field, id)?;
    if memory.kind != MemoryType::Entity {
        let message = format!("names a memory of type {}, not an entity: {id}", memory.kind);
        return Err(Failure::invalid(field, message)
            .hint("Store the person or thing as an entity first")
            .into());
    }
    if memory.status != Status::Active {
        let message = format!("names an entity that is {}: {id}", memory.status.as_str());
        return Err(Failure::invalid(field, message)
            .hint("Restore it first, or use the entity that replaced it")
            .into());
    }
    Ok(memory)
}

/// Returns the predicate, trimmed and without hidden characters, or refuses it.
pub(crate) fn clean_predicate(text: &str) -> Result<String> {
    predicate(&sanitize::text(&predicate(text)?))
}

/// Returns the trimmed predicate, or refuses it.
pub(crate) fn predicate(text: &str) -> Result<String> {
    let text = text.trim();
    let refuse = |reason: String| {
        Err(Failure::invalid("predicate", reason)
            .hint("For example works_at, manages, part_of")
            .into())
    };
    match text.chars().count() {
        0 => refuse("is empty".to_owned()),
        n if n > limits::PREDICATE_CHARS => {
            refuse(format!("has {n} characters; at most {} are allowed", limits::PREDICATE_CHARS))
        }
        _ if text.chars().any(char::is_control) => {
            refuse("contains a control character".to_owned())
        }
        _ => Ok(text.to_owned()),
    }
}
