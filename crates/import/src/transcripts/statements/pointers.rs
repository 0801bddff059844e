//! Whether a sentence points to something that is not in it: "do it again", "the second option", "your suggestion". Pure.

/// Words that point to something that was said or shown before.
const POINTERS: [&str; 18] = [
    "this",
    "these",
    "those",
    "it",
    "here",
    "above",
    "below",
    "them",
    "now",
    "again",
    "yet",
    "he",
    "she",
    "him",
    "her",
    "former",
    "latter",
    "whichever",
];
/// What a person points to by "the second …", "the simpler …", "your …".
const OFFERS: [&str; 12] = [
    "option",
    "options",
    "approach",
    "suggestion",
    "idea",
    "proposal",
    "alternative",
    "variant",
    "choice",
    "recommendation",
    "one",
    "ones",
];
/// What a person points to only by "your …" or at the end of a sentence: "as in the plan".
const PLANS: [&str; 6] = ["plan", "way", "solution", "version", "design", "list"];
/// Words that make an offer one that was made before.
const DEFINITE: [&str; 6] = ["the", "your", "my", "his", "their", "which"];
/// Words between a definite word and the offer.
const MAX_BETWEEN: usize = 2;
/// Words after which "that" begins a clause.
const BEFORE_CLAUSES: [&str; 12] = [
    "agreed",
    "decided",
    "prefer",
    "remember",
    "sure",
    "ensure",
    "so",
    "want",
    "concluded",
    "decision",
    "note",
    "check",
];
/// Words that show that the "that" before them points: "agreed that is better", "decided that last week".
const AFTER_POINTERS: [&str; 24] = [
    "is",
    "was",
    "will",
    "would",
    "should",
    "can",
    "could",
    "makes",
    "looks",
    "works",
    "sounds",
    "one",
    "way",
    "last",
    "yesterday",
    "today",
    "already",
    "earlier",
    "before",
    "together",
    "once",
    "long",
    "in",
    "on",
];
/// Words that a clause after "that" has at least.
const MIN_CLAUSE: usize = 3;

/// Returns whether the sentence, in lower case, points to something outside it. A reason may.
pub(super) fn depends_on_context(lower: &str) -> bool {
    let claim = lower.split(" because ").next().unwrap_or(lower);
    let claim = claim.strip_prefix("from now on").unwrap_or(claim);
    let words: Vec<&str> = words(claim).collect();
    words.iter().enumerate().any(|(at, word)| {
        POINTERS.contains(word)
            || (*word == "that" && !begins_clause(&words, at))
            || (*word == "first" && at > 0 && words[at - 1] == "the")
            || names_offer(&words, at)
    })
}

/// Returns the words of a text, without punctuation.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '-')
        .filter(|word| word.contains(char::is_alphanumeric))
}

/// Returns whether the "that" at this place begins a clause, and stands for nothing.
fn begins_clause(words: &[&str], at: usize) -> bool {
    let (before, after) = words.split_at(at);
    let follows_verb = before.last().is_some_and(|word| BEFORE_CLAUSES.contains(word));
    let clause = &after[1..];
    follows_verb && clause.len() >= MIN_CLAUSE && !AFTER_POINTERS.contains(&clause[0])
}

/// Returns whether the word at this place is an offer that was made before: "the second option", "option 2", "your plan".
fn names_offer(words: &[&str], at: usize) -> bool {
    let word = words[at];
    let is_offer = OFFERS.contains(&word);
    if !is_offer && !PLANS.contains(&word) {
        return false;
    }
    let label = words.get(at + 1).filter(|label| label.len() == 1 || is_number(label));
    if is_offer && !word.starts_with("one") && label.is_some() {
        return true;
    }
    let before = &words[at.saturating_sub(MAX_BETWEEN + 1)..at];
    let definite = before.iter().rposition(|word| DEFINITE.contains(word));
    match definite.map(|found| before[found]) {
        None => false,
        Some("the") if !is_offer => at + 1 == words.len(),
        Some(_) => true,
    }
}

fn is_number(word: &str) -> bool {
    ["one", "two", "three", "four"].contains(&word)
        || word.bytes().all(|byte| byte.is_ascii_digit())
}
