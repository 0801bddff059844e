//! The input and output types of a search, shared by the search strategies.
//!
//! Not here: the strategies (`exhaustive`, `coarse_to_fine`).

use crate::index::{Index, Mask};
use crate::ranking::fusion::{Candidate, Fusion, ScoredSlot};
use crate::search::branch_preference::BranchPreference;
use crate::search::judge::Judgement;
use crate::search::linked_fields::LinkedFields;
use crate::search::project_preference::ProjectPreference;
use crate::search::query::parse::ParsedQuery;
use crate::search::query::prepared::PreparedQuery;
use crate::search::stages::Stages;
use crate::search::weights::Weights;
use loci_base::model::encoding::QueryEncoding;
use loci_proto::requests::explain::ScoreBreakdown;
use std::collections::HashMap;

/// Share of the best score that a memory must reach to be returned if it matches neither by keyword
/// nor by vector, but only through its neighbours.
pub const NEIGHBOUR_CUTOFF: f64 = 0.5;

/// How much of a large store is scored in full. The values other than the default exist to measure
/// which memories the default misses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Effort {
    /// Coarse to fine: all vectors are estimated, the best candidates are scored in full.
    #[default]
    Approximate,
    /// Coarse to fine with exact cosines of all vectors, to measure what the estimates miss.
    ExactVectors,
    /// Every memory is scored in full, to measure also what scoring only the best candidates
    /// misses.
    Exhaustive,
}

/// Whether a search records how each score came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Detail {
    /// Only the scores.
    #[default]
    Scores,
    /// The scores and the amount that each step added.
    Steps,
}

/// A query to search for.
#[derive(Clone, Copy)]
pub struct SearchQuery<'a> {
    /// The query text.
    pub parsed: &'a ParsedQuery,
    /// The query as the model encodes it; `None` without a model: only keywords are searched then.
    pub encoding: Option<&'a QueryEncoding>,
    /// The ranking.
    pub fusion: Fusion,
    /// The projects whose memories are preferred.
    pub projects: &'a ProjectPreference,
    /// The further lexical fields; `None` if their weights are 0.
    pub fields: Option<&'a LinkedFields>,
    /// The branch on which it is asked.
    pub branch: Option<&'a BranchPreference>,
    /// How much importance and age change a score.
    pub weights: Weights,
    /// Slots of the named entities that have a relation which the query asks for.
    pub answering: &'a [usize],
    /// The day of the query.
    pub today: i32,
    /// Number of results wanted.
    pub limit: usize,
    /// Whether the nearest are returned if nothing matches.
    pub finds_nearest: bool,
    /// Whether links to entities raise a memory.
    pub follows_links: bool,
    /// How much of a large store is scored in full.
    pub effort: Effort,
    /// How many memories its stages keep.
    pub stages: Stages,
    /// Whether the steps of each score are recorded.
    pub detail: Detail,
    /// Whether a memory may state a newer value of what another one states, by their sequence
    /// numbers, the newer one first: the index knows neither their trust nor their status.
    pub may_replace: &'a dyn Fn(i64, i64) -> bool,
}

/// The input of a late-interaction search.
#[derive(Clone, Copy)]
pub struct LateInteractionInput<'a> {
    /// The index that is searched.
    pub index: &'a Index,
    /// The admitted memories.
    pub mask: &'a Mask,
    /// What is asked.
    pub query: &'a SearchQuery<'a>,
    /// The query as the model encodes it.
    pub encoding: &'a QueryEncoding,
    /// Slots of the admitted entities that the query names.
    pub named: &'a [usize],
}

/// The results of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResults {
    /// Best first, by the judgement if there is one; a few more than the limit, since some may state
    /// the same fact.
    pub ranked: Vec<ScoredSlot>,
    /// Number of memories with a positive score.
    pub positive: usize,
    /// For each summary in `ranked`, the slots of the memories whose score it took over, best
    /// first.
    pub summarised: HashMap<usize, Vec<usize>>,
    /// Number of memories that match by keyword, by vector, or as an entity that the query names.
    pub matched: usize,
    /// Whether even the best result is unlikely to be an answer.
    pub is_weak: bool,
    /// How likely the results are answers; `None` without results, and for a plain fusion.
    pub judgement: Option<Judgement>,
    /// How the scores came about, if that was requested.
    pub explanation: Option<Explanation>,
}

/// How the scores of one search came about.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The ranking that was used: "soft", "weighted", "rrf" or "keywords".
    pub ranking: &'static str,
    /// One for each entry of `ranked`, in the same order.
    pub score_breakdowns: Vec<ScoreBreakdown>,
}

/// What a search strategy returns.
pub struct Scoring {
    /// The scored memories, in no order.
    pub scored: Vec<ScoredSlot>,
    /// Number of memories that match.
    pub matched: usize,
    /// The amount that each step added, if that was requested.
    pub breakdown: Option<Breakdown>,
    /// The query as it was scored; `None` for a plain fusion.
    pub prepared: Option<PreparedQuery>,
}

/// The amount that each step added to the score of each candidate.
pub struct Breakdown {
    /// All that were scored, the best first.
    pub candidates: Vec<Candidate>,
    /// The steps of each candidate, in the order of `candidates`.
    pub steps: Vec<Vec<StepAmount>>,
}

/// A step and the amount that it added to a score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepAmount {
    /// The name of the step.
    pub name: &'static str,
    /// By how much the step changed the score.
    pub amount: f64,
}

/// A scored memory before the cut-off.
pub(crate) struct MatchedSlot {
    pub slot: usize,
    pub score: f64,
    /// Whether it matches by keyword, by name or by vector, and not only through its neighbours.
    pub matches: bool,
}

/// Drops memories that match only through their neighbours and score too little. If nothing
/// matches, all are kept for a query that finds the nearest, and none for others.
pub(crate) fn above_cutoff(
    mut scored: Vec<MatchedSlot>,
    matched: usize,
    query: &SearchQuery<'_>,
) -> Vec<ScoredSlot> {
    let matching = scored.iter().filter(|entry| entry.matches);
    let best = matching.map(|entry| entry.score).fold(0.0, f64::max);
    scored.retain(|entry| match matched {
        0 => query.finds_nearest,
        _ => entry.matches || entry.score >= NEIGHBOUR_CUTOFF * best,
    });
    scored.into_iter().map(|MatchedSlot { slot, score, .. }| ScoredSlot { slot, score }).collect()
}
