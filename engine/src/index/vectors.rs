//! Vectors in rows, quantised to two bytes a number and as sign bits: the sign bits give an
//! estimated cosine, the high bytes one to a thousandth, both bytes one to a few millionths.
//!
//! Rows are in chunks, so that growing never copies. The estimate is that of `RaBitQ` (Gao and
//! Long, 2024) without its rotation: a vector is kept as its signs and one factor, the query as
//! four bits a number. Not here: which memory a row belongs to (`index`).

use crate::index::huge_pages;
use crate::index::quantized::{QuantizedVector, Row};
use crate::kernels;
use crate::kernels::{Bytes, Coarse, Signs};
use crate::model::encoding::DIMENSIONS;

/// Rows of a small chunk: 0.8 MB of vectors.
const CHUNK: usize = 1024;
/// Number of small chunks; later ones are large, since only a chunk larger than a huge page can use
/// huge pages.
const SMALL: usize = 16;
const LARGE: usize = 64 * CHUNK;
/// While the sign bits of one block of 64 rows are compared, those of the block this many further
/// on are prefetched.
const SOON: usize = 2;
/// While some rows are multiplied, the rows this many further on are prefetched.
const AHEAD: usize = 8;
/// A row without a vector.
const EMPTY: Row<'_> = Row { first: &[0; DIMENSIONS], second: &[0; DIMENSIONS], step: 0.0 };

/// Vectors by row number.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    chunks: Vec<Chunk>,
    given: usize,
}

#[derive(Debug)]
struct Chunk {
    /// The high byte of each number, and the low byte.
    first: Vec<Bytes>,
    second: Vec<Bytes>,
    /// The size of one quantisation step; 0 for an empty row.
    steps: Vec<f32>,
    /// The sign bits, 64 rows each.
    signs: Vec<Signs>,
    /// The factor that converts a sum of signed numbers into a cosine; 0 for an empty row.
    factors: Vec<f32>,
}

impl Chunk {
    /// Creates a chunk with this capacity in rows.
    fn new(rows: usize) -> Self {
        Self {
            first: huge_pages::with_capacity(rows),
            second: huge_pages::with_capacity(rows),
            steps: huge_pages::with_capacity(rows),
            signs: huge_pages::with_capacity(rows / 64),
            factors: huge_pages::with_capacity(rows),
        }
    }

    /// Grows to at least this many rows.
    fn grow(&mut self, rows: usize) {
        if self.steps.len() < rows {
            let rows = rows.next_multiple_of(CHUNK);
            self.first.resize(rows, *EMPTY.first);
            self.second.resize(rows, *EMPTY.second);
            self.steps.resize(rows, 0.0);
            self.signs.resize(rows / 64, [[0; 64]; DIMENSIONS / 8]);
            self.factors.resize(rows, 0.0);
        }
    }

    /// Returns sign bits and factors of 64 rows.
    fn rough(&self, first: usize) -> Option<(&Signs, &[f32; 64])> {
        Some((self.signs.get(first / 64)?, self.factors.get(first..)?.first_chunk()?))
    }
}

/// Returns the chunk of a row, and its position there.
fn place(row: usize) -> (usize, usize) {
    match row.checked_sub(SMALL * CHUNK) {
        None => (row / CHUNK, row % CHUNK),
        Some(row) => (SMALL + row / LARGE, row % LARGE),
    }
}

/// A query in the form that is compared with sign bits.
#[derive(Debug, Clone)]
pub(crate) struct BinaryQuery {
    numbers: Coarse,
    sum: i16,
    step: f32,
}

impl BinaryQuery {
    /// Quantises a vector to four bits a number.
    pub(crate) fn new(vector: &[f32]) -> Self {
        let largest =
            vector.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let step = largest / 7.0;
        #[expect(clippy::cast_possible_truncation, reason = "between -7 and 7")]
        let number = |at: usize| vector.get(at).map_or(0, |value| (value / step).round() as i8);
        let numbers = Coarse::new(&std::array::from_fn(number));
        Self { sum: numbers.sum(), numbers, step }
    }
}

impl Vectors {
    /// Writes a vector into a row; `None` empties it. The row may be beyond the last one.
    pub(crate) fn set(&mut self, row: usize, vector: Option<Row<'_>>) {
        let (number, at) = place(row);
        while self.chunks.len() <= number {
            self.chunks.push(Chunk::new(if self.chunks.len() < SMALL { CHUNK } else { LARGE }));
        }
        self.given =
            self.given - usize::from(self.get(row).is_some()) + usize::from(vector.is_some());
        let (chunk, row) = (&mut self.chunks[number], at);
        chunk.grow(row + 1);
        let vector = vector.unwrap_or(EMPTY);
        (chunk.first[row], chunk.second[row], chunk.steps[row]) =
            (*vector.first, *vector.second, vector.step);
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
    pub(crate) fn get(&self, row: usize) -> Option<Row<'_>> {
        Some(self.row(row)).filter(|row| row.step > 0.0)
    }

    fn row(&self, row: usize) -> Row<'_> {
        let (number, at) = place(row);
        match self.chunks.get(number) {
            Some(chunk) if at < chunk.steps.len() => {
                Row { first: &chunk.first[at], second: &chunk.second[at], step: chunk.steps[at] }
            }
            _ => EMPTY,
        }
    }

    /// Returns how many rows hold a vector.
    pub(crate) fn given(&self) -> usize {
        self.given
    }

    /// Returns estimated cosines of the 64 rows from `64 * number`; 0 for empty rows.
    pub(crate) fn estimate(&self, rough: &BinaryQuery, number: usize) -> [f32; 64] {
        let Some((signs, factors)) = self.rough(number) else { return [0.0; 64] };
        self.bring_signs(number + SOON);
        kernels::scaled(&kernels::sums(&rough.numbers, signs), factors, rough.step, rough.sum)
    }

    /// Returns sign bits and factors of the 64 rows from `64 * number`.
    fn rough(&self, number: usize) -> Option<(&Signs, &[f32; 64])> {
        let (chunk, first) = place(number * 64);
        self.chunks.get(chunk)?.rough(first)
    }

    /// Prefetches sign bits and factors of 64 rows.
    fn bring_signs(&self, number: usize) {
        if let Some((signs, factors)) = self.rough(number) {
            kernels::bring(signs);
            kernels::bring(factors);
        }
    }

    /// Returns the cosines of rows; 0 for empty ones.
    pub(crate) fn cosines(&self, asked: &QuantizedVector, rows: &[u32]) -> Vec<f32> {
        let bring = |row: Row<'_>| {
            for bytes in [row.first, row.second] {
                kernels::bring(bytes);
            }
        };
        self.by_four(rows, bring, |four| asked.cosines(four))
    }

    /// Returns the cosines of rows by their high bytes alone; 0 for empty ones.
    pub(crate) fn approx_cosines(&self, asked: &QuantizedVector, rows: &[u32]) -> Vec<f32> {
        self.by_four(rows, |row| kernels::bring(row.first), |four| asked.approx_cosines(four))
    }

    fn by_four(
        &self,
        rows: &[u32],
        bring: impl Fn(Row<'_>),
        multiply: impl Fn([Row<'_>; 4]) -> [f32; 4],
    ) -> Vec<f32> {
        let mut cosines = Vec::with_capacity(rows.len() + 3);
        for (number, four) in rows.chunks(4).enumerate() {
            rows.iter()
                .skip(number * 4 + AHEAD)
                .take(4)
                .for_each(|row| bring(self.row(*row as usize)));
            let row = |place: usize| four.get(place).map_or(EMPTY, |row| self.row(*row as usize));
            cosines.extend(multiply([row(0), row(1), row(2), row(3)]));
        }
        cosines.truncate(rows.len());
        cosines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::encoding::{Embedding, dot};

    fn vector(seed: usize) -> Embedding {
        let mixed = |at: usize| ((seed * 7919 + at) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = |at: usize| {
            ((mixed(at) ^ (mixed(at) >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40) as f32
                / 8_388_608.0
                - 1.0
        };
        Embedding::new((0..DIMENSIONS).map(number).collect()).expect("has a direction")
    }

    #[test]
    fn cosines_are_exact_and_estimates_are_near() {
        let mut vectors = Vectors::default();
        let count = CHUNK + 30;
        for row in 0..count {
            vectors.set(row, Some(QuantizedVector::from(&vector(row)).row()));
        }
        vectors.set(5, None);
        let query = vector(3);
        let (rough, asked) = (BinaryQuery::new(query.as_slice()), QuantizedVector::from(&query));
        let rows: Vec<u32> = (0..count + 2).map(crate::index::slot_id).collect();
        let (cosines, nearly) =
            (vectors.cosines(&asked, &rows), vectors.approx_cosines(&asked, &rows));
        for row in 0..count {
            let exact = if row == 5 { 0.0 } else { dot(query.as_slice(), vector(row).as_slice()) };
            assert!((cosines[row] - exact).abs() < 1e-5, "{row}: {}, not {exact}", cosines[row]);
            assert!((nearly[row] - exact).abs() < 0.01, "{row}: {}, not {exact}", nearly[row]);
            let estimate = vectors.estimate(&rough, row / 64)[row % 64];
            assert!((estimate - exact).abs() < 0.2, "{row}: {estimate}, not {exact}");
        }
        assert!(
            cosines[count..] == [0.0; 2] && nearly[5] == 0.0,
            "what is not there is like nothing"
        );
        assert!(
            vectors.given() == count - 1 && vectors.get(5).is_none() && vectors.get(3).is_some()
        );
    }

    #[test]
    fn rows_are_found_where_they_were_set_in_any_number() {
        let mut vectors = Vectors::default();
        let many = SMALL * CHUNK;
        let rows = [many + LARGE, many + LARGE - 1, many, many - 1, CHUNK, CHUNK - 1, 0];
        let stepped: Vec<QuantizedVector> =
            rows.iter().map(|row| QuantizedVector::from(&vector(*row))).collect();
        for (row, stepped) in rows.iter().zip(&stepped) {
            assert!(vectors.get(*row).is_none());
            vectors.set(*row, Some(stepped.row()));
        }
        for (row, stepped) in rows.iter().zip(&stepped) {
            assert!(
                vectors.get(*row).is_some_and(|found| found.steps() == stepped.row().steps()),
                "{row}"
            );
            let (rough, at) = (BinaryQuery::new(vector(*row).as_slice()), row % 64);
            let estimates = vectors.estimate(&rough, row / 64);
            assert!(
                (estimates[at] - 1.0).abs() < 0.2 && estimates[(at + 1) % 64] < 0.5,
                "{row}: {}",
                estimates[at]
            );
        }
        assert!(
            vectors.get(many + 1).is_none()
                && vectors.get(many + CHUNK).is_none()
                && vectors.get(many + 3 * LARGE).is_none()
        );
        assert_eq!(vectors.given(), rows.len());
    }
}
