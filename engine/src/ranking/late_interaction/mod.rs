//! The default ranking (`fusion = "soft"`): token-level late interaction plus features of the text
//! and its context. Pure.
//!
//! A memory scores by the cosine of its vector, by BM25, and by how well its tokens match each
//! query term (late interaction, as in `ColBERT`); then by what the query names (a person, a time) or
//! asks for (a time, a place), and by the scores of memories stored around it. docs/retrieval.md
//! has the formulas, the figures, and for each constant the measurement that chose it. "The
//! reference" is the implementation in numpy that most constants come from;
//! `engine/src/tests/search.rs` compares the two.
//!
//! | file | content |
//! |---|---|
//! | `weights` | every constant |
//! | `query_scorer` | [`QueryScorer`]: the formulas of one memory |
//! | `word_match` | query terms, their weights, and their best match among a memory's tokens |
//! | `context`, `coherence` | smoothing along the storing order, and how much that order means |
//! | `recorder` | what each step added, for `explain` |
//!
//! Not here: which memories are scored (`search`), where document frequencies come from
//! (`index::postings`).

pub(crate) mod coherence;
pub(crate) mod context;
pub(crate) mod query_scorer;
pub(crate) mod recorder;
pub(crate) mod weights;
pub(crate) mod word_match;

pub(crate) use coherence::{CoherenceStats, OrderedBlock};
pub(crate) use context::{ContextSmoothing, SmoothedBlock};
pub(crate) use query_scorer::{
    BoostFeatures, MemorySignals, QueryScorer, WordMatchBlock, score_all,
};
pub(crate) use recorder::{NoRecord, ScoreRecorder, Step, StepRecord};
pub(crate) use weights::{
    EXHAUSTIVE_LIMIT, MAX_STATIC_SCORE, PREFETCH_DISTANCE, WEAK_SCORE, WINDOW_RADIUS,
};
pub(crate) use word_match::{QueryTerm, down_weight, term_weights};
