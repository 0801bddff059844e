//! Finds results that repeat a text with other numbers, as log lines do. Pure.
//!
//! "Backup 41 took 3 min" and "Backup 42 took 4 min" are two memories, but hundreds of them must not
//! fill the page. Not here: results that state the same fact (`collapse`), reading the rows
//! (`operations::recall`).

use crate::search::query::parse;
use loci_base::text::dates;
use loci_base::text::dates::DateReferences;
use loci_proto::memory::MemoryType;
use regex::Regex;
use std::sync::LazyLock;

/// Number of results of one pattern that a page shows.
pub const SHOWN: usize = 2;
/// Number of further ids of a pattern that are listed.
pub const LISTED: usize = 8;
/// Number of candidates that are read if a page is not full without repeats.
pub const DEPTH: usize = 1_000;
/// Texts with fewer words without digits have no pattern.
const MIN_WORDS: usize = 4;

/// Share of the score from which the newer of two repeats comes first if the query names neither a
/// time nor a number.
const MIN_SHARE_OF_NEWER: f64 = 0.95;
/// As [`MIN_SHARE_OF_NEWER`], if the query asks for the latest.
const MIN_SHARE_OF_LATEST: f64 = 0.75;

/// Asks for the newest of several.
static ASKS_FOR_LATEST: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:latest|last|newest|most recent|current|currently|now)\b")
        .expect("the pattern compiles")
});

/// Returns the share of the score of a result from which a newer one of its pattern comes before it.
/// More than 1 if the query names a time or a number, which says which of them is meant.
pub fn min_share_of_newer(query: &str, today: i32) -> f64 {
    let names_one = query.chars().any(|c| c.is_ascii_digit())
        || !DateReferences::parse(query, today).is_empty();
    if names_one {
        f64::INFINITY
    } else if ASKS_FOR_LATEST.is_match(query) {
        MIN_SHARE_OF_LATEST
    } else {
        MIN_SHARE_OF_NEWER
    }
}

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Returns whether memories of these types may have one pattern. Procedures and entities differ by
/// what they name.
pub(crate) fn may_repeat(one: MemoryType, other: MemoryType) -> bool {
    one == other && matches!(one, MemoryType::Episodic | MemoryType::Semantic)
}

/// The words of a text that remain when its numbers and dates are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    kind: MemoryType,
    /// In their order.
    words: Vec<String>,
}

impl Pattern {
    /// Returns the pattern of a text; `None` for a text of few words or of another type.
    pub fn of(kind: MemoryType, content: &str) -> Option<Self> {
        let is_constant = |word: &String| {
            !word.chars().any(|c| c.is_ascii_digit())
                && !dates::is_month(word)
                && !WEEKDAYS.contains(&word.as_str())
        };
        if !may_repeat(kind, kind) {
            return None;
        }
        let words: Vec<String> = parse::tokens(content).filter(is_constant).collect();
        let has_numbers = || content.chars().any(|c| c.is_ascii_digit());
        (words.len() >= MIN_WORDS && (kind == MemoryType::Episodic || has_numbers()))
            .then_some(Self { kind, words })
    }

    /// Returns whether two texts have one pattern: they differ in nothing but numbers and dates.
    pub fn is_repeated_by(&self, other: &Self) -> bool {
        self == other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_repeated(kind: MemoryType, one: &str, other: &str) -> bool {
        let pattern = |text: &str| Pattern::of(kind, text);
        pattern(one).zip(pattern(other)).is_some_and(|(one, other)| one.is_repeated_by(&other))
    }

    #[test]
    fn log_lines_that_differ_in_numbers_and_dates_repeat_each_other() {
        let (one, other) = (
            "2026-03-04: nightly backup of heron took 41 min, 212 GB",
            "Friday 6 March: nightly backup of heron took 43 min, 213 GB",
        );
        assert!(is_repeated(MemoryType::Episodic, one, other));
        assert!(is_repeated(MemoryType::Semantic, one, other));
        assert!(!is_repeated(MemoryType::Procedural, one, other));
    }

    #[test]
    fn texts_that_name_something_else_do_not() {
        let (one, other) = (
            "The database of heron listens on port 5432",
            "The database of egret listens on port 5432",
        );
        assert!(!is_repeated(MemoryType::Semantic, one, other));
        let other = "2026-03-05: nightly backup of heron failed 41 min, 212 GB";
        assert!(!is_repeated(MemoryType::Episodic, one, other));
        let (one, other) = ("Kai owes Mia 20 euros for lunch", "Mia owes Kai 30 euros for lunch");
        assert!(!is_repeated(MemoryType::Semantic, one, other));
        let other = "The nightly backup of heron failed since the disk was full";
        assert!(!is_repeated(MemoryType::Episodic, one, other));
        assert!(!is_repeated(MemoryType::Episodic, "Took 4 min", "Took 5 min"), "too short");
    }
}
