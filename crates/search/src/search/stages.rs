//! How many memories the stages of a search in a large store keep.
//!
//! Not here: what the stages do (`coarse_to_fine`).

/// Number of memories that the first stage keeps.
const REFINED: usize = 4_000;
/// Number of memories that the second stage keeps.
const WORD_MATCHED: usize = 400;
/// One more memory is refined for each this many admitted ones.
const REFINED_INTERVAL: usize = 100;

/// How many memories the stages keep. More cost time and find more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stages {
    /// After the estimates by sign bits.
    pub stage1_k: usize,
    /// After the exact cosines; their words are matched with the query.
    pub stage2_k: usize,
}

impl Default for Stages {
    fn default() -> Self {
        Self { stage1_k: REFINED, stage2_k: WORD_MATCHED }
    }
}

/// How many memories the stages of one search keep.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StageSizes {
    /// Candidates whose cosine is refined. They grow with the store, as the number of nearly equal
    /// estimates does, by up to a quarter.
    pub refined: usize,
    /// Refined candidates that get an exact cosine: more than are word-matched, because the refined
    /// order may be slightly wrong.
    pub exact: usize,
    /// Candidates whose tokens are matched with the query terms.
    pub word_matched: usize,
}

impl StageSizes {
    /// `admitted` is the number of memories that are searched.
    pub fn new(stages: Stages, admitted: usize) -> Self {
        let Stages { stage1_k, stage2_k } = stages;
        Self {
            refined: (stage1_k + admitted / REFINED_INTERVAL).min(stage1_k + stage1_k / 4),
            exact: stage2_k + stage2_k * 3 / 10,
            word_matched: stage2_k,
        }
    }
}
