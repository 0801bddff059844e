//! Whether a new text may change what a stored one states, without a query: a logistic regression
//! over what the two have in common.
//!
//! "We deploy with make ship" and "Deploys go through the pipeline now" are about one thing. A
//! store of the second names the first to the agent, which decides what to do. The figures are in
//! docs/retrieval.md ("The judge"). Not here: which of two results a query means (`versions`), whether two texts
//! state the same fact (`loci_base::duplicate`).

use crate::index::{Index, Mask};
use crate::search::judge::candidates::{rarity, sigmoid};
use loci_base::text::terms;
use std::collections::HashSet;
use std::hash::Hash;

/// Cosine from which two texts are compared. It only bounds the work.
pub const MIN_COSINE: f64 = 0.35;
/// Likelihood from which a store names the stored memory.
pub const NAMED: f64 = 0.015;
/// Likelihood from which the two are taken for two values of one fact.
pub const OTHER_VALUE: f64 = 0.1;

/// The weights of: the cosine; how rare the rarest content stem in both is; the share of the content
/// stems of the stored text that the new one lacks.
const WEIGHTS: [f64; 3] = [3.52, 12.96, -6.61];
const CONSTANT: f64 = -13.33;

/// Returns the likelihood that a new text states another value of what a stored one states, 0 to 1;
/// 0 if they have no content word in common. The mask has the memories among which a word is rare.
pub fn likelihood(index: &Index, mask: &Mask, new: &str, stored: &str, cosine: f64) -> f64 {
    let words = index.words();
    let count = |stem: &String| {
        words.list(std::slice::from_ref(stem)).map_or(0, |list| list.count_in(mask))
    };
    of_stems([new, stored].map(content_stems), cosine, |stem| rarity(count(stem), mask.count()))
}

/// As [`likelihood`], for two texts of the index: the slots of the newer and of the older one.
pub fn likelihood_of_slots(index: &Index, mask: &Mask, slots: [usize; 2], cosine: f64) -> f64 {
    let words = index.words();
    let stems = slots.map(|slot| words.content_stems(slot).collect());
    of_stems(stems, cosine, |stem| rarity(words.count_of(*stem, mask), mask.count()))
}

/// `stems` are those of the new text and of the stored one.
fn of_stems<S: Eq + Hash>(stems: [HashSet<S>; 2], cosine: f64, rarity: impl Fn(&S) -> f64) -> f64 {
    let [new, stored] = stems;
    let Some(shared_rare) = stored.intersection(&new).map(rarity).reduce(f64::max) else {
        return 0.0;
    };
    let lost = stored.difference(&new).count() as f64 / stored.len() as f64;
    let features = [cosine, shared_rare, lost];
    sigmoid(CONSTANT + features.iter().zip(WEIGHTS).map(|(of, weight)| of * weight).sum::<f64>())
}

fn content_stems(text: &str) -> HashSet<String> {
    terms::of_text(text).terms.into_iter().filter(|term| terms::is_content_stem(term)).collect()
}
