//! Sentences that tell what was tried, that it was given up, and why: "We tried caching and reverted it: it takes a lock."

use super::pointers::words;

/// Beginnings of an attempt; what was tried follows.
const TRIED: [&str; 8] = [
    "i tried ",
    "we tried ",
    "i've tried ",
    "we've tried ",
    "i have tried ",
    "we have tried ",
    "we experimented with ",
    "i experimented with ",
];
/// Beginnings that say that it was given up, too.
const LEFT: [&str; 6] = [
    "we abandoned ",
    "we gave up on ",
    "we moved away from ",
    "we backed out of ",
    "we switched back from ",
    "we rolled back the switch to ",
];
/// What says that an attempt was given up.
const GIVEN_UP: [&str; 19] = [
    "reverted",
    "rolled back",
    "rolled it back",
    "gave up",
    "gave it up",
    "undid",
    "backed out",
    "backed it out",
    "went back to",
    "switched back to",
    "moved back to",
    "returned to",
    "dropped it",
    "abandoned it",
    "scrapped it",
    "took it out",
    "ripped it out",
    "threw it out",
    "removed it again",
];
/// Words before it that deny it, or leave it open.
const DENIALS: [&str; 20] = [
    "not", "never", "no", "didn't", "haven't", "hasn't", "wasn't", "weren't", "nearly", "almost",
    "might", "would", "could", "should", "if", "unless", "until", "before", "nobody", "without",
];
/// Words before it that are looked at.
const DENIAL_WORDS: usize = 4;
/// What introduces the reason.
const REASONS: [&str; 11] = [
    " because of ",
    " because ",
    " since ",
    " due to ",
    ": ",
    " – ",
    " — ",
    " - ",
    ", as ",
    " as it ",
    ", it ",
];
/// What begins the result after a reason: "…, so we went back to Postgres".
const RESULTS: [&str; 4] = [", so ", ", and so ", ", therefore ", " so we "];
/// First words of an attempt that was named before.
const UNNAMED: [&str; 14] = [
    "it",
    "this",
    "that",
    "these",
    "those",
    "them",
    "again",
    "everything",
    "something",
    "both",
    "all",
    "and",
    "but",
    "your",
];
/// Words of a reason.
const MIN_REASON: usize = 2;

/// Returns why an attempt was given up, if the sentence tells what was tried, that it was given up, and why.
pub(super) fn reason(sentence: &str) -> Option<String> {
    // In ASCII lower case the text has the same bytes.
    let lower = sentence.to_ascii_lowercase();
    let (what, is_left) = beginning(&lower)?;
    let first = words(&lower[what..]).next()?;
    if UNNAMED.contains(&first) || lower.contains(" maybe ") || lower.contains(" perhaps ") {
        return None;
    }
    let after = if is_left { what } else { given_up(&lower, what)? };
    let is_vague = |word: &str| ["this", "these", "those", "here", "above"].contains(&word);
    if words(&lower[what..after]).any(is_vague) {
        return None;
    }
    // A reason may also stand before what was done: "…, but it did not work because of the lock, so we went back to Postgres".
    let from_end = find_reason(&lower, after);
    let (start, end) = from_end.or_else(|| find_reason(&lower, what))?;
    let why = sentence[start..end].trim_matches([' ', '.', ',', '!']);
    (words(why).count() >= MIN_REASON).then(|| why.to_owned())
}

/// Returns where the text names what was tried, and whether its beginning says that it was given up.
fn beginning(lower: &str) -> Option<(usize, bool)> {
    let start =
        |list: &[&str]| list.iter().find(|start| lower.starts_with(**start)).map(|s| s.len());
    start(&TRIED).map(|at| (at, false)).or_else(|| start(&LEFT).map(|at| (at, true)))
}

/// Returns where the words end that say that it was given up.
fn given_up(lower: &str, from: usize) -> Option<usize> {
    let ends = GIVEN_UP.iter().flat_map(|phrase| {
        lower[from..].match_indices(phrase).map(move |(at, _)| (from + at, phrase.len()))
    });
    let is_whole = |(at, length): &(usize, usize)| {
        let edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        edge(lower[..*at].chars().next_back()) && edge(lower[at + length..].chars().next())
    };
    let is_denied = |at: usize| {
        let before: Vec<&str> = words(&lower[from..at]).collect();
        before.iter().rev().take(DENIAL_WORDS).any(|word| DENIALS.contains(word))
    };
    let (at, length) = ends.filter(is_whole).min()?;
    // Something must stand between: what was tried.
    let is_named = words(&lower[from..at]).count() > 0;
    (is_named && !is_denied(at)).then_some(at + length)
}

/// Returns the first reason after a place.
fn find_reason(lower: &str, from: usize) -> Option<(usize, usize)> {
    let found = REASONS.iter().filter_map(|mark| {
        let at = lower[from..].find(mark)?;
        let skipped = if mark.contains("it ") { mark.len() - "it ".len() } else { mark.len() };
        Some((from + at, from + at + skipped))
    });
    let (_, start) = found.min_by_key(|(at, start)| (*at, std::cmp::Reverse(*start)))?;
    let end = RESULTS.iter().filter_map(|mark| lower[start..].find(mark)).min();
    Some((start, end.map_or(lower.len(), |end| start + end)))
}
