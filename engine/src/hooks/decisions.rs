//! Whether a text states a decision. Pure; a plain list of phrases, since only a reminder depends on it.

/// Phrases with which a decision is stated, in lower case.
const PHRASES: &[&str] = &[
    "decided to",
    "we decided",
    "i decided",
    "the decision is",
    "decision:",
    "let's go with",
    "lets go with",
    "we'll go with",
    "we will go with",
    "i'll go with",
    "let's use",
    "we will use",
    "we'll use",
    "from now on",
    "agreed to",
    "we agreed",
    "we settled on",
    "settled on",
    "switched to",
    "we are switching",
    "instead of using",
    "will no longer",
];

/// Characters that are looked at, from the beginning.
const MAX_CHARS: usize = 8000;

/// Returns whether a text states a decision.
#[must_use]
pub fn states_decision(text: &str) -> bool {
    let text: String = text.chars().take(MAX_CHARS).flat_map(char::to_lowercase).collect();
    let text = text.replace('\u{2019}', "'");
    PHRASES.iter().any(|phrase| text.contains(phrase))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decisions_are_recognised_by_their_phrases() {
        for text in
            ["Let\u{2019}s go with Postgres.", "We decided to drop the queue", "From now on: tabs"]
        {
            assert!(states_decision(text), "{text}");
        }
        for text in ["Which one should we use?", "I ran the tests; all pass.", ""] {
            assert!(!states_decision(text), "{text}");
        }
    }
}
