//! The constants of the late-interaction ranking.
//!
//! docs/retrieval.md ("How each constant was chosen") has the measurement behind each of them;
//! `bench/ablation.py` repeats the measurements. Not here: the formulas that use them.

use crate::calibration::MAX_COSINE_WEIGHT;

/// Effective number of query terms up to which the cosine has its plain weight; with twice as many
/// it counts twice as much.
pub(crate) const SHORT_QUERY_TERMS: f64 = 6.0;
/// Upper bound of the factor by which a long query raises the weight of the cosine.
pub(crate) const MAX_LENGTH_FACTOR: f64 = 3.0;
/// Weight of BM25, which is given as a share of the ideal score, 0 to 1.
pub(crate) const BM25_WEIGHT: f64 = 0.2;
/// Weight of the token-level match of the query terms.
pub(crate) const WORD_MATCH_WEIGHT: f64 = 1.0;
/// Factor of a term match that is found in a direct neighbour instead of the memory itself.
pub(crate) const NEIGHBOUR_TERM_FACTOR: f64 = 0.7;
/// Boost of a memory whose speaker is the one person that the query names.
pub(crate) const SPEAKER_BOOST: f64 = 0.15;
/// Further boost if that speaker uses the first person.
pub(crate) const FIRST_PERSON_BOOST: f64 = 0.15;
/// Boost of a memory dated inside a time that the query names; it falls off with the distance in
/// days.
pub(crate) const DATE_BOOST: f64 = 0.3;
/// Boost of a text with a word of time if the query asks for a time, or with a name inside a
/// sentence if it asks for a place.
pub(crate) const EXPECTED_CONTENT_BOOST: f64 = 0.12;
/// Share of a question's score that the memory stored right after it receives.
pub(crate) const ANSWER_SHARE: f64 = 0.1;
/// Share of the better direct neighbour's score that a memory receives.
pub(crate) const NEIGHBOUR_SHARE: f64 = 0.15;
/// Share of the mean of the best scores in the window around a memory that the memory receives.
pub(crate) const WINDOW_SHARE: f64 = 0.4;
/// Number of memories on each side that are in the window.
pub(crate) const WINDOW_RADIUS: usize = 8;
/// Number of best scores of the window that are averaged.
pub(crate) const WINDOW_BEST: usize = 2;
/// Boost of the newest memory; it only decides between nearly equal scores.
pub(crate) const RECENCY_BOOST: f64 = 0.01;
/// Age in days, counted from the newest memory, at which half of the recency boost is left.
pub(crate) const RECENCY_HALF_LIFE: f64 = 30.0;
/// Penalty of a memory that is a question: a question is seldom the answer.
pub(crate) const QUESTION_PENALTY: f64 = 0.03;
/// Excess of the mean neighbour cosine over the mean cosine of all pairs at which an order counts
/// as fully coherent.
pub(crate) const FULL_COHERENCE: f64 = 0.045;
/// Factor on the weights of query terms that only describe an event used as a time reference.
pub(crate) const EVENT_TERM_FACTOR: f64 = 0.5;

/// Largest number of admitted memories that are scored exhaustively; larger sets are searched from
/// coarse to fine.
pub(crate) const EXHAUSTIVE_LIMIT: usize = 2_000;

/// Upper bound of a score without word matches and context. BM25 may have the weight of the word
/// matches as well; the boost for expected content counts twice, because a query may ask for both a
/// time and a place.
pub(crate) const MAX_STATIC_SCORE: f64 = MAX_COSINE_WEIGHT * MAX_LENGTH_FACTOR
    + BM25_WEIGHT
    + WORD_MATCH_WEIGHT
    + WORD_MATCH_WEIGHT.max(DATE_BOOST)
    + SPEAKER_BOOST
    + FIRST_PERSON_BOOST
    + 2.0 * EXPECTED_CONTENT_BOOST;

/// How many memories ahead of the current one the token codes are prefetched.
pub(crate) const PREFETCH_DISTANCE: usize = 4;
