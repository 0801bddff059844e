//! The default ranking (`fusion = "soft"`): token-level late interaction plus features of the text
//! and its context. Pure.
//!
//! The score of a memory is the sum of the cosine of its vector, of BM25, and of how well its
//! tokens match each query term (late interaction, as in `ColBERT`). Boosts are added if the query
//! names a person or a time or asks for a time or a place, and then a share of the scores of
//! neighbours in storage order. docs/retrieval.md has the formulas, the figures, and the
//! measurement behind each constant. "The reference" is the implementation in numpy that most
//! constants come from; `engine/src/tests/search.rs` compares the two.
//!
//! | file | content |
//! |---|---|
//! | `weights` | every constant |
//! | `query_scorer` | [`QueryScorer`]: the formulas of one memory |
//! | `word_match` | query terms, their weights, and their best match among a memory's tokens |
//! | `context`, `coherence` | smoothing over neighbours, and the weight of their order |
//! | `recorder` | recording of what each step adds, for `explain` |
//!
//! Not here: which memories are scored (`search`), where document frequencies come from
//! (`index::postings`).

pub mod coherence;
pub mod context;
pub(crate) mod query_scorer;
pub mod recorder;
pub mod weights;
pub(crate) mod word_match;

pub(crate) use coherence::{CoherenceStats, OrderedBlock};
pub(crate) use context::{ContextSmoothing, SmoothedBlock};
pub(crate) use query_scorer::{
    BoostFeatures, MemorySignals, QueryScorer, WordMatchBlock, score_all,
};
pub use recorder::Step;
pub(crate) use recorder::{NoRecord, ScoreRecorder, StepRecord};
pub(crate) use weights::{EXHAUSTIVE_LIMIT, MAX_STATIC_SCORE, PREFETCH_DISTANCE, WINDOW_RADIUS};
pub(crate) use word_match::{QueryTerm, down_weight, term_weights};
