//! Finds the secrets of a text: tokens by their shape, card numbers, and what the words beside a
//! value show to be one.
//!
//! Not here: what is done with a finding (`policy`).

use crate::privacy::checks::{is_marked, is_placeholder};
use crate::privacy::token_rules::{PATTERNS, RULES, holds};
use crate::privacy::{card, passwords};
use memchr::memmem;

/// A secret in a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Finding {
    pub kind: &'static str,
    pub start: usize,
    pub end: usize,
}

/// Returns the secrets of a text in their order, none within another one.
pub(crate) fn find(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (rule, pattern) in RULES.iter().zip(PATTERNS.iter()) {
        let has = |literal: &&str| memmem::find(text.as_bytes(), literal.as_bytes()).is_some();
        if !rule.literals.iter().any(has) {
            continue;
        }
        for captures in pattern.captures_iter(text) {
            let secret = captures.get(1).unwrap_or_else(|| captures.get_match());
            if is_free(text, secret.start(), secret.end()) && holds(rule.condition, secret.as_str())
            {
                found.push(Finding { kind: rule.kind, start: secret.start(), end: secret.end() });
            }
        }
    }
    found.extend(
        card::find(text).into_iter().map(|(start, end)| Finding { kind: "card", start, end }),
    );
    found.extend(
        passwords::find(text)
            .into_iter()
            .map(|secret| Finding { kind: secret.kind, start: secret.start, end: secret.end }),
    );
    found.retain(|secret| {
        secret.kind == "private-key" || !is_marked(text, secret.start, secret.end)
    });
    without_overlaps(found)
}

/// Returns the secret that a value is in the field of this name, as in `{"password": "…"}`.
pub(crate) fn find_in_field(name: &str, value: &str) -> Vec<Finding> {
    let found = find(value);
    if !found.is_empty() || value.contains(['"', '\n']) || value.chars().count() < 4 {
        return found;
    }
    let prefix = format!("{name}: \"");
    let found = passwords::find(&format!("{prefix}{value}\""));
    found
        .first()
        .filter(|secret| secret.start == prefix.len() && !is_placeholder(value))
        .map(|secret| Finding { kind: secret.kind, start: 0, end: value.len() })
        .into_iter()
        .collect()
}

/// Returns true if a token is not a part of a longer word.
fn is_free(text: &str, start: usize, end: usize) -> bool {
    let joins = |c: char| c.is_ascii_alphanumeric() || c == '_';
    // `\n` in quoted text is no letter before a token.
    let is_escape = start >= 2 && matches!(&text.as_bytes()[start - 2..start], b"\\n" | b"\\t" | b"\\r");
    (is_escape || !text[..start].chars().next_back().is_some_and(joins))
        && !text[end..].chars().next().is_some_and(joins)
}

/// Sorts by position. Of overlapping findings, the first stays, the longest of those that begin
/// together, and it grows to the end of the others.
fn without_overlaps(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|secret| (secret.start, std::cmp::Reverse(secret.end)));
    let mut kept: Vec<Finding> = Vec::new();
    for secret in found {
        match kept.last_mut() {
            Some(last) if secret.start < last.end => last.end = last.end.max(secret.end),
            _ => kept.push(secret),
        }
    }
    kept
}
