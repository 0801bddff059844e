//! Vectors in rows, in whole steps and as signs: the signs tell roughly how near all of them are, the first bytes nearly, all bytes exactly.
//!
//! Rows stand in chunks, so that the store grows without ever being copied. The estimate is that of `RaBitQ` (Gao and Long, 2024) without
//! its rotation: of a vector the signs and one factor are kept, of the question four bits a number. Not here: whose row it is (`index`).

use crate::index::huge_pages;
use crate::index::quantized::{QuantizedVector, Row};
use crate::kernels;
use crate::kernels::{Bytes, Coarse, Signs};
use crate::model::encoding::DIMENSIONS;

/// Rows of one chunk: 0.8 MB of vectors.
const CHUNK: usize = 1024;
/// So many chunks are of that size; the rest are of so many rows, since only what is larger than a large page can be of large pages.
const SMALL: usize = 16;
const LARGE: usize = 64 * CHUNK;
/// While the signs of 64 rows are compared, those of the 64 so many further on are brought from memory.
const SOON: usize = 2;
/// While some rows are multiplied, those of so many further on are brought from memory.
const AHEAD: usize = 8;
/// A row without a vector.
const EMPTY: Row<'_> = Row { first: &[0; DIMENSIONS], second: &[0; DIMENSIONS], step: 0.0 };

/// Many vectors.
#[derive(Debug, Default)]
pub(crate) struct Vectors {
    chunks: Vec<Chunk>,
    given: usize,
}

#[derive(Debug)]
struct Chunk {
    /// The first byte of each number, and the second.
    first: Vec<Bytes>,
    second: Vec<Bytes>,
    /// How much one step is; 0 for an empty row.
    steps: Vec<f32>,
    /// Of 64 rows each.
    signs: Vec<Signs>,
    /// What the sum of signed numbers is multiplied with; 0 for an empty row.
    factors: Vec<f32>,
}

impl Chunk {
    /// With room for so many rows.
    fn new(rows: usize) -> Self {
        Self {
            first: huge_pages::with_capacity(rows),
            second: huge_pages::with_capacity(rows),
            steps: huge_pages::with_capacity(rows),
            signs: huge_pages::with_capacity(rows / 64),
            factors: huge_pages::with_capacity(rows),
        }
    }

    /// Has at least so many rows.
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

    /// The signs and the factors of 64 rows.
    fn rough(&self, first: usize) -> Option<(&Signs, &[f32; 64])> {
        Some((self.signs.get(first / 64)?, self.factors.get(first..)?.first_chunk()?))
    }
}

/// In which chunk a row is, and where in it.
fn place(row: usize) -> (usize, usize) {
    match row.checked_sub(SMALL * CHUNK) {
        None => (row / CHUNK, row % CHUNK),
        Some(row) => (SMALL + row / LARGE, row % LARGE),
    }
}

/// A question, as far as signs are compared with it.
#[derive(Debug, Clone)]
pub(crate) struct BinaryQuery {
    numbers: Coarse,
    sum: i16,
    step: f32,
}

impl BinaryQuery {
    /// Four bits of each number of a vector.
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
    /// Puts a vector into a row; none empties it. The row may be the next one, or one further on.
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

    /// The vector of a row.
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

    /// How many rows hold a vector.
    pub(crate) fn given(&self) -> usize {
        self.given
    }

    /// Roughly the cosines of 64 rows, the first of which is 64 times `number`; 0 for empty rows.
    pub(crate) fn estimate(&self, rough: &BinaryQuery, number: usize) -> [f32; 64] {
        let Some((signs, factors)) = self.rough(number) else { return [0.0; 64] };
        self.bring_signs(number + SOON);
        kernels::scaled(&kernels::sums(&rough.numbers, signs), factors, rough.step, rough.sum)
    }

    /// The signs and the factors of 64 rows, the first of which is 64 times `number`.
    fn rough(&self, number: usize) -> Option<(&Signs, &[f32; 64])> {
        let (chunk, first) = place(number * 64);
        self.chunks.get(chunk)?.rough(first)
    }

    /// Has the signs of 64 rows brought from memory, and their factors.
    fn bring_signs(&self, number: usize) {
        if let Some((signs, factors)) = self.rough(number) {
            kernels::bring(signs);
            kernels::bring(factors);
        }
    }

    /// The cosines of rows; 0 for empty ones.
    pub(crate) fn cosines(&self, asked: &QuantizedVector, rows: &[u32]) -> Vec<f32> {
        let bring = |row: Row<'_>| {
            [row.first, row.second].into_iter().for_each(|bytes| kernels::bring(bytes))
        };
        self.by_four(rows, bring, |four| asked.cosines(four))
    }

    /// The cosines of rows as far as the first bytes tell; 0 for empty ones.
    pub(crate) fn approx_cosines(&self, asked: &QuantizedVector, rows: &[u32]) -> Vec<f32> {
        self.by_four(rows, |row| kernels::bring(row.first), |four| asked.nearly(four))
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
    fn rows_stand_where_they_were_put_however_many_there_are() {
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
