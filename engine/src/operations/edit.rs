//! `edit` and `pin`: a person changes a memory in place. Agents store a new one with `supersedes`
//! instead.

use crate::db::log::Operation;
use crate::db::repair;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::{log, memories};
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::flags;
use crate::flags::Flags;
use crate::handles::writer::Writer;
use crate::maintain;
use crate::model::candidate::is_unconfirmed;
use crate::model::declared;
use crate::model::document::Document;
use crate::model::encoding::TextEncodings;
use crate::model::memory::Memory;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::validity::Given;
use crate::model::visibility::Visibility;
use crate::model::{content, time};
use crate::operations::supersede::{Fields, Replacement, supersede};
use crate::operations::verbs::write_verb;
use crate::operations::visible_memory::{FindVisible, check_may_change};
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::{Origin, Scope};
use loci_proto::requests::edit::{ChangedReply, EditRequest};
use loci_proto::requests::pin::PinRequest;
use loci_proto::sanitize::Removed;
use serde_json::{Map, Value, json};

write_verb!(PinRequest, Writer::pin, Complete);

/// The name of the field in replies.
const SUPERSEDES: &str = "supersedes";

/// Checks the new text, and removes the hidden characters of text and metadata.
///
/// # Errors
/// `invalid` or `too_large`, naming the field.
pub fn clean(request: &mut EditRequest) -> Result<()> {
    let mut removed = Removed::default();
    if let Some(text) = &mut request.content {
        *text = content::clean_text(text, &mut removed)?;
    }
    if let Some(metadata) = &mut request.metadata {
        content::clean_metadata(metadata, &mut removed)?;
    }
    Ok(())
}

impl Writer {
    /// Changes a memory in place; [`clean`] has checked the request. `encodings` are those of the new
    /// text; if there are none, or the memory has questions, the daemon computes them later.
    ///
    /// # Errors
    /// `not_found`; `invalid` naming the field; `conflict` if it is not active or another
    /// active memory has an equal text; `Database`.
    pub fn edit(
        &mut self,
        call: &CallContext,
        request: &EditRequest,
        encodings: &TextEncodings,
    ) -> Result<ChangedReply> {
        self.run_idempotent(call, |change| {
            let visibility = Visibility::new(
                change.shared,
                change.conn,
                (&call.actor).into(),
                request.group.as_ref(),
            )?;
            let memory = find(change, &visibility, request)?;
            visibility.check_change("memory_id", &memory)?;
            check_confirmed(change, &memory)?;
            check_may_change(change, "memory_id", &memory, "edit")?;
            check_not_set_by_person(change, &memory, "edit")?;
            check_unasked(change, request)?;
            if !matches!(memory.status, Status::Active | Status::Candidate | Status::Rejected) {
                let failure = Failure::new(
                    Code::Conflict,
                    format!("names a memory that is {}", memory.status.as_str()),
                );
                return Err(failure.at("memory_id").hint("Restore it first").into());
            }
            let columns = changed_columns(change, &memory, request)?;
            let mut changed: Vec<String> =
                columns.iter().map(|(name, _)| (*name).to_owned()).collect();
            if let Some(old) = &request.supersedes {
                let fields = Fields { old: SUPERSEDES, new: "memory_id" };
                let replacement = Replacement { old, new: &memory, fields };
                supersede(change, &visibility, replacement)?;
                changed.push(SUPERSEDES.to_owned());
                if columns.is_empty() {
                    let act = change.commit_to_journal("supersede")?;
                    return Ok(ChangedReply { id: memory.id, changed, act });
                }
            }
            if changed.is_empty() {
                return Ok(ChangedReply { id: memory.id, changed, act: None });
            }
            change.record_before(Row::Memory(memory.seq))?;
            update_row(change, &memory, columns)?;
            renew_encodings(change, &memory, request, encodings)?;
            mentions::renew(change, memory.seq)?;
            changed.retain(|name| {
                !["content_hash", "confidence_at", "updated_at"].contains(&name.as_str())
            });
            change.log(Operation::Update, &memory.id, &json!({"changed": changed}))?;
            Ok(ChangedReply { id: memory.id, act: change.commit_to_journal("edit")?, changed })
        })
    }

    /// Stops the decay of a memory's confidence, or lets it decay again from its current value.
    ///
    /// # Errors
    /// `not_found`, `Database`.
    pub fn pin(&mut self, call: &CallContext, request: &PinRequest) -> Result<ChangedReply> {
        self.run_idempotent(call, |change| {
            let visibility = Visibility::new(
                change.shared,
                change.conn,
                (&call.actor).into(),
                request.group.as_ref(),
            )?;
            let memory = visibility.find_to_change(change.conn, "memory_id", &request.memory_id)?;
            check_confirmed(change, &memory)?;
            if memory.anchor.pinned == request.pinned {
                return Ok(ChangedReply { id: memory.id, changed: Vec::new(), act: None });
            }
            check_may_change(change, "memory_id", &memory, "pin")?;
            check_not_set_by_person(change, &memory, "pin")?;
            change.record_before(Row::Memory(memory.seq))?;
            let confidence =
                change.shared.settings().decay.at(call.now, memory.kind, memory.anchor);
            let columns = vec![
                ("pinned", json!(request.pinned)),
                ("confidence", json!(confidence.get())),
                ("confidence_at", json!(call.now.0)),
            ];
            update_row(change, &memory, columns)?;
            change.log(Operation::Pin, &memory.id, &json!({"pinned": request.pinned}))?;
            let act = change.commit_to_journal(if request.pinned { "pin" } else { "unpin" })?;
            Ok(ChangedReply { id: memory.id, changed: vec!["pinned".to_owned()], act })
        })
    }
}

/// Refuses to an agent to change a memory that a person has edited or pinned: a new text would inherit what the person said of the old one.
fn check_not_set_by_person(change: &Change<'_>, memory: &Memory, verb: &str) -> Result<()> {
    let id = &memory.id;
    if change.call.actor.origin == Origin::Person
        || !log::is_changed_by_person(change.conn, id.as_str())?
    {
        return Ok(());
    }
    let message = format!("names a memory that a person has edited or pinned: {id}");
    Err(Failure::only_person(message, &format!("loci {verb} {id}")).at("memory_id").into())
}

/// Refuses to an agent to say what is given unasked.
fn check_unasked(change: &Change<'_>, request: &EditRequest) -> Result<()> {
    if request.unasked.is_none() || change.call.actor.origin == Origin::Person {
        return Ok(());
    }
    let failure = Failure::only_person("is for a person to say", "loci edit ID --unasked");
    Err(failure.at("unasked").into())
}

/// Refuses to an agent to change a candidate: a person reads it as it was found.
fn check_confirmed(change: &Change<'_>, memory: &Memory) -> Result<()> {
    if change.call.actor.origin == Origin::Person || !is_unconfirmed(memory) {
        return Ok(());
    }
    let message = format!("names a candidate, which only a person may change: {}", memory.id);
    let failure = Failure::new(Code::Conflict, message).at("memory_id");
    Err(failure.hint("A person can accept or edit it with loci review --candidates").into())
}

/// Deletes the encodings of a memory whose text or questions have changed, and stores those of the
/// new text. A memory with questions is encoded later, since `encodings` are of the text alone.
fn renew_encodings(
    change: &mut Change<'_>,
    memory: &Memory,
    request: &EditRequest,
    encodings: &TextEncodings,
) -> Result<()> {
    let metadata = request.metadata.as_ref().unwrap_or(&memory.metadata);
    let new = Document::new(request.content.as_ref().unwrap_or(&memory.content), metadata);
    let old = Document::new(&memory.content, &memory.metadata);
    if new != old {
        change.delete_encodings(memory.seq)?;
    }
    if new.content != old.content && new.questions.is_empty() {
        change.insert_encodings(memory.seq, encodings)?;
    }
    Ok(())
}

fn update_row(
    change: &mut Change<'_>,
    memory: &Memory,
    columns: Vec<(&'static str, Value)>,
) -> Result<()> {
    let mut image: Image =
        columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    image.insert("updated_at".to_owned(), json!(change.call.now.0));
    rows::update(change.conn, &Row::Memory(memory.seq), &image)?;
    change.touch(memory.seq);
    Ok(())
}

/// Restores the metadata fields of a summary that cannot be edited. A summary with another text has
/// no quotes any more.
fn keep_summary_fields(
    before: &Map<String, Value>,
    metadata: &mut Map<String, Value>,
    is_rewritten: bool,
) {
    for name in ["summary", "method", "cluster", "week", "month", "year", "source_ids", "quotes"] {
        if let Some(value) = before.get(name) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
    if is_rewritten {
        metadata.insert("method".to_owned(), json!("edited"));
        metadata.remove("quotes");
    }
}

/// Returns the memory to change. A damaged one is first written again with the new text.
fn find(change: &mut Change<'_>, visibility: &Visibility, request: &EditRequest) -> Result<Memory> {
    let (field, id) = ("memory_id", &request.memory_id);
    let damaged = match (visibility.find(change.conn, field, id), &request.content) {
        (Err(error), Some(text)) => {
            let Ok(found) = visibility.find_even_if_damaged(change.conn, field, id) else {
                return Err(error);
            };
            Memory { content: text.clone(), ..found }
        }
        (found, _) => return found,
    };
    content::check_text(&damaged.content)?;
    change.record_before(Row::Memory(damaged.seq))?;
    repair::write(change.conn, &damaged, &hash(&damaged.content), change.call.now)?;
    change.touch(damaged.seq);
    // So that the caller replaces the vectors too.
    Ok(Memory { content: String::new(), ..damaged })
}

/// Returns the columns of the trust in an edited text or edited metadata: that of the caller who wrote
/// them. An agent does not raise it.
fn provenance_columns(
    change: &Change<'_>,
    memory: &Memory,
    (text, metadata): (&str, &Map<String, Value>),
) -> Vec<(&'static str, Value)> {
    let is_person = change.call.actor.origin == Origin::Person;
    let own = if is_person { Flags::default() } else { flags::of_memory(text, metadata) };
    let mut edited = Provenance::of(&change.call.actor, own);
    if !is_person {
        edited.inherit(&memory.provenance);
    }
    let mut columns = Vec::new();
    if edited.trust != memory.provenance.trust {
        columns.push(("trust", json!(edited.trust)));
    }
    if edited.flags != memory.provenance.flags {
        columns.push(("flags", json!(memories::flags_column(edited.flags))));
    }
    columns
}

/// Returns the columns whose values change.
fn changed_columns(
    change: &Change<'_>,
    memory: &Memory,
    request: &EditRequest,
) -> Result<Vec<(&'static str, Value)>> {
    let mut columns = Vec::new();
    if let Some(text) = request.content.as_ref().filter(|text| **text != memory.content) {
        content::check_text(text)?;
        let hash = hash(text);
        let mut same_text = memories::by_hash(change.conn, &hash)?;
        same_text.retain(|m| {
            m.seq != memory.seq
                && m.kind == memory.kind
                && m.scope == memory.scope
                && m.group == memory.group
        });
        if let Some(other) = same_text.first() {
            let message = format!("equals the text of another active memory: {}", other.id);
            return Err(Failure::new(Code::Conflict, message)
                .at("content")
                .hint("Forget one of the two")
                .into());
        }
        columns.extend([("content", json!(text)), ("content_hash", rows::blob(&hash))]);
    }
    let mut metadata = request.metadata.clone().unwrap_or_else(|| memory.metadata.clone());
    declared::inherit_edited(change.call.actor.origin, &memory.metadata, &mut metadata);
    declared::write(None, request.scope, &mut metadata)?;
    declared::edit(request.category, request.unasked, &mut metadata);
    let given = Given { from: request.valid_from.as_deref(), to: request.valid_to.as_deref() };
    if request.metadata.is_some() || given.from.is_some() || given.to.is_some() {
        given.write(&mut metadata)?;
        content::check_metadata(memory.kind, &metadata)?;
    }
    if maintain::PeriodKind::of(&memory.metadata).is_some() {
        let is_rewritten = request.content.as_ref().is_some_and(|text| *text != memory.content);
        keep_summary_fields(&memory.metadata, &mut metadata, is_rewritten);
    }
    let is_declared_only = request.metadata.is_none() && given.from.is_none() && given.to.is_none();
    if metadata != memory.metadata && !is_declared_only
        || columns.iter().any(|(name, _)| *name == "content")
    {
        let text = request.content.as_ref().unwrap_or(&memory.content);
        columns.extend(provenance_columns(change, memory, (text, &metadata)));
    }
    if metadata != memory.metadata {
        columns.push(("metadata", json!(Value::Object(metadata).to_string())));
    }
    if let Some(scope) = request.scope.filter(|scope| *scope != memory.scope) {
        if scope == Scope::Global && memory.provenance.is_gated() {
            let message = "cannot be global before a person confirms the memory";
            let failure = Failure::new(Code::Conflict, message).at("scope");
            return Err(failure.hint("Read it with loci inspect, then run loci confirm").into());
        }
        let group = memory.group.as_deref().unwrap_or_default();
        if scope == Scope::Global && change.shared.isolation().is_isolated(group) {
            let failure = Failure::new(Code::Conflict, "cannot be global in an isolated project");
            return Err(failure.at("scope").hint("Leave out scope").into());
        }
        columns.push(("scope", json!(scope)));
    }
    if let Some(confidence) = request.confidence {
        columns.extend([
            ("confidence", json!(confidence.get())),
            ("confidence_at", json!(change.call.now.0)),
        ]);
    }
    if let Some(text) = &request.expires_at {
        let at = if text == "never" { None } else { Some(time::end_of(text, "expires_at")?) };
        if at != memory.expires_at {
            columns.push(("expires_at", json!(at.map(|at: Timestamp| at.0))));
        }
    }
    Ok(columns)
}
