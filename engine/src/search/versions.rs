//! Finds results that state an older value of what a newer result states. Pure.
//!
//! "We build with Xcode 15.4" and "We build with Xcode 26.1 now" answer the same question; only the
//! newer one is right. Both stay visible, the newer one first. docs/retrieval.md has the
//! measurement behind each constant. Not here: duplicates (`collapse`), what an agent replaced by
//! `supersedes`, reading the rows (`operations::recall`).

use crate::text::features::{content_words, parts};
use crate::text::{stem, tokenize};
use loci_proto::memory::MemoryType;
use regex::Regex;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Share of the older result's score that the newer one must reach.
const MIN_SCORE_SHARE: f64 = 0.85;
/// Share of the content words of the shorter text that both texts must have.
const MIN_SHARED_WORDS: f64 = 0.5;
/// As [`MIN_SCORE_SHARE`], if the newer text says that something changed.
const MIN_SCORE_SHARE_OF_CHANGE: f64 = 0.75;
/// As [`MIN_SHARED_WORDS`], if the newer text says that something changed.
const MIN_SHARED_WORDS_OF_CHANGE: f64 = 0.4;
/// Texts of more bytes state many facts, so that another one need not be a new version of them.
const MAX_TEXT_BYTES: usize = 600;

/// Words by which a text says that something changed.
static CHANGE_WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(now|since|as of|no longer|any ?more|any longer|instead|used to|formerly|previously|new|from .{1,40} to|(?:mov|switch|chang|renam|replac|start|upgrad|updat|migrat|rais|lower|dropp|cancell?|remov|pass)ed)\b",
    )
    .expect("the pattern compiles")
});

/// A result as far as versions are compared.
#[derive(Debug, Clone)]
pub(crate) struct VersionedText {
    kind: MemoryType,
    /// The project in which it was stored.
    group: Option<String>,
    /// Position in the order of storing.
    seq: i64,
    score: f64,
    stems: HashSet<String>,
    says_change: bool,
    is_short: bool,
}

/// The memory of a result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ResultText<'a> {
    /// Its type.
    pub kind: MemoryType,
    /// The project in which it was stored.
    pub group: Option<&'a str>,
    /// Position in the order of storing.
    pub seq: i64,
    /// Its score.
    pub score: f64,
    /// Its text.
    pub content: &'a str,
}

impl VersionedText {
    /// Extracts what is compared.
    pub(crate) fn new(result: ResultText<'_>) -> Self {
        let ResultText { kind, group, seq, score, content } = result;
        let body = parts(content).body;
        let stem = |word: &str| stem::stem_plain(tokenize::unmarked(&tokenize::lower(word)));
        Self {
            kind,
            group: group.map(str::to_owned),
            seq,
            score,
            stems: content_words(body).into_iter().map(|word| stem(&body[word])).collect(),
            says_change: CHANGE_WORD.is_match(body),
            is_short: content.len() <= MAX_TEXT_BYTES,
        }
    }

    /// Returns whether this text states a newer value of what `older` states. Events do not replace
    /// each other, nor do instructions.
    fn is_newer_version_of(&self, older: &Self) -> bool {
        let is_fact = |kind| matches!(kind, MemoryType::Semantic | MemoryType::Entity);
        let can_replace = is_fact(older.kind)
            && (is_fact(self.kind) || self.kind == MemoryType::Episodic)
            && self.seq > older.seq
            && self.group == older.group
            && self.is_short
            && older.is_short;
        if !can_replace {
            return false;
        }
        let shared = self.stems.intersection(&older.stems).count() as f64
            / self.stems.len().min(older.stems.len()).max(1) as f64;
        let passes = |score_share: f64, words: f64| {
            self.score >= score_share * older.score && shared >= words
        };
        passes(MIN_SCORE_SHARE, MIN_SHARED_WORDS)
            || self.says_change && passes(MIN_SCORE_SHARE_OF_CHANGE, MIN_SHARED_WORDS_OF_CHANGE)
    }
}

/// The order of results with newer versions before older ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct VersionOrder {
    /// Indices of the results, in their new order.
    pub order: Vec<usize>,
    /// For each result, the index of the result that states a newer value, if there is one.
    pub newer: Vec<Option<usize>>,
}

/// Moves each newer version directly before the best result whose value it replaces. `results` are
/// in the order of their scores.
pub(crate) fn newest_first(results: &[VersionedText]) -> VersionOrder {
    let mut order: Vec<usize> = (0..results.len()).collect();
    let mut newer = vec![None; results.len()];
    let mut place = 0;
    while place < order.len() {
        let replaced = order[place];
        let newest = (place + 1..order.len())
            .filter(|at| results[order[*at]].is_newer_version_of(&results[replaced]))
            .max_by_key(|at| results[order[*at]].seq);
        if let Some(at) = newest {
            let moved = order.remove(at);
            newer[replaced] = Some(moved);
            order.insert(place, moved);
            // What was moved here may have a newer version itself only if that is newer still,
            // which `max_by_key` has excluded.
            place += 1;
        }
        place += 1;
    }
    VersionOrder { order, newer }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: MemoryType, seq: i64, score: f64, content: &str) -> VersionedText {
        VersionedText::new(ResultText { kind, group: Some("a"), seq, score, content })
    }

    fn fact(seq: i64, score: f64, content: &str) -> VersionedText {
        text(MemoryType::Semantic, seq, score, content)
    }

    #[test]
    fn a_new_value_of_the_same_fact_comes_before_the_old_one() {
        let results = [
            fact(1, 2.0, "The build machine has 8 GB of memory."),
            fact(5, 1.9, "The canteen closes at two."),
            fact(9, 1.6, "The build machine has 32 GB of memory now."),
        ];
        let VersionOrder { order, newer } = newest_first(&results);
        assert_eq!(order, [2, 0, 1]);
        assert_eq!(newer, [Some(2), None, None]);
    }

    #[test]
    fn an_event_replaces_a_fact_but_no_other_event() {
        let change = "14 March: moved the office hour from Monday to Wednesday";
        let by_event = [
            fact(1, 2.0, "The office hour is on Monday"),
            text(MemoryType::Episodic, 2, 1.7, change),
        ];
        assert_eq!(newest_first(&by_event).order, [1, 0]);
        let events = [
            text(MemoryType::Episodic, 1, 2.0, "The office hour was on Monday"),
            text(MemoryType::Episodic, 2, 1.9, change),
        ];
        assert_eq!(newest_first(&events).order, [0, 1]);
    }

    #[test]
    fn other_facts_older_texts_and_weaker_matches_stay_where_they_are() {
        for (seq, score, content) in [
            (2, 1.9, "The printer on the second floor needs toner"),
            (0, 1.9, "The build machine has 32 GB of memory now"),
            (2, 1.0, "The build machine has 32 GB of memory now"),
        ] {
            let results =
                [fact(1, 2.0, "The build machine has 8 GB of memory"), fact(seq, score, content)];
            let VersionOrder { order, newer } = newest_first(&results);
            assert_eq!((order, newer), (vec![0, 1], vec![None, None]), "{content}");
        }
    }

    #[test]
    fn of_three_versions_the_newest_is_first() {
        let results = [
            fact(1, 2.0, "The tests run on Node 18"),
            fact(2, 2.0, "The tests run on Node 20"),
            fact(3, 2.0, "The tests run on Node 22"),
        ];
        let VersionOrder { order, newer } = newest_first(&results);
        assert_eq!(order[0], 2);
        assert_eq!(newer[0], Some(2));
        assert!(newer[2].is_none());
    }
}
