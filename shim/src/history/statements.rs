//! PURE: which sentences of a conversation state a preference of the user or a decision.
//!
//! The rules prefer to miss a statement over taking a remark: a sentence that depends on what was said before is left out.

/// Characters of a statement.
const CHARS: std::ops::RangeInclusive<usize> = 14..=280;
/// Words of a statement.
const WORDS: std::ops::RangeInclusive<usize> = 4..=45;
/// Longest message of a user that is read, in bytes: longer ones are pasted.
const MAX_MESSAGE_BYTES: usize = 4_000;
/// Words that point to something that was said or shown before.
const POINTERS: [&str; 14] = [
    "this", "that", "these", "those", "it", "here", "above", "below", "them", "now", "first",
    "again", "yet", "he",
];
/// Beginnings that say nothing.
const FILLERS: [&str; 12] =
    ["please", "also", "and", "ok", "okay", "but", "so", "hey", "no,", "yes,", "btw", "note:"];
/// Beginnings of a preference.
const PREFERENCES: [&str; 19] = [
    "always ",
    "never ",
    "don't ever ",
    "do not ever ",
    "from now on",
    "in future",
    "in the future",
    "i prefer ",
    "we prefer ",
    "i always ",
    "we always ",
    "i never ",
    "we never ",
    "prefer ",
    "remember that ",
    "remember: ",
    "remember to always ",
    "make sure to always ",
    "i like ",
];
/// Beginnings of a preference only in a sentence that names an alternative.
const CHOICES: [&str; 5] = ["use ", "don't use ", "do not use ", "we use ", "avoid "];
/// What introduces the alternative.
const ALTERNATIVES: [&str; 6] =
    [" instead of ", ", not ", " rather than ", ", never ", " over ", " instead"];
/// Beginnings of a decision.
const DECISIONS: [&str; 14] = [
    "we decided ",
    "we've decided ",
    "i decided ",
    "i've decided ",
    "decision: ",
    "we chose ",
    "we agreed ",
    "we settled on ",
    "we're going with ",
    "we are going with ",
    "we'll go with ",
    "let's go with ",
    "we will use ",
    "we'll use ",
];

/// Beginnings of an attempt.
const ATTEMPTS: [&str; 3] = ["i tried ", "we tried ", "i've tried "];
/// What says that an attempt was given up. The reason must follow.
const GIVEN_UP: [&str; 5] = [" reverted ", " rolled back", " gave up", " undid ", " backed out"];

/// What a sentence states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statement {
    /// What the user wants in general.
    Preference,
    /// What was decided.
    Decision,
}

/// Returns the statements of a message of the user.
#[must_use]
pub fn of_user(text: &str) -> Vec<(Statement, String)> {
    if text.len() > MAX_MESSAGE_BYTES || text.trim_start().starts_with('<') {
        return Vec::new();
    }
    sentences(text).filter_map(|sentence| of_sentence(sentence, true)).collect()
}

/// Returns the decisions of a message of the agent.
#[must_use]
pub fn of_agent(text: &str) -> Vec<(Statement, String)> {
    sentences(text).filter_map(|sentence| of_sentence(sentence, false)).collect()
}

/// Splits a text into sentences, without code and quotes.
fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    let lines = text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.trim_start().starts_with(['>', '|', '#', '{', '$'])
    });
    lines.flat_map(|line| {
        line.split_inclusive(['.', '!', '?', ';'])
            // An end within a word, as in `a.rs`, ends no sentence: the rest does not begin with a space.
            .scan(0, |at, part| {
                let start = *at;
                *at += part.len();
                Some((start, *at))
            })
            .fold(Vec::new(), |mut parts: Vec<(usize, usize)>, (start, end)| {
                let follows = line.as_bytes().get(start).is_some_and(u8::is_ascii_whitespace);
                match parts.last_mut() {
                    Some(last) if !follows => last.1 = end,
                    _ => parts.push((start, end)),
                }
                parts
            })
            .into_iter()
            .map(|(start, end)| &line[start..end])
    })
}

/// Returns whether a sentence tells what was tried, that it was given up, and why. What it points to, it has named.
fn is_given_up(lower: &str) -> bool {
    ATTEMPTS.iter().any(|start| lower.starts_with(start))
        && GIVEN_UP.iter().any(|end| lower.contains(end))
        && [" because ", " since "].iter().any(|reason| lower.contains(reason))
}

fn of_sentence(raw: &str, is_user: bool) -> Option<(Statement, String)> {
    let is_mark = |c: char| c.is_whitespace() || matches!(c, '-' | '*' | '•' | '_' | '"');
    let mut sentence = raw.trim_matches(is_mark);
    let mut lower = sentence.to_lowercase().replace('’', "'");
    while let Some(filler) = FILLERS.iter().find(|filler| starts_with_word(&lower, filler)) {
        // Some lower-case letters have another length than the upper-case ones.
        sentence = sentence.get(filler.len()..)?.trim_start_matches([' ', ',', ':']);
        lower = sentence.to_lowercase().replace('’', "'");
    }
    let words = sentence.split_whitespace().count();
    let is_sized = CHARS.contains(&sentence.chars().count()) && WORDS.contains(&words);
    if !is_sized || sentence.ends_with(['?', ':', ',']) {
        return None;
    }
    if is_given_up(&lower) {
        return Some((Statement::Decision, sentence.to_owned()));
    }
    if depends_on_context(&lower) {
        return None;
    }
    let starts = |list: &[&str]| list.iter().any(|start| lower.starts_with(start));
    let has_alternative = ALTERNATIVES.iter().any(|part| lower.contains(part));
    let is_preference = starts(&PREFERENCES) || (starts(&CHOICES) && has_alternative);
    if starts(&DECISIONS) {
        Some((Statement::Decision, sentence.to_owned()))
    } else if is_user && is_preference {
        Some((Statement::Preference, sentence.to_owned()))
    } else {
        None
    }
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.strip_prefix(word)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '\''))
}

/// Returns whether a sentence points to something outside it. A reason may.
fn depends_on_context(lower: &str) -> bool {
    let claim = lower.split(" because ").next().unwrap_or(lower);
    let claim = claim.strip_prefix("remember that ").unwrap_or(claim);
    let claim = claim.strip_prefix("from now on").unwrap_or(claim);
    claim.split(|c: char| !c.is_alphanumeric() && c != '\'').any(|word| POINTERS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(found: &[(Statement, String)]) -> Vec<&str> {
        found.iter().map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn preferences_and_decisions_of_a_user_are_taken() {
        let text = "Please always use pnpm, never npm. Run the tests!\nWe decided to keep prices in cents.\n- Use tabs instead of spaces in src/main.rs.";
        let found = of_user(text);
        let expected = [
            "always use pnpm, never npm.",
            "We decided to keep prices in cents.",
            "Use tabs instead of spaces in src/main.rs.",
        ];
        assert_eq!(texts(&found), expected);
        assert_eq!(found[1].0, Statement::Decision);
    }

    #[test]
    fn remarks_questions_and_code_are_not() {
        for text in [
            "Never do that again please, it breaks everything",
            "Should we always use pnpm in the shop?",
            "always",
            "```\nalways use pnpm in the shop\n```",
            "> We decided to keep prices in cents.",
            "<system-reminder>always use pnpm in the shop</system-reminder>",
            "Use the other file instead of this one",
        ] {
            assert_eq!(of_user(text), [], "{text}");
        }
    }

    #[test]
    fn an_attempt_that_was_given_up_is_taken_with_its_reason() {
        let text = "I tried caching prices in memory, but we reverted it because two workers differed. I tried it twice.";
        let found = of_user(text);
        let expected =
            "I tried caching prices in memory, but we reverted it because two workers differed.";
        assert_eq!(texts(&found), [expected]);
        assert_eq!(of_user("We tried Celery and it works fine since Monday."), []);
    }

    #[test]
    fn of_an_agent_only_decisions_are_taken() {
        let text = "I always run the tests first. We decided to use SQLite instead of Postgres because it is one machine.";
        let found = of_agent(text);
        assert_eq!(
            texts(&found),
            ["We decided to use SQLite instead of Postgres because it is one machine."]
        );
    }
}
