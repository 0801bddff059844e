//! The index: an in-memory copy of the data that a search reads of every memory.
//!
//! The database is authoritative. The writer applies each change here after its commit, so the
//! index may briefly lack a committed change, but never contains an uncommitted one. One [`Mask`]
//! applies the filters before anything is ranked, for the lexical and the vector search alike. Not
//! here: texts (`db::memories`), ranking (`search`, `ranking`).

mod attributes;
mod bitmap;
mod chunks;
mod coherence_cache;
pub mod compaction;
#[cfg(test)]
mod contents;
mod context_windows;
mod counts;
mod entity_names;
mod errors;
mod features;
mod graph;
mod huge_pages;
mod mask;
mod postings;
mod quantized;
mod questions;
mod scratch;
mod slot;
mod slot_set;
pub mod snapshot;
mod token_codes;
mod vectors;
pub mod warmup;

use crate::calibration::Calibration;
use attributes::Attributes;
use coherence_cache::CoherenceCache;
use errors::Errors;
use features::FeatureTable;
use loci_base::model::document::Document;
use loci_base::model::entity_link::EntityLink;
use loci_base::model::entry::Entry;
use loci_base::model::importance::Importance;
use loci_base::model::names::EntityNames;
use loci_base::model::vector_set::VectorSet;
use loci_proto::memory::MemoryType;
use postings::Postings;
use questions::Questions;
use std::collections::HashMap;
use token_codes::Codes;
use vectors::Vectors;

pub(crate) use bitmap::slots_of;
pub use coherence_cache::OrderKey;
pub use compaction::Record;
pub(crate) use context_windows::ContextWindows;
pub use counts::Counts;
pub(crate) use features::TextFeatures;
pub use graph::Graph;
pub use mask::{ConfidenceBound, Filter, Mask, Statuses};
pub use quantized::{QuantizedVector, Row};
pub use scratch::Precision;
pub(crate) use scratch::Scratch;
pub use slot::slot_id;
pub(crate) use vectors::BinaryQuery;

/// Attributes, terms, vectors and links of every memory. A slot is the position of a memory in
/// storage order.
#[derive(Debug, Default)]
pub struct Index {
    attributes: Attributes,
    /// The slot of each memory, by sequence number.
    slots: HashMap<i64, u32>,
    /// Vector of each memory's first chunk, by slot.
    primary: Vectors,
    /// Vectors of the other chunks, by row.
    extra_chunks: Vectors,
    /// The slot that each row of `extra_chunks` belongs to; `None` for an empty row.
    extra_owner: Vec<Option<u32>>,
    /// The rows of `extra_chunks` of each slot that has any.
    extra_rows: HashMap<u32, ExtraRows>,
    codes: Codes,
    /// The set of the vectors and codes.
    set: VectorSet,
    /// Slots whose tokens are not encoded.
    unencoded: bitmap::Bitmap,
    words: Postings,
    features: FeatureTable,
    questions: Questions,
    coherence_cache: CoherenceCache,
    /// Incremented by every change.
    version: u64,
    scratch: scratch::ScratchPool,
    /// The names of each entity, by its slot.
    names_by_slot: HashMap<u32, EntityNames>,
    /// The sequence numbers of the entities with a name, by name.
    entities_by_name: HashMap<String, Vec<i64>>,
    graph: Graph,
    errors: Errors,
}

/// Consecutive rows of extra chunks.
#[derive(Debug, Clone, Copy)]
struct ExtraRows {
    first: u32,
    count: u32,
}

/// How much an index contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexSize {
    /// Number of memories.
    pub memories: usize,
    /// Number of chunk vectors.
    pub vectors: usize,
}

impl Index {
    /// Returns an index of memories without attributes or terms, to collect their encodings.
    pub fn of_slots(seqs: &[i64]) -> Self {
        let slots = seqs.iter().enumerate().map(|(slot, seq)| (*seq, slot_id(slot))).collect();
        Self { slots, ..Self::default() }
    }

    /// Returns this index with the name of the set that its encodings are from.
    #[must_use]
    pub fn of_set(self, set: VectorSet) -> Self {
        Self { set, ..self }
    }

    /// Returns the set that the encodings are from.
    pub fn vector_set(&self) -> &VectorSet {
        &self.set
    }

    /// Returns the constants of the model of the vectors and codes.
    pub fn calibration(&self) -> &'static Calibration {
        Calibration::of(&self.set.model)
    }

    /// Removes everything; new encodings are of the same set.
    pub fn clear(&mut self) {
        *self = Self { set: std::mem::take(&mut self.set), ..Self::default() };
    }

    /// Adds or updates a memory. Its encodings are kept.
    pub fn put(&mut self, mut entry: Entry) {
        self.version += 1;
        let (content, questions) =
            (std::mem::take(&mut entry.content), std::mem::take(&mut entry.questions));
        let document = Document { content, questions };
        let slot = self.slot(entry.seq).unwrap_or(self.slot_count());
        let text = self.features.put(slot, &entry, &document.content);
        let has_new_questions = self.questions.put(slot, &document.questions);
        if text == features::Text::Changed || has_new_questions {
            self.words.put(slot, &document.words());
        }
        if slot == self.slot_count() {
            self.slots.insert(entry.seq, slot_id(slot));
            self.unencoded.set(slot, true);
        }
        self.attributes.put(slot, &entry);
        self.errors.set(entry.seq, entry.error);
        self.remove_names(slot, entry.seq);
        self.add_names(slot, entry);
    }

    /// Removes a memory. Its slot stays empty until the index is
    /// [compacted](Index::compacted_copy).
    pub fn remove(&mut self, seq: i64) {
        let Some(slot) = self.slot(seq) else { return };
        self.remove_names(slot, seq);
        self.errors.set(seq, None);
        self.graph.remove(seq);
        self.put_vectors(slot, &[]);
        self.set_codes(seq, None);
        self.words.clear(slot);
        self.features.clear(slot);
        self.questions.set(slot, None);
        self.attributes.remove(slot);
        self.slots.remove(&seq);
    }

    /// Returns which memories mend which error.
    pub fn errors(&self) -> &Errors {
        &self.errors
    }

    /// Returns the links between entities and memories.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Adds or removes a link.
    pub fn set_link(&mut self, link: EntityLink) {
        self.graph.set(link);
    }

    /// Returns the posting lists of the terms.
    pub fn words(&self) -> &Postings {
        &self.words
    }

    /// Returns the text features of a memory.
    pub fn text_features(&self, slot: usize) -> TextFeatures {
        self.features.of(slot)
    }

    /// Returns the day of the event that a memory tells. A fact tells one only if it names a day:
    /// the day when it was stored says nothing.
    pub fn day_of_event(&self, slot: usize) -> Option<i32> {
        let is_event =
            self.kind(slot) == MemoryType::Episodic || self.attributes.event_day(slot).is_some();
        let stored = self.attributes.created_day(slot);
        self.features.of(slot).day.filter(|day| is_event || *day != stored)
    }

    /// Returns the text features of all memories, with their speakers.
    pub fn features(&self) -> &FeatureTable {
        &self.features
    }

    /// Returns the number of a memory's group. Each group has its own storage order.
    pub fn group(&self, slot: usize) -> u32 {
        self.attributes.group_of(slot)
    }

    /// Returns the id of a group, by its number; `None` for memories without a group.
    pub fn group_id(&self, number: u32) -> Option<String> {
        self.attributes.group_id(number)
    }

    /// Returns the branches on which memories were stored, by their number.
    pub fn branches(&self) -> &[String] {
        self.attributes.branches()
    }

    /// Returns the number of the branch on which a memory was stored.
    pub(crate) fn branch_number(&self, slot: usize) -> Option<usize> {
        self.attributes.branch_number_of(slot)
    }

    /// Returns the number of the group with this id; `None` if it has no memories.
    pub fn group_number(&self, id: &str) -> Option<u32> {
        self.attributes.group(id)
    }

    /// Returns the type of a memory.
    pub fn kind(&self, slot: usize) -> MemoryType {
        self.attributes.kind(slot)
    }

    /// Returns the coherence of a group's storage order: 0 if neighbours are no more alike than
    /// random pairs, 1 if clearly a conversation. Estimated from the newest slots, which must come
    /// newest first.
    pub fn coherence(&self, order: OrderKey, newest_first: impl Iterator<Item = usize>) -> f64 {
        let newest = newest_first
            .take(coherence_cache::MAX_SAMPLED)
            .filter(|slot| self.primary.get(*slot).is_some());
        let slots = || {
            let mut slots: Vec<u32> = newest.map(slot_id).collect();
            slots.reverse();
            slots
        };
        let vector = |slot: u32| {
            self.primary.get(slot as usize).map(|row| row.numbers()).unwrap_or_default()
        };
        self.coherence_cache.of(order, self.version, slots, vector)
    }

    /// Calls `work` with cleared buffers from the pool, and returns its result.
    pub(crate) fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        self.scratch.with_scratch(self.slot_count().div_ceil(64), work)
    }

    /// Returns the slot of a memory.
    pub fn slot(&self, seq: i64) -> Option<usize> {
        self.slots.get(&seq).map(|slot| *slot as usize)
    }

    /// Returns the sequence number of the memory of a slot.
    pub fn seq(&self, slot: usize) -> i64 {
        self.attributes.seq(slot)
    }

    /// Returns whether a summary replaces a memory in recall.
    pub fn is_compacted(&self, slot: usize) -> bool {
        self.attributes.compacted.has(slot)
    }

    /// Returns whether there are rejected attempts.
    pub fn has_rejected(&self) -> bool {
        let words = 0..self.slot_count().div_ceil(64);
        words.into_iter().any(|number| self.attributes.rejected.word(number) != 0)
    }

    /// Returns whether there are candidates.
    pub fn has_candidates(&self) -> bool {
        let words = 0..self.slot_count().div_ceil(64);
        words.into_iter().any(|number| self.attributes.candidate.word(number) != 0)
    }

    /// Returns the slots of all memories that a summary replaces, in storage order.
    pub(crate) fn compacted_slots(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.slot_count().div_ceil(64))
            .flat_map(|number| slots_of(number, self.attributes.compacted.word(number)))
    }

    /// Returns the importance of a memory, if it is known.
    pub fn importance(&self, slot: usize) -> Option<Importance> {
        self.attributes.anchor(slot).importance
    }

    /// Returns the sequence number of the summary that replaces a memory.
    pub fn summary(&self, slot: usize) -> Option<i64> {
        self.attributes.summary(slot)
    }

    /// Returns whether a memory is an extractive summary: one made of sentences of the memories
    /// that it replaces.
    pub fn is_extractive(&self, slot: usize) -> bool {
        self.attributes.is_extractive(slot)
    }

    /// Returns whether a memory is active.
    pub fn is_active(&self, slot: usize) -> bool {
        self.attributes.active.has(slot)
    }

    /// Returns the entry of a slot, without its text.
    pub fn entry(&self, slot: usize) -> Entry {
        let names = self.names_by_slot.get(&slot_id(slot)).cloned().unwrap_or_default();
        Entry { names, ..self.attributes.entry(slot) }
    }

    /// Returns the entries of all slots, in storage order.
    pub fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.slot_count()).map(|slot| self.entry(slot))
    }

    /// Returns the number of slots, including those of removed memories.
    pub fn slot_count(&self) -> usize {
        self.attributes.len()
    }

    /// Returns the number of memories and of vectors.
    pub fn size(&self) -> IndexSize {
        IndexSize {
            memories: self.slots.len(),
            vectors: self.primary.count() + self.extra_chunks.count(),
        }
    }

    /// Returns which memories a filter admits.
    pub fn mask(&self, filter: &Filter<'_>) -> Mask {
        self.attributes.mask(filter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_base::model::encoding::DocumentEncoding;
    use loci_testkit::between_axes;

    fn entry(seq: i64, content: &str) -> Entry {
        Entry { content: content.to_owned(), ..Entry::bare(seq) }
    }

    fn encoding(chunks: usize) -> DocumentEncoding {
        DocumentEncoding::from(
            (0..chunks).map(|chunk| between_axes(1, 2 + chunk, 0.5)).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn updating_a_memory_keeps_its_slot_and_vectors() {
        let mut index = Index::default();
        index.put(entry(7, "the kettle is on the stove"));
        index.set_vectors(7, &encoding(3));
        index.put(entry(7, "the kettle is in the cupboard"));
        assert_eq!((index.slot(7), index.seq(0), index.slot_count()), (Some(0), 7, 1));
        assert_eq!(
            (index.chunk_count(0), index.size()),
            (3, IndexSize { memories: 1, vectors: 3 })
        );
    }

    #[test]
    fn removing_a_memory_leaves_an_empty_slot() {
        let mut index = Index::default();
        index.put(entry(7, "the kettle"));
        index.put(entry(9, "the stove"));
        index.set_vectors(7, &encoding(2));
        index.remove(7);
        assert_eq!((index.slot(7), index.slot(9), index.slot_count()), (None, Some(1), 2));
        assert_eq!(
            (index.chunk_count(0), index.size()),
            (0, IndexSize { memories: 1, vectors: 0 })
        );
        assert!(!index.is_active(0) && index.is_active(1));
    }

    #[test]
    fn empty_rows_of_extra_chunks_are_compacted_once_there_are_many() {
        let mut index = Index::default();
        index.put(entry(7, "a long text"));
        // Each replacement leaves two empty rows, so the limit is passed.
        for _ in 0..=chunks::MIN_EXTRA_ROWS {
            index.set_vectors(7, &encoding(3));
        }
        assert!(index.extra_owner.len() <= chunks::MIN_EXTRA_ROWS);
        assert_eq!((index.chunk_count(0), index.vector(0, 3).is_none()), (3, true));
        assert!(
            index.vector(0, 2).is_some_and(|row| row.is_of(between_axes(1, 4, 0.5).as_slice()))
        );
    }
}
