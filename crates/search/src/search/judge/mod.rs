//! The judge: orders the best results of a search and says of each how likely it answers the query,
//! in the project in which it is asked.
//!
//! Stage one finds. The judge is four small linear models over numbers that stage one has anyway:
//! the order is that of the score with a constant for the preferred project (`project_preference`),
//! `evidence` says whether the page answers at all, a share says which result does, and `versions`
//! puts a newer value before an older one. `same_subject` compares two texts without a query. No list of words, no second model. docs/retrieval.md
//! ("The judge") has the formulas and the figures. Not here: finding (`search`).

mod candidates;
mod evidence;
pub mod same_subject;
mod versions;

pub(super) use candidates::{CANDIDATES, Judged};
pub use evidence::Evidence;
pub use versions::Newer;

use candidates::{Candidates, sigmoid};
use std::collections::HashMap;

/// Fit below which a page is called weak.
const WEAK: f64 = 0.2;

/// Weight of a score in the order.
const SCORE: f64 = 7.9632;
/// Weight of a memory's rivals, and the constant of its share.
const RIVALS: f64 = -1.0279;
const SHARE: f64 = 0.7021;
/// Bound of the rivals, on both sides.
const MAX_RIVALS: f64 = 6.0;

/// What the judge says of one search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judgement {
    /// How likely one of the best five answers the query, 0 to 1.
    pub fit: f64,
    /// From what that is computed.
    pub evidence: Evidence,
    /// How likely each result answers the query, 0 to 1, by slot.
    pub fits: HashMap<usize, f64>,
    /// For a result, the one that most likely states a newer value, by slot.
    pub newer: HashMap<usize, Newer>,
}

impl Judgement {
    /// Returns whether even the best results are unlikely to be an answer.
    pub fn is_weak(&self) -> bool {
        self.fit < WEAK
    }
}

/// Judges the results; `None` without any.
pub(super) fn judge(input: &Judged<'_>) -> Option<Judgement> {
    let Judged { index, ranked, may_replace, .. } = *input;
    let candidates = Candidates::new(input);
    let first = candidates.slots.first()?;
    let evidence = Evidence::gather(&candidates, index.codes(*first).unwrap_or_default());
    let fit = evidence.fit();
    let order: Vec<f64> = ranked.iter().map(|entry| SCORE * entry.score).collect();
    let shares = shares(&order).into_iter().map(|share| share * fit);
    let mut fits: HashMap<usize, f64> = ranked.iter().map(|entry| entry.slot).zip(shares).collect();
    let newer = versions::newer_versions(&candidates, |newer, older| {
        may_replace(index.seq(newer), index.seq(older))
    });
    let mut replaced: Vec<usize> =
        newer.iter().filter(|(_, newer)| newer.replaces()).map(|(older, _)| *older).collect();
    replaced.sort_by_key(|older| index.seq(*older));
    // The oldest first, so that the newest of a chain inherits.
    for older in replaced {
        let Newer { slot, likelihood, .. } = newer[&older];
        let fit = fits[&older];
        fits.entry(slot).and_modify(|of_newer| *of_newer = of_newer.max(fit));
        fits.insert(older, (1.0 - likelihood) * fit);
    }
    Some(Judgement { fit, evidence, fits, newer })
}

/// Returns the share of each result: how likely it is the one that answers, if the page does.
fn shares(order: &[f64]) -> Vec<f64> {
    let rivals = &order[..order.len().min(CANDIDATES)];
    let share = |(at, own): (usize, &f64)| {
        let others = rivals.iter().enumerate().filter(|(other, _)| *other != at);
        let sum: f64 = others.map(|(_, other)| (other - own).clamp(-30.0, 30.0).exp()).sum();
        let rivals = if rivals.len() < 2 { -MAX_RIVALS } else { (sum + 1e-9).ln() };
        sigmoid(RIVALS * rivals.clamp(-MAX_RIVALS, MAX_RIVALS) + SHARE)
    };
    order.iter().enumerate().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_share_is_a_likelihood_and_keeps_the_order(mut order in prop::collection::vec(-5.0..40.0_f64, 1..60)) {
            order.sort_by(|a, b| b.total_cmp(a));
            let shares = shares(&order);
            prop_assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)));
            prop_assert!(shares.windows(2).all(|pair| pair[0] >= pair[1]), "{shares:?}");
        }
    }

    #[test]
    fn a_result_without_rivals_has_nearly_the_whole_share() {
        assert!(shares(&[9.0])[0] > 0.99);
        let [first, second] = shares(&[9.0, 9.0])[..] else { panic!("two shares") };
        assert!((first - second).abs() < 1e-12 && first < 0.7);
    }
}
