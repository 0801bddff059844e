//! Which sentences of a conversation state a preference of the user, a decision, or an attempt that was given up. Pure.
//!
//! The rules know English. They prefer to miss a statement over taking a remark: a sentence that depends on what was said before is left
//! out. Here: splitting a text into sentences. Not here: the rules (`rules`), attempts (`attempts`), pointing words (`pointers`).

mod attempts;
mod pointers;
mod rules;
mod statement;
#[cfg(test)]
mod tests;

use statement::Speaker;
pub use statement::Statement;

/// Longest message of a user that is read, in bytes: longer ones are pasted.
const MAX_MESSAGE_BYTES: usize = 4_000;

/// Returns the statements of a message of the user.
#[must_use]
pub fn of_user(text: &str) -> Vec<Statement> {
    if text.len() > MAX_MESSAGE_BYTES || text.trim_start().starts_with('<') {
        return Vec::new();
    }
    sentences(&without_elements(text))
        .filter_map(|sentence| rules::of_sentence(sentence, Speaker::User))
        .collect()
}

/// Returns a message without its elements (`<system-reminder>…</system-reminder>`), which clients add to what the user wrote. What follows
/// a mark without an end is left out, too.
fn without_elements(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some(start) = rest.find('<') {
        let after = &rest[start + 1..];
        let name = after.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(after.len());
        if name == 0 || !after[name..].starts_with(['>', ' ']) {
            kept.push_str(&rest[..=start]);
            rest = after;
            continue;
        }
        kept.push_str(&rest[..start]);
        let end = format!("</{}>", &after[..name]);
        rest = after.find(&end).map_or("", |at| &after[at + end.len()..]);
    }
    kept + rest
}

/// Returns the decisions and attempts of a message of the agent.
#[must_use]
pub fn of_agent(text: &str) -> Vec<Statement> {
    sentences(text).filter_map(|sentence| rules::of_sentence(sentence, Speaker::Agent)).collect()
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
            .filter(|(start, end)| !is_quoted(line, *start, *end))
            .map(|(start, end)| &line[start..end])
    })
}

/// Returns whether a sentence of a line begins with a quotation mark, or before the end of a quotation.
fn is_quoted(line: &str, start: usize, end: usize) -> bool {
    let is_open = |text: &str| {
        let straight = text.matches('"').count() % 2 == 1;
        straight || text.matches(['“', '«', '„']).count() > text.matches(['”', '»']).count()
    };
    let mark = |c: char| matches!(c, '"' | '\'' | '“' | '‘' | '«' | '„');
    let sentence = line[start..end].trim_start_matches([' ', '\t', '-', '*', '•']);
    sentence.starts_with(mark) || is_open(&line[..start]) || is_open(&line[..end])
}
