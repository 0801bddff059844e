//! The encodings of each memory in the index: its chunk vectors and the sign codes of its tokens.
//!
//! The first chunk's vector is in the row of its slot. Vectors of extra chunks are in rows of their own, those of one memory one after
//! the other; `extra_owner` maps a row to its slot, and `extra_rows` a slot to its rows. Not here: how a vector is kept (`vectors`).

use crate::index::quantized::{QuantizedVector, Row};
use crate::index::vectors::BinaryQuery;
use crate::index::{Index, Mask, slot_id};
use crate::model::encoding::{DIMENSIONS, DocumentEncoding, Embedding, SignCode};

/// Extra-chunk rows below which they are never compacted; above it, they are compacted at 25 % empty rows.
pub(super) const MIN_EXTRA_ROWS: usize = 1_000;

impl Index {
    /// Takes the vectors and sign codes from an index of the same memories that holds nothing else.
    pub(crate) fn attach_encodings(&mut self, read: Self) {
        let Self { primary, extra_chunks, extra_owner, extra_rows, codes, .. } = read;
        for slot in 0..self.len() {
            self.unencoded.set(slot, codes.of(slot).is_none());
        }
        *self =
            Self { primary, extra_chunks, extra_owner, extra_rows, codes, ..std::mem::take(self) };
    }

    /// Replaces the vectors and sign codes of a memory.
    pub(crate) fn set_vectors(&mut self, seq: i64, text: &DocumentEncoding) {
        self.set_codes(seq, text.words.as_deref());
        let Some(slot) = self.slot(seq) else { return };
        let pieces: Vec<QuantizedVector> = text.pieces.iter().map(QuantizedVector::from).collect();
        self.put_vectors(slot, &pieces.iter().map(QuantizedVector::row).collect::<Vec<_>>());
    }

    /// Appends a vector to a memory while the index is loaded. An invalid vector is ignored.
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

    /// Replaces the chunk vectors of a slot.
    pub(super) fn put_vectors(&mut self, slot: usize, pieces: &[Row<'_>]) {
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

    /// Rewrites the rows of extra chunks without the empty ones.
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

    /// Replaces the sign codes of a memory; `None` if its tokens are not encoded.
    pub(crate) fn set_codes(&mut self, seq: i64, words: Option<&[SignCode]>) {
        let Some(slot) = self.slot(seq) else { return };
        self.codes.set(slot, words);
        self.unencoded.set(slot, words.is_none());
    }

    /// Returns the sign codes of a memory's tokens; `None` if they are not encoded.
    pub(crate) fn codes(&self, slot: usize) -> Option<&[SignCode]> {
        self.codes.of(slot)
    }

    /// Returns whether the tokens of all admitted memories are encoded.
    pub(crate) fn all_encoded(&self, mask: &Mask) -> bool {
        !self.unencoded.meets(mask.words())
    }

    /// Returns the number of chunk vectors of a memory: one for a short text, more for a long one, none while it waits for the model.
    pub(crate) fn chunk_count(&self, slot: usize) -> usize {
        let others = self.extra_rows.get(&slot_id(slot)).map_or(0, |(_, count)| *count as usize);
        usize::from(self.primary.get(slot).is_some()) + others
    }

    /// Returns the vector of a chunk, by its number within the memory.
    pub(crate) fn vector(&self, slot: usize, piece: usize) -> Option<Row<'_>> {
        let Some(other) = piece.checked_sub(1) else { return self.primary.get(slot) };
        let (first, count) = self.extra_rows.get(&slot_id(slot))?;
        (other < *count as usize).then(|| self.extra_chunks.get(*first as usize + other))?
    }

    /// Returns the normalised mean of the chunk vectors of a memory; `None` while it waits for the model.
    pub(crate) fn direction(&self, seq: i64) -> Option<Embedding> {
        let slot = self.slot(seq)?;
        let mut sum = vec![0.0; DIMENSIONS];
        for piece in 0..self.chunk_count(slot) {
            sum.iter_mut().zip(self.vector(slot, piece)?.numbers()).for_each(|(s, v)| *s += v);
        }
        Embedding::new(sum).ok()
    }

    /// Returns the cosine of the best chunk of each memory, exact to a few 1e-6; 0 for a memory without a vector.
    pub(crate) fn cosines(&self, asked: &QuantizedVector, slots: &[u32]) -> Vec<f32> {
        let primary = self.primary.cosines(asked, slots);
        self.best_chunks(slots, primary, |rows| self.extra_chunks.cosines(asked, rows))
    }

    /// Like [`Index::cosines`], exact to 1e-3, and reads half as many bytes.
    pub(crate) fn approx_cosines(&self, asked: &QuantizedVector, slots: &[u32]) -> Vec<f32> {
        let primary = self.primary.approx_cosines(asked, slots);
        self.best_chunks(slots, primary, |rows| self.extra_chunks.approx_cosines(asked, rows))
    }

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
            let Some((first, count)) = self.extra_rows.get(slot) else { continue };
            let rows: Vec<u32> = (*first..first + count).collect();
            *cosine = of_extra_chunks(&rows).into_iter().fold(*cosine, |best, other| {
                if other.total_cmp(&best).is_gt() { other } else { best }
            });
        }
        cosines
    }

    /// Returns estimated cosines of the first chunks of the 64 slots that start at `64 * number`.
    pub(crate) fn estimate(&self, rough: &BinaryQuery, number: usize) -> [f32; 64] {
        self.primary.estimate(rough, number)
    }

    /// Returns estimated cosines of all extra chunks of admitted memories, each with its slot.
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
