//! What storing order tells: the answer stands after the question, and what belongs together was stored together. Pure.
//!
//! Every step here counts only as far as `link` says that the order of these memories means something at all. Source: `link`, `beside`
//! and the last lines of `scores` of the reference. Not here: which memories form one order (`recall`).

use crate::ranking::late_interaction::{ANSWER, BEST, LINK, NEXT, QUESTION, REACH, WINDOW};

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
pub(crate) fn answered(scores: &[f64], question: &[bool], at: usize) -> f64 {
    at.checked_sub(1).filter(|before| question[*before]).map_or(0.0, |before| scores[before])
}

/// Lifts answers, neighbours and neighbourhoods of what scores well; lowers questions. Its room is kept from order to order.
#[derive(Debug, Default)]
pub(crate) struct Lift {
    near: Vec<f64>,
    around: BestAround,
}

impl Lift {
    /// Lifts the scores of one order; `question` tells which of them are questions.
    pub(crate) fn lift(&mut self, scores: &mut [f64], question: &[bool], link: f64) {
        let near = |at: usize| {
            scores[at]
                + link * (ANSWER * answered(scores, question, at) + NEXT * beside(scores, at))
        };
        self.near.clear();
        self.near.extend((0..scores.len()).map(near));
        self.around.look(&self.near);
        for (at, ((score, near), question)) in
            scores.iter_mut().zip(&self.near).zip(question).enumerate()
        {
            let around = WINDOW * (link * self.around.mean(&self.near, at) + (1.0 - link) * near);
            *score = near + around - if *question { QUESTION } else { 0.0 };
        }
    }
}

/// The two best of every 16 scores in a row.
#[derive(Debug, Default)]
pub(crate) struct BestAround {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl BestAround {
    const NOTHING: f64 = f64::NEG_INFINITY;

    /// Looks at these scores. The best two of any 16 in a row are those of two eights, and so on: four passes without a branch.
    pub(crate) fn look(&mut self, scores: &[f64]) {
        let (first, second) = (&mut self.first, &mut self.second);
        for best in [&mut *first, &mut *second] {
            best.clear();
            best.resize(scores.len() + 2 * REACH, Self::NOTHING);
        }
        first[REACH..REACH + scores.len()].copy_from_slice(scores);
        for step in [1, 2, 4, 8] {
            let count = first.len() - step;
            for at in 0..count {
                (first[at], second[at]) =
                    better_two((first[at], second[at]), (first[at + step], second[at + step]));
            }
            first.truncate(count);
        }
    }

    /// The mean of the best [`BEST`] of these scores around one of them, itself among them; what is beyond the ends counts as 0.
    pub(crate) fn mean(&self, scores: &[f64], at: usize) -> f64 {
        let least = if at < REACH || at + REACH >= scores.len() { 0.0 } else { Self::NOTHING };
        let farthest = scores.get(at + REACH).copied().unwrap_or(Self::NOTHING);
        let (best, next) = better_two((self.first[at], self.second[at]), (farthest, Self::NOTHING));
        (best.max(least) + next.max(least)) / BEST as f64
    }
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

    fn lifted(scores: &[f64], question: &[bool], link: f64) -> Vec<f64> {
        let mut lifted = scores.to_vec();
        Lift::default().lift(&mut lifted, question, link);
        lifted
    }

    #[test]
    fn a_drifting_order_is_linked_and_a_shuffled_one_is_not() {
        let drifting: Vec<Vec<f32>> = (0..400).map(|i| unit(i as f32 * 0.02)).collect();
        let shuffled: Vec<Vec<f32>> =
            (0..400).map(|i| unit((i * 149 % 400) as f32 * 0.02)).collect();
        let of = |vectors: &[Vec<f32>]| {
            let mut sums = Sums::new(2);
            for (at, vector) in vectors.iter().enumerate() {
                sums.add(
                    vector,
                    at.checked_sub(1).map_or(0.0, |before| {
                        f64::from(crate::model::encoding::dot(&vectors[before], vector))
                    }),
                );
            }
            sums.link()
        };
        assert!(
            (of(&drifting) - 1.0).abs() < 1e-9 && of(&shuffled) < 1e-9,
            "{} {}",
            of(&drifting),
            of(&shuffled)
        );
        assert!(of(&drifting[..1]).abs() < 1e-9);
    }

    #[test]
    fn what_follows_a_good_question_is_lifted_and_the_question_is_not() {
        let asked = lifted(&[0.0, 0.8, 0.5, 0.0], &[false, true, false, false], 1.0);
        let plain = lifted(&[0.0, 0.8, 0.5, 0.0], &[false; 4], 1.0);
        assert!(
            asked[2] > plain[2] + ANSWER * 0.79
                && asked[1] < plain[1]
                && asked[1] > plain[1] - 0.05
        );
    }

    proptest! {
        #[test]
        fn the_best_around_are_the_best_of_those_around(
            scores in prop::collection::vec(-1.0..2.0_f64, 0..60), before in prop::collection::vec(-1.0..2.0_f64, 0..60),
        ) {
            let mut looked = BestAround::default();
            // Nothing of another order is left.
            looked.look(&before);
            looked.look(&scores);
            for at in 0..scores.len() {
                let mut around = scores[at.saturating_sub(REACH)..scores.len().min(at + REACH + 1)].to_vec();
                if around.len() < 2 * REACH + 1 {
                    around.extend([0.0; BEST]);
                }
                around.sort_by(|a, b| b.total_cmp(a));
                let mean = around[..BEST].iter().sum::<f64>() / BEST as f64;
                prop_assert!((looked.mean(&scores, at) - mean).abs() < 1e-12, "{} {:?}", at, scores);
            }
        }

        #[test]
        fn without_link_the_order_moves_nothing(scores in prop::collection::vec(0.0..2.0_f64, 1..40), turn in 0..40_usize) {
            let whole = lifted(&scores, &vec![false; scores.len()], 0.0);
            let mut turned = scores.clone();
            turned.rotate_left(turn % scores.len());
            let mut of_turned = lifted(&turned, &vec![false; turned.len()], 0.0);
            of_turned.rotate_right(turn % scores.len());
            prop_assert_eq!(whole, of_turned);
        }

        #[test]
        fn more_link_never_lowers_the_neighbours_of_the_best(scores in prop::collection::vec(0.0..1.0_f64, 3..40), link in 0.0..1.0_f64) {
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0);
            let beside = if best > 0 { best - 1 } else { best + 1 };
            let none = vec![false; scores.len()];
            prop_assert!(lifted(&scores, &none, link)[beside] >= lifted(&scores, &none, 0.0)[beside] - 1e-9);
        }
    }
}
