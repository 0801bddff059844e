//! The encodings of each memory in the index: its chunk vectors and the sign codes of its tokens.
//!
//! The vector of a memory's first chunk is in the row of its slot. The vectors of its other chunks
//! are in consecutive rows of their own; `extra_owner` maps a row to its slot, and `extra_rows` a
//! slot to its rows. Not here: how a vector is stored (`vectors`).

use crate::index::quantized::{QuantizedVector, Row};
use crate::index::vectors::BinaryQuery;
use crate::index::{ExtraRows, Index, Mask, slot_id};
use loci_base::model::encoding::{DIMENSIONS, DocumentEncoding, Embedding, SignCode};
use loci_base::model::vector_set::VectorSet;

/// Up to this many rows, extra chunks are never compacted; above, they are compacted when 25 % of
/// the rows are empty.
pub(super) const MIN_EXTRA_ROWS: usize = 1_000;

impl ExtraRows {
    /// Returns the numbers of the rows.
    fn all(self) -> std::ops::Range<u32> {
        self.first..self.first + self.count
    }
}

impl Index {
    /// Returns an index of the same slots that contains nothing, to collect the encodings of
    /// another set.
    #[must_use]
    pub fn slots_only(&self) -> Self {
        Self { slots: self.slots.clone(), ..Self::default() }
    }

    /// Exchanges the vectors and sign codes with those of another set, in an index of the same
    /// slots that contains nothing else. Returns the old ones in such an index.
    #[must_use]
    pub fn swap_encodings(&mut self, set: VectorSet, mut other: Self) -> Self {
        std::mem::swap(&mut self.primary, &mut other.primary);
        std::mem::swap(&mut self.extra_chunks, &mut other.extra_chunks);
        std::mem::swap(&mut self.extra_owner, &mut other.extra_owner);
        std::mem::swap(&mut self.extra_rows, &mut other.extra_rows);
        std::mem::swap(&mut self.codes, &mut other.codes);
        std::mem::swap(&mut self.coherence_cache, &mut other.coherence_cache);
        for slot in 0..self.slot_count() {
            self.unencoded.set(slot, self.codes.of(slot).is_none());
        }
        self.version += 1;
        self.set = set;
        other
    }

    /// Replaces the vectors and sign codes of a memory.
    pub fn set_vectors(&mut self, seq: i64, text: &DocumentEncoding) {
        self.set_codes(seq, text.words.as_deref());
        let Some(slot) = self.slot(seq) else { return };
        let chunks: Vec<QuantizedVector> = text.vectors.iter().map(QuantizedVector::from).collect();
        self.put_vectors(slot, &chunks.iter().map(QuantizedVector::row).collect::<Vec<_>>());
    }

    /// Appends a chunk vector to a memory while the index is being loaded. An invalid vector is
    /// ignored.
    pub fn push_vector(&mut self, seq: i64, vector: &[f32]) {
        let Some(slot) = self.slot(seq) else { return };
        let Some(quantized) = QuantizedVector::checked(vector) else { return };
        if self.primary.get(slot).is_some() {
            self.push_extra_chunk(slot, quantized.row());
        } else {
            self.version += 1;
            self.primary.set(slot, Some(quantized.row()));
        }
    }

    /// Replaces the chunk vectors of a slot.
    pub(super) fn put_vectors(&mut self, slot: usize, chunks: &[Row<'_>]) {
        self.version += 1;
        if self.primary.get(slot).is_some() {
            self.coherence_cache.forget(slot_id(slot));
        }
        if let Some(rows) = self.extra_rows.remove(&slot_id(slot)) {
            for row in rows.all() {
                self.extra_chunks.set(row as usize, None);
                self.extra_owner[row as usize] = None;
            }
        }
        self.primary.set(slot, chunks.first().copied());
        for chunk in chunks.iter().skip(1) {
            self.push_extra_chunk(slot, *chunk);
        }
        if self.extra_owner.len() > MIN_EXTRA_ROWS
            && self.extra_chunks.count() * 4 < self.extra_owner.len() * 3
        {
            self.compact_extra_chunks();
        }
    }

    fn push_extra_chunk(&mut self, slot: usize, chunk: Row<'_>) {
        let row = self.extra_owner.len();
        self.extra_chunks.set(row, Some(chunk));
        self.extra_owner.push(Some(slot_id(slot)));
        let first_row = ExtraRows { first: slot_id(row), count: 0 };
        self.extra_rows.entry(slot_id(slot)).or_insert(first_row).count += 1;
    }

    /// Rewrites the rows of extra chunks without the empty ones.
    fn compact_extra_chunks(&mut self) {
        let (old_chunks, old_owners) =
            (std::mem::take(&mut self.extra_chunks), std::mem::take(&mut self.extra_owner));
        self.extra_rows.clear();
        for (row, owner) in old_owners.into_iter().enumerate() {
            if let Some((owner, chunk)) = owner.zip(old_chunks.get(row)) {
                self.push_extra_chunk(owner as usize, chunk);
            }
        }
    }

    /// Replaces the sign codes of a memory; `None` if its tokens are not encoded.
    pub fn set_codes(&mut self, seq: i64, codes: Option<&[SignCode]>) {
        let Some(slot) = self.slot(seq) else { return };
        self.codes.set(slot, codes);
        self.unencoded.set(slot, codes.is_none());
    }

    /// Returns the sign codes of a memory's tokens; `None` if they are not encoded.
    pub fn codes(&self, slot: usize) -> Option<&[SignCode]> {
        self.codes.of(slot)
    }

    /// Returns whether the tokens of all admitted memories are encoded.
    pub(crate) fn all_encoded(&self, mask: &Mask) -> bool {
        !self.unencoded.intersects(mask.words())
    }

    /// Returns how many admitted memories are not encoded.
    pub fn unencoded_count(&self, mask: &Mask) -> usize {
        self.unencoded.count_in(mask.words())
    }

    /// Returns the number of chunk vectors of a memory: one for a short text, more for a long one,
    /// none while it waits for the model.
    pub fn chunk_count(&self, slot: usize) -> usize {
        let extra = self.extra_rows.get(&slot_id(slot)).map_or(0, |rows| rows.count as usize);
        usize::from(self.primary.get(slot).is_some()) + extra
    }

    /// Returns the number of chunk vectors of a memory's text, without the one of its questions.
    pub fn text_chunk_count(&self, slot: usize) -> usize {
        let questions = usize::from(self.questions.of(slot).is_some());
        match self.chunk_count(slot) {
            0 => 0,
            count => (count - questions).max(1),
        }
    }

    /// Returns the vector of a chunk, by its number within the memory.
    pub fn vector(&self, slot: usize, chunk: usize) -> Option<Row<'_>> {
        let Some(extra) = chunk.checked_sub(1) else { return self.primary.get(slot) };
        let rows = self.extra_rows.get(&slot_id(slot))?;
        (extra < rows.count as usize).then(|| self.extra_chunks.get(rows.first as usize + extra))?
    }

    /// Returns the normalised mean of the chunk vectors of a memory's text; `None` while it waits for the
    /// model.
    pub fn direction(&self, seq: i64) -> Option<Embedding> {
        let slot = self.slot(seq)?;
        let mut sum = vec![0.0; DIMENSIONS];
        for chunk in 0..self.text_chunk_count(slot) {
            sum.iter_mut().zip(self.vector(slot, chunk)?.numbers()).for_each(|(s, v)| *s += v);
        }
        Embedding::new(sum).ok()
    }

    /// Returns the cosine of the best chunk of each memory, exact to a few 1e-6; 0 for a memory
    /// without a vector.
    pub fn cosines(&self, query: &QuantizedVector, slots: &[u32]) -> Vec<f32> {
        let primary = self.primary.cosines(query, slots);
        self.best_chunks(slots, primary, |rows| self.extra_chunks.cosines(query, rows))
    }

    /// Like [`Index::cosines`], but exact to 1e-3; reads half as many bytes.
    pub fn approx_cosines(&self, query: &QuantizedVector, slots: &[u32]) -> Vec<f32> {
        let primary = self.primary.approx_cosines(query, slots);
        self.best_chunks(slots, primary, |rows| self.extra_chunks.approx_cosines(query, rows))
    }

    /// Replaces the cosine of each first chunk by that of the memory's best chunk.
    fn best_chunks(
        &self,
        slots: &[u32],
        mut cosines: Vec<f32>,
        of_extra_chunks: impl Fn(&[u32]) -> Vec<f32>,
    ) -> Vec<f32> {
        if self.extra_rows.is_empty() {
            return cosines;
        }
        for (slot, cosine) in slots.iter().zip(&mut cosines) {
            let Some(rows) = self.extra_rows.get(slot) else { continue };
            let rows: Vec<u32> = rows.all().collect();
            *cosine = of_extra_chunks(&rows).into_iter().fold(*cosine, |best, extra| {
                if extra.total_cmp(&best).is_gt() { extra } else { best }
            });
        }
        cosines
    }

    /// Returns estimated cosines of the first chunks of the 64 slots that start at `64 * number`.
    pub fn estimate(&self, query: &BinaryQuery, number: usize) -> [f32; 64] {
        self.primary.estimate(query, number)
    }

    /// Returns estimated cosines of all extra chunks of admitted memories, each with its slot.
    pub(crate) fn estimate_extra_chunks<'a>(
        &'a self,
        query: &'a BinaryQuery,
        mask: &'a Mask,
    ) -> impl Iterator<Item = (usize, f32)> + 'a {
        self.extra_owner.chunks(64).enumerate().flat_map(move |(number, owners)| {
            let admitted =
                |owner: &Option<u32>| owner.is_some_and(|slot| mask.admits(slot as usize));
            let estimates = if owners.iter().any(admitted) {
                self.extra_chunks.estimate(query, number)
            } else {
                [0.0; 64]
            };
            owners
                .iter()
                .zip(estimates)
                .filter(move |(owner, _)| admitted(owner))
                .map(|(owner, estimate)| (owner.unwrap_or(0) as usize, estimate))
        })
    }
}
