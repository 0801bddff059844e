//! What a recall says of itself when it is asked to explain: how each score came about, and what each step left out.

use serde::{Deserialize, Serialize};

/// How one score came about: its parts add up to it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Why {
    /// What the vectors say: the cosine, and its place among all. None without a vector or a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vector: Option<Leg>,
    /// What the words say: BM25 as a share of the ideal, and its place among all. None where no word of the question stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Leg>,
    /// What each step of the ranking adds; steps that add nothing are left out.
    pub parts: Vec<Part>,
}

/// One memory in one of the two searches.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Leg {
    /// Its score there.
    pub score: f64,
    /// Its place there; 1 is the best.
    pub rank: usize,
}

/// What one step adds to a score, or takes from it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The step, as docs/retrieval.md names it.
    pub step: String,
    /// How much.
    pub adds: f64,
}

/// How many memories each step of an answer left.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Explained {
    /// What made the scores: `soft`, `weighted`, `rrf`, or `keywords` where the words alone were searched.
    pub ranking: String,
    /// Memories of the whole store that are still there, replaced and forgotten ones among them.
    pub in_store: usize,
    /// Those of them that this project sees, that hold now, and that nothing has replaced.
    pub visible: usize,
    /// Those of them that the call's own filters let through.
    pub admitted: usize,
    /// Those of them that have a word of the question, are near it in meaning, or are named in it.
    pub matched: usize,
    /// How many had a place in the ranking: those that match, and what stands beside good ones.
    pub ranked: usize,
    /// Of these, how many say what a better one says, and are named beside it.
    pub collapsed: usize,
    /// Of the rest, how many came after the last that was asked for.
    pub over_limit: usize,
    /// Of the rest, how many the token budget left out.
    pub cut_by_budget: usize,
}
