//! Vectors in rows, stored as sign bits and as two bytes a number. The sign bits give an estimated
//! cosine, the high bytes alone a cosine exact to a thousandth, both bytes one exact to a few
//! millionths.
//!
//! Rows are in chunks, so that growing never copies. The estimate is that of `RaBitQ` (Gao and
//! Long, 2024) without its rotation: a vector is kept as its signs and one factor, the query as
//! four bits a number. Not here: which memory a row belongs to (`index`).

use crate::index::huge_pages;
use crate::index::quantized::{QuantizedVector, Row};
use loci_base::kernels;
use loci_base::kernels::{CoarseQuery, Signs, VectorBytes};
use loci_base::model::encoding::DIMENSIONS;

/// Rows of a small chunk: 0.8 MB of vectors.
const CHUNK: usize = 1024;
/// Number of small chunks; later ones are large, since only a chunk larger than a huge page can use
/// huge pages.
const SMALL: usize = 16;
const LARGE: usize = 64 * CHUNK;
/// How many blocks of 64 rows ahead of the current one the sign bits are prefetched.
const PREFETCH_BLOCKS: usize = 2;
/// How many rows ahead of the current ones the bytes are prefetched.
const PREFETCH_ROWS: usize = 8;
/// A row without a vector.
const EMPTY: Row<'_> = Row { high: &[0; DIMENSIONS], low: &[0; DIMENSIONS], step: 0.0 };

/// Vectors by row number.
#[derive(Debug, Default)]
pub struct Vectors {
    chunks: Vec<Chunk>,
    /// Number of rows with a vector.
    count: usize,
}

#[derive(Debug)]
struct Chunk {
    /// The high bytes of each row.
    high: Vec<VectorBytes>,
    /// The low bytes of each row.
    low: Vec<VectorBytes>,
    /// The quantisation step of each row; 0 for an empty row.
    steps: Vec<f32>,
    /// The sign bits, 64 rows each.
    signs: Vec<Signs>,
    /// For each row the factor that converts a sum of signed numbers into a cosine; 0 for an empty
    /// row.
    factors: Vec<f32>,
}

impl Chunk {
    /// Creates a chunk with this capacity in rows.
    fn new(rows: usize) -> Self {
        Self {
            high: huge_pages::with_capacity(rows),
            low: huge_pages::with_capacity(rows),
            steps: huge_pages::with_capacity(rows),
            signs: huge_pages::with_capacity(rows / 64),
            factors: huge_pages::with_capacity(rows),
        }
    }

    /// Grows to at least this number of rows.
    fn grow(&mut self, rows: usize) {
        if self.steps.len() < rows {
            let rows = rows.next_multiple_of(CHUNK);
            self.high.resize(rows, *EMPTY.high);
            self.low.resize(rows, *EMPTY.low);
            self.steps.resize(rows, 0.0);
            self.signs.resize(rows / 64, [[0; 64]; DIMENSIONS / 8]);
            self.factors.resize(rows, 0.0);
        }
    }

    /// Returns the sign bits and factors of 64 rows from `first`.
    fn signs_and_factors(&self, first: usize) -> Option<(&Signs, &[f32; 64])> {
        Some((self.signs.get(first / 64)?, self.factors.get(first..)?.first_chunk()?))
    }
}

/// Returns the number of the chunk that contains a row, and the row's position in it.
fn locate(row: usize) -> (usize, usize) {
    match row.checked_sub(SMALL * CHUNK) {
        None => (row / CHUNK, row % CHUNK),
        Some(row) => (SMALL + row / LARGE, row % LARGE),
    }
}

/// A query vector with four bits a number, to be compared with sign bits.
#[derive(Debug, Clone)]
pub struct BinaryQuery {
    numbers: CoarseQuery,
    /// Sum of all its numbers.
    sum: i16,
    step: f32,
}

impl BinaryQuery {
    /// Quantises a vector to four bits a number.
    pub fn new(vector: &[f32]) -> Self {
        let largest =
            vector.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let step = largest / 7.0;
        #[expect(clippy::cast_possible_truncation, reason = "between -7 and 7")]
        let number = |at: usize| vector.get(at).map_or(0, |value| (value / step).round() as i8);
        let numbers = CoarseQuery::new(&std::array::from_fn(number));
        Self { sum: numbers.sum(), numbers, step }
    }
}

impl Vectors {
    /// Writes a vector into a row; `None` empties it. The row may be beyond the last one.
    pub fn set(&mut self, row: usize, vector: Option<Row<'_>>) {
        let (number, at) = locate(row);
        while self.chunks.len() <= number {
            self.chunks.push(Chunk::new(if self.chunks.len() < SMALL { CHUNK } else { LARGE }));
        }
        self.count =
            self.count - usize::from(self.get(row).is_some()) + usize::from(vector.is_some());
        let (chunk, row) = (&mut self.chunks[number], at);
        chunk.grow(row + 1);
        let vector = vector.unwrap_or(EMPTY);
        (chunk.high[row], chunk.low[row], chunk.steps[row]) =
            (*vector.high, *vector.low, vector.step);
        let (mut squares, mut sizes) = (0_i64, 0_i64);
        for (signs, steps) in
            chunk.signs[row / 64].iter_mut().zip(vector.steps().as_chunks::<8>().0)
        {
            signs[row % 64] =
                steps.iter().rev().fold(0, |signs, steps| signs << 1 | u8::from(*steps > 0));
            squares += steps.iter().map(|steps| i64::from(i32::from(*steps).pow(2))).sum::<i64>();
            sizes += i64::from(steps.iter().map(|steps| i32::from(*steps).abs()).sum::<i32>());
        }
        #[expect(clippy::cast_possible_truncation, reason = "an estimate has few digits")]
        let factor = (squares as f64 / sizes.max(1) as f64) as f32 * vector.step;
        chunk.factors[row] = factor;
    }

    /// Returns the vector of a row.
    pub fn get(&self, row: usize) -> Option<Row<'_>> {
        Some(self.row(row)).filter(|row| row.step > 0.0)
    }

    fn row(&self, row: usize) -> Row<'_> {
        let (number, at) = locate(row);
        match self.chunks.get(number) {
            Some(chunk) if at < chunk.steps.len() => {
                Row { high: &chunk.high[at], low: &chunk.low[at], step: chunk.steps[at] }
            }
            _ => EMPTY,
        }
    }

    /// Returns the number of rows with a vector.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns estimated cosines of the 64 rows from `64 * number`; 0 for empty rows.
    pub fn estimate(&self, query: &BinaryQuery, number: usize) -> [f32; 64] {
        let Some((signs, factors)) = self.signs_and_factors(number) else { return [0.0; 64] };
        self.prefetch_signs(number + PREFETCH_BLOCKS);
        kernels::scaled(&kernels::sums(&query.numbers, signs), factors, query.step, query.sum)
    }

    /// Returns the sign bits and factors of the 64 rows from `64 * number`.
    fn signs_and_factors(&self, number: usize) -> Option<(&Signs, &[f32; 64])> {
        let (chunk, first) = locate(number * 64);
        self.chunks.get(chunk)?.signs_and_factors(first)
    }

    /// Prefetches sign bits and factors of 64 rows.
    fn prefetch_signs(&self, number: usize) {
        if let Some((signs, factors)) = self.signs_and_factors(number) {
            kernels::prefetch(signs);
            kernels::prefetch(factors);
        }
    }

    /// Returns the cosines of rows; 0 for empty ones.
    pub fn cosines(&self, query: &QuantizedVector, rows: &[u32]) -> Vec<f32> {
        let prefetch = |row: Row<'_>| {
            for bytes in [row.high, row.low] {
                kernels::prefetch(bytes);
            }
        };
        self.by_four(rows, prefetch, |four| query.cosines(four))
    }

    /// Returns the cosines of rows by their high bytes alone; 0 for empty ones.
    pub fn approx_cosines(&self, query: &QuantizedVector, rows: &[u32]) -> Vec<f32> {
        self.by_four(rows, |row| kernels::prefetch(row.high), |four| query.approx_cosines(four))
    }

    /// Computes the cosines of four rows at a time, and prefetches later rows.
    fn by_four(
        &self,
        rows: &[u32],
        prefetch: impl Fn(Row<'_>),
        multiply: impl Fn([Row<'_>; 4]) -> [f32; 4],
    ) -> Vec<f32> {
        let mut cosines = Vec::with_capacity(rows.len() + 3);
        for (number, four) in rows.chunks(4).enumerate() {
            rows.iter()
                .skip(number * 4 + PREFETCH_ROWS)
                .take(4)
                .for_each(|row| prefetch(self.row(*row as usize)));
            let row = |at: usize| four.get(at).map_or(EMPTY, |row| self.row(*row as usize));
            cosines.extend(multiply([row(0), row(1), row(2), row(3)]));
        }
        cosines.truncate(rows.len());
        cosines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_base::model::encoding::{Embedding, dot};

    fn vector(seed: usize) -> Embedding {
        let mixed = |at: usize| ((seed * 7919 + at) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = |at: usize| {
            ((mixed(at) ^ (mixed(at) >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32
                / 8_388_608.0
                - 1.0
        };
        Embedding::new((0..DIMENSIONS).map(number).collect()).expect("the vector has a direction")
    }

    #[test]
    fn cosines_are_exact_and_estimates_are_close() {
        let mut vectors = Vectors::default();
        let count = CHUNK + 30;
        for row in 0..count {
            vectors.set(row, Some(QuantizedVector::from(&vector(row)).row()));
        }
        vectors.set(5, None);
        let query = vector(3);
        let (binary, quantized) =
            (BinaryQuery::new(query.as_slice()), QuantizedVector::from(&query));
        let rows: Vec<u32> = (0..count + 2).map(crate::index::slot_id).collect();
        let (cosines, approx) =
            (vectors.cosines(&quantized, &rows), vectors.approx_cosines(&quantized, &rows));
        for row in 0..count {
            let exact = if row == 5 { 0.0 } else { dot(query.as_slice(), vector(row).as_slice()) };
            assert!((cosines[row] - exact).abs() < 1e-5, "{row}: {}, not {exact}", cosines[row]);
            assert!((approx[row] - exact).abs() < 0.01, "{row}: {}, not {exact}", approx[row]);
            let estimate = vectors.estimate(&binary, row / 64)[row % 64];
            assert!((estimate - exact).abs() < 0.2, "{row}: {estimate}, not {exact}");
        }
        assert!(
            cosines[count..] == [0.0; 2] && approx[5] == 0.0,
            "the cosine of an empty row is 0"
        );
        assert!(
            vectors.count() == count - 1 && vectors.get(5).is_none() && vectors.get(3).is_some()
        );
    }

    #[test]
    fn every_row_has_the_vector_that_was_set_in_any_chunk() {
        let mut vectors = Vectors::default();
        let in_small_chunks = SMALL * CHUNK;
        let rows = [
            in_small_chunks + LARGE,
            in_small_chunks + LARGE - 1,
            in_small_chunks,
            in_small_chunks - 1,
            CHUNK,
            CHUNK - 1,
            0,
        ];
        let quantized: Vec<QuantizedVector> =
            rows.iter().map(|row| QuantizedVector::from(&vector(*row))).collect();
        for (row, quantized) in rows.iter().zip(&quantized) {
            assert!(vectors.get(*row).is_none());
            vectors.set(*row, Some(quantized.row()));
        }
        for (row, quantized) in rows.iter().zip(&quantized) {
            assert!(
                vectors.get(*row).is_some_and(|found| found.steps() == quantized.row().steps()),
                "{row}"
            );
            let (binary, at) = (BinaryQuery::new(vector(*row).as_slice()), row % 64);
            let estimates = vectors.estimate(&binary, row / 64);
            assert!(
                (estimates[at] - 1.0).abs() < 0.2 && estimates[(at + 1) % 64] < 0.5,
                "{row}: {}",
                estimates[at]
            );
        }
        assert!(
            vectors.get(in_small_chunks + 1).is_none()
                && vectors.get(in_small_chunks + CHUNK).is_none()
                && vectors.get(in_small_chunks + 3 * LARGE).is_none()
        );
        assert_eq!(vectors.count(), rows.len());
    }
}
