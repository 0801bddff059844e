//! Finds secrets in a text: tokens by their shape, private keys, cards, passwords.
//!
//! Keywords choose the rules that run; each runs once over the text, so the time grows with the
//! length of the text and not with its square.

use crate::privacy::checks::{
    entropy, has_digit_and_letter, has_three_classes, is_marked, is_placeholder,
    is_token_placeholder,
};
use crate::privacy::finding::Finding;
use crate::privacy::token_rules::{Check, RULES};
use crate::privacy::{card, passwords};
use aho_corasick::AhoCorasick;
use base64_simd::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use memchr::memmem;
use regex::Regex;
use std::sync::LazyLock;

/// The rules, compiled.
struct Compiled {
    keywords: AhoCorasick,
    /// For each keyword, the rule that it belongs to.
    owners: Vec<usize>,
    patterns: Vec<LazyLock<Regex, Box<dyn FnOnce() -> Regex + Send>>>,
}

#[expect(clippy::expect_used, reason = "constant patterns; a test compiles all")]
static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let words = RULES.iter().flat_map(|rule| rule.keywords);
    let owners =
        RULES.iter().enumerate().flat_map(|(at, rule)| rule.keywords.iter().map(move |_| at));
    Compiled {
        keywords: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(words)
            .expect("compiles"),
        owners: owners.collect(),
        patterns: RULES
            .iter()
            .map(|rule| {
                let pattern = format!("(?-u){}", ascii(rule.pattern));
                let compile = move || Regex::new(&pattern).expect("compiles");
                LazyLock::new(Box::new(compile) as Box<dyn FnOnce() -> Regex + Send>)
            })
            .collect(),
    }
});

/// Negated classes may match only whole characters, so they alone stay in Unicode mode.
fn ascii(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find("[^") {
        let end = rest[at + 2..].find(']').map_or(rest.len(), |end| at + 2 + end + 1);
        out.push_str(&rest[..at]);
        out.push_str("(?u:");
        out.push_str(&rest[at..end]);
        out.push(')');
        rest = &rest[end..];
    }
    out + rest
}

/// Finds every secret, in the order of the text, without overlaps.
pub fn find(text: &str) -> Vec<Finding> {
    let mut found = tokens(text);
    found.extend(private_keys(text));
    let cards = card::find(text);
    found.extend(cards.into_iter().map(|range| Finding { kind: "card-number", range }));
    found.extend(passwords::find(text));
    found.retain(|finding| !is_marked(text, finding.range.start, finding.range.end));
    without_overlaps(found)
}

/// Returns the secrets of the value of a field, whose name may say that it is one, as in
/// `{"password": "…"}`.
pub(crate) fn find_in_field(name: &str, value: &str) -> Vec<Finding> {
    let found = find(value);
    if !found.is_empty() || name.is_empty() || value.contains(['"', '\n']) {
        return found;
    }
    let prefix = format!("{name}: \"");
    let named = passwords::find(&format!("{prefix}{value}\""));
    let whole = named.into_iter().find(|found| found.range.start >= prefix.len());
    whole.map(|found| Finding { kind: found.kind, range: 0..value.len() }).into_iter().collect()
}

/// Kinds that only the words beside a value show.
const NAMED: [&str; 2] = ["api-key", "password"];

/// Joins overlapping findings. The kind is that of the first one, unless a later one has a shape of
/// its own.
pub(crate) fn without_overlaps(mut found: Vec<Finding>) -> Vec<Finding> {
    found.sort_by_key(|finding| (finding.range.start, usize::MAX - finding.range.end));
    let mut kept: Vec<Finding> = Vec::with_capacity(found.len());
    for finding in found {
        match kept.last_mut() {
            Some(last) if last.range.end > finding.range.start => {
                last.range.end = last.range.end.max(finding.range.end);
                if NAMED.contains(&last.kind) {
                    last.kind = finding.kind;
                }
            }
            _ => kept.push(finding),
        }
    }
    kept
}

fn tokens(text: &str) -> Vec<Finding> {
    let compiled = &*COMPILED;
    let mut wanted = vec![false; RULES.len()];
    for hit in compiled.keywords.find_overlapping_iter(text) {
        wanted[compiled.owners[hit.pattern().as_usize()]] = true;
    }
    let mut found = Vec::new();
    for (at, rule) in RULES.iter().enumerate().filter(|(at, _)| wanted[*at]) {
        for captures in compiled.patterns[at].captures_iter(text) {
            let Some(secret) = captures.name("s").or_else(|| captures.get(0)) else { continue };
            if is_secret(rule.check, secret.as_str()) {
                found.push(Finding { kind: rule.kind, range: secret.range() });
            }
        }
    }
    found
}

fn is_secret(check: Check, value: &str) -> bool {
    let is_random = || entropy(value) >= 3.0 && !is_token_placeholder(value);
    match check {
        Check::Random => is_random(),
        Check::RandomDigit => is_random() && has_digit_and_letter(value),
        Check::AwsSecret => is_random() && entropy(value) >= 4.0 && has_three_classes(value),
        Check::Jwt => is_jwt(value),
        Check::Basic => is_basic(value),
        Check::Url => passwords::is_url_password(value),
    }
}

fn is_jwt(value: &str) -> bool {
    let header = value.split('.').next().unwrap_or_default();
    let bytes = URL_SAFE_NO_PAD.decode_to_vec(header.as_bytes()).ok();
    let json = bytes.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let tail = value.rsplit('.').next().unwrap_or_default();
    // The claims of the token that the documentation of web tokens shows.
    let claims = value.split('.').nth(1).and_then(|part| URL_SAFE_NO_PAD.decode_to_vec(part).ok());
    let is_example = claims.is_some_and(|claims| {
        memmem::find(&claims, b"1234567890").is_some()
            && memmem::find(&claims, b"John Doe").is_some()
    });
    json.is_some_and(|json| json.get("alg").is_some()) && !is_token_placeholder(tail) && !is_example
}

fn is_basic(value: &str) -> bool {
    let bytes = STANDARD_NO_PAD.decode_to_vec(value.trim_end_matches('=').as_bytes());
    let text = bytes.ok().and_then(|bytes| String::from_utf8(bytes).ok());
    text.is_some_and(|text| {
        let printable = text.chars().all(|c| !c.is_control());
        printable
            && text.split_once(':').is_some_and(|(name, password)| {
                password.len() >= 3
                    && name != password
                    && !is_placeholder(name)
                    && passwords::is_url_password(password)
            })
    })
}

#[expect(clippy::expect_used, reason = "a constant pattern; a test compiles it")]
static PEM_BEGIN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----").expect("compiles")
});
/// Characters of base64 that a private key has at least.
const MIN_KEY_CHARS: usize = 40;

/// Finds private keys: the header, and base64 behind it up to the footer, which may be missing.
fn private_keys(text: &str) -> Vec<Finding> {
    let mut found: Vec<Finding> = Vec::new();
    for begin in PEM_BEGIN.find_iter(text) {
        let body = &text[begin.end()..];
        let next = body.find("-----BEGIN").unwrap_or(body.len());
        let end = body[..next].find("-----END").map(|at| {
            let line = &body[at + 8..next];
            at + 8 + line.find("-----").map_or(0, |dashes| dashes + 5)
        });
        let key = &body[..end.unwrap_or_else(|| end_of_base64(&body[..next]))];
        let longest = key
            .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=')))
            .filter(|part| part.len() >= 16)
            .map(str::len)
            .sum::<usize>();
        if longest >= MIN_KEY_CHARS && entropy(key) >= 4.0 {
            found.push(Finding {
                kind: "private-key",
                range: begin.start()..begin.end() + key.len(),
            });
        }
    }
    found
}

fn end_of_base64(body: &str) -> usize {
    let is_part = |c: char| {
        c.is_ascii_alphanumeric() || c.is_whitespace() || matches!(c, '+' | '/' | '=' | '\\')
    };
    body.find(|c| !is_part(c)).unwrap_or(body.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_every_keyword_is_lower_case() {
        for (rule, pattern) in RULES.iter().zip(&COMPILED.patterns) {
            assert!(pattern.captures_len() <= 2, "{}", rule.kind);
            assert!(rule.keywords.iter().all(|word| *word == word.to_lowercase()));
        }
    }
}
