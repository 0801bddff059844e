//! What storing order tells: the answer stands after the question, and what belongs together was stored together. Pure.
//!
//! Every step here counts only as far as `link` says that the order of these memories means something at all. Source: `link`, `beside`
//! and the last lines of `scores` of the reference. Not here: which memories form one order (`recall`).

use super::{ANSWER, BEST, LINK, NEXT, QUESTION, REACH, WINDOW};
use crate::embedding::dot;

/// Memories of one project in storing order, and what their order is worth, 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Order {
    pub len: usize,
    pub link: f64,
}

/// What the order of these vectors is worth: how much more neighbours are alike than any two are, less one standard error.
///
/// The mean over all pairs is taken from the sum of the vectors, so this costs one pass.
pub(crate) fn link<'a>(vectors: impl Iterator<Item = &'a [f32]>) -> f64 {
    let (mut total, mut near, mut count, mut before): (Vec<f64>, f64, usize, Option<&[f32]>) = (Vec::new(), 0.0, 0, None);
    for vector in vectors {
        total.resize(vector.len(), 0.0);
        total.iter_mut().zip(vector).for_each(|(sum, value)| *sum += f64::from(*value));
        near += before.map_or(0.0, |before| f64::from(dot(before, vector)));
        (count, before) = (count + 1, Some(vector));
    }
    if count < 2 {
        return 0.0;
    }
    let n = count as f64;
    let random = (total.iter().map(|sum| sum * sum).sum::<f64>() - n) / (n * n - n);
    ((near / (n - 1.0) - random - 0.15 / n.sqrt()) / LINK).clamp(0.0, 1.0)
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
    let whole = |at: usize| {
        let around = WINDOW * (link * best_around(&near, at) + (1.0 - link) * near[at]);
        near[at] + around - if question[at] { QUESTION } else { 0.0 }
    };
    (0..scores.len()).map(whole).collect()
}

/// The mean of the best [`BEST`] scores of those around, itself among them; what is beyond the ends counts as 0.
pub(super) fn best_around(scores: &[f64], at: usize) -> f64 {
    let around = &scores[at.saturating_sub(REACH)..scores.len().min(at + REACH + 1)];
    let floor = if around.len() == 2 * REACH + 1 { f64::NEG_INFINITY } else { 0.0 };
    let mut best = [floor; BEST];
    for score in around {
        if *score > best[BEST - 1] {
            best[BEST - 1] = *score;
            best.sort_by(|a, b| b.total_cmp(a));
        }
    }
    best.iter().map(|score| if score.is_finite() { *score } else { 0.0 }).sum::<f64>() / BEST as f64
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
        let of = |vectors: &[Vec<f32>]| link(vectors.iter().map(Vec::as_slice));
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
