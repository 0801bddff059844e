//! The kind of a query: what its answer looks like, and so how much is returned and what is searched. Pure.
//!
//! Only with `retrieval.query_kinds`, and only where the caller gives nothing. English words decide; a
//! query in another language is [`Kind::Simple`] if it is short, else [`Kind::Complex`]. Not here: errors
//! (`loci_proto::error_text`), times that a query names (`text::dates`).

use crate::search::query::parse::ParsedQuery;
use crate::search::query::parse::tokens;
use loci_base::text::dates::DateReferences;
use loci_proto::limits;

/// Content words from which a query is complex.
const COMPLEX_WORDS: usize = 8;
/// Beginnings that ask for all there is about somebody or something.
const PROFILE: [&str; 9] = [
    "who is",
    "who are",
    "what is known about",
    "what do you know about",
    "what do we know about",
    "tell me about",
    "tell me everything about",
    "describe",
    "profile of",
];
/// Words that ask for many memories at once.
const AGGREGATION: [&str; 11] = [
    "all",
    "every",
    "each",
    "list",
    "count",
    "total",
    "summarise",
    "summarize",
    "overview",
    "everything",
    "everyone",
];
/// Beginnings that ask for a number or a list.
const COUNTING: [&str; 5] = ["how many", "how often", "what are", "which of", "what kinds"];
/// Beginnings that ask for a time.
const TEMPORAL: [&str; 6] =
    ["when", "since when", "how long", "how recently", "what day", "what date"];
/// Words that compare or join two matters.
const JOINING: [&str; 7] = ["compare", "versus", "vs", "difference", "between", "why", "because"];

/// What the answer to a query looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All there is about somebody or something.
    Profile,
    /// Many memories together.
    Aggregation,
    /// A time, or what was at a time.
    Temporal,
    /// Several memories of which none is the answer.
    Complex,
    /// One memory.
    Simple,
}

impl Kind {
    /// Returns the kind of a query; the first in the order of the variants that fits.
    pub fn of(query: &ParsedQuery, today: i32) -> Self {
        let words: Vec<String> = tokens(&query.text).collect();
        let text = words.join(" ");
        let begins = |beginnings: &[&str]| {
            beginnings.iter().any(|beginning| {
                text.strip_prefix(beginning)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
            })
        };
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        if begins(&PROFILE) {
            Self::Profile
        } else if begins(&COUNTING) || has(&AGGREGATION) {
            Self::Aggregation
        } else if begins(&TEMPORAL) || !DateReferences::parse(&query.text, today).is_empty() {
            Self::Temporal
        } else if has(&JOINING) || query.keywords.len() >= COMPLEX_WORDS {
            Self::Complex
        } else {
            Self::Simple
        }
    }

    /// Returns the name in an explanation.
    pub fn name(self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Aggregation => "aggregation",
            Self::Temporal => "temporal",
            Self::Complex => "complex",
            Self::Simple => "simple",
        }
    }

    /// Returns how many results are returned if the caller does not say, given the configured number.
    pub fn max_results(self, configured: usize) -> usize {
        let most = usize::try_from(limits::MAX_RESULTS).unwrap_or(configured);
        match self {
            // A list or an account of several memories is not whole otherwise.
            Self::Aggregation | Self::Complex => most,
            Self::Profile => (2 * configured).min(most),
            Self::Temporal => configured,
            Self::Simple => configured.min(SIMPLE_RESULTS),
        }
    }

    /// Returns which links of the graph count: those of all kinds but a list, whose members are no
    /// neighbours of each other.
    pub fn uses_graph(self) -> bool {
        self != Self::Aggregation
    }
}

/// Results of a simple query.
const SIMPLE_RESULTS: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;
    use loci_testkit::T0;

    fn kind_of(query: &str) -> Kind {
        Kind::of(&ParsedQuery::new(query), T0.day())
    }

    #[test]
    fn the_words_of_a_query_decide_its_kind() {
        for (query, kind) in [
            ("Who is Anna Kowalska?", Kind::Profile),
            ("tell me about the staging server", Kind::Profile),
            ("List the servers", Kind::Aggregation),
            ("How many servers are there?", Kind::Aggregation),
            ("all decisions about the database", Kind::Aggregation),
            ("When did we move to Postgres?", Kind::Temporal),
            ("what broke last week", Kind::Temporal),
            ("what was decided on 2026-03-04", Kind::Temporal),
            ("Why did we leave MySQL?", Kind::Complex),
            ("difference of staging and production", Kind::Complex),
            ("deploy heron", Kind::Simple),
            ("Where does Anna live?", Kind::Simple),
            ("allgemeine Regeln", Kind::Simple),
            ("whenever", Kind::Simple),
            ("", Kind::Simple),
        ] {
            assert_eq!(kind_of(query), kind, "{query}");
        }
        let long = "billing worker crashes after upgrade of redis cluster behind proxy gateway";
        assert_eq!(kind_of(long), Kind::Complex);
    }

    #[test]
    fn a_kind_sets_the_number_of_results_from_the_configured_one() {
        let numbers = |configured: usize| {
            [Kind::Profile, Kind::Aggregation, Kind::Temporal, Kind::Complex, Kind::Simple]
                .map(|kind| kind.max_results(configured))
        };
        assert_eq!(numbers(5), [10, 20, 5, 20, 3]);
        assert_eq!(numbers(2), [4, 20, 2, 20, 2]);
        assert_eq!(numbers(20), [20, 20, 20, 20, 3]);
    }
}
