//! `inspect`: everything about one memory.

use crate::db::memories;
use crate::db::relations;
use crate::db::relations::RelationEnd;
use crate::db::{groups, log, mentions};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::search::budget;
use loci_proto::group::Group;
use loci_proto::memory::{MemoryId, MemoryType};
use loci_proto::requests::inspect::{
    InspectReply, InspectRequest, MemoryDetails, Version, VersionChain,
};
use loci_proto::requests::relate::{MemoryPreview, Relation};

/// Log lines on one page.
const LOG_PAGE: usize = 50;
/// Mentions shown for an entity.
const MENTIONS: usize = 20;
/// Versions shown before and after a memory.
const VERSIONS: usize = 25;
/// Below this confidence a memory is flagged for cleanup.
pub(crate) const FLAGGED: f64 = 0.1;

impl Reader {
    /// Shows one memory, whatever its status.
    ///
    /// # Errors
    /// `not_found`, `Database`.
    pub fn inspect(
        &self,
        request: &InspectRequest,
        own: &Group,
        now: Timestamp,
    ) -> Result<InspectReply> {
        let sight = Visibility::new(&self.conn, own, request.group.as_ref())?;
        let memory = sight.find(&self.conn, "memory_id", &request.memory_id)?;
        let relations = match request.include_relations {
            Some(false) => Vec::new(),
            _ => self.relations(&memory, &sight, usize::MAX, true)?,
        };
        let (mut log, mut log_next) = (Vec::new(), None);
        if request.include_log {
            log = log::of(&self.conn, memory.id.as_str(), request.log_before, LOG_PAGE + 1)?;
            if log.len() > LOG_PAGE {
                log.truncate(LOG_PAGE);
                log_next = log.last().map(|line| line.id);
            }
        }
        let entity = memory.kind == MemoryType::Entity;
        let mentioned_in =
            if entity { mentions::of_entity(&self.conn, memory.seq)? } else { Vec::new() };
        let sources = memories::sources(&self.conn, memory.seq)?;
        Ok(InspectReply {
            relations,
            log,
            log_next,
            versions: self.versions(&memory, &sight)?,
            sources: sources
                .iter()
                .filter(|m| sight.admits(m.audience()) && m.status != Status::Forgotten)
                .map(neighbour)
                .collect(),
            mentioned_in: self.neighbours(mentioned_in, &sight)?,
            mentions: self.neighbours(mentions::in_memory(&self.conn, memory.seq)?, &sight)?,
            memory: self.shown(memory, now)?,
        })
    }

    /// Returns the visible relations of a memory, outgoing ones first; those with an inactive or
    /// invisible other end are hidden.
    pub(crate) fn relations(
        &self,
        memory: &Memory,
        sight: &Visibility,
        most: usize,
        whole: bool,
    ) -> Result<Vec<Relation>> {
        let mut shown = Vec::new();
        if memory.status == Status::Forgotten || memory.kind != MemoryType::Entity {
            return Ok(shown);
        }
        for end in [RelationEnd::Subject, RelationEnd::Object] {
            for relation in relations::of(&self.conn, &memory.id, end)? {
                let Some(other) = memories::by_seq(&self.conn, relation.other)?
                    .filter(|other| sight.admits(other.audience()))
                else {
                    continue;
                };
                if shown.len() == most {
                    return Ok(shown);
                }
                let (object, subject) = if end == RelationEnd::Subject {
                    (Some(neighbour(&other)), None)
                } else {
                    (None, Some(neighbour(&other)))
                };
                shown.push(Relation {
                    predicate: relation.predicate,
                    object,
                    subject,
                    confidence: (whole && relation.confidence.get() < 1.0)
                        .then_some(relation.confidence),
                    evidence: if whole {
                        relations::evidence(&self.conn, &relation.id)?
                    } else {
                        Vec::new()
                    },
                    id: whole.then_some(relation.id),
                });
            }
        }
        Ok(shown)
    }

    fn neighbours(&self, seqs: Vec<i64>, sight: &Visibility) -> Result<Vec<MemoryPreview>> {
        let mut found = Vec::new();
        for seq in seqs {
            if found.len() == MENTIONS {
                break;
            }
            let memory = memories::by_seq(&self.conn, seq)?;
            found.extend(
                memory
                    .filter(|m| m.status == Status::Active && sight.admits(m.audience()))
                    .map(|m| neighbour(&m)),
            );
        }
        Ok(found)
    }

    /// Returns the supersession chain of the memory, in both directions.
    fn versions(&self, memory: &Memory, sight: &Visibility) -> Result<Option<VersionChain>> {
        let mut earlier = Vec::new();
        let mut first = memory.clone();
        while let Some(before) = self.earlier(&first, sight, &earlier)? {
            earlier.push(std::mem::replace(&mut first, before));
        }
        // `first` is the root now; the successors up to the memory itself were collected in
        // reverse.
        let mut chain = vec![first];
        chain.extend(earlier.into_iter().rev());
        let place = chain.len();
        while let Some(next) = self.later(chain.last(), sight, &chain)? {
            chain.push(next);
        }
        if chain.len() == 1 {
            return Ok(None);
        }
        let root = chain[0].id.clone();
        let numbered = chain.iter().enumerate().map(|(i, memory)| version(i + 1, memory));
        let around =
            numbered.filter(|version| version.version.abs_diff(place) <= VERSIONS).collect();
        Ok(Some(VersionChain { root, version: place, chain: around }))
    }

    fn earlier(
        &self,
        memory: &Memory,
        sight: &Visibility,
        known: &[Memory],
    ) -> Result<Option<Memory>> {
        let mut replaced = memories::replaced_by(&self.conn, &memory.id)?;
        replaced.retain(|m| {
            m.status != Status::Compacted
                && sight.admits(m.audience())
                && known.iter().all(|k| k.seq != m.seq)
        });
        Ok(replaced.pop())
    }

    fn later(
        &self,
        memory: Option<&Memory>,
        sight: &Visibility,
        known: &[Memory],
    ) -> Result<Option<Memory>> {
        let by = memory
            .filter(|m| m.status != Status::Compacted)
            .and_then(|m| m.superseded_by.as_deref());
        let Some(id) = by.and_then(|id| id.parse::<MemoryId>().ok()) else { return Ok(None) };
        let next = memories::by_id(&self.conn, &id)?;
        Ok(next.filter(|m| sight.admits(m.audience()) && known.iter().all(|k| k.seq != m.seq)))
    }

    fn shown(&self, memory: Memory, now: Timestamp) -> Result<MemoryDetails> {
        let confidence = self.shared.settings().decay.at(now, memory.kind, memory.anchor);
        let forgotten = memory.status == Status::Forgotten;
        Ok(MemoryDetails {
            variants: memories::variants(&self.conn, memory.seq)?,
            group: group_name(&self.conn, memory.group.as_deref())?,
            id: memory.id,
            kind: memory.kind,
            content: memory.content,
            scope: memory.scope,
            status: memory.status.as_str().to_owned(),
            confidence,
            flagged: memory.status == Status::Active && confidence.get() < FLAGGED,
            pinned: memory.anchor.pinned,
            access_count: memory.access_count,
            last_accessed: memory.last_accessed.map(Timestamp::iso),
            created_at: memory.created_at.iso(),
            updated_at: memory.updated_at.iso(),
            expires_at: memory.expires_at.map(Timestamp::iso),
            superseded_by: if forgotten {
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

fn neighbour(memory: &Memory) -> MemoryPreview {
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
