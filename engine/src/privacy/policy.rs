//! [`Policy`]: what becomes of secrets, personal data, private parts and HTML in one text.
//!
//! Not here: which texts a request has (`request`), the values of metadata (`metadata`).

use crate::privacy::personal::{self, PersonalData};
use crate::privacy::secrets::{self, Finding};
use crate::privacy::source_map::SourceMap;
use crate::privacy::{html, private_parts};
use loci_proto::error::{Code, Failure};
use regex::Regex;
use std::fmt::{self, Display, Formatter};

/// Maximum number of findings that a failure or a reply lists; further ones are counted.
pub const MAX_LISTED: usize = 20;
/// Maximum size of one text, in bytes. No text that loci stores is larger.
const MAX_BYTES: usize = 64 * 1024;
/// Maximum number of times that a text is screened, because what is left may join to a new finding.
const MAX_PASSES: usize = 8;

/// What becomes of a text with a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SecretMode {
    /// The call is refused.
    #[default]
    Refuse,
    /// The secret is replaced by its kind, as `[SECRET:github-token]`.
    Redact,
    /// The text is kept as it is.
    Allow,
}

/// What texts may contain.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    secrets: SecretMode,
    personal: Vec<PersonalData>,
    words: Vec<String>,
    words_pattern: Option<Regex>,
}

impl PartialEq for Policy {
    fn eq(&self, other: &Self) -> bool {
        (self.secrets, &self.personal, &self.words) == (other.secrets, &other.personal, &other.words)
    }
}

/// Something found in a text. Never the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// Where, for example `content` or `metadata.note`.
    pub field: String,
    /// What, for example `github-token`, `email` or `private part`.
    pub kind: String,
    /// First character, from 0.
    pub start: usize,
    /// Character after the last one.
    pub end: usize,
}

impl Display for Detected {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.field != "content" {
            write!(f, "{}: ", self.field)?;
        }
        write!(f, "{} at {}..{}", self.kind, self.start, self.end)
    }
}

/// A text as it may be stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screened {
    /// The text.
    pub text: String,
    /// What was replaced or dropped, in order.
    pub detected: Vec<Detected>,
}

/// A range of bytes that is replaced.
struct Cut {
    kind: &'static str,
    start: usize,
    end: usize,
    mark: String,
}

impl Policy {
    /// Creates a policy. `words` are the user's own words that are replaced by `[REDACTED]`.
    #[must_use]
    pub fn new(secrets: SecretMode, personal: Vec<PersonalData>, words: Vec<String>) -> Self {
        let words_pattern = personal::words_pattern(&words);
        Self { secrets, personal, words, words_pattern }
    }

    /// Returns the same policy with another mode.
    #[must_use]
    pub fn with_secrets(&self, secrets: SecretMode) -> Self {
        Self { secrets, ..self.clone() }
    }

    /// Returns what becomes of a text with a secret.
    #[must_use]
    pub fn secrets(&self) -> SecretMode {
        self.secrets
    }

    /// Screens a text: drops private parts, reduces HTML to its text, replaces personal data, and
    /// refuses or replaces secrets. `None` if the text stays as it is.
    ///
    /// # Errors
    /// `secret_detected` with kinds and positions; `too_large`; `invalid` if nothing but private
    /// parts was given.
    pub fn screen(&self, field: &str, text: &str) -> Result<Option<Screened>, Failure> {
        self.screen_with(field, text, secrets::find)
    }

    /// As [`Policy::screen`], for the value of a field whose name may say that it is a secret.
    pub(crate) fn screen_value(
        &self,
        field: &str,
        name: &str,
        value: &str,
    ) -> Result<Option<Screened>, Failure> {
        self.screen_with(field, value, |text| secrets::find_in_field(name, text))
    }

    fn screen_with(
        &self,
        field: &str,
        text: &str,
        find: impl Fn(&str) -> Vec<Finding>,
    ) -> Result<Option<Screened>, Failure> {
        if text.len() > MAX_BYTES {
            let message = format!("has {} bytes; at most {MAX_BYTES} are allowed", text.len());
            return Err(Failure::new(Code::TooLarge, message).at(field));
        }
        let mut detected = Vec::new();
        let mut map = plain(field, text, &mut detected);
        if map.text.trim().is_empty() && !text.trim().is_empty() {
            let message = "is empty without its <private> parts, which are not stored";
            return Err(Failure::invalid(field, message).hint("Say what to remember"));
        }
        let at = |map: &SourceMap, kind: &str, start: usize, end: usize| Detected {
            field: field.to_owned(),
            kind: kind.to_owned(),
            start: characters(text, map.origin(start)),
            end: characters(text, map.origin(end.saturating_sub(1)) + 1),
        };
        for _ in 0..MAX_PASSES {
            let found = self.secrets_of(&map.text, &find);
            if self.secrets == SecretMode::Refuse && !found.is_empty() {
                let listed: Vec<Detected> =
                    found.iter().map(|secret| at(&map, secret.kind, secret.start, secret.end)).collect();
                return Err(refusal(field, &listed));
            }
            let cuts = self.cuts(&map.text, &found);
            if cuts.is_empty() {
                break;
            }
            detected.extend(cuts.iter().map(|cut| at(&map, cut.kind, cut.start, cut.end)));
            map = map.then(replaced(&map.text, &cuts));
        }
        Ok((map.text != text).then_some(Screened { text: map.text, detected }))
    }

    /// Returns the secrets that are not to be kept.
    fn secrets_of(&self, text: &str, find: &impl Fn(&str) -> Vec<Finding>) -> Vec<Finding> {
        if self.secrets == SecretMode::Allow {
            return Vec::new();
        }
        let mut found = find(text);
        // Asked to be replaced as personal data.
        found.retain(|secret| {
            secret.kind != "card" || !self.personal.contains(&PersonalData::Card)
        });
        found
    }

    /// Returns what is replaced, in order and without overlaps: secrets before personal data.
    fn cuts(&self, text: &str, found: &[Finding]) -> Vec<Cut> {
        let mut cuts: Vec<Cut> = found
            .iter()
            .map(|secret| Cut {
                kind: secret.kind,
                start: secret.start,
                end: secret.end,
                mark: format!("[SECRET:{}]", secret.kind),
            })
            .collect();
        let mut add = |kind: &'static str, mark: &str, ranges: Vec<(usize, usize)>| {
            for (start, end) in ranges {
                let is_marker = text[start..end].starts_with('[')
                    || is_inside_mark(text, start, end);
                if !is_marker && cuts.iter().all(|cut| end <= cut.start || start >= cut.end) {
                    cuts.push(Cut { kind, start, end, mark: mark.to_owned() });
                }
            }
        };
        for kind in [
            PersonalData::Email,
            PersonalData::Iban,
            PersonalData::Card,
            PersonalData::Pesel,
            PersonalData::Phone,
        ] {
            if self.personal.contains(&kind) {
                add(kind.as_str(), kind.mark(), personal::find(kind, text));
            }
        }
        if let Some(pattern) = &self.words_pattern {
            add("word", "[REDACTED]", personal::find_words(pattern, text));
        }
        cuts.sort_by_key(|cut| cut.start);
        cuts
    }
}

/// Returns true if a range is inside a mark such as `[EMAIL]` that an earlier pass has written.
fn is_inside_mark(text: &str, start: usize, end: usize) -> bool {
    let Some(open) = text[..start].rfind('[') else { return false };
    let Some(close) = text[end..].find(']') else { return false };
    let inside = &text[open + 1..end + close];
    ["EMAIL", "PHONE", "ID", "REDACTED"].contains(&inside)
        || inside.strip_prefix("SECRET:").is_some_and(|kind| {
            kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
        })
}

/// Drops private parts and reduces HTML to its text.
fn plain(field: &str, text: &str, detected: &mut Vec<Detected>) -> SourceMap {
    let mut map = SourceMap::unchanged(text);
    for pass in 0..MAX_PASSES {
        if let Some(kept) = private_parts::drop_parts(&map.text) {
            if pass == 0 {
                detected.push(Detected {
                    field: field.to_owned(),
                    kind: "private part".to_owned(),
                    start: characters(text, common_prefix(&map.text, &kept.text)),
                    end: characters(text, text.len() - common_suffix(&map.text, &kept.text)),
                });
            }
            map = map.then(kept);
        } else if let Some(kept) = html::strip(&map.text) {
            map = map.then(kept);
        } else {
            return map;
        }
    }
    // What is left still joins to new tags: the author hides something.
    match private_parts::first_tag(&map.text) {
        Some(at) => {
            let mut kept = SourceMap::default();
            kept.push(&map.text[..at], 0);
            map.then(kept)
        }
        None => map,
    }
}

fn common_prefix(before: &str, after: &str) -> usize {
    before.char_indices().zip(after.chars()).find(|((_, a), b)| a != b).map_or(
        before.len().min(after.len()),
        |((at, _), _)| at,
    )
}

/// Returns the length of the common end, which does not reach into the common beginning.
fn common_suffix(before: &str, after: &str) -> usize {
    let most = after.len() - common_prefix(before, after);
    let mut length = 0;
    for (a, b) in before.chars().rev().zip(after.chars().rev()) {
        if a != b || length + a.len_utf8() > most {
            break;
        }
        length += a.len_utf8();
    }
    length
}

/// Returns the text with the ranges replaced.
fn replaced(text: &str, cuts: &[Cut]) -> SourceMap {
    let mut map = SourceMap::default();
    let mut from = 0;
    for cut in cuts {
        map.push(&text[from..cut.start], from);
        map.push(&cut.mark, cut.start);
        from = cut.end;
    }
    map.push(&text[from..], from);
    map
}

/// Returns how many characters a text has before a byte.
fn characters(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count()
}

/// The refusal of a text: kinds and positions, never the values.
pub(crate) fn refusal(field: &str, found: &[Detected]) -> Failure {
    let mut listed: Vec<String> = found
        .iter()
        .take(MAX_LISTED)
        .map(|secret| format!("{} at characters {}..{}", secret.kind, secret.start, secret.end))
        .collect();
    if found.len() > MAX_LISTED {
        listed.push(format!("{} more", found.len() - MAX_LISTED));
    }
    Failure::new(Code::SecretDetected, format!("contains a secret: {}", listed.join(", ")))
        .at(field)
        .hint("Store where the secret is kept, not its value. For the user: [privacy] secrets in config.toml")
}
