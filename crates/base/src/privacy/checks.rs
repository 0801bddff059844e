//! Tells a real value from a placeholder, a hash and a word: entropy, check digits, marks.

use regex::Regex;
use std::collections::HashMap;
use std::sync::LazyLock;

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("compiles")
}

/// Returns Shannon's entropy of the characters, in bits per character.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts: HashMap<char, usize> = HashMap::new();
    let mut length = 0_usize;
    for c in text.chars() {
        *counts.entry(c).or_default() += 1;
        length += 1;
    }
    let share = |count: &usize| *count as f64 / length as f64;
    counts.values().map(share).map(|share| -share * share.log2()).sum()
}

/// Returns true for runs such as `abcdef`, `123456` and `aaaa`: most characters follow the one
/// before.
fn is_sequence(text: &str) -> bool {
    let bytes = text.as_bytes();
    let next = |pair: &[u8]| pair[1] == pair[0] || pair[1] == pair[0].wrapping_add(1);
    let steps = bytes.windows(2).filter(|pair| next(pair)).count();
    bytes.len() >= 6 && steps * 10 >= (bytes.len() - 1) * 6
}

/// Parts of values that stand for a secret and are none.
static PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)example|placeholder|change[_-]?me|change[_-]?this|(?:^|[-_<])(?:your|my|the|some|any)[-_]|yourpass|your[a-z]*(?:key|token|secret|password)|x{4,}|\*{3,}|\.{3}|…|•{2,}|redacted|dummy|fake|not[-_]?(?:a[-_]?)?(?:real|secret)|insert|(?:^|[-_])(?:test|todo|tbd|sample|mock|foo|bar|demo|stub)(?:[-_]|\d{0,3}$)|^0+$|deadbeef|\[(?:SECRET:|EMAIL|PHONE|ID|REDACTED)|hidden|masked|aladdin",
    )
});

/// Returns true for a value that documents and templates use in place of a secret.
pub(crate) fn is_placeholder(value: &str) -> bool {
    let is_variable = value.starts_with("${")
        || value.starts_with("$(")
        || value.starts_with("{{")
        || value.starts_with("%(")
        || value.starts_with('<')
        || value.starts_with('[')
        || value.starts_with('{')
        || (value.starts_with('$')
            && value[1..]
                .bytes()
                .all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit()))
        || (value.len() > 2 && value.starts_with('%') && value.ends_with('%'));
    is_variable || PLACEHOLDER.is_match(value) || is_sequence(value)
}

/// The same for a token of [`LONG_TOKEN`] characters or more, in which short words occur by chance.
static LONG_PLACEHOLDER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"EXAMPLE|Example|example|PLACEHOLDER|placeholder|(?i:(?:^|[-_.])(?:dummy|fake|test|sample|mock|stub|demo|your|insert|redacted|hidden|masked|changeme|todo)(?:[-_.]|$)|x{6,}|\*{3,}|\.{3}|…|0{12,}|deadbeef)",
    )
});
/// Characters from which a token is long.
const LONG_TOKEN: usize = 30;

/// Returns true for a token that documents and templates use in place of a secret.
pub(crate) fn is_token_placeholder(value: &str) -> bool {
    if value.len() < LONG_TOKEN {
        return is_placeholder(value);
    }
    LONG_PLACEHOLDER.is_match(value) || is_sequence(value)
}

/// Words that say in a text that the secret beside them is none.
static MARK_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)(?:\b(?:fake|dummy|placeholder|mock(?:ed)?|bogus|made-up|fictitious|example|sample|documentation|docs)[ -](?:[\w.-]+[ -]){0,2}?(?:keys?|tokens?|secrets?|passwords?|cards?|credentials?|values?|fixtures?|vectors?|accounts?|jwt|numbers?|strings?|urls?|uri)\b|\btest[ -](?:[\w.-]+[ -])?(?:keys?|tokens?|cards?|vectors?|fixtures?|jwt|card numbers?)\b|\bnot (?:a )?real\b|\bfrom (?:the )?(?:\w+ )?(?:docs|documentation|rfc)\b)[^\n]{0,60}$",
    )
});
static MARK_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r#"(?i)^["'`]?[;,]?[ \t]*(?:(?:\(|#|//|--|—|–|is|,)[ \t]*)+(?:(?:an?|the|only|just|which is)[ \t]+)*(?:fake|dummy|placeholder|example|sample|not (?:a )?(?:real|secret)|test (?:key|token|card|vector|fixture)|documentation|gitleaks:allow|pragma: allowlist)"#,
    )
});
static ALLOWED: LazyLock<Regex> =
    LazyLock::new(|| compile(r"gitleaks:allow|pragma: allowlist secret|trufflehog:ignore"));

/// Bytes before and after a value in which a mark counts.
const MARK_REACH: usize = 100;

/// Returns true if the text beside a value says that it is an example.
pub fn is_marked(text: &str, start: usize, end: usize) -> bool {
    let before = &text[text.floor_char_boundary(start.saturating_sub(MARK_REACH))..start];
    let after = &text[end..text.ceil_char_boundary((end + MARK_REACH).min(text.len()))];
    let line = after.split('\n').next().unwrap_or_default();
    MARK_BEFORE.is_match(before) || MARK_AFTER.is_match(line) || ALLOWED.is_match(line)
}

/// Luhn's check digit, as payment cards have it.
pub(crate) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(*digit) * (1 + u32::from(place % 2 == 1));
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Returns true if a text has a digit and a letter.
pub(crate) fn has_digit_and_letter(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit()) && text.chars().any(char::is_alphabetic)
}

/// Returns true if a text has upper-case and lower-case letters and digits.
pub(crate) fn has_three_classes(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
        && text.bytes().any(|b| b.is_ascii_uppercase())
        && text.bytes().any(|b| b.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_tells_random_text_from_repetition() {
        assert!(entropy("aaaaaaaa") < 0.1);
        assert!((entropy("abcd") - 2.0).abs() < 1e-9);
        assert!(entropy("q7Rk2Zp0vL9sXc4T") > 3.9);
    }

    #[test]
    fn luhn_accepts_card_numbers_alone() {
        let digits = |text: &str| text.bytes().map(|b| b - b'0').collect::<Vec<_>>();
        assert!(luhn(&digits("4111111111111111")));
        assert!(!luhn(&digits("4111111111111112")));
    }

    #[test]
    fn examples_and_templates_are_placeholders() {
        for value in [
            "AKIAIOSFODNN7EXAMPLE",
            "changeme",
            "your-api-key",
            "<token>",
            "${TOKEN}",
            "xxxxxxxx",
            "****",
            "abcdefghij",
            "1234567890",
            "test-key-1",
            "$DB_PASSWORD",
            "{{ vault }}",
        ] {
            assert!(is_placeholder(value), "{value}");
        }
        for value in ["hunter2", "Tr0ub4dor&3", "q7Rk2Zp0vL9sXc4T", "$ecret1!x"] {
            assert!(!is_placeholder(value), "{value}");
        }
    }

    #[test]
    fn a_mark_beside_a_value_is_found() {
        let marked = |before: &str, after: &str| {
            let text = format!("{before}VALUE{after}");
            is_marked(&text, before.len(), before.len() + 5)
        };
        assert!(marked("the dummy key in the fixture is ", ""));
        assert!(marked("Stripe test card ", " works"));
        assert!(marked("key = \"", "\" # fake"));
        assert!(marked("", " // gitleaks:allow"));
        assert!(!marked("the key for the test server is ", ""));
        assert!(!marked("for example, my token is ", " and it works"));
    }
}
