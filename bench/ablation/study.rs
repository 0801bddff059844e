//! The constants of the ranking as they are read by a copy of the engine that `bench/ablation.py` makes. No build of loci has this.
//!
//! Not here: which places of the engine read them (ablation.py), which values are tried (rows.tsv).

use std::sync::atomic::{AtomicU64, Ordering};

/// What can be changed.
pub const NAMES: [&str; 26] = [
    "COS",
    "LEX",
    "SOFT",
    "TERM_BESIDE",
    "PERSON",
    "FIRST",
    "DATE",
    "EXPECT",
    "ANSWER",
    "NEXT",
    "WINDOW",
    "RECENT",
    "QUESTION",
    "LINK",
    "REACH",
    "BEST",
    "SCAN_ALL",
    "COMPARED",
    "K1",
    "B",
    "RARITY",
    "SPREAD",
    "LONG",
    "MET",
    "HELD_BACK",
    "FAR",
];
static VALUES: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(u64::MAX) }; NAMES.len()];

/// The value of a constant by its place in [`NAMES`]; its own where it was not changed.
#[inline]
pub fn value(at: usize, own: f64) -> f64 {
    let bits = VALUES[at].load(Ordering::Relaxed);
    if bits == u64::MAX { own } else { f64::from_bits(bits) }
}

/// The same, of a number of things.
pub fn count(at: usize, own: usize) -> usize {
    value(at, own as f64) as usize
}

/// Changes a constant. None takes it back to its own.
pub fn set(name: &str, value: Option<f64>) -> Result<(), String> {
    let at = NAMES.iter().position(|known| *known == name).ok_or(format!("{name} is no constant"))?;
    VALUES[at].store(value.map_or(u64::MAX, f64::to_bits), Ordering::Relaxed);
    Ok(())
}

/// For each the mean of the best so many of those around; what is beyond the ends counts as 0.
pub fn best_around(scores: &[f64], reach: usize, best: usize) -> Vec<f64> {
    let mean = |at: usize| {
        let mut around = scores[at.saturating_sub(reach)..scores.len().min(at + reach + 1)].to_vec();
        if around.len() <= 2 * reach {
            around.extend(std::iter::repeat_n(0.0, best));
        }
        around.sort_by(|a, b| b.total_cmp(a));
        around.iter().take(best).sum::<f64>() / best as f64
    };
    (0..scores.len()).map(mean).collect()
}
