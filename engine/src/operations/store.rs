//! `store`: stores a new memory, or reinforces an equal one.
//!
//! The text is validated and encoded first ([`Draft`]). One transaction then writes the memory with
//! its keywords and vectors, the supersession, the log line and the reply. Not here: `duplicate`.

use crate::db::log::Operation;
use crate::db::memories::NewMemory;
use crate::db::rows::Row;
use crate::db::{groups, journal, memories};
use crate::duplicate::content_hash::hash;
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::flags;
use crate::flags::{Flag, Flags};
use crate::handles::writer::Writer;
use crate::model::declared;
use crate::model::document;
use crate::model::document::Document;
use crate::model::encoding::TextEncodings;
use crate::model::event_date;
use crate::model::files;
use crate::model::files::ProjectFiles;
use crate::model::importance::Importance;
use crate::model::memory::Memory;
use crate::model::provenance::Provenance;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::validity::Given;
use crate::model::visibility::{Isolation, Visibility};
use crate::model::{content, time};
use crate::operations::inspect::to_preview;
use crate::operations::named_project::{named_group, new_group_note, other_group};
use crate::operations::store_texts::{
    KnownCategory, conflict_text, dated_note, everywhere_note, held_note, join_notes,
    narrowed_note, supersede_note, unasked_note,
};
use crate::operations::visible_memory::FindVisible;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::degraded::Degraded;
use loci_proto::error::{Code, Failure};
use loci_proto::group::Group;
use loci_proto::memory::{Category, Confidence, MemoryId, MemoryType, Origin, Scope};
use loci_proto::requests::store::{StoreReply, StoreRequest};
use loci_proto::sanitize::Removed;
use serde_json::json;

/// Confidence added when a fact is stored again.
const REINFORCEMENT: f64 = 0.1;

/// A request with validated content and metadata.
#[derive(Debug, Clone)]
pub struct Draft {
    request: StoreRequest,
    /// What was removed from the text and the metadata.
    sanitized: Vec<String>,
    /// Why the text is held back.
    flags: Flags,
    /// Sequence numbers of memories that the session has been shown.
    shown: Vec<i64>,
    /// The scope in the project, if the request has none; `None` for that of the type.
    default_scope: Option<Scope>,
    /// A relative day of the text, such as "yesterday", and its date, which is in the metadata.
    relative_day: Option<(String, String)>,
    /// When the memory expires, as the call says.
    expires_at: Option<Timestamp>,
    /// The metadata said whether it is given unasked, which only a person says, with `edit`.
    said_unasked: bool,
}

impl Draft {
    /// Validates a request made at `now`, and removes the hidden characters of its texts. A text that says "yesterday" gets the date.
    ///
    /// # Errors
    /// `invalid`, `too_large` or `too_deep`, naming the field.
    pub fn new(mut request: StoreRequest, now: Timestamp) -> Result<Self> {
        let expires_at = expiry(&request, now)?;
        let said_unasked = declared::clean(&mut request.metadata);
        declared::write(request.category, request.scope, &mut request.metadata)?;
        content::move_questions(request.questions.take(), &mut request.metadata)?;
        let mut removed = Removed::default();
        request.content = content::clean_text(&request.content, &mut removed)?;
        content::clean_metadata(&mut request.metadata, &mut removed)?;
        let (from, to) = (request.valid_from.take(), request.valid_to.take());
        Given { from: from.as_deref(), to: to.as_deref() }.write(&mut request.metadata)?;
        content::check_metadata(request.kind, &request.metadata)?;
        content::check_event_date(&request.metadata)?;
        let sanitized = removed.into_list();
        let mut flags = flags::of_memory(&request.content, &request.metadata);
        flags::of_removed(&sanitized, &mut flags);
        // What is done every day is no event.
        let may_be_event = matches!(request.kind, MemoryType::Episodic | MemoryType::Semantic);
        let relative_day = if may_be_event {
            event_date::resolve_relative(&request.content, &mut request.metadata, now)
        } else {
            None
        };
        let (shown, default_scope) = (Vec::new(), None);
        Ok(Self {
            request,
            sanitized,
            flags,
            shown,
            default_scope,
            relative_day,
            expires_at,
            said_unasked,
        })
    }

    /// Adds the memories that the session has been shown, by sequence number: a text that repeats
    /// one of them is no evidence for it.
    #[must_use]
    pub fn with_shown(self, shown: Vec<i64>) -> Self {
        Self { shown, ..self }
    }

    /// Sets the scope that a memory of the project has if the request names none and it replaces no global memory.
    #[must_use]
    pub fn with_default_scope(self, default_scope: Option<Scope>) -> Self {
        Self { default_scope, ..self }
    }

    /// Returns whether the memory may name files.
    #[must_use]
    pub fn names_files(&self) -> bool {
        !files::named(&self.request.content, &self.request.metadata).paths().is_empty()
    }

    /// Records the files that the memory names, as they are now.
    #[must_use]
    pub fn with_files(mut self, files: &dyn ProjectFiles) -> Self {
        files::record(&self.request.content, &mut self.request.metadata, files);
        self
    }

    /// Returns the text.
    #[must_use]
    pub fn content(&self) -> &str {
        &self.request.content
    }

    /// Returns the texts to encode.
    #[must_use]
    pub fn document(&self) -> Document {
        Document::new(&self.request.content, &self.request.metadata)
    }
}

/// Returns when a memory expires, as the call says.
///
/// # Errors
/// `invalid` for a time that is none or has passed, and for two of them.
fn expiry(request: &StoreRequest, now: Timestamp) -> Result<Option<Timestamp>> {
    match (&request.expires_at, request.ttl_seconds) {
        (Some(_), Some(_)) => {
            Err(Failure::invalid("ttl_seconds", "cannot be combined with expires_at")
                .hint("Give one of the two")
                .into())
        }
        (Some(text), None) => match time::end_of(text, "expires_at")? {
            at if at > now => Ok(Some(at)),
            _ => Err(Failure::invalid("expires_at", "is in the past")
                .hint("Use a future date, or omit expires_at")
                .into()),
        },
        (None, Some(seconds)) => Ok(Some(after(now, seconds.get()))),
        (None, None) => Ok(None),
    }
}

fn after(now: Timestamp, seconds: usize) -> Timestamp {
    now.plus(i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1000))
}

impl Writer {
    /// Stores a memory. If `encodings` has none of the active set, the daemon computes it later, and
    /// recalls find the memory only by its words until then.
    ///
    /// # Errors
    /// `not_found` or `conflict` for `supersedes`, `Database` otherwise; nothing is stored then.
    pub fn store(
        &mut self,
        call: &CallContext,
        draft: &Draft,
        encodings: &TextEncodings,
    ) -> Result<StoreReply> {
        self.run_idempotent(call, |change| {
            let mut work = StoreWork::new(change, draft, encodings);
            let reply = work.store()?;
            let act = match (&reply.superseded, call.actor.origin) {
                (Some(_), _) => Some("supersede"),
                (None, Origin::Person) => Some(journal::ADD),
                // In no list of acts, because a plain store is none; taken back alone or with its session.
                (None, _) => reply.deduplicated.then_some(journal::MERGE),
            };
            let act = act.map_or(Ok(None), |act| change.commit_to_journal(act))?;
            Ok(StoreReply { act, sanitized: draft.sanitized.clone(), ..reply })
        })
    }
}

/// One store in progress.
pub(super) struct StoreWork<'a, 'b> {
    pub(super) change: &'a mut Change<'b>,
    pub(super) request: &'a StoreRequest,
    pub(super) relative_day: Option<&'a (String, String)>,
    expires_at: Option<Timestamp>,
    pub(super) encodings: &'a TextEncodings,
    pub(super) shown: &'a [i64],
    pub(super) isolation: Isolation,
    pub(super) scope: Scope,
    /// The provenance of the new memory.
    pub(super) provenance: Provenance,
    /// The more trusted memory that this one cannot replace or merge with.
    pub(super) conflict: Option<Memory>,
    said_unasked: bool,
    /// The category that a known memory keeps although the request declares another, or gets.
    known_category: Option<KnownCategory>,
    /// By how much the text differs from what the project can see; `None` without a vector.
    pub(super) importance: Option<Importance>,
}

impl<'a, 'b> StoreWork<'a, 'b> {
    fn new(change: &'a mut Change<'b>, draft: &'a Draft, encodings: &'a TextEncodings) -> Self {
        let actor = &change.call.actor;
        // A person's own text is not an injected one.
        let is_person = actor.origin == Origin::Person;
        let flags = if is_person { Flags::default() } else { draft.flags };
        let provenance = Provenance::of(actor, flags);
        let request = &draft.request;
        let scope = request
            .scope
            .or(draft.default_scope)
            .unwrap_or_else(|| change.shared.settings().scopes.of(request.kind));
        let isolation = change.shared.isolation_for(actor.into());
        Self {
            change,
            request,
            relative_day: draft.relative_day.as_ref(),
            expires_at: draft.expires_at,
            encodings,
            shown: &draft.shown,
            isolation,
            scope,
            provenance,
            conflict: None,
            said_unasked: draft.said_unasked,
            known_category: None,
            importance: None,
        }
    }

    fn store(&mut self) -> Result<StoreReply> {
        let (group, made) = self.resolve_group()?;
        let mut replaced = self.replaced(&group)?;
        if let Some(old) = replaced.take_if(|old| !self.provenance.may_supersede(&old.provenance)) {
            self.set_conflict(old);
        }
        self.scope = self.effective_scope(&group, replaced.as_ref());
        let found = self.similar(&group, replaced.as_ref())?;
        // A conflict that was found now also forbids the supersession.
        replaced = replaced.filter(|old| self.provenance.may_supersede(&old.provenance));
        let (merged, place) = found.same.as_ref().map(|m| (to_preview(m), m.group.clone())).unzip();
        let (id, deduplicated, expires_at) = match found.same {
            Some(known) if found.is_known_better => (known.id, true, known.expires_at),
            Some(existing) => {
                let expires_at = existing.expires_at;
                (self.reinforce(existing)?, true, expires_at)
            }
            None => (self.insert(&group, replaced.as_ref())?, false, self.expires_at()),
        };
        if let Some(old) = &replaced {
            self.supersede(old, &id)?;
        }
        let narrowed = self
            .is_narrowed(&group)
            .then(|| narrowed_note(&group, self.change.call.actor.is_bound));
        Ok(StoreReply {
            group: other_group(self.change, place.flatten().as_deref().or(Some(&group.id)))?,
            event_date: self.relative_day.map(|(_, date)| date.clone()),
            id,
            expires_at: expires_at.map(Timestamp::iso),
            kind: self.request.kind,
            deduplicated,
            merged,
            act: None,
            conflicts: found.conflicts,
            similar: found.similar.iter().map(|similar| similar.id.clone()).collect(),
            note: join_notes([
                held_note(&self.provenance, self.conflict.is_none(), replaced.is_some()),
                narrowed.or_else(|| supersede_note(self.request.kind, &found.similar)),
                made,
                self.relative_day.map(|(words, date)| dated_note(words, date)),
                self.declared_note(&group),
            ]),
            superseded: replaced.map(|old| old.id),
            similar_texts: found.similar,
            sanitized: Vec::new(),
            redacted: Vec::new(),
            flagged: self.provenance.flags.names(),
            conflict: self.conflict.as_ref().map(conflict_text),
            degraded: Degraded::default(),
        })
    }

    /// Records that the text disagrees with a memory that it may not change: it is stored beside
    /// that memory, flagged.
    pub(super) fn set_conflict(&mut self, with: Memory) {
        self.provenance.flags.insert(Flag::Conflict);
        self.conflict = Some(with);
    }

    /// Returns the scope of a gated memory and of one in an isolated project, its project; else the scope in the request; else that of
    /// the replaced memory, if it is wider; else the default of the type.
    fn effective_scope(&self, group: &Group, replaced: Option<&Memory>) -> Scope {
        match replaced {
            _ if self.provenance.is_gated() || self.isolation.is_isolated(&group.id) => {
                Scope::Group
            }
            Some(old) if self.request.scope.is_none() && old.scope == Scope::Global => {
                Scope::Global
            }
            _ => self.scope,
        }
    }

    /// Says that a rule is given in every project, or that a known memory keeps its category.
    fn declared_note(&self, group: &Group) -> Option<String> {
        let category = declared::category(&self.request.metadata);
        let is_everywhere = category == Some(Category::Rule)
            && self.request.scope.is_none()
            && self.scope == Scope::Global
            && !self.isolation.is_outside(Some(&group.id));
        self.said_unasked
            .then(unasked_note)
            .or_else(|| self.known_category.map(KnownCategory::note))
            .or_else(|| is_everywhere.then(everywhere_note))
    }

    /// Returns whether global scope was asked for and is not possible.
    fn is_narrowed(&self, group: &Group) -> bool {
        self.request.scope == Some(Scope::Global) && self.isolation.is_isolated(&group.id)
    }

    /// Returns the group of the call, and stores it if it is new; then also a note that says so, if the call named it.
    fn resolve_group(&self) -> Result<(Group, Option<String>)> {
        let (conn, viewer) = (self.change.conn, (&self.change.call.actor).into());
        let named = self.request.group.as_ref();
        let group = named_group(conn, &self.isolation, viewer, named)?;
        let is_other = group.id != self.change.call.actor.group.id;
        let note = if is_other && groups::name(conn, &group.id)?.is_none() {
            Some(new_group_note(conn, &self.isolation, viewer, &group.name)?)
        } else {
            None
        };
        groups::ensure(conn, &group, self.change.call.now)?;
        Ok((group, note))
    }

    /// Returns the memory that `supersedes` names: visible to the caller and still active.
    fn replaced(&self, group: &Group) -> Result<Option<Memory>> {
        let Some(id) = &self.request.supersedes else { return Ok(None) };
        let own = &self.change.call.actor.group.id;
        let visibility = Visibility::of_groups(own, &group.id, self.isolation.clone());
        let memory = visibility.find_to_change(self.change.conn, "supersedes", id)?;
        let conflict = |message: String, hint: &str| {
            Err(Error::from(Failure::new(Code::Conflict, message).at("supersedes").hint(hint)))
        };
        match (memory.status, &memory.superseded_by) {
            (Status::Active, _)
                if memory.scope == Scope::Global
                    && self.request.scope == Some(Scope::Group)
                    && !self.isolation.is_isolated(&group.id)
                    && self.provenance.may_supersede(&memory.provenance) =>
            {
                conflict(
                    format!(
                        "names a global memory; a memory of scope group cannot replace it: {id}"
                    ),
                    "Store with scope global, or without supersedes",
                )
            }
            (Status::Active, _) => Ok(Some(memory)),
            (Status::Forgotten, _) => {
                conflict(format!("names a forgotten memory: {id}"), "Store without supersedes")
            }
            (_, Some(by)) => conflict(
                format!("names a memory that is already superseded by {by}"),
                "Supersede that one, if it is out of date",
            ),
            (_, None) => conflict(
                format!("names a memory that is no longer active: {id}"),
                "Store without supersedes",
            ),
        }
    }

    /// Returns the expiry time: from the call, else from the setting of the type.
    pub(super) fn expires_at(&self) -> Option<Timestamp> {
        let now = self.change.call.now;
        let of_type = self.change.shared.settings().ttl.of(self.request.kind);
        self.expires_at.or(of_type.map(|seconds| after(now, seconds)))
    }

    /// Returns true for an episode that repeats what the session has been shown: its vector is as
    /// near to that of a shown memory as those of episodes that promotion counts together.
    fn is_echo(&self) -> bool {
        let similarity = self.change.shared.settings().rules.promotion_similarity;
        let index = self.change.shared.index();
        let Some(vector) = self.vector_of_text(&index) else { return false };
        let is_near = |seq: &i64| {
            index.direction(*seq).is_some_and(|shown| f64::from(shown.cosine(vector)) > similarity)
        };
        self.request.kind == MemoryType::Episodic && self.shown.iter().any(is_near)
    }

    fn insert(&mut self, group: &Group, replaced: Option<&Memory>) -> Result<MemoryId> {
        self.provenance.is_echo = self.is_echo();
        // A new version resembles the old one, and is not less important.
        let of_replaced = replaced.and_then(|old| old.anchor.importance);
        let expires_at = self.expires_at();
        let id = MemoryId::from(uuid::Uuid::now_v7());
        let mut metadata = self.request.metadata.clone();
        if let Some(old) = replaced {
            let origin = self.change.call.actor.origin;
            declared::inherit_from_replaced(origin, &old.metadata, &mut metadata);
        }
        let new = NewMemory {
            id: &id,
            kind: self.request.kind,
            content: &self.request.content,
            group: Some(&group.id),
            scope: self.scope,
            confidence: self.request.confidence.unwrap_or(Confidence::FULL),
            metadata: &metadata,
            hash: &hash(&self.request.content),
            expires_at,
            provenance: &self.provenance,
            importance: self.importance.map(|own| own.max(of_replaced.unwrap_or(own))),
        };
        let seq = self.change.insert(&new, self.encodings)?;
        let details = json!({"type": self.request.kind, "scope": new.scope, "characters": self.request.content.chars().count()});
        self.change.log(Operation::Create, &id, &details)?;
        failpoint!("after the log line of a store");
        mentions::renew(self.change, seq)?;
        Ok(id)
    }

    /// Raises the confidence of a memory that states the same fact, unless the session has been
    /// shown it, and stores the new wording.
    fn reinforce(&mut self, mut existing: Memory) -> Result<MemoryId> {
        let (conn, now) = (self.change.conn, self.change.call.now);
        let before = self.change.shared.settings().decay.at(now, existing.kind, existing.anchor);
        let is_echo = self.shown.contains(&existing.seq);
        let after = if is_echo { before } else { before.boosted(REINFORCEMENT) };
        let metadata = existing.metadata.clone();
        content::merge_metadata(&mut existing.metadata, &self.request.metadata);
        self.known_category = match declared::category(&metadata) {
            Some(known) => declared::keep(known, &mut existing.metadata).map(KnownCategory::Kept),
            None => declared::category(&existing.metadata).map(KnownCategory::Given),
        };
        self.change.record_before(Row::Memory(existing.seq))?;
        if !is_echo {
            memories::reinforce(conn, &existing, after, now)?;
        } else if metadata != existing.metadata {
            memories::set_metadata(conn, &existing, now)?;
        }
        if document::questions(&metadata) != document::questions(&existing.metadata) {
            // The daemon encodes the memory with the questions.
            self.change.delete_encodings(existing.seq)?;
        }
        let reworded = existing.content != self.request.content;
        if reworded {
            self.change.record_before(Row::Variant(existing.seq, self.request.content.clone()))?;
            memories::add_variant(conn, existing.seq, &self.request.content, now)?;
        }
        self.change.log(
            Operation::Merge,
            &existing.id,
            &json!({"confidence": {"before": before, "after": after}, "reworded": reworded}),
        )?;
        self.change.touched.seqs.push(existing.seq);
        Ok(existing.id)
    }

    fn supersede(&mut self, old: &Memory, by: &MemoryId) -> Result<()> {
        self.change.record_before(Row::Memory(old.seq))?;
        memories::supersede(self.change.conn, old.seq, by, self.change.call.now)?;
        failpoint!("after a supersession");
        self.change.log(Operation::Supersede, &old.id, &json!({"by": by}))?;
        self.change.touched.seqs.push(old.seq);
        Ok(())
    }
}
