//! Finds results that state an older value of what a newer result states. Pure.
//!
//! "We build with Xcode 15.4" and "We build with Xcode 26.1 now" answer the same question; only the
//! newer one is right. Both stay visible, the newer one first. docs/retrieval.md has the
//! measurement behind each constant. Not here: duplicates (`collapse`), what an agent replaced by
//! `supersedes`, reading the rows (`operations::recall`).

use loci_base::text::features::{content_words, parts};
use loci_base::text::{stem, tokenize};
use loci_proto::memory::MemoryType;
use regex::Regex;
use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::LazyLock;

/// Share of the older result's score that the newer one must reach.
const MIN_SCORE_SHARE: f64 = 0.85;
/// Share of the content words of the shorter text that both texts must have.
const MIN_SHARED_WORDS: f64 = 0.5;
/// Number of content words that both texts must have.
const MIN_SHARED_COUNT: usize = 2;
/// As [`MIN_SCORE_SHARE`], if the newer text says that something changed.
const MIN_SCORE_SHARE_OF_CHANGE: f64 = 0.75;
/// As [`MIN_SHARED_WORDS`], if the newer text says that something changed.
const MIN_SHARED_WORDS_OF_CHANGE: f64 = 0.4;
/// Texts of more bytes state many facts, so that another one need not be a new version of them.
const MAX_TEXT_BYTES: usize = 600;

/// What stands between two headings, and between the last one and the statement.
const HEADING_SEPARATOR: &str = " > ";
const HEADING_END: &str = ": ";

/// Words by which a text says that something changed.
static CHANGE_WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(now|since|as of|no longer|any ?more|any longer|instead|used to|formerly|previously|new|from .{1,40} to|(?:mov|switch|chang|renam|replac|start|upgrad|updat|migrat|rais|lower|dropp|cancell?|remov|pass)ed)\b",
    )
    .expect("the pattern compiles")
});

/// Returns whether a memory of the type `newer` may state a newer value of one of the type `older`.
/// Events do not replace each other, nor do instructions.
pub fn can_replace(newer: MemoryType, older: MemoryType) -> bool {
    match older {
        MemoryType::Semantic => newer != MemoryType::Procedural,
        MemoryType::Entity => newer == MemoryType::Entity,
        MemoryType::Episodic | MemoryType::Procedural => false,
    }
}

/// The memory of a result.
#[derive(Debug, Clone, Copy)]
pub struct ResultText<'a> {
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

/// What is compared of a text.
#[derive(Debug)]
struct Words {
    /// The stems of its content words.
    stems: HashSet<String>,
    /// The same, in order.
    sequence: Vec<String>,
    says_change: bool,
}

impl Words {
    fn of(content: &str) -> Self {
        let body = parts(content).body;
        let stem = |word: &str| stem::stem_plain(tokenize::unmarked(&tokenize::lower(word)));
        let sequence: Vec<String> =
            content_words(body).into_iter().map(|word| stem(&body[word])).collect();
        Self {
            stems: sequence.iter().cloned().collect(),
            sequence,
            says_change: CHANGE_WORD.is_match(body),
        }
    }
}

/// Returns the length of the headings at the beginning of both texts, as an import writes them:
/// `Tidepool > Server: ` or, if the last ones differ, `Tidepool > `. A single heading is no path: it
/// is a title or a speaker ([`parts`]).
fn common_headings(one: &str, other: &str) -> usize {
    let common = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let common = &one[..one.floor_char_boundary(common)];
    let Some(path) = common.find(HEADING_SEPARATOR) else { return 0 };
    let end = match common[path..].find(HEADING_END) {
        Some(end) => path + end + HEADING_END.len(),
        None => common.rfind(HEADING_SEPARATOR).map_or(0, |at| at + HEADING_SEPARATOR.len()),
    };
    let is_sentence = common[..end].contains(". ") || common[..end].contains('\n');
    if is_sentence { 0 } else { end }
}

/// The order of results with newer versions before older ones.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VersionOrder {
    /// Indices of the results, in their new order.
    pub order: Vec<usize>,
    /// For each result, the index of the result that states a newer value, if there is one.
    pub newer: Vec<Option<usize>>,
}

/// Moves each newer version directly before the best result whose value it replaces. `results` are
/// in the order of their scores; `is_compared` says of two of them, the better one first, whether
/// their texts are to be compared.
pub fn newest_first(
    results: &[ResultText<'_>],
    is_compared: impl Fn(usize, usize) -> bool,
) -> VersionOrder {
    let words = results.iter().map(|_| OnceCell::new()).collect();
    let versions = Versions { results, is_compared, words };
    let mut order: Vec<usize> = (0..results.len()).collect();
    let mut newer = vec![None; results.len()];
    let mut place = 0;
    while place < order.len() {
        let old = order[place];
        let replacing = (place + 1..order.len())
            .filter(|at| versions.replaces(order[*at], old))
            .max_by_key(|at| results[order[*at]].seq);
        if let Some(at) = replacing {
            let moved = order.remove(at);
            newer[old] = Some(moved);
            order.insert(place, moved);
            // What was moved here may have a newer version itself only if that is newer still,
            // which `max_by_key` has excluded.
            place += 1;
        }
        place += 1;
    }
    // The newer version of the others was ahead of them already.
    for (place, old) in order.iter().enumerate() {
        let ahead = order[..place].iter().filter(|at| versions.replaces(**at, *old));
        newer[*old] = newer[*old].or(ahead.max_by_key(|at| results[**at].seq).copied());
    }
    VersionOrder { order, newer }
}

/// The results that are compared; the words of each are extracted when they are first needed.
struct Versions<'a, R> {
    results: &'a [ResultText<'a>],
    is_compared: R,
    words: Vec<OnceCell<Words>>,
}

impl<R: Fn(usize, usize) -> bool> Versions<'_, R> {
    /// Returns whether the result `new` states a newer value of what `old` states.
    fn replaces(&self, new: usize, old: usize) -> bool {
        let (newer, older) = (self.results[new], self.results[old]);
        can_replace(newer.kind, older.kind)
            && newer.seq > older.seq
            && newer.group == older.group
            && newer.score >= MIN_SCORE_SHARE_OF_CHANGE * older.score
            && newer.content.len().max(older.content.len()) <= MAX_TEXT_BYTES
            && (self.is_compared)(new.min(old), new.max(old))
            && self.shares_words(new, old)
    }

    /// Returns whether enough content words of both texts are the same, given their scores. Headings
    /// that both have say where the statements stood, not that they state the same, so they do not
    /// count; unless a single word is all that is below: then they are its subject.
    fn shares_words(&self, new: usize, old: usize) -> bool {
        let content = |at: usize| self.results[at].content;
        let is_near = self.results[new].score >= MIN_SCORE_SHARE * self.results[old].score;
        let headings = common_headings(content(new), content(old));
        if headings > 0 {
            let below = |at: usize| Words::of(&content(at)[headings..]);
            let (newer, older) = (below(new), below(old));
            if newer.stems.len().max(older.stems.len()) >= MIN_SHARED_COUNT {
                return are_of_one_fact(&newer, &older, is_near);
            }
        }
        let words = |at: usize| self.words[at].get_or_init(|| Words::of(content(at)));
        are_of_one_fact(words(new), words(old), is_near)
    }
}

/// Returns whether two texts share enough content words to state values of one fact; `is_near` says
/// that the score of the newer one is close to that of the older one.
fn are_of_one_fact(newer: &Words, older: &Words, is_near: bool) -> bool {
    let shared = newer.stems.intersection(&older.stems).count();
    let share = shared as f64 / newer.stems.len().min(older.stems.len()).max(1) as f64;
    shared >= MIN_SHARED_COUNT
        && !is_of_another_subject(&newer.sequence, &older.sequence)
        && (is_near && share >= MIN_SHARED_WORDS
            || newer.says_change && share >= MIN_SHARED_WORDS_OF_CHANGE)
}

/// Returns whether two texts differ in one word alone that is no number and has the same words behind
/// it: "Server alpha backs up at 3am" and "Server beta backs up at 3am" are about two servers.
fn is_of_another_subject(one: &[String], other: &[String]) -> bool {
    let differing = |(one, other): (&String, &String)| one != other;
    let Some(first) = one.iter().zip(other).position(differing) else { return false };
    let is_number = |word: &String| word.chars().any(|c| c.is_ascii_digit());
    one.len() == other.len()
        && first + 1 < one.len()
        && one[first + 1..] == other[first + 1..]
        && !is_number(&one[first])
        && !is_number(&other[first])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(kind: MemoryType, seq: i64, score: f64, content: &str) -> ResultText<'_> {
        ResultText { kind, group: Some("a"), seq, score, content }
    }

    fn fact(seq: i64, score: f64, content: &str) -> ResultText<'_> {
        text(MemoryType::Semantic, seq, score, content)
    }

    #[test]
    fn a_new_value_of_the_same_fact_comes_before_the_old_one() {
        let results = [
            fact(1, 2.0, "The build machine has 8 GB of memory."),
            fact(5, 1.9, "The canteen closes at two."),
            fact(9, 1.6, "The build machine has 32 GB of memory now."),
        ];
        let VersionOrder { order, newer } = newest_first(&results, |_, _| true);
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
        assert_eq!(newest_first(&by_event, |_, _| true).order, [1, 0]);
        let events = [
            text(MemoryType::Episodic, 1, 2.0, "The office hour was on Monday"),
            text(MemoryType::Episodic, 2, 1.9, change),
        ];
        assert_eq!(newest_first(&events, |_, _| true).order, [0, 1]);
    }

    #[test]
    fn other_facts_and_weaker_matches_stay_where_they_are() {
        for (seq, score, content) in [
            (2, 1.9, "The printer on the second floor needs toner"),
            (2, 1.0, "The build machine has 32 GB of memory now"),
        ] {
            let results =
                [fact(1, 2.0, "The build machine has 8 GB of memory"), fact(seq, score, content)];
            let VersionOrder { order, newer } = newest_first(&results, |_, _| true);
            assert_eq!((order, newer), (vec![0, 1], vec![None, None]), "{content}");
        }
    }

    #[test]
    fn an_old_value_behind_the_new_one_is_marked() {
        let results = [
            fact(2, 2.0, "The build machine has 32 GB of memory now"),
            fact(1, 1.9, "The build machine has 8 GB of memory"),
        ];
        let VersionOrder { order, newer } = newest_first(&results, |_, _| true);
        assert_eq!((order, newer), (vec![0, 1], vec![None, Some(0)]));
    }

    #[test]
    fn the_same_fact_about_another_subject_is_no_version() {
        let results = [
            fact(1, 2.0, "Server alpha backs up at 3am"),
            fact(2, 1.9, "Server beta backs up at 3am"),
        ];
        assert_eq!(newest_first(&results, |_, _| true).newer, [None, None]);
        let results = [
            fact(1, 2.0, "Server alpha has 8 GB of memory"),
            fact(2, 1.9, "Server alpha has 32 GB of memory"),
        ];
        assert_eq!(newest_first(&results, |_, _| true).newer, [Some(1), None]);
    }

    #[test]
    fn headings_that_both_texts_have_make_no_version() {
        let place = "Tidepool memory > People and contacts: ";
        let newer = |one: &str, other: &str| {
            let (one, other) = (format!("{place}{one}"), format!("{place}{other}"));
            newest_first(&[fact(1, 2.0, &one), fact(2, 1.9, &other)], |_, _| true).newer
        };
        for (one, other) in [
            ("Anna Keller reviews every change to billing.", "Piotr has left for Lisbon."),
            ("Anna Keller reviews billing.", "The new pager belongs to Piotr."),
            ("Anna Keller reviews billing.", "Piotr"),
        ] {
            assert_eq!(newer(one, other), [None, None], "{one} | {other}");
        }
        let [one, other] = [
            "Tidepool memory > People: Anna leads",
            "Tidepool memory > Places: new office, Lisbon",
        ];
        let results = [fact(1, 2.0, one), fact(2, 1.9, other)];
        assert_eq!(newest_first(&results, |_, _| true).newer, [None, None]);
        for (one, other) in [
            ("The staging server is heron", "The staging server is egret"),
            ("Releases go out on Monday", "Releases go out on Thursday now"),
            ("8080", "9090"),
        ] {
            assert_eq!(newer(one, other), [Some(1), None], "{one} | {other}");
        }
    }

    #[test]
    fn of_three_versions_the_newest_is_first() {
        let results = [
            fact(1, 2.0, "The tests run on Node 18"),
            fact(2, 2.0, "The tests run on Node 20"),
            fact(3, 2.0, "The tests run on Node 22"),
        ];
        let VersionOrder { order, newer } = newest_first(&results, |_, _| true);
        assert_eq!(order[0], 2);
        assert_eq!(newer[0], Some(2));
        assert!(newer[2].is_none());
    }
}
