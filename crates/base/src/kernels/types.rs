//! The data layouts that the kernels read.

use crate::model::sign_code::{DIMENSIONS, LANES};

/// Eight sign codes, interleaved: for each lane of 64 bits, that lane of every code.
pub type EightCodes = [[u64; 8]; LANES];

/// The sign bits of 64 vectors, interleaved: for each eight dimensions one byte per vector; the
/// lowest bit belongs to the first dimension.
pub type Signs = [[u8; 64]; DIMENSIONS / 8];

/// A query quantised to four bits a number, with the sums of every subset of four neighbouring
/// numbers computed beforehand.
#[derive(Debug, Clone)]
pub struct CoarseQuery {
    /// The numbers, -7 to 7.
    pub numbers: [i8; DIMENSIONS],
    /// For each four numbers and each of the 16 subsets, the sum of the subset minus the smallest
    /// such sum.
    pub(crate) fours: [[u8; 16]; DIMENSIONS / 4],
    /// The sum of the smallest subset sums of all fours.
    pub smallest: i16,
}

impl CoarseQuery {
    /// Computes the subset sums of a quantised query; numbers beyond ±7 are clamped.
    pub fn new(numbers: &[i8; DIMENSIONS]) -> Self {
        let numbers = numbers.map(|number| number.clamp(-7, 7));
        let (mut fours, mut smallest) = ([[0; 16]; DIMENSIONS / 4], 0);
        for (sums, four) in fours.iter_mut().zip(numbers.as_chunks::<4>().0) {
            let mut of_four = [0_i8; 16];
            for bits in 1..16_usize {
                // The sum of all bits but the lowest is in the table already.
                of_four[bits] = of_four[bits & (bits - 1)] + four[bits.trailing_zeros() as usize];
            }
            let smallest_of_four: i8 = four.iter().map(|number| (*number).min(0)).sum();
            *sums = of_four.map(|sum| (sum - smallest_of_four).cast_unsigned());
            smallest += i16::from(smallest_of_four);
        }
        Self { numbers, fours, smallest }
    }

    /// Returns the sum of all numbers.
    pub fn sum(&self) -> i16 {
        self.numbers.iter().map(|number| i16::from(*number)).sum()
    }
}

/// One byte of each number of a vector: either all high or all low bytes.
pub type VectorBytes = [i8; DIMENSIONS];
