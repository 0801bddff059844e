//! Ranking constants that can be set at run time, for the copy of the engine that `bench/ablation.py` builds. No build of loci contains this file.
//!
//! Not here: which lines of the engine read them (ablation.py), which values are tried (rows.tsv).

use std::sync::atomic::{AtomicU64, Ordering};

/// The constants that can be set.
pub const NAMES: [&str; 26] = [
    "COSINE_WEIGHT",
    "BM25_WEIGHT",
    "WORD_MATCH_WEIGHT",
    "NEIGHBOUR_TERM_FACTOR",
    "SPEAKER_BOOST",
    "FIRST_PERSON_BOOST",
    "DATE_BOOST",
    "EXPECTED_CONTENT_BOOST",
    "ANSWER_SHARE",
    "NEIGHBOUR_SHARE",
    "WINDOW_SHARE",
    "RECENCY_BOOST",
    "QUESTION_PENALTY",
    "FULL_COHERENCE",
    "WINDOW_RADIUS",
    "WINDOW_BEST",
    "EXHAUSTIVE_LIMIT",
    "WORD_MATCHED",
    "BM25_K1",
    "BM25_B",
    "IDF_EXPONENT",
    "SHORT_QUERY_TERMS",
    "MAX_LENGTH_FACTOR",
    "MIN_EVENT_MATCH",
    "EVENT_TERM_FACTOR",
    "ONE_SIDED_HALF_LIFE",
];
static VALUES: [AtomicU64; NAMES.len()] = [const { AtomicU64::new(u64::MAX) }; NAMES.len()];

/// Returns the value of a constant by its index in [`NAMES`]; `default` if it was not set.
#[inline]
pub fn value(index: usize, default: f64) -> f64 {
    let bits = VALUES[index].load(Ordering::Relaxed);
    if bits == u64::MAX { default } else { f64::from_bits(bits) }
}

/// As [`value`], for a constant that is a count.
pub fn count(index: usize, default: usize) -> usize {
    value(index, default as f64) as usize
}

/// Sets a constant; `None` resets it.
pub fn set(name: &str, value: Option<f64>) -> Result<(), String> {
    let index = NAMES.iter().position(|constant| *constant == name).ok_or(format!("{name} is not one of the constants"))?;
    VALUES[index].store(value.map_or(u64::MAX, f64::to_bits), Ordering::Relaxed);
    Ok(())
}

/// Returns for each score the mean of the `best` best scores within `radius`; positions beyond the ends count as 0.
pub fn window_means(scores: &[f64], radius: usize, best: usize) -> Vec<f64> {
    let mean = |at: usize| {
        let mut around = scores[at.saturating_sub(radius)..scores.len().min(at + radius + 1)].to_vec();
        if around.len() <= 2 * radius {
            around.extend(std::iter::repeat_n(0.0, best));
        }
        around.sort_by(|a, b| b.total_cmp(a));
        around.iter().take(best).sum::<f64>() / best as f64
    };
    (0..scores.len()).map(mean).collect()
}
