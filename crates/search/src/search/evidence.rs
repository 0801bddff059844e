//! Whether the best results answer the query at all.
//!
//! One absolute score cannot tell: a short note that answers scores less than a chat message that
//! does not. The verdict is a logistic regression over what matches in the best result itself, the
//! number of terms, and the size of the searched set. docs/retrieval.md ("Weak answers") says what
//! chose the constants; `bench/silence.py` fits them and prints the curves. Not here: the ranking,
//! and the verdict of the plain fusions (`ranking::fusion`).

use crate::index::{Index, QuantizedVector, slot_id};
use crate::ranking::fusion::ScoredSlot;
use crate::search::query::prepared::PreparedQuery;
use loci_base::model::encoding::QueryEncoding;
use std::collections::BTreeMap;

/// Number of best results among which the best match is sought: boosts may put another one first.
const RESULTS: usize = 12;
/// Fit below which results are called weak: 5 % of the right answers of the notes have less.
const MIN_FIT: f64 = 0.16;

/// Effective number of query terms above which more of them count no more.
const MAX_TERMS: f64 = 8.0;

/// Constants of the logistic regression.
const INTERCEPT: f64 = -7.292;
const WORDS: f64 = 8.428;
const COSINE: f64 = 8.852;
const COVERED: f64 = 1.096;
const SCORE: f64 = 1.131;
const LOG_ADMITTED: f64 = -0.609;
const LOG_TERMS: f64 = 0.994;

/// What speaks for an answer among the best results.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Match of the query terms with the words of the best match, 0 to 1, without its neighbours.
    pub words: f64,
    /// Its cosine, -1 to 1.
    pub cosine: f64,
    /// Share of the weights of the query terms that occur in it, 0 to 1.
    pub covered: f64,
    /// Score of the first result, without the boosts for links and projects.
    pub score: f64,
    /// Natural logarithm of the number of admitted memories.
    pub log_admitted: f64,
    /// Natural logarithm of the effective number of query terms, at most [`MAX_TERMS`].
    pub log_terms: f64,
}

/// What is looked at.
#[derive(Clone, Copy)]
pub struct EvidenceInput<'a> {
    /// The index that is searched.
    pub index: &'a Index,
    /// The results, best first.
    pub ranked: &'a [ScoredSlot],
    /// The encoding of the query.
    pub encoding: &'a QueryEncoding,
    /// The words of the query, prepared for this index.
    pub prepared: &'a PreparedQuery,
    /// Score of the first result, without boosts.
    pub score: f64,
    /// Number of admitted memories.
    pub admitted: usize,
}

impl Evidence {
    /// Gathers the evidence for a query. `None` without results.
    pub fn gather(input: EvidenceInput<'_>) -> Option<Self> {
        let EvidenceInput { index, ranked, encoding, prepared, score, admitted } = input;
        let slots: Vec<u32> =
            ranked.iter().take(RESULTS).map(|entry| slot_id(entry.slot)).collect();
        let cosines = index.cosines(&QuantizedVector::from(&encoding.vector), &slots);
        let own_match = |(slot, cosine): (&u32, f32)| OwnMatch {
            slot: *slot as usize,
            words: prepared.scorer.word_match(index.codes(*slot as usize).unwrap_or_default()),
            cosine: f64::from(cosine),
        };
        let matches = slots.iter().zip(cosines).map(own_match);
        let best = matches.max_by(|a, b| a.strength().total_cmp(&b.strength()))?;
        let occurs = |terms: &[String]| index.words().occurs(best.slot, terms);
        Some(Self {
            words: best.words,
            cosine: best.cosine,
            covered: prepared.covered(occurs),
            score,
            log_admitted: (admitted.max(1) as f64).ln(),
            log_terms: prepared.effective_terms().min(MAX_TERMS).ln(),
        })
    }

    /// Returns how likely the best results answer the query, 0 to 1.
    pub fn fit(&self) -> f64 {
        let sum = INTERCEPT
            + WORDS * self.words
            + COSINE * self.cosine
            + COVERED * self.covered
            + SCORE * self.score
            + LOG_ADMITTED * self.log_admitted
            + LOG_TERMS * self.log_terms;
        1.0 / (1.0 + (-sum).exp())
    }

    /// Returns the values by name.
    pub fn named(self) -> BTreeMap<String, f64> {
        let named = [
            ("words", self.words),
            ("cosine", self.cosine),
            ("covered", self.covered),
            ("score", self.score),
            ("log_admitted", self.log_admitted),
            ("log_terms", self.log_terms),
        ];
        named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Returns whether the best results are unlikely to answer the query.
    pub fn is_weak(&self) -> bool {
        self.fit() < MIN_FIT
    }
}

/// How well one result matches without its neighbours.
struct OwnMatch {
    slot: usize,
    words: f64,
    cosine: f64,
}

impl OwnMatch {
    fn strength(&self) -> f64 {
        self.words + self.cosine
    }
}
