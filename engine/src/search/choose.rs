//! The best of many numbers, chosen without sorting: the number is looked for that as many as are wanted are above.
//!
//! Not here: what the numbers are worth (`wide`).

use crate::index::slots_of;
use crate::kernels;

/// Words of 64 numbers that are asked first where to look.
const SAMPLE: usize = 192;
/// There this many more are looked for, and this many fewer, than the share of them that is wanted.
const ABOUT: [f64; 2] = [1.1, 0.9];
/// No number is greater. What the greatest one is would be another pass, and those that do not count would have a say in it.
const MOST: f32 = 2.0;
/// How often a span is halved at most: nothing tells apart what is left in it then.
const HALVINGS: usize = 24;

/// One bit for each of the best of some numbers; `among` has a bit for each that counts, and 64 numbers belong to each of its words. There
/// are as many as the first of `count` says, or more, up to the second, if that is quicker; of those that nothing tells apart the later
/// ones. What is not above 0 is not chosen.
pub(super) fn best(numbers: &[f32], among: &[u64], count: (usize, usize)) -> Vec<u64> {
    let stride = among.len().div_ceil(SAMPLE);
    let guessed = (stride > 1).then(|| about(numbers, among, (count.0, stride)));
    let found = guessed.and_then(|span| Span::between(numbers, among, count.0, span));
    let mut span = found.unwrap_or_else(|| Span::whole(numbers, among));
    span.halve(numbers, among, count);
    if span.above.count > count.1 {
        let better = Above::new(numbers, among, span.high);
        span.above.leave_out(span.above.count - count.0, &better.bits);
    }
    span.above.bits
}

/// Between which numbers the one lies that so many are above, as far as one word of so many tells.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a number of slots")]
fn about(numbers: &[f32], among: &[u64], (count, stride): (usize, usize)) -> (f32, f32) {
    let sample: Vec<f32> = numbers.chunks(64).step_by(stride).flatten().copied().collect();
    let among: Vec<u64> = among.iter().step_by(stride).copied().collect();
    let [low, high] = ABOUT.map(|share| {
        let wanted = (share * count as f64 / stride as f64) as usize;
        let mut span = Span::whole(&sample, &among);
        span.halve(&sample, &among, (wanted, wanted + wanted / 16));
        span.low
    });
    (low, high)
}

/// Two numbers: as many as are wanted, or more, are above the lower one, and fewer above the higher one; or all are above the lower one.
struct Span {
    low: f32,
    high: f32,
    /// What is above the lower one.
    above: Above,
}

impl Span {
    fn whole(numbers: &[f32], among: &[u64]) -> Self {
        Self { low: 0.0, high: MOST, above: Above::new(numbers, among, 0.0) }
    }

    /// The span between two numbers, or from the higher one on; none where the one that is looked for lies below.
    fn between(numbers: &[f32], among: &[u64], count: usize, (low, high): (f32, f32)) -> Option<Self> {
        let above = Above::new(numbers, among, high);
        if above.count >= count {
            return Some(Self { low: high, high: MOST, above });
        }
        Some(Self { low, high, above: Above::new(numbers, among, low) }).filter(|span| span.above.count >= count)
    }

    /// Halves it until no more than the second of `count` are above its lower end, and no fewer than the first.
    fn halve(&mut self, numbers: &[f32], among: &[u64], count: (usize, usize)) {
        for _ in 0..HALVINGS {
            if self.above.count <= count.1 {
                break;
            }
            let middle = f32::midpoint(self.low, self.high);
            let above = Above::new(numbers, among, middle);
            if above.count >= count.0 {
                (self.low, self.above) = (middle, above);
            } else {
                self.high = middle;
            }
        }
    }
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
            // What does not count has no say, whatever it is.
            let foreign = |slot: usize| among[slot / 64] >> (slot % 64) & 1 == 0;
            let others: Vec<f32> = numbers.iter().enumerate().map(|(slot, number)| if foreign(slot) { 1.9 - number } else { *number }).collect();
            prop_assert_eq!(best(&others, &among, (count, count + more)), best(&numbers, &among, (count, count + more)));
            // What lies within the last span is not told apart.
            let least = |slots: &[usize]| slots.iter().map(|slot| numbers[*slot]).fold(f32::MAX, f32::min);
            prop_assert!((least(&chosen) - least(&expected)).abs() < 1e-6, "{} {}", least(&chosen), least(&expected));
        }
    }
}
