//! The warm index: what a recall needs of every memory, in memory.
//!
//! The database is the truth; the writer applies each change here after its commit, so the index can lag by a moment and never lead.
//! Filters are applied before anything is ranked, by one [`Mask`] for both legs. Not here: texts, ranking.

mod attributes;
mod bitmap;
mod coherence_cache;
pub(crate) mod compaction;
mod context_windows;
mod features;
mod graph;
mod huge_pages;
mod mask;
mod postings;
mod quantized;
mod scratch;
mod slot_set;
pub(crate) mod snapshot;
mod token_codes;
mod vectors;
pub(crate) mod warmup;

use crate::model::encoding::{DIMENSIONS, DocumentEncoding, Embedding, SignCode};
use crate::model::entity_link::EntityLink;
use crate::model::entry::Entry;
use attributes::Attributes;
use coherence_cache::CoherenceCache;
use features::FeatureTable;
use postings::Postings;
use std::collections::HashMap;
use token_codes::Codes;
use vectors::Vectors;

pub(crate) use bitmap::slots_of;
pub(crate) use compaction::Record;
pub(crate) use context_windows::ContextWindows;
pub(crate) use features::TextFeatures;
pub(crate) use graph::Graph;
pub(crate) use mask::{Filter, Mask};
pub(crate) use quantized::{QuantizedVector, Row};
pub(crate) use scratch::{Precision, Scratch};
pub(crate) use vectors::BinaryQuery;

/// Every memory's entry and vectors; a slot is a memory's place, in storing order.
#[derive(Debug, Default)]
pub(crate) struct Index {
    attributes: Attributes,
    slots: HashMap<i64, u32>,
    /// The vector of each slot's first piece, by slot.
    primary: Vectors,
    /// Those of other pieces; whose they are, and where those of a slot stand.
    extra_chunks: Vectors,
    extra_owner: Vec<Option<u32>>,
    extra_rows: HashMap<u32, (u32, u32)>,
    codes: Codes,
    /// SlotSet whose words have not been read.
    unencoded: bitmap::Bitmap,
    words: Postings,
    features: FeatureTable,
    coherence_cache: CoherenceCache,
    /// Another number after every change.
    version: u64,
    scratch: scratch::Kept,
    /// Names of each entity, by slot, and which entities bear a name.
    names_of: HashMap<u32, Vec<String>>,
    names: HashMap<String, Vec<i64>>,
    graph: Graph,
}

impl Index {
    /// An index in which only the slots of memories are known, to take in what a model has read in them.
    pub(crate) fn of_slots(seqs: &[i64]) -> Self {
        let slots = seqs.iter().enumerate().map(|(slot, seq)| (*seq, slot_id(slot))).collect();
        Self { slots, ..Self::default() }
    }

    /// Takes over what a model has read in the same memories.
    pub(crate) fn attach_encodings(&mut self, read: Self) {
        let Self { primary, extra_chunks, extra_owner, extra_rows, codes, .. } = read;
        for slot in 0..self.len() {
            self.unencoded.set(slot, codes.of(slot).is_none());
        }
        *self =
            Self { primary, extra_chunks, extra_owner, extra_rows, codes, ..std::mem::take(self) };
    }

    /// Adds a memory, or brings what is known of it up to date; its vectors and codes stay.
    pub(crate) fn put(&mut self, mut entry: Entry) {
        self.version += 1;
        let content = std::mem::take(&mut entry.content);
        let slot = self.slot(entry.seq).unwrap_or(self.len());
        if self.features.put(slot, &entry, &content) == features::Text::Other {
            self.words.put(slot, &content);
        }
        if slot == self.len() {
            self.slots.insert(entry.seq, slot_id(slot));
            self.unencoded.set(slot, true);
        }
        self.attributes.put(slot, &entry);
        self.unname(slot, entry.seq);
        self.name(slot, entry);
    }

    /// Takes a memory out for good; its slot stays, empty, until the index is [compacted](Index::compacted).
    pub(crate) fn remove(&mut self, seq: i64) {
        let Some(slot) = self.slot(seq) else { return };
        self.unname(slot, seq);
        self.graph.remove(seq);
        self.put_vectors(slot, &[]);
        self.set_codes(seq, None);
        self.words.clear(slot);
        self.features.clear(slot);
        self.attributes.remove(slot);
        self.slots.remove(&seq);
    }

    /// What links memories.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Makes a link between memories, or takes one away.
    pub(crate) fn set_link(&mut self, link: EntityLink) {
        self.graph.set(link);
    }

    /// The entities that bear a name, whatever their status.
    pub(crate) fn named(&self, name: &str) -> &[i64] {
        self.names.get(name).map_or(&[], Vec::as_slice)
    }

    /// True while there is no entity with a name at all.
    pub(crate) fn has_no_names(&self) -> bool {
        self.names.is_empty()
    }

    fn name(&mut self, slot: usize, entry: Entry) {
        for name in &entry.names {
            self.names.entry(name.clone()).or_default().push(entry.seq);
        }
        if !entry.names.is_empty() {
            self.names_of.insert(slot_id(slot), entry.names);
        }
    }

    fn unname(&mut self, slot: usize, seq: i64) {
        for name in self.names_of.remove(&slot_id(slot)).unwrap_or_default() {
            if let Some(bearers) = self.names.get_mut(&name) {
                bearers.retain(|bearer| *bearer != seq);
                if bearers.is_empty() {
                    self.names.remove(&name);
                }
            }
        }
    }

    /// Gives a memory its vectors and codes in the place of those that it had.
    pub(crate) fn set_vectors(&mut self, seq: i64, text: &DocumentEncoding) {
        self.set_codes(seq, text.words.as_deref());
        let Some(slot) = self.slot(seq) else { return };
        let pieces: Vec<QuantizedVector> = text.pieces.iter().map(QuantizedVector::from).collect();
        self.put_vectors(slot, &pieces.iter().map(QuantizedVector::row).collect::<Vec<_>>());
    }

    fn put_vectors(&mut self, slot: usize, pieces: &[Row<'_>]) {
        self.version += 1;
        if self.primary.get(slot).is_some() {
            self.coherence_cache.forget(slot_id(slot));
        }
        if let Some((first, count)) = self.extra_rows.remove(&slot_id(slot)) {
            for row in first..first + count {
                self.extra_chunks.set(row as usize, None);
                self.extra_owner[row as usize] = None;
            }
        }
        self.primary.set(slot, pieces.first().copied());
        for piece in pieces.iter().skip(1) {
            self.push_extra_chunk(slot, *piece);
        }
        if self.extra_owner.len() > MIN_EXTRA_ROWS
            && self.extra_chunks.given() * 4 < self.extra_owner.len() * 3
        {
            self.compact_extra_chunks();
        }
    }

    fn push_extra_chunk(&mut self, slot: usize, piece: Row<'_>) {
        let row = self.extra_owner.len();
        self.extra_chunks.set(row, Some(piece));
        self.extra_owner.push(Some(slot_id(slot)));
        self.extra_rows.entry(slot_id(slot)).or_insert((slot_id(row), 0)).1 += 1;
    }

    /// Leaves behind the pieces that nobody has any more.
    fn compact_extra_chunks(&mut self) {
        let (others, extra_owner) =
            (std::mem::take(&mut self.extra_chunks), std::mem::take(&mut self.extra_owner));
        self.extra_rows.clear();
        for (row, owner) in extra_owner.into_iter().enumerate() {
            if let Some((owner, piece)) = owner.zip(others.get(row)) {
                self.push_extra_chunk(owner as usize, piece);
            }
        }
    }

    /// Gives a memory the codes of its words; none where they have not been read.
    pub(crate) fn set_codes(&mut self, seq: i64, words: Option<&[SignCode]>) {
        let Some(slot) = self.slot(seq) else { return };
        self.codes.set(slot, words);
        self.unencoded.set(slot, words.is_none());
    }

    /// The codes of a memory's words; none where they have not been read.
    pub(crate) fn codes(&self, slot: usize) -> Option<&[SignCode]> {
        self.codes.of(slot)
    }

    /// Whether the words of all that the mask admits have been read.
    pub(crate) fn all_encoded(&self, mask: &Mask) -> bool {
        !self.unencoded.meets(mask.words())
    }

    /// Which memories have a word.
    pub(crate) fn words(&self) -> &Postings {
        &self.words
    }

    /// What the text of a memory says of itself.
    pub(crate) fn text_features(&self, slot: usize) -> TextFeatures {
        self.features.of(slot)
    }

    /// The speakers, and the words of their names.
    pub(crate) fn features(&self) -> &FeatureTable {
        &self.features
    }

    /// A number of the project of a memory: those with the same stand in one order.
    pub(crate) fn group(&self, slot: usize) -> u32 {
        self.attributes.group_of(slot)
    }

    /// What the order of a project's slots is worth, 0 to 1. The newest of them tell: they are given backwards. `print` is that of the
    /// mask that admits them.
    pub(crate) fn coherence(
        &self,
        (group, print): (u32, u64),
        newest_first: impl Iterator<Item = usize>,
    ) -> f64 {
        let newest = newest_first
            .take(coherence_cache::REACH)
            .filter(|slot| self.primary.get(*slot).is_some());
        let slots = || {
            let mut slots: Vec<u32> = newest.map(slot_id).collect();
            slots.reverse();
            slots
        };
        let vector = |slot: u32| {
            self.primary.get(slot as usize).map(|row| row.numbers()).unwrap_or_default()
        };
        self.coherence_cache.of((group, (self.version, print)), slots, vector)
    }

    /// Appends one more vector to a memory, as warmup does; what is none is left out.
    pub(crate) fn push_vector(&mut self, seq: i64, vector: &[f32]) {
        let Some(slot) = self.slot(seq) else { return };
        let Some(stepped) = QuantizedVector::checked(vector) else { return };
        if self.primary.get(slot).is_some() {
            self.push_extra_chunk(slot, stepped.row());
        } else {
            self.version += 1;
            self.primary.set(slot, Some(stepped.row()));
        }
    }

    /// The slot of a memory.
    pub(crate) fn slot(&self, seq: i64) -> Option<usize> {
        self.slots.get(&seq).map(|slot| *slot as usize)
    }

    /// The sequence number of the memory of a slot.
    pub(crate) fn seq(&self, slot: usize) -> i64 {
        self.attributes.seq(slot)
    }

    /// Whether a summary stands for the memory of a slot.
    pub(crate) fn is_compacted(&self, slot: usize) -> bool {
        self.attributes.compacted.has(slot)
    }

    /// All memories that a summary stands for, in storing order.
    pub(crate) fn compacted_slots(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len().div_ceil(64))
            .flat_map(|number| slots_of(number, self.attributes.compacted.word(number)))
    }

    /// The summary that stands for the memory of a slot.
    pub(crate) fn summary(&self, slot: usize) -> Option<i64> {
        self.attributes.summary(slot)
    }

    /// Whether the memory of a slot is a summary made of sentences of others.
    pub(crate) fn is_extractive(&self, slot: usize) -> bool {
        self.attributes.is_extractive(slot)
    }

    /// Whether the memory of a slot is in use.
    pub(crate) fn is_active(&self, slot: usize) -> bool {
        self.attributes.active.has(slot)
    }

    /// The memory of a slot.
    pub(crate) fn entry(&self, slot: usize) -> Entry {
        let names = self.names_of.get(&slot_id(slot)).cloned().unwrap_or_default();
        Entry { names, ..self.attributes.entry(slot) }
    }

    /// Every memory, in storing order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> + '_ {
        (0..self.len()).map(|slot| self.entry(slot))
    }

    /// The one direction of a memory: its vector, or the mean of its pieces. None while it waits for the model.
    pub(crate) fn direction(&self, seq: i64) -> Option<Embedding> {
        let slot = self.slot(seq)?;
        let mut sum = vec![0.0; DIMENSIONS];
        for piece in 0..self.pieces(slot) {
            sum.iter_mut().zip(self.vector(slot, piece)?.numbers()).for_each(|(s, v)| *s += v);
        }
        Embedding::new(sum).ok()
    }

    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.attributes.len()
    }

    /// How many vectors a memory has: one for a short text, several for a long one, none while it waits for the model.
    pub(crate) fn pieces(&self, slot: usize) -> usize {
        let others = self.extra_rows.get(&slot_id(slot)).map_or(0, |(_, count)| *count as usize);
        usize::from(self.primary.get(slot).is_some()) + others
    }

    /// One vector of a memory, by the number of its piece.
    pub(crate) fn vector(&self, slot: usize, piece: usize) -> Option<Row<'_>> {
        let Some(other) = piece.checked_sub(1) else { return self.primary.get(slot) };
        let (first, count) = self.extra_rows.get(&slot_id(slot))?;
        (other < *count as usize).then(|| self.extra_chunks.get(*first as usize + other))?
    }

    /// How many memories and vectors are held.
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.slots.len(), self.primary.given() + self.extra_chunks.given())
    }

    /// Which memories a search may find.
    pub(crate) fn mask(&self, filter: &Filter<'_>) -> Mask {
        self.attributes.mask(filter)
    }

    /// The cosine of the best piece of each of these memories, to a few millionths; 0 for one without a vector.
    pub(crate) fn cosines(&self, asked: &QuantizedVector, slots: &[u32]) -> Vec<f32> {
        let primary = self.primary.cosines(asked, slots);
        self.best_pieces(slots, primary, |rows| self.extra_chunks.cosines(asked, rows))
    }

    /// The same to a thousandth, for half the memory that is read.
    pub(crate) fn approx_cosines(&self, asked: &QuantizedVector, slots: &[u32]) -> Vec<f32> {
        let primary = self.primary.approx_cosines(asked, slots);
        self.best_pieces(slots, primary, |rows| self.extra_chunks.approx_cosines(asked, rows))
    }

    fn best_pieces(
        &self,
        slots: &[u32],
        mut cosines: Vec<f32>,
        of_others: impl Fn(&[u32]) -> Vec<f32>,
    ) -> Vec<f32> {
        if self.extra_rows.is_empty() {
            return cosines;
        }
        for (slot, cosine) in slots.iter().zip(&mut cosines) {
            let Some((first, count)) = self.extra_rows.get(slot) else { continue };
            let rows: Vec<u32> = (*first..first + count).collect();
            *cosine = of_others(&rows).into_iter().fold(*cosine, |best, other| {
                if other.total_cmp(&best).is_gt() { other } else { best }
            });
        }
        cosines
    }

    /// Roughly the cosines of the first pieces of 64 slots, the first of which is 64 times `number`.
    pub(crate) fn estimate(&self, rough: &BinaryQuery, number: usize) -> [f32; 64] {
        self.primary.estimate(rough, number)
    }

    /// Roughly the cosines of all other pieces that the mask admits, with the slots that they belong to.
    pub(crate) fn estimate_extra_chunks<'a>(
        &'a self,
        rough: &'a BinaryQuery,
        mask: &'a Mask,
    ) -> impl Iterator<Item = (usize, f32)> + 'a {
        self.extra_owner.chunks(64).enumerate().flat_map(move |(number, extra_owner)| {
            let admitted =
                |owner: &Option<u32>| owner.is_some_and(|slot| mask.admits(slot as usize));
            let estimates = if extra_owner.iter().any(admitted) {
                self.extra_chunks.estimate(rough, number)
            } else {
                [0.0; 64]
            };
            extra_owner
                .iter()
                .zip(estimates)
                .filter(move |(owner, _)| admitted(owner))
                .map(|(owner, of)| (owner.unwrap_or(0) as usize, of))
        })
    }
}

/// Rows of other pieces from which on it is looked whether a quarter of them are empty.
const MIN_EXTRA_ROWS: usize = 1_000;

/// SlotSet and terms are numbered in 32 bits; a store of four billion memories does not fit this machine.
pub(crate) fn slot_id(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
