//! What storing order tells: the answer stands after the question, and what belongs together was stored together. Pure.
//!
//! Every step here counts only as far as `link` says that the order of these memories means something at all. Source: `link`, `beside`
//! and the last lines of `scores` of the reference. Not here: which memories form one order (`recall`).

use super::{ANSWER, BEST, LINK, NEXT, QUESTION, REACH, WINDOW};

/// Memories of one project in storing order, and what their order is worth, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Order {
    pub len: usize,
    pub link: f64,
}

/// What is summed of the vectors of an order. The mean over all pairs is taken from the sum of the vectors, so this costs one pass.
#[derive(Debug)]
pub(crate) struct Sums {
    total: Vec<f64>,
    /// The cosines of neighbours.
    near: f64,
    count: usize,
}

impl Sums {
    pub(crate) fn new(dimensions: usize) -> Self {
        Self { total: vec![0.0; dimensions], near: 0.0, count: 0 }
    }

    /// One more at the end, with its cosine to what was the last; 0 for the first.
    pub(crate) fn add(&mut self, vector: &[f32], beside: f64) {
        self.total.iter_mut().zip(vector).for_each(|(sum, value)| *sum += f64::from(*value));
        (self.near, self.count) = (self.near + beside, self.count + 1);
    }

    /// One less at the beginning, with its cosine to what becomes the first.
    pub(crate) fn remove(&mut self, vector: &[f32], beside: f64) {
        self.total.iter_mut().zip(vector).for_each(|(sum, value)| *sum -= f64::from(*value));
        (self.near, self.count) = (self.near - beside, self.count - 1);
    }

    /// What the order is worth: how much more neighbours are alike than any two are, less one standard error.
    pub(crate) fn link(&self) -> f64 {
        if self.count < 2 {
            return 0.0;
        }
        let n = self.count as f64;
        let random = (self.total.iter().map(|sum| sum * sum).sum::<f64>() - n) / (n * n - n);
        ((self.near / (n - 1.0) - random - 0.15 / n.sqrt()) / LINK).clamp(0.0, 1.0)
    }
}

/// The better of what stands just before and just after, 0 at the ends.
pub(crate) fn beside(scores: &[f64], at: usize) -> f64 {
    let before = at.checked_sub(1).map_or(0.0, |before| scores[before]);
    before.max(scores.get(at + 1).copied().unwrap_or(0.0))
}

/// What stands just before, if it is a question; else 0.
pub(super) fn answered(scores: &[f64], question: &[bool], at: usize) -> f64 {
    at.checked_sub(1).filter(|before| question[*before]).map_or(0.0, |before| scores[before])
}

/// Lifts answers, neighbours and neighbourhoods of what scores well; lowers questions.
pub(crate) fn lift(scores: &[f64], question: &[bool], link: f64) -> Vec<f64> {
    let near: Vec<f64> =
        (0..scores.len()).map(|at| scores[at] + link * (ANSWER * answered(scores, question, at) + NEXT * beside(scores, at))).collect();
    let around = best_around(&near);
    let whole = |at: usize| {
        let around = WINDOW * (link * around[at] + (1.0 - link) * near[at]);
        near[at] + around - if question[at] { QUESTION } else { 0.0 }
    };
    (0..scores.len()).map(whole).collect()
}

/// For each the mean of the best [`BEST`] scores of those around, itself among them; what is beyond the ends counts as 0.
///
/// The best two of any 16 in a row are those of two eights, and so on: five passes without a branch.
pub(super) fn best_around(scores: &[f64]) -> Vec<f64> {
    const NOTHING: f64 = f64::NEG_INFINITY;
    let (mut first, mut second) = (vec![NOTHING; scores.len() + 2 * REACH], vec![NOTHING; scores.len() + 2 * REACH]);
    first[REACH..REACH + scores.len()].copy_from_slice(scores);
    for step in [1, 2, 4, 8] {
        let count = first.len() - step;
        for at in 0..count {
            (first[at], second[at]) = better_two((first[at], second[at]), (first[at + step], second[at + step]));
        }
        first.truncate(count);
    }
    let mean = |at: usize| {
        let least = if at < REACH || at + REACH >= scores.len() { 0.0 } else { NOTHING };
        let (best, next) = better_two((first[at], second[at]), (scores.get(at + REACH).copied().unwrap_or(NOTHING), NOTHING));
        (best.max(least) + next.max(least)) / BEST as f64
    };
    (0..scores.len()).map(mean).collect()
}

/// The best two of twice two.
fn better_two(a: (f64, f64), b: (f64, f64)) -> (f64, f64) {
    let (least, most) = if a.0 < b.0 { (a.0, b.0) } else { (b.0, a.0) };
    let second = if a.1 < b.1 { b.1 } else { a.1 };
    (most, if least < second { second } else { least })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn unit(angle: f32) -> Vec<f32> {
        vec![angle.cos(), angle.sin()]
    }

    #[test]
    fn a_drifting_order_is_linked_and_a_shuffled_one_is_not() {
        let drifting: Vec<Vec<f32>> = (0..400).map(|i| unit(i as f32 * 0.02)).collect();
        let shuffled: Vec<Vec<f32>> = (0..400).map(|i| unit((i * 149 % 400) as f32 * 0.02)).collect();
        let of = |vectors: &[Vec<f32>]| {
            let mut sums = Sums::new(2);
            for (at, vector) in vectors.iter().enumerate() {
                sums.add(vector, at.checked_sub(1).map_or(0.0, |before| f64::from(crate::embedding::dot(&vectors[before], vector))));
            }
            sums.link()
        };
        assert!((of(&drifting) - 1.0).abs() < 1e-9 && of(&shuffled) < 1e-9, "{} {}", of(&drifting), of(&shuffled));
        assert!(of(&drifting[..1]).abs() < 1e-9);
    }

    #[test]
    fn what_follows_a_good_question_is_lifted_and_the_question_is_not() {
        let lifted = lift(&[0.0, 0.8, 0.5, 0.0], &[false, true, false, false], 1.0);
        let plain = lift(&[0.0, 0.8, 0.5, 0.0], &[false; 4], 1.0);
        assert!(lifted[2] > plain[2] + ANSWER * 0.79 && lifted[1] < plain[1] && lifted[1] > plain[1] - 0.05);
    }

    proptest! {
        #[test]
        fn the_best_around_are_the_best_of_those_around(scores in prop::collection::vec(-1.0..2.0_f64, 0..60)) {
            for (at, mean) in best_around(&scores).into_iter().enumerate() {
                let mut around = scores[at.saturating_sub(REACH)..scores.len().min(at + REACH + 1)].to_vec();
                if around.len() < 2 * REACH + 1 {
                    around.extend([0.0; BEST]);
                }
                around.sort_by(|a, b| b.total_cmp(a));
                prop_assert!((around[..BEST].iter().sum::<f64>() / BEST as f64 - mean).abs() < 1e-12, "{} {:?}", at, scores);
            }
        }

        #[test]
        fn without_link_the_order_moves_nothing(scores in prop::collection::vec(0.0..2.0_f64, 1..40), turn in 0..40_usize) {
            let lifted = lift(&scores, &vec![false; scores.len()], 0.0);
            let mut turned = scores.clone();
            turned.rotate_left(turn % scores.len());
            let mut of_turned = lift(&turned, &vec![false; turned.len()], 0.0);
            of_turned.rotate_right(turn % scores.len());
            prop_assert_eq!(lifted, of_turned);
        }

        #[test]
        fn more_link_never_lowers_the_neighbours_of_the_best(scores in prop::collection::vec(0.0..1.0_f64, 3..40), link in 0.0..1.0_f64) {
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0);
            let beside = if best > 0 { best - 1 } else { best + 1 };
            let none = vec![false; scores.len()];
            prop_assert!(lift(&scores, &none, link)[beside] >= lift(&scores, &none, 0.0)[beside] - 1e-9);
        }
    }
}
