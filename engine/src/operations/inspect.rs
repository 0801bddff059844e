//! `inspect`: one memory with its relations, versions, sources, mentions and log lines.

use crate::db::memories;
use crate::db::relations;
use crate::db::relations::RelationEnd;
use crate::db::{groups, log, mentions};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::event_date;
use crate::model::importance::Importance;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::visible_memory::FindVisible;
use crate::search::budget;
use loci_proto::error::Failure;
use loci_proto::limits;
use loci_proto::memory::{MemoryId, MemoryType};
use loci_proto::requests::inspect::{
    InspectReply, InspectRequest, MemoryDetails, Version, VersionChain,
};
use loci_proto::requests::relate::{MemoryPreview, Relation};

/// Relations on one page.
const RELATION_PAGE_SIZE: usize = 50;
/// Log lines on one page.
const LOG_PAGE_SIZE: usize = 50;
/// Maximum mentions in a reply.
const MAX_MENTIONS: usize = 20;
/// Maximum versions shown before the memory, and after it.
const MAX_VERSIONS: usize = 25;
/// Below this confidence a memory has faded: a candidate for cleanup.
pub(crate) const FADED_THRESHOLD: f64 = 0.1;
/// The status of an active memory whose confidence has fallen below the configured threshold.
pub(crate) const DORMANT: &str = "dormant";

impl Reader {
    /// Shows one memory, whatever its status.
    ///
    /// # Errors
    /// `not_found`, `Database`.
    pub fn inspect<'a>(
        &self,
        request: &InspectRequest,
        viewer: impl Into<Viewer<'a>>,
        now: Timestamp,
    ) -> Result<InspectReply> {
        let viewer = viewer.into();
        if let Some(text) = &request.as_of {
            let (past, at) = self.as_of_seen_by(text, now, viewer)?;
            let request = InspectRequest { as_of: None, ..request.clone() };
            let reply = past.inspect(&request, viewer, at)?;
            return Ok(InspectReply { as_of: past.stamp(), ..reply });
        }
        let named = request.group.as_ref();
        let visibility = Visibility::new(&self.shared, &self.conn, viewer, named)?;
        let memory = visibility.find(&self.conn, "memory_id", &request.memory_id)?;
        let (relations, relations_next) = match request.include_relations {
            Some(false) => (Vec::new(), None),
            _ => self.relations_page(&memory, &visibility, request.relations_before.as_deref())?,
        };
        let (mut log, mut log_next) = (Vec::new(), None);
        if request.include_log {
            log = log::of(&self.conn, memory.id.as_str(), request.log_before, LOG_PAGE_SIZE + 1)?;
            if log.len() > LOG_PAGE_SIZE {
                log.truncate(LOG_PAGE_SIZE);
                log_next = log.last().map(|line| line.id);
            }
            // What other projects did with it names what they have.
            let is_own = |group: &String| visibility.groups().contains(group);
            log.retain(|line| !viewer.is_bound || line.group.as_ref().is_none_or(is_own));
        }
        let is_entity = memory.kind == MemoryType::Entity;
        let mentioned_in =
            if is_entity { mentions::of_entity(&self.conn, memory.seq)? } else { Vec::new() };
        let sources = memories::sources(&self.conn, memory.seq)?;
        Ok(InspectReply {
            as_of: None,
            relations,
            relations_next,
            log,
            log_next,
            versions: self.versions(&memory, &visibility)?,
            sources: sources
                .iter()
                .filter(|m| visibility.admits(m.audience()) && m.status != Status::Forgotten)
                .map(to_preview)
                .collect(),
            mentioned_in: self.previews(mentioned_in, &visibility, now)?,
            mentions: self.previews(
                mentions::in_memory(&self.conn, memory.seq)?,
                &visibility,
                now,
            )?,
            memory: self.details(memory, now)?,
        })
    }

    /// Returns at most `limit` relations of an entity without their details, outgoing ones first. Leaves out those whose
    /// other end is inactive or not visible.
    pub(crate) fn relations(
        &self,
        memory: &Memory,
        visibility: &Visibility,
        limit: usize,
    ) -> Result<Vec<Relation>> {
        let mut shown = Vec::new();
        if !has_relations(memory) {
            return Ok(shown);
        }
        for end in [RelationEnd::Subject, RelationEnd::Object] {
            for relation in relations::of(&self.conn, &memory.id, end)? {
                if shown.len() == limit {
                    return Ok(shown);
                }
                shown.extend(self.visible_relation(relation.other, visibility)?.map(|other| {
                    let (object, subject) = ends(end, &other);
                    Relation {
                        predicate: relation.predicate,
                        object,
                        subject,
                        id: None,
                        confidence: None,
                        evidence: Vec::new(),
                    }
                }));
            }
        }
        Ok(shown)
    }

    /// Returns a page of an entity's relations with their details, newest first, and the id with
    /// which the next page begins.
    ///
    /// # Errors
    /// `invalid` if `before` is not the id of a relation.
    fn relations_page(
        &self,
        memory: &Memory,
        visibility: &Visibility,
        before: Option<&str>,
    ) -> Result<(Vec<Relation>, Option<String>)> {
        let mut shown: Vec<Relation> = Vec::new();
        if let Some(id) = before
            && !relations::exists(&self.conn, id)?
        {
            return Err(Failure::invalid("relations_before", "is not the id of a relation")
                .hint("Give relations_next of the previous page")
                .into());
        }
        let mut before = before.map(str::to_owned);
        while has_relations(memory) {
            let page =
                relations::page(&self.conn, &memory.id, before.as_deref(), RELATION_PAGE_SIZE)?;
            let is_last = page.len() < RELATION_PAGE_SIZE;
            for (end, relation) in page {
                let Some(other) = self.visible_relation(relation.other, visibility)? else {
                    before = Some(relation.id);
                    continue;
                };
                if shown.len() == RELATION_PAGE_SIZE {
                    return Ok((shown, before));
                }
                before = Some(relation.id.clone());
                let (object, subject) = ends(end, &other);
                let evidence = self.visible_evidence(&relation.id, visibility)?;
                shown.push(Relation {
                    predicate: relation.predicate,
                    object,
                    subject,
                    confidence: (relation.confidence.get() < 1.0).then_some(relation.confidence),
                    evidence,
                    id: Some(relation.id),
                });
            }
            if is_last {
                break;
            }
        }
        Ok((shown, None))
    }

    /// Returns the memories that state a relation, as far as the call can see them.
    fn visible_evidence(&self, relation: &str, visibility: &Visibility) -> Result<Vec<MemoryId>> {
        let mut visible = Vec::new();
        for id in relations::evidence(&self.conn, relation)? {
            if visible.len() == limits::EVIDENCE_IDS {
                break;
            }
            let memory = memories::by_id(&self.conn, &id)?;
            visible.extend(memory.filter(|m| visibility.admits(m.audience())).map(|_| id));
        }
        Ok(visible)
    }

    /// Returns the other end of a relation, if the call can see it.
    fn visible_relation(&self, other: i64, visibility: &Visibility) -> Result<Option<Memory>> {
        let other = memories::by_seq(&self.conn, other)?;
        Ok(other.filter(|other| visibility.admits(other.audience())))
    }

    /// Returns previews of the active and visible memories among these, at most [`MAX_MENTIONS`].
    fn previews(
        &self,
        seqs: Vec<i64>,
        visibility: &Visibility,
        now: Timestamp,
    ) -> Result<Vec<MemoryPreview>> {
        let is_shown = |memory: &Memory| {
            memory.status == Status::Active
                && memory.expires_at.is_none_or(|at| at > now)
                && visibility.admits(memory.audience())
        };
        let mut previews = Vec::new();
        for seq in seqs {
            if previews.len() == MAX_MENTIONS {
                break;
            }
            let memory = memories::by_seq(&self.conn, seq)?;
            previews.extend(memory.filter(is_shown).map(|memory| to_preview(&memory)));
        }
        Ok(previews)
    }

    /// Returns the supersession chain of the memory, in both directions.
    pub(crate) fn versions(
        &self,
        memory: &Memory,
        visibility: &Visibility,
    ) -> Result<Option<VersionChain>> {
        // The versions after `oldest`, up to the memory itself, newest first.
        let mut newer = Vec::new();
        let mut oldest = memory.clone();
        while let Some(predecessor) = self.predecessor(&oldest, visibility, &newer)? {
            newer.push(std::mem::replace(&mut oldest, predecessor));
        }
        newer.reverse();
        let mut chain = vec![oldest];
        chain.extend(newer);
        let number = chain.len();
        while let Some(next) = self.successor(chain.last(), visibility, &chain)? {
            chain.push(next);
        }
        if chain.len() == 1 {
            return Ok(None);
        }
        let root = chain[0].id.clone();
        let is_latest = chain.len() == number;
        let supersedes = number.checked_sub(2).map(|before| chain[before].id.clone());
        let numbered = chain.iter().enumerate().map(|(i, memory)| version(i + 1, memory));
        let shown =
            numbered.filter(|version| version.version.abs_diff(number) <= MAX_VERSIONS).collect();
        Ok(Some(VersionChain { root, version: number, is_latest, supersedes, chain: shown }))
    }

    /// Returns the memory that this one replaced, unless `seen` contains it.
    fn predecessor(
        &self,
        memory: &Memory,
        visibility: &Visibility,
        seen: &[Memory],
    ) -> Result<Option<Memory>> {
        let mut replaced = memories::replaced_by(&self.conn, &memory.id)?;
        replaced.retain(|m| {
            m.status != Status::Compacted
                && visibility.admits(m.audience())
                && seen.iter().all(|s| s.seq != m.seq)
        });
        Ok(replaced.pop())
    }

    /// Returns the memory that replaced this one, unless `seen` contains it.
    fn successor(
        &self,
        memory: Option<&Memory>,
        visibility: &Visibility,
        seen: &[Memory],
    ) -> Result<Option<Memory>> {
        let by = memory
            .filter(|m| m.status != Status::Compacted)
            .and_then(|m| m.superseded_by.as_deref());
        let Some(id) = by.and_then(|id| id.parse::<MemoryId>().ok()) else { return Ok(None) };
        let next = memories::by_id(&self.conn, &id)?;
        Ok(next.filter(|m| visibility.admits(m.audience()) && seen.iter().all(|s| s.seq != m.seq)))
    }

    /// Returns whether the confidence of a memory has fallen below [`FADED_THRESHOLD`].
    pub(crate) fn is_faded(&self, memory: &Memory, now: Timestamp) -> bool {
        let decay = self.shared.settings().decay;
        decay.at(now, memory.kind, memory.anchor).get() < FADED_THRESHOLD
    }

    /// Returns whether an active memory is dormant: its confidence has fallen below the configured threshold.
    pub(crate) fn is_dormant(&self, memory: &Memory, now: Timestamp) -> bool {
        let settings = self.shared.settings();
        let is_below = |below| settings.decay.is_dormant(now, below, (memory.kind, memory.anchor));
        memory.status == Status::Active && settings.dormant_threshold.is_some_and(is_below)
    }

    /// Returns the status that replies show: `dormant` is computed and not stored.
    pub(crate) fn shown_status(&self, memory: &Memory, now: Timestamp) -> String {
        if self.is_dormant(memory, now) { DORMANT } else { memory.status.as_str() }.to_owned()
    }

    fn details(&self, memory: Memory, now: Timestamp) -> Result<MemoryDetails> {
        let confidence = self.shared.settings().decay.at(now, memory.kind, memory.anchor);
        let is_forgotten = memory.status == Status::Forgotten;
        let status = self.shown_status(&memory, now);
        let flagged = memory.status == Status::Active && self.is_faded(&memory, now);
        Ok(MemoryDetails {
            event_date_derived: event_date::derived(&memory.content, &memory.metadata),
            variants: memories::variants(&self.conn, memory.seq)?,
            group: group_name(&self.conn, memory.group.as_deref())?,
            id: memory.id,
            kind: memory.kind,
            content: memory.content,
            scope: memory.scope,
            status,
            confidence,
            flagged,
            importance: memory.anchor.importance.map(Importance::get),
            pinned: memory.anchor.pinned,
            provenance: memory.provenance.into_reply(),
            access_count: memory.access_count,
            last_accessed: memory.last_accessed.map(Timestamp::iso),
            created_at: memory.created_at.iso(),
            updated_at: memory.updated_at.iso(),
            expires_at: memory.expires_at.map(Timestamp::iso),
            superseded_by: if is_forgotten {
                Some("forgotten".to_owned())
            } else {
                memory.superseded_by
            },
            forgotten_reason: memory.forgotten_reason,
            metadata: memory.metadata,
        })
    }
}

/// Returns the display name of the project in which a memory was stored.
pub(crate) fn group_name(conn: &rusqlite::Connection, id: Option<&str>) -> Result<Option<String>> {
    match id {
        Some(id) => Ok(Some(groups::name(conn, id)?.unwrap_or_else(|| id.to_owned()))),
        None => Ok(None),
    }
}

/// Returns whether a memory can be shown with relations.
fn has_relations(memory: &Memory) -> bool {
    memory.status != Status::Forgotten && memory.kind == MemoryType::Entity
}

/// Returns the object and the subject of a relation of which the shown memory is one end.
fn ends(own: RelationEnd, other: &Memory) -> (Option<MemoryPreview>, Option<MemoryPreview>) {
    match own {
        RelationEnd::Subject => (Some(to_preview(other)), None),
        RelationEnd::Object => (None, Some(to_preview(other))),
    }
}

/// Returns a memory as its id and first line.
pub(crate) fn to_preview(memory: &Memory) -> MemoryPreview {
    MemoryPreview { id: memory.id.clone(), preview: budget::preview(&memory.content) }
}

fn version(number: usize, memory: &Memory) -> Version {
    let preview = (memory.status != Status::Forgotten).then(|| budget::preview(&memory.content));
    Version {
        id: memory.id.clone(),
        version: number,
        status: memory.status.as_str().to_owned(),
        created_at: memory.created_at.iso(),
        preview,
    }
}
