//! Vectors in rows, whole and as signs: the signs tell roughly how near all of them are, the whole ones exactly.
//!
//! Rows stand in chunks, so that the store grows without ever being copied. The estimate is that of `RaBitQ` (Gao and Long, 2024) without
//! its rotation: of a vector the signs and one factor are kept, of the question four bits a number. Not here: whose row it is (`index`).

use crate::embedding::{DIMENSIONS, LANES};
use crate::kernels::{self, Eight, Planes};

/// Rows of one chunk: 1.5 MB of whole vectors.
const CHUNK: usize = 1024;

/// Many vectors.
#[derive(Debug, Default)]
pub(super) struct Vectors {
    chunks: Vec<Chunk>,
    given: usize,
}

#[derive(Debug)]
struct Chunk {
    rows: Box<[f32]>,
    signs: Box<[Eight]>,
    /// What the sum of signed numbers is multiplied with; 0 for an empty row.
    factors: Box<[f32]>,
}

/// A question, as far as signs are compared with it.
#[derive(Debug, Clone)]
pub(crate) struct Rough {
    planes: Planes,
    sum: i32,
    step: f32,
}

impl Rough {
    /// Four bits of each number of a vector.
    pub(crate) fn new(vector: &[f32]) -> Self {
        let largest = vector.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let step = largest / 7.0;
        let (mut planes, mut sum): (Planes, i32) = ([[0; LANES]; 4], 0);
        for (at, value) in vector.iter().enumerate().take(DIMENSIONS) {
            #[expect(clippy::cast_possible_truncation, reason = "between -7 and 7")]
            let number = (value / step).round() as i32;
            sum += number;
            for (weight, plane) in planes.iter_mut().enumerate() {
                plane[at / 64] |= u64::from(number >> weight & 1 == 1) << (at % 64);
            }
        }
        Self { planes, sum, step }
    }
}

impl Vectors {
    /// Puts a vector into a row; none empties it. The row may be the next one, or one further on.
    pub(super) fn set(&mut self, row: usize, vector: Option<&[f32]>) {
        while self.chunks.len() * CHUNK <= row {
            self.chunks.push(Chunk {
                rows: vec![0.0; CHUNK * DIMENSIONS].into(),
                signs: vec![Eight::default(); CHUNK / 8].into(),
                factors: vec![0.0; CHUNK].into(),
            });
        }
        self.given = self.given - usize::from(self.get(row).is_some()) + usize::from(vector.is_some());
        let (chunk, row) = (&mut self.chunks[row / CHUNK], row % CHUNK);
        let place = &mut chunk.rows[row * DIMENSIONS..(row + 1) * DIMENSIONS];
        match vector {
            Some(vector) => place.copy_from_slice(vector),
            None => place.fill(0.0),
        }
        let (mut squares, mut sizes) = (0.0, 0.0);
        for (lane, numbers) in place.chunks_exact(64).enumerate() {
            let mut signs = 0;
            for (bit, number) in numbers.iter().enumerate() {
                signs |= u64::from(*number > 0.0) << bit;
                squares += number * number;
                sizes += number.abs();
            }
            chunk.signs[row / 8][lane][row % 8] = signs;
        }
        chunk.factors[row] = if sizes > 0.0 { squares / sizes } else { 0.0 };
    }

    /// The vector of a row.
    pub(super) fn get(&self, row: usize) -> Option<&[f32]> {
        let chunk = self.chunks.get(row / CHUNK)?;
        (chunk.factors[row % CHUNK] > 0.0).then(|| &chunk.rows[row % CHUNK * DIMENSIONS..(row % CHUNK + 1) * DIMENSIONS])
    }

    /// How many rows hold a vector.
    pub(super) fn given(&self) -> usize {
        self.given
    }

    /// Roughly the cosines of 64 rows, the first of which is 64 times `number`, as far as a bit of `wanted` is set for one of eight in a
    /// row; 0 for empty rows.
    pub(super) fn estimates(&self, rough: &Rough, number: usize, wanted: u64) -> [f32; 64] {
        let mut estimates = [0.0; 64];
        let Some(chunk) = self.chunks.get(number * 64 / CHUNK) else { return estimates };
        let first = number * 64 % CHUNK;
        let (signs, factors) = (&chunk.signs[first / 8..first / 8 + 8], &chunk.factors[first..first + 64]);
        let mut sums = [[0; 8]; 8];
        let parts = wanted.to_le_bytes().map(|part| part != 0);
        if parts.iter().filter(|part| **part).count() > 4 {
            kernels::sums(&rough.planes, signs, &mut sums);
        } else {
            for part in (0..8).filter(|part| parts[*part]) {
                kernels::sums(&rough.planes, &signs[part..=part], &mut sums[part..=part]);
            }
        }
        for ((estimate, factor), sum) in estimates.iter_mut().zip(factors).zip(sums.as_flattened()) {
            *estimate = factor * rough.step * (2 * sum - rough.sum) as f32;
        }
        estimates
    }

    /// The cosines of rows; 0 for empty ones.
    pub(super) fn cosines(&self, query: &[f32], rows: &[u32]) -> Vec<f32> {
        const NOTHING: [f32; DIMENSIONS] = [0.0; DIMENSIONS];
        let mut cosines = Vec::with_capacity(rows.len() + 3);
        for four in rows.chunks(4) {
            let row = |at: usize| four.get(at).and_then(|row| self.get(*row as usize)).unwrap_or(&NOTHING);
            cosines.extend(kernels::dots(query, [row(0), row(1), row(2), row(3)]));
        }
        cosines.truncate(rows.len());
        cosines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::{Embedding, dot};

    fn vector(seed: usize) -> Embedding {
        let mixed = |at: usize| ((seed * 7919 + at) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = |at: usize| ((mixed(at) ^ (mixed(at) >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32 / 8_388_608.0 - 1.0;
        Embedding::new((0..DIMENSIONS).map(number).collect()).expect("has a direction")
    }

    #[test]
    fn cosines_are_exact_and_estimates_are_near() {
        let mut vectors = Vectors::default();
        let count = CHUNK + 30;
        (0..count).for_each(|row| vectors.set(row, Some(vector(row).as_slice())));
        vectors.set(5, None);
        let query = vector(3);
        let rough = Rough::new(query.as_slice());
        let rows: Vec<u32> = (0..count).map(crate::index::narrow).collect();
        let cosines = vectors.cosines(query.as_slice(), &rows);
        for (row, cosine) in cosines.iter().enumerate() {
            let exact = vectors.get(row).map_or(0.0, |vector| dot(query.as_slice(), vector));
            assert_eq!(cosine.to_bits(), exact.to_bits(), "{row}");
            let estimate = vectors.estimates(&rough, row / 64, 1 << (row % 64))[row % 64];
            assert!((estimate - exact).abs() < 0.2, "{row}: {estimate}, not {exact}");
        }
        assert!(vectors.given() == count - 1 && vectors.get(5).is_none() && vectors.get(3).is_some());
    }
}
