//! The best of many numbers, chosen without sorting: the number is looked for that as many as are wanted are above.
//!
//! Not here: what the numbers are worth (`wide`).

use crate::index::slots_of;
use crate::kernels;

/// Words of 64 numbers that are asked first where to look.
const SAMPLE: usize = 96;
/// What is chosen there is this much more, and this much less, than the share of it that is wanted.
const ABOUT: [f64; 2] = [1.15, 0.9];
/// How often a span is halved at most: nothing tells apart what is left in it then.
const HALVINGS: usize = 24;

/// One bit for each of the best of some numbers; `among` has a bit for each that counts, and 64 numbers belong to each of its words. There
/// are as many as the first of `count` says, or more, up to the second, if that is quicker; of those that nothing tells apart the later
/// ones. What is not above 0 is not chosen.
pub(super) fn best(numbers: &[f32], among: &[u64], count: (usize, usize)) -> Vec<u64> {
    let stride = among.len().div_ceil(SAMPLE);
    let mut guesses = Vec::new();
    if stride > 1 {
        let sample: Vec<f32> = numbers.chunks(64).step_by(stride).flatten().copied().collect();
        let among: Vec<u64> = among.iter().step_by(stride).copied().collect();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number of slots")]
        let wanted = ABOUT.map(|share| (share * count.0 as f64 / stride as f64) as usize);
        guesses.extend(wanted.map(|wanted| Span::around(&sample, &among, (wanted, wanted + wanted / 16), &[]).low));
    }
    let mut span = Span::around(numbers, among, count, &guesses);
    if span.above.count > count.1 {
        let better = Above::new(numbers, among, span.high);
        span.above.leave_out(span.above.count - count.0, &better.bits);
    }
    span.above.bits
}

/// Two numbers: as many as are wanted, or more, are above the lower one, and fewer above the higher one.
struct Span {
    low: f32,
    high: f32,
    /// What is above the lower one.
    above: Above,
}

impl Span {
    /// Halves the span of some numbers until no more than the second of `count` are above its lower end.
    fn around(numbers: &[f32], among: &[u64], count: (usize, usize), guesses: &[f32]) -> Self {
        let mut span = Self { low: 0.0, high: most(numbers), above: Above::new(numbers, among, 0.0) };
        for turn in 0..HALVINGS {
            if span.above.count <= count.1 {
                break;
            }
            let guess = guesses.get(turn).copied().filter(|guess| *guess > span.low && *guess < span.high);
            let middle = guess.unwrap_or(f32::midpoint(span.low, span.high));
            let above = Above::new(numbers, among, middle);
            if above.count >= count.0 {
                (span.low, span.above) = (middle, above);
            } else {
                span.high = middle;
            }
        }
        span
    }
}

/// The greatest of some numbers, in lanes that the compiler keeps in a vector.
fn most(numbers: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 16];
    for sixteen in numbers.as_chunks::<16>().0 {
        lanes.iter_mut().zip(sixteen).for_each(|(lane, number)| *lane = if *lane < *number { *number } else { *lane });
    }
    lanes.into_iter().fold(0.0, f32::max)
}

/// Those of some numbers that are above another.
struct Above {
    bits: Vec<u64>,
    count: usize,
}

impl Above {
    fn new(numbers: &[f32], among: &[u64], least: f32) -> Self {
        let mut bits = among.to_vec();
        kernels::above(numbers, least, &mut bits);
        let count = bits.iter().map(|word| word.count_ones() as usize).sum();
        Self { bits, count }
    }

    /// Leaves out the first so many that are not to be kept.
    fn leave_out(&mut self, mut count: usize, kept: &[u64]) {
        for (number, (bits, kept)) in self.bits.iter_mut().zip(kept).enumerate() {
            for slot in slots_of(number, *bits & !kept).take(count) {
                *bits &= !(1 << (slot % 64));
                count -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// However they lie: nothing is left out that is better than something chosen, and of equals the later ones are.
        #[test]
        fn the_best_are_chosen_and_not_many_more(
            runs in prop::collection::vec((0..60_u16, 1..400_usize, any::<bool>()), 1..60), count in 1..3_000_usize, more in 0..200_usize, seed in any::<u64>(),
        ) {
            let mut numbers: Vec<f32> = Vec::new();
            for (level, length, alike) in &runs {
                let own = |at: usize| (seed.wrapping_mul(at as u64 + 1) >> 40) as f32 / 1e9;
                numbers.extend((0..*length).map(|at| f32::from(*level) / 40.0 - 0.2 + if *alike { 0.0 } else { own(at) }));
            }
            numbers.resize(numbers.len().next_multiple_of(64), 9.0);
            let filled: usize = runs.iter().map(|(_, length, _)| length).sum();
            let bit = |slot: usize| u64::from(slot < filled && seed >> (slot % 61) & 1 == 0) << (slot % 64);
            let among: Vec<u64> = (0..numbers.len() / 64).map(|word| (0..64).map(|at| bit(word * 64 + at)).sum()).collect();
            let chosen: Vec<usize> = best(&numbers, &among, (count, count + more)).iter().enumerate().flat_map(|(word, bits)| slots_of(word, *bits)).collect();
            let mut expected: Vec<usize> = among.iter().enumerate().flat_map(|(word, bits)| slots_of(word, *bits)).filter(|slot| numbers[*slot] > 0.0).collect();
            expected.sort_by(|a, b| numbers[*b].total_cmp(&numbers[*a]).then(b.cmp(a)));
            prop_assert!(chosen.len() >= count.min(expected.len()) && chosen.len() <= count + more);
            expected.truncate(chosen.len());
            expected.sort_unstable();
            // What lies within the last span is not told apart.
            let least = |slots: &[usize]| slots.iter().map(|slot| numbers[*slot]).fold(f32::MAX, f32::min);
            prop_assert!((least(&chosen) - least(&expected)).abs() < 1e-6, "{} {}", least(&chosen), least(&expected));
        }
    }
}
