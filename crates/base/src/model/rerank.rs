//! The interface of a cross-encoder, which reads a query and a text together. Not here: the model (the daemon's), the order of results
//! (`operations::recall`).

use std::fmt::Debug;

/// Compares a query with texts.
pub trait PairScorer: Debug + Sync {
    /// Returns for each text how likely it answers the query, 0 to 1; `None` if the model is not
    /// loaded or does not answer in time.
    fn score(&self, query: &str, texts: &[&str]) -> Option<Vec<f64>>;
}

/// How the best results of a recall are compared with its query.
#[derive(Debug, Clone, Copy)]
pub struct Rerank<'a> {
    /// The model.
    pub scorer: &'a dyn PairScorer,
    /// Number of results that are compared.
    pub depth: usize,
    /// A recall whose best result has a lower score is called weak; 0 to 1.
    pub floor: f64,
}
