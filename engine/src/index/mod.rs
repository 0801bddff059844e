//! The warm index: what a recall needs of every memory, in memory.
//!
//! The database is the truth; the writer applies each change here after its commit, so the index can lag by a moment and never lead.
//! Filters are applied before anything is ranked, by one [`Mask`] for both legs. Not here: texts, ranking.

mod graph;
pub(crate) mod postings;
mod said;

use crate::db::graph::Link;
use crate::db::memories::Status;
use crate::decay::{Anchor, Decay};
use crate::embedding::{Code, Coded, DIMENSIONS, Embedding, dot};
use crate::soft;
use crate::time::Timestamp;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use postings::Postings;
use said::Sayings;
use std::collections::{HashMap, HashSet};

pub(crate) use graph::Graph;
pub(crate) use said::Said;

/// How many memories tell whether storing order means something; more would tell the same and cost more.
const LINK_REACH: usize = 2_048;

/// What the index needs of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    pub(crate) seq: i64,
    pub(crate) kind: MemoryType,
    pub(crate) group: Option<String>,
    pub(crate) scope: Scope,
    pub(crate) status: Status,
    pub(crate) anchor: Anchor,
    pub(crate) expires_at: Option<Timestamp>,
    /// Names and aliases of an entity, as [`crate::names::of`] gives them; none for other types.
    pub(crate) names: Vec<String>,
    /// The text; the index reads it and does not keep it.
    pub(crate) content: String,
    /// The day of `event_date`, as a number of days.
    pub(crate) event_day: Option<i32>,
    /// The day when it was stored.
    pub(crate) created_day: i32,
    /// The summary that stands for it.
    pub(crate) summary: Option<i64>,
    /// It is a summary made of sentences of others.
    pub(crate) extractive: bool,
}

/// Which memories a search may find.
#[derive(Debug, Clone)]
pub(crate) struct Filter<'a> {
    /// Group-scoped memories of this group, beside global ones.
    pub group: &'a str,
    pub kind: Option<MemoryType>,
    pub scope: Option<Scope>,
    pub min_confidence: Confidence,
    pub now: Timestamp,
    pub decay: Decay,
    /// Also memories that a summary stands for.
    pub compacted: bool,
}

impl Filter<'_> {
    fn admits(&self, entry: &Entry) -> bool {
        let visible = entry.scope == Scope::Global || entry.group.as_deref() == Some(self.group);
        (entry.status == Status::Active || (self.compacted && entry.status == Status::Compacted))
            && visible
            && self.kind.is_none_or(|kind| kind == entry.kind)
            && self.scope.is_none_or(|scope| scope == entry.scope)
            && entry.expires_at.is_none_or(|at| at > self.now)
            && self.decay.at(self.now, entry.kind, entry.anchor) >= self.min_confidence
    }
}

/// One flag for each slot of the index: true where the filter admits the memory.
#[derive(Debug, Clone)]
pub(crate) struct Mask(Vec<bool>);

impl Mask {
    /// How many it admits.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().filter(|admitted| **admitted).count()
    }

    /// Leaves only what is also to be kept.
    pub(crate) fn narrow(&mut self, keep: impl Fn(usize) -> bool) {
        self.0.iter_mut().enumerate().filter(|(_, admitted)| **admitted).for_each(|(slot, admitted)| *admitted = keep(slot));
    }

    pub(crate) fn admits(&self, slot: usize) -> bool {
        self.0.get(slot).copied().unwrap_or(false)
    }

    /// The same without these slots.
    pub(crate) fn without(&self, slots: &HashSet<usize>) -> Self {
        let mut fewer = self.clone();
        for slot in slots {
            fewer.0[*slot] = false;
        }
        fewer
    }
}

/// Every memory's entry and vectors; a slot is a memory's place, in storing order.
#[derive(Debug, Default)]
pub(crate) struct Index {
    entries: Vec<Entry>,
    slots: HashMap<i64, usize>,
    /// First piece of each slot in `vectors`, and how many there are.
    pieces: Vec<(usize, usize)>,
    vectors: Vec<f32>,
    /// First code of each slot in `codes`, and how many there are; none while the words have not been read.
    coded: Vec<Option<(usize, usize)>>,
    codes: Vec<Code>,
    words: Postings,
    sayings: Sayings,
    /// Which entities bear a name.
    names: HashMap<String, Vec<i64>>,
    graph: Graph,
}

impl Index {
    /// Adds a memory, or brings what is known of it up to date; its vectors and codes stay.
    pub(crate) fn put(&mut self, mut entry: Entry) {
        let content = std::mem::take(&mut entry.content);
        let slot = self.slots.get(&entry.seq).copied().unwrap_or(self.entries.len());
        if self.sayings.put(slot, &entry, &content) == said::Text::Other {
            self.words.put(slot, &content);
        }
        if slot < self.entries.len() {
            self.unname(slot);
            self.name(&entry);
            self.entries[slot] = entry;
            return;
        }
        self.name(&entry);
        self.slots.insert(entry.seq, slot);
        self.entries.push(entry);
        self.pieces.push((0, 0));
        self.coded.push(None);
    }

    /// Takes a memory out for good; its slot stays, empty.
    pub(crate) fn remove(&mut self, seq: i64) {
        let Some(&slot) = self.slots.get(&seq) else { return };
        self.unname(slot);
        self.graph.remove(seq);
        let (first, count) = std::mem::take(&mut self.pieces[slot]);
        self.vectors[first * DIMENSIONS..(first + count) * DIMENSIONS].fill(0.0);
        self.set_codes(seq, None);
        self.words.clear(slot);
        self.sayings.clear(slot);
        let entry = &mut self.entries[slot];
        (entry.status, entry.names) = (Status::Forgotten, Vec::new());
        self.slots.remove(&seq);
    }

    /// What links memories.
    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Makes a link between memories, or takes one away.
    pub(crate) fn link_up(&mut self, link: Link) {
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

    fn name(&mut self, entry: &Entry) {
        for name in &entry.names {
            self.names.entry(name.clone()).or_default().push(entry.seq);
        }
    }

    fn unname(&mut self, slot: usize) {
        let entry = &self.entries[slot];
        for name in &entry.names {
            if let Some(bearers) = self.names.get_mut(name) {
                bearers.retain(|seq| *seq != entry.seq);
                if bearers.is_empty() {
                    self.names.remove(name);
                }
            }
        }
    }

    /// Gives a memory its vectors and codes. Replacing them leaves the old ones behind until the index is built anew.
    pub(crate) fn set_vectors(&mut self, seq: i64, text: &Coded) {
        self.set_codes(seq, text.words.as_deref());
        let Some(&slot) = self.slots.get(&seq) else { return };
        let pieces = &text.pieces;
        let (first, count) = self.pieces[slot];
        self.vectors[first * DIMENSIONS..(first + count) * DIMENSIONS].fill(0.0);
        self.pieces[slot] = (self.vectors.len() / DIMENSIONS, pieces.len());
        for piece in pieces {
            self.vectors.extend_from_slice(piece.as_slice());
        }
    }

    /// Gives a memory the codes of its words; none where they have not been read.
    pub(crate) fn set_codes(&mut self, seq: i64, words: Option<&[Code]>) {
        let Some(&slot) = self.slots.get(&seq) else { return };
        if let Some((first, count)) = self.coded[slot] {
            self.codes[first..first + count].fill(Code::default());
        }
        self.coded[slot] = words.map(|words| (self.codes.len(), words.len()));
        self.codes.extend_from_slice(words.unwrap_or_default());
    }

    /// The codes of a memory's words; none where they have not been read.
    pub(crate) fn codes(&self, slot: usize) -> Option<&[Code]> {
        self.coded[slot].map(|(first, count)| &self.codes[first..first + count])
    }

    /// Which memories have a word.
    pub(crate) fn words(&self) -> &Postings {
        &self.words
    }

    /// What the text of a memory says of itself.
    pub(crate) fn said(&self, slot: usize) -> Said {
        self.sayings.of(slot)
    }

    /// The speakers, and the words of their names.
    pub(crate) fn sayings(&self) -> &Sayings {
        &self.sayings
    }

    /// The vector of a memory's first piece.
    pub(crate) fn first_vector(&self, slot: usize) -> Option<&[f32]> {
        let (first, count) = self.pieces[slot];
        (count > 0).then(|| &self.vectors[first * DIMENSIONS..(first + 1) * DIMENSIONS])
    }

    /// What the order of these slots is worth, 0 to 1; the newest [`LINK_REACH`] of them tell.
    pub(crate) fn link(&self, slots: &[usize]) -> f64 {
        soft::link(slots[slots.len().saturating_sub(LINK_REACH)..].iter().filter_map(|slot| self.first_vector(*slot)))
    }

    /// Appends one more vector to the memory that was given one last, as loading does.
    pub(crate) fn push_vector(&mut self, seq: i64, vector: &[f32]) {
        let Some(&slot) = self.slots.get(&seq) else { return };
        let next = self.vectors.len() / DIMENSIONS;
        let (first, count) = self.pieces[slot];
        self.pieces[slot] = if count > 0 && first + count == next { (first, count + 1) } else { (next, 1) };
        self.vectors.extend_from_slice(vector);
    }

    /// The slot of a memory.
    pub(crate) fn slot(&self, seq: i64) -> Option<usize> {
        self.slots.get(&seq).copied()
    }

    /// The memory of a slot.
    pub(crate) fn entry(&self, slot: usize) -> &Entry {
        &self.entries[slot]
    }

    /// Every memory, in storing order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter()
    }

    /// The one direction of a memory: its vector, or the mean of its pieces. None while it waits for the model.
    pub(crate) fn direction(&self, seq: i64) -> Option<Embedding> {
        let (first, count) = self.pieces[self.slot(seq)?];
        let rows = &self.vectors[first * DIMENSIONS..(first + count) * DIMENSIONS];
        let mut sum = vec![0.0; DIMENSIONS];
        rows.chunks_exact(DIMENSIONS).for_each(|row| sum.iter_mut().zip(row).for_each(|(s, v)| *s += v));
        Embedding::new(sum).ok()
    }

    /// What the model has read in a memory of one piece.
    pub(crate) fn coded(&self, seq: i64) -> Coded {
        let words = self.slot(seq).and_then(|slot| self.codes(slot)).map(<[Code]>::to_vec);
        Coded { pieces: self.direction(seq).into_iter().collect(), words }
    }

    /// How many slots there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many vectors a memory has: one for a short text, several for a long one, none while it waits for the model.
    pub(crate) fn pieces(&self, slot: usize) -> usize {
        self.pieces[slot].1
    }

    /// One vector of a memory, by the number of its piece.
    pub(crate) fn vector(&self, slot: usize, piece: usize) -> Option<&[f32]> {
        let (first, count) = self.pieces[slot];
        (piece < count).then(|| &self.vectors[(first + piece) * DIMENSIONS..(first + piece + 1) * DIMENSIONS])
    }

    /// How many memories and vectors are held.
    pub(crate) fn held(&self) -> (usize, usize) {
        (self.slots.len(), self.pieces.iter().map(|(_, count)| count).sum())
    }

    /// Which memories a search may find.
    pub(crate) fn mask(&self, filter: &Filter<'_>) -> Mask {
        Mask(self.entries.iter().map(|entry| filter.admits(entry)).collect())
    }

    /// The cosine of every admitted memory's best piece; 0 for others and for those without a vector.
    pub(crate) fn cosines(&self, query: &Embedding, mask: &Mask) -> Vec<f32> {
        (0..self.entries.len()).map(|slot| if mask.admits(slot) { self.cosine(query, slot).unwrap_or(0.0) } else { 0.0 }).collect()
    }

    fn cosine(&self, query: &Embedding, slot: usize) -> Option<f32> {
        let (first, count) = self.pieces[slot];
        let rows = &self.vectors[first * DIMENSIONS..(first + count) * DIMENSIONS];
        rows.chunks_exact(DIMENSIONS).map(|row| dot(query.as_slice(), row)).max_by(f32::total_cmp)
    }
}
