//! Finds the stored memories that a new text resembles: the same fact, another value of it, similar
//! words.
//!
//! Not here: what a store does with them (`store`), deciding whether two texts state the same fact
//! (`duplicate`).

use crate::db::memories;
use crate::duplicate;
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::index::{Filter, Index, Mask};
use crate::model::content;
use crate::model::document;
use crate::model::encoding::{Embedding, dot};
use crate::model::event_date;
use crate::model::importance::Importance;
use crate::model::memory::Memory;
use crate::model::validity;
use crate::model::visibility::{Audience, Visibility};
use crate::operations::inspect::to_preview;
use crate::operations::store::StoreWork;
use crate::search::judge::same_subject;
use crate::search::nearest::{Neighbours, neighbours};
use loci_proto::group::Group;
use loci_proto::memory::{MemoryId, MemoryType, Scope};
use loci_proto::requests::relate::MemoryPreview;

/// Maximum similar memories that a reply names.
const MAX_SIMILAR: usize = 3;
/// Maximum memories below the threshold whose words are compared.
const MAX_BELOW_THRESHOLD: usize = 16;

/// Stored memories that are similar to the new text.
#[derive(Default)]
pub(super) struct SimilarMemories {
    /// The memory that states the same fact.
    pub(super) same: Option<Memory>,
    /// True if `same` has an equal text and is more trusted: nothing is changed then.
    pub(super) is_known_better: bool,
    /// Memories that are about the same thing, or are said in similar words.
    pub(super) similar: Vec<MemoryPreview>,
    /// Of these, those that probably state another value of the same fact.
    pub(super) conflicts: Vec<MemoryId>,
}

/// A memory near a new text.
struct NearMemory {
    seq: i64,
    /// Of its best chunk and the first chunk of the new text.
    cosine: f64,
    /// Both have one chunk: longer texts are the same wording only if they are equal.
    may_be_same: bool,
}

impl<'a> StoreWork<'a, '_> {
    /// Finds the same fact and similar memories among the active memories of the same type and
    /// audience. Only memories that are trusted alike are the same; a similar one that is trusted
    /// more is a conflict.
    pub(super) fn similar(
        &mut self,
        group: &Group,
        replaced: Option<&Memory>,
    ) -> Result<SimilarMemories> {
        let audience = Audience::new(self.scope, Some(&group.id));
        let visibility = Visibility::of_group(&group.id, self.isolation.clone());
        let now = self.change.call.now;
        let kind = self.request.kind;
        // The same words of another day are another event; "yesterday" always has a day.
        let is_relative = self.relative_day.is_some();
        let given_now = event_date::given(&self.request.metadata);
        let is_of_other_day = |m: &Memory| match (event_date::given(&m.metadata), given_now) {
            (Some(before), Some(now)) => before != now,
            (None, Some(_)) => is_relative,
            _ => false,
        };
        let eligible = |m: &Memory| {
            m.kind == kind
                && m.audience().is_same(audience)
                && visibility.admits(m.audience())
                && m.expires_at.is_none_or(|at| at > now)
                && replaced.is_none_or(|old| old.seq != m.seq)
                && !is_of_other_day(m)
        };
        if let Some(found) = self.equal_text(eligible)? {
            return Ok(found);
        }
        let mut found = SimilarMemories::default();
        let threshold = self.change.shared.settings().dedup_threshold;
        let (mut trusted_more, mut near) = (None, Vec::new());
        let (memories, mask) = self.nearest(group, threshold);
        let shared = self.change.shared;
        let index = shared.index();
        for NearMemory { seq, cosine, may_be_same } in memories {
            let Some(memory) = memories::by_seq(self.change.conn, seq)?.filter(eligible) else {
                continue;
            };
            let is_above = may_be_same && cosine > threshold;
            // An article may move a vector farther than the threshold.
            let is_same = may_be_same
                && cosine > 2.0 * threshold - 1.0
                && self.keeps_all(&memory)
                && duplicate::is_same_wording(&memory.content, &self.request.content);
            let is_alike = memory.provenance.is_equal_to(&self.provenance);
            // Whoever is trusted more has said it already.
            let is_known_better = !is_alike
                && !self.provenance.may_replace(&memory.provenance)
                && self.request.supersedes.is_none();
            if is_same && (is_alike || is_known_better) {
                return Ok(SimilarMemories { same: Some(memory), is_known_better, ..found });
            }
            let (new, stored) = (&self.request.content, &memory.content);
            let likelihood = if kind == MemoryType::Episodic {
                0.0
            } else {
                same_subject::likelihood(&index, &mask, new, stored, cosine)
            };
            if is_above || likelihood >= same_subject::NAMED {
                near.push((likelihood, to_preview(&memory)));
            }
            if (is_same || is_above) && !self.provenance.may_replace(&memory.provenance) {
                trusted_more.get_or_insert(memory);
            }
        }
        near.sort_by(|(a, _), (b, _)| f64::total_cmp(b, a));
        near.truncate(MAX_SIMILAR);
        let other_values = near.iter().filter(|of| of.0 >= same_subject::OTHER_VALUE);
        found.conflicts = other_values.map(|of| of.1.id.clone()).collect();
        found.similar = near.into_iter().map(|(_, similar)| similar).collect();
        if let Some(memory) = trusted_more {
            self.set_conflict(memory);
            self.scope = Scope::Group;
        }
        Ok(found)
    }

    /// Returns whether a merge loses nothing: no value of the metadata differs, both are true in the same time, and both expire or neither does.
    fn keeps_all(&self, with: &Memory) -> bool {
        content::same_thing(&with.metadata, &self.request.metadata)
            && !content::contradicts(&with.metadata, &self.request.metadata)
            && validity::is_same(&with.metadata, &self.request.metadata)
            && with.expires_at.is_some() == self.expires_at().is_some()
    }

    /// Finds a memory with an equal text: one that is trusted alike, else one that is trusted more,
    /// to which the text adds nothing.
    fn equal_text(&self, eligible: impl Fn(&Memory) -> bool) -> Result<Option<SimilarMemories>> {
        let mut equal = memories::by_hash(self.change.conn, &hash(&self.request.content))?;
        // The hash knows no line breaks and no further spaces.
        let is_equal = |m: &Memory| {
            m.content == self.request.content
                || duplicate::is_same_wording(&m.content, &self.request.content)
        };
        equal.retain(|m| eligible(m) && is_equal(m) && self.keeps_all(m));
        let alike = equal.iter().position(|m| m.provenance.is_equal_to(&self.provenance));
        let better = || equal.iter().position(|m| !self.provenance.may_replace(&m.provenance));
        let (at, is_known_better) = match alike {
            Some(at) => (at, false),
            None => match better().filter(|_| self.request.supersedes.is_none()) {
                Some(at) => (at, true),
                None => return Ok(None),
            },
        };
        let same = Some(equal.swap_remove(at));
        Ok(Some(SimilarMemories { same, is_known_better, ..SimilarMemories::default() }))
    }

    /// Returns memories near the new text, nearest first: all above the threshold, and at most
    /// [`MAX_BELOW_THRESHOLD`] that may be about the same thing; and all that the project can see. The
    /// same comparison sets the importance of the text by these.
    fn nearest(&mut self, group: &Group, threshold: f64) -> (Vec<NearMemory>, Mask) {
        let shared = self.change.shared;
        let index = shared.index();
        let visibility = Visibility::of_group(&group.id, self.isolation.clone());
        let visible = shared.filter(&visibility, self.change.call.now);
        let mask = index.mask(&visible);
        let vectors = self.vectors(&index);
        let Some(vector) = vectors.first() else {
            return (Vec::new(), mask);
        };
        let is_one_chunk = vectors.len() == 1;
        let alike = index.mask(&Filter {
            kind: Some(self.request.kind),
            scope: Some(self.scope),
            ..visible.clone()
        });
        let min_cosine = threshold.min(same_subject::MIN_COSINE);
        let Neighbours { above, mut nearest } = neighbours(&index, &mask, vector, min_cosine);
        let near = |(slot, cosine): (usize, f32)| NearMemory {
            seq: index.seq(slot),
            cosine: f64::from(cosine),
            may_be_same: is_one_chunk && index.text_chunk_count(slot) == 1,
        };
        let mut memories: Vec<NearMemory> =
            above.into_iter().filter(|(slot, _)| alike.admits(*slot)).map(near).collect();
        // Memories stored earlier in the same group commit are not in the index yet. The caller
        // checks their rows.
        for update in &self.change.touched.earlier {
            for (seq, other) in update.text_vectors() {
                let cosine = dot(vector.as_slice(), other.as_slice());
                let near = NearMemory { seq, cosine: cosine.into(), may_be_same: is_one_chunk };
                memories.extend((near.cosine > min_cosine).then_some(near));
                if update.entry(seq).is_some_and(|entry| visible.admits(entry)) {
                    nearest = Some(nearest.map_or(cosine, |nearest| nearest.max(cosine)));
                }
            }
        }
        self.importance = Some(Importance::of_nearest(nearest));
        memories.sort_by(|a, b| b.cosine.total_cmp(&a.cosine).then(a.seq.cmp(&b.seq)));
        let above = memories.partition_point(|memory| memory.cosine > threshold);
        memories.truncate(above + MAX_BELOW_THRESHOLD);
        (memories, mask)
    }

    /// Returns the vector of the new text by the model of the index; `None` if it has several chunks,
    /// or was not encoded.
    pub(super) fn vector_of_text(&self, index: &Index) -> Option<&'a Embedding> {
        match self.vectors(index) {
            [vector] => Some(vector),
            _ => None,
        }
    }

    /// Returns the vectors of the chunks of the new text by the model of the index.
    fn vectors(&self, index: &Index) -> &'a [Embedding] {
        let encoding = self.encodings.by(&index.vector_set().model);
        let questions = document::questions(&self.request.metadata);
        encoding.map_or(&[], |encoding| document::text_vectors(&encoding.vectors, &questions))
    }
}
