//! The data layouts that the kernels read.

use crate::model::sign_code::{DIMENSIONS, LANES};

/// Eight codes side by side: for each 64-bit lane, that of each code.
pub(crate) type Eight = [[u64; 8]; LANES];

/// The signs of 64 vectors: for each eight numbers a byte of each, of which the lowest bit is the first number's.
pub(crate) type Signs = [[u8; 64]; DIMENSIONS / 8];

/// The numbers of a question in so few steps that four of them can be summed beforehand, whichever of them count.
#[derive(Debug, Clone)]
pub(crate) struct Coarse {
    /// -7 to 7.
    pub(crate) numbers: [i8; DIMENSIONS],
    /// Of each four what those sum up to that have a bit in the place, above the least that any of them do.
    pub(crate) fours: [[u8; 16]; DIMENSIONS / 4],
    /// What the least of all fours sum up to.
    pub(crate) least: i16,
}

impl Coarse {
    /// Numbers further from 0 than 7 are taken for 7 or -7.
    pub(crate) fn new(numbers: &[i8; DIMENSIONS]) -> Self {
        let numbers = numbers.map(|number| number.clamp(-7, 7));
        let (mut fours, mut least) = ([[0; 16]; DIMENSIONS / 4], 0);
        for (sums, four) in fours.iter_mut().zip(numbers.as_chunks::<4>().0) {
            let mut of_four = [0_i8; 16];
            for bits in 1..16_usize {
                // What the bits but the lowest sum up to stands there already.
                of_four[bits] = of_four[bits & (bits - 1)] + four[bits.trailing_zeros() as usize];
            }
            let least_of_four: i8 = four.iter().map(|number| (*number).min(0)).sum();
            *sums = of_four.map(|sum| (sum - least_of_four).cast_unsigned());
            least += i16::from(least_of_four);
        }
        Self { numbers, fours, least }
    }

    /// What all numbers sum up to.
    pub(crate) fn sum(&self) -> i16 {
        self.numbers.iter().map(|number| i16::from(*number)).sum()
    }
}

/// One byte of each number of a vector.
pub(crate) type Bytes = [i8; DIMENSIONS];
