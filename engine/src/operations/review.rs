//! `review`: pairs of memories that look like two versions or duplicates of one fact, and the pairs of
//! which a person keeps both.
//!
//! Each memory is compared with the older ones that are near it, newest first, until the page is
//! full or enough was compared. Events are left out: they do not replace each other. Not here: what
//! becomes of a pair (`supersede`, `forget`).

use crate::db::{kept_pairs, memories, wishes};
use crate::duplicate;
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::index::{Filter, Index, Mask};
use crate::model::actor::Viewer;
use crate::model::content;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::model::visibility::Visibility;
use crate::operations::visible_memory::FindVisible;
use crate::search::judge::same_subject;
use crate::search::{budget, nearest};
use crate::transaction::change::{CallContext, Change};
use loci_proto::error::{Code, Failure};
use loci_proto::memory::{MemoryId, MemoryType, Origin};
use loci_proto::requests::review::{ReviewPair, ReviewReply, ReviewRequest, ReviewedMemory};
use loci_proto::wish::WishKind;

/// Default pairs per page.
const DEFAULT_LIMIT: usize = 20;
/// Maximum pairs per page.
const MAX_LIMIT: usize = 100;
/// Maximum memories that one call compares with older ones.
const MAX_EXAMINED: usize = 500;
/// Maximum vectors that one call compares.
const MAX_COMPARISONS: usize = 5_000_000;
/// Maximum older memories per memory whose texts are compared, the nearest first.
const MAX_NEIGHBOURS: usize = 8;

/// A memory and the older ones that are near it.
struct Candidate {
    seq: i64,
    /// Nearest first.
    older: Vec<Neighbour>,
}

/// An older memory that is near another one.
struct Neighbour {
    seq: i64,
    cosine: f64,
    /// The cosine is above the threshold of duplicates.
    is_above: bool,
    /// How likely the other one states another value of the same fact.
    likelihood: f64,
}

impl Reader {
    /// Returns one page of pairs.
    ///
    /// # Errors
    /// `invalid` for `limit`; `busy` while the index is being loaded; `Database`.
    pub fn review<'a>(
        &self,
        request: &ReviewRequest,
        viewer: impl Into<Viewer<'a>>,
        now: Timestamp,
    ) -> Result<ReviewReply> {
        let viewer = viewer.into();
        let limit = request.limit.unwrap_or(DEFAULT_LIMIT);
        if !(1..=MAX_LIMIT).contains(&limit) {
            let message = format!("must be a whole number in 1..{MAX_LIMIT}");
            return Err(Failure::invalid("limit", message).into());
        }
        self.shared.require_ready()?;
        let named = request.group.as_ref();
        let visibility = Visibility::new(&self.shared, &self.conn, viewer, named)?;
        let filter = self.shared.filter(&visibility, now);
        let (candidates, mut next) = self.candidates(&filter, request.before);
        let wished = if request.before.is_none() { self.wished(viewer, now)? } else { Vec::new() };
        let (mut pairs, mut examined) = (Vec::new(), 0);
        for candidate in candidates {
            examined += 1;
            let of_one = self.pairs_of(&candidate, request.all, viewer)?;
            let is_full = pairs.len() + of_one.len() > limit;
            if is_full && !pairs.is_empty() {
                // This memory begins the next page.
                next = Some(candidate.seq + 1);
                break;
            }
            pairs.extend(of_one);
            if pairs.len() >= limit {
                next = next.or(Some(candidate.seq)).map(|_| candidate.seq);
                break;
            }
        }
        Ok(ReviewReply { wished, pairs, examined, next, ..ReviewReply::default() })
    }

    /// Returns the memories to examine with their older neighbours, newest first, and where the next
    /// call begins if there are more.
    fn candidates(
        &self,
        filter: &Filter<'_>,
        before: Option<i64>,
    ) -> (Vec<Candidate>, Option<i64>) {
        let index = self.shared.index();
        let of_kind =
            |kind: MemoryType| (kind, index.mask(&Filter { kind: Some(kind), ..filter.clone() }));
        let known = Known {
            index: &index,
            mask: index.mask(filter),
            threshold: self.shared.settings().dedup_threshold,
        };
        let masks = [MemoryType::Semantic, MemoryType::Procedural, MemoryType::Entity].map(of_kind);
        let mut slots: Vec<(i64, usize, &Mask)> = masks
            .iter()
            .flat_map(|(_, mask)| mask.slots().map(move |slot| (slot, mask)))
            .map(|(slot, mask)| (index.seq(slot), slot, mask))
            .filter(|(seq, ..)| before.is_none_or(|before| *seq < before))
            .collect();
        slots.sort_unstable_by_key(|(seq, ..)| std::cmp::Reverse(*seq));
        let (mut found, mut comparisons) = (Vec::new(), 0);
        for (seq, slot, mask) in slots {
            if found.len() == MAX_EXAMINED || comparisons > MAX_COMPARISONS {
                return (found, Some(seq + 1));
            }
            comparisons += mask.count();
            found.push(Candidate { seq, older: known.older_neighbours(mask, slot) });
        }
        (found, None)
    }

    /// Returns the pairs of a memory with older ones.
    fn pairs_of(
        &self,
        candidate: &Candidate,
        with_kept: bool,
        viewer: Viewer<'_>,
    ) -> Result<Vec<ReviewPair>> {
        let mut pairs = Vec::new();
        if candidate.older.is_empty() {
            return Ok(pairs);
        }
        let Some(newer) = memories::by_seq(&self.conn, candidate.seq)? else { return Ok(pairs) };
        for near in &candidate.older {
            if !with_kept && kept_pairs::has(&self.conn, candidate.seq, near.seq)? {
                continue;
            }
            let Some(older) = memories::by_seq(&self.conn, near.seq)? else { continue };
            let is_possible = newer.audience().includes(older.audience())
                && content::same_thing(&older.metadata, &newer.metadata);
            let looks_like = looks_like(&newer, &older, near).filter(|_| is_possible);
            let Some(looks_like) = looks_like else { continue };
            pairs.push(ReviewPair {
                newer: self.reviewed(&newer, viewer)?,
                older: self.reviewed(&older, viewer)?,
                cosine: (near.cosine * 1e4).round() / 1e4,
                looks_like: looks_like.to_owned(),
            });
        }
        Ok(pairs)
    }

    fn reviewed(&self, memory: &Memory, viewer: Viewer<'_>) -> Result<ReviewedMemory> {
        Ok(ReviewedMemory {
            id: memory.id.clone(),
            preview: budget::preview(&memory.content),
            created_at: memory.created_at.iso(),
            group: self.other_group(memory.group.as_deref(), viewer)?,
        })
    }
}

/// The index, and the memories among which the words of a pair are rare.
struct Known<'a> {
    index: &'a Index,
    mask: Mask,
    threshold: f64,
}

impl Known<'_> {
    /// Returns the older memories near that of a slot which may be of the same fact, nearest first.
    fn older_neighbours(&self, mask: &Mask, slot: usize) -> Vec<Neighbour> {
        let Self { index, mask: known, threshold } = self;
        let seq = index.seq(slot);
        let Some(vector) = index.direction(seq).filter(|_| index.text_chunk_count(slot) == 1)
        else {
            return Vec::new();
        };
        let neighbour = |(other, cosine): (usize, f32)| {
            let cosine = f64::from(cosine);
            Neighbour {
                seq: index.seq(other),
                cosine,
                is_above: cosine > *threshold,
                likelihood: same_subject::likelihood_of_slots(index, known, [slot, other], cosine),
            }
        };
        let near = nearest::nearest(index, mask, &vector, same_subject::MIN_COSINE).into_iter();
        let mut older: Vec<Neighbour> = near
            .filter(|(other, _)| index.text_chunk_count(*other) == 1 && index.seq(*other) < seq)
            .map(neighbour)
            .filter(|near| near.is_above || near.likelihood >= same_subject::OTHER_VALUE)
            .collect();
        older.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(b.seq.cmp(&a.seq)));
        older.truncate(MAX_NEIGHBOURS);
        older
    }
}

/// Returns what a pair looks like; `None` if the two state different facts.
fn looks_like(newer: &Memory, older: &Memory, near: &Neighbour) -> Option<&'static str> {
    if near.is_above && duplicate::same_fact(&newer.content, &older.content) {
        Some("same fact")
    } else if near.likelihood >= same_subject::OTHER_VALUE {
        Some("other value")
    } else {
        near.is_above.then_some("near")
    }
}

impl Writer {
    /// Records that both memories are kept, so that the pair is not listed again; or takes that back. Or declines the wishes for a memory.
    ///
    /// # Errors
    /// `invalid` unless two different ids are given, `not_found`; `conflict` for an agent that declines; `Database`.
    pub fn decide(&mut self, call: &CallContext, request: &ReviewRequest) -> Result<ReviewReply> {
        self.run_idempotent(call, |change| {
            let named = request.group.as_ref();
            let viewer = (&call.actor).into();
            let visibility = Visibility::new(change.shared, change.conn, viewer, named)?;
            if call.actor.origin != Origin::Person {
                let message = "only a person may decide what waits for them";
                return Err(Failure::only_person(message, "loci review").into());
            }
            let (field, ids) = match (&request.keep, &request.unkeep, &request.decline) {
                (None, None, Some(ids)) => {
                    let declined = Some(decline(change, &visibility, (ids, request.kind))?);
                    return Ok(ReviewReply { declined, ..ReviewReply::default() });
                }
                (Some(ids), None, None) => ("keep", ids.as_slice()),
                (None, Some(ids), None) => ("unkeep", ids.as_slice()),
                _ => {
                    let message = "keep, unkeep and decline cannot be combined";
                    return Err(Failure::new(Code::Invalid, message).into());
                }
            };
            let [one, other] = ids else {
                return Err(Failure::invalid(field, "must have two ids").into());
            };
            let one = visibility.find(change.conn, field, one)?.seq;
            let other = visibility.find(change.conn, field, other)?.seq;
            if one == other {
                return Err(Failure::invalid(field, "must have two different ids").into());
            }
            let (newer, older) = (one.max(other), one.min(other));
            if request.unkeep.is_some() {
                let unkept = kept_pairs::delete(change.conn, newer, older)?;
                return Ok(ReviewReply { unkept, ..ReviewReply::default() });
            }
            kept_pairs::insert(change.conn, newer, older, call.now)?;
            Ok(ReviewReply { kept: true, ..ReviewReply::default() })
        })
    }
}

/// Declines the wishes for memories; returns how many.
fn decline(
    change: &Change<'_>,
    visibility: &Visibility,
    (ids, kind): (&[MemoryId], Option<WishKind>),
) -> Result<usize> {
    let isolation = change.shared.isolation();
    let mut declined = 0;
    for id in ids {
        let memory = visibility.find(change.conn, "decline", id).or_else(|error| {
            let elsewhere = memories::by_id(change.conn, id)?.filter(|memory| {
                isolation.may_be_named((&change.call.actor).into(), memory.group.as_deref())
            });
            elsewhere.ok_or(error)
        })?;
        declined += wishes::decline(change.conn, memory.seq, kind)?;
    }
    Ok(declined)
}
