//! [`Policy`]: what becomes of secrets, personal data, private parts and HTML in one text.
//!
//! Not here: which texts a request has (`request`), the values of metadata (`metadata`).

use crate::privacy::finding::Finding;
pub use crate::privacy::personal::PersonalData;
use crate::privacy::secrets;
use crate::privacy::source_map::SourceMap;
use crate::privacy::visible_text::{VisibleText, visible};
use crate::privacy::words::{Words, merged};
use crate::privacy::{html, personal, private_parts};
use loci_proto::error::{Code, Failure};
use loci_proto::sanitize;
use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// Maximum number of findings that a failure or a reply lists; further ones are counted.
pub const MAX_LISTED: usize = 20;
/// Maximum size of one text, in bytes. No text that loci stores is larger.
const MAX_BYTES: usize = 64 * 1024;
/// Maximum number of times that a text is screened, because what is left may join to a new finding.
const MAX_PASSES: usize = 8;

/// The kind of the user's own words.
const WORD: &str = "word";

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
    /// The user's own words.
    words: Option<Words>,
    strip_html: bool,
}

/// Something found in a text. Never the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detected {
    /// What, for example `github-token`, `email` or `private part`.
    pub kind: &'static str,
    /// Characters of the text.
    pub range: Range<usize>,
}

impl Display for Detected {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}..{}", self.kind, self.range.start, self.range.end)
    }
}

/// A text as it may be stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Screened {
    /// The text.
    pub text: String,
    /// What was replaced, for example `github-token at 17..57` (characters of the text as given).
    pub redacted: Vec<String>,
    /// True if parts in `<private>` were dropped.
    pub dropped_private: bool,
}

/// A range of bytes that is replaced.
struct Cut {
    kind: &'static str,
    range: Range<usize>,
    mark: String,
}

/// A text after replacement, and what was replaced.
struct Replacement {
    map: SourceMap,
    detected: Vec<Detected>,
}

impl Policy {
    /// Creates a policy. `words` are the user's own words, which are replaced by `[REDACTED]`.
    ///
    /// # Errors
    /// What is wrong with the words, as the rest of a sentence; no word is repeated in it.
    pub fn new(
        secrets: SecretMode,
        personal: Vec<PersonalData>,
        words: &[String],
        strip_html: bool,
    ) -> Result<Self, String> {
        Ok(Self { secrets, personal, words: Words::new(words)?, strip_html })
    }

    /// Returns what becomes of a text with a secret.
    pub fn mode(&self) -> SecretMode {
        self.secrets
    }

    /// Returns the same policy, but with secrets replaced in place of refused.
    #[must_use]
    pub fn redacting(&self) -> Self {
        let secrets = match self.secrets {
            SecretMode::Refuse => SecretMode::Redact,
            other => other,
        };
        Self { secrets, ..self.clone() }
    }

    /// Screens a text: drops private parts, reduces HTML to its text, replaces personal data, and
    /// refuses or replaces secrets.
    ///
    /// # Errors
    /// `secret_detected` with kinds and positions, or `too_large`; both without the field.
    pub fn screen(&self, text: &str) -> Result<Screened, Failure> {
        self.screen_with(&self.uncovered(text), secrets::find)
    }

    /// As [`Policy::screen`], for the value of a field whose name may say that it is a secret.
    pub(crate) fn screen_value(&self, name: &str, value: &str) -> Result<Screened, Failure> {
        let name = visible(name);
        self.screen_with(&self.uncovered(value), |text| secrets::find_in_field(&name, text))
    }

    /// Returns the secrets of a text, whatever the mode.
    pub(crate) fn scan_secrets(&self, text: &str) -> Vec<Finding> {
        let mut found = found_in(text, secrets::find);
        self.leave_to_personal(&mut found);
        found
    }

    /// Returns the secrets of a text, whatever the mode, and the personal data that is replaced:
    /// kind, and range in characters.
    pub fn scan(&self, text: &str) -> Vec<(&'static str, Range<usize>)> {
        let (map, characters) = (SourceMap::unchanged(text), Characters::of(text));
        let cuts = self.cuts(text, &self.scan_secrets(text));
        let pair = |cut: &Cut| {
            let found = characters.detected(&map, cut.kind, &cut.range);
            (found.kind, found.range)
        };
        cuts.iter().map(pair).collect()
    }

    /// Replaces the secrets of a text, whatever the mode, and personal data.
    pub fn redact(&self, text: &str) -> String {
        self.redact_value("", text, &mut Vec::new()).unwrap_or_else(|| text.to_owned())
    }

    /// Returns a file as a copy of it may be kept: without private parts, and with secrets (unless they are allowed) and personal data
    /// replaced; also how many parts that were.
    pub fn kept_copy(&self, text: &str) -> (String, usize) {
        let (mut map, mut private) = (SourceMap::unchanged(&self.uncovered(text)), 0);
        while let Some(kept) = private_parts::drop_parts(&map.text) {
            map = map.then(kept);
            private += 1;
            if private >= MAX_PASSES {
                break;
            }
        }
        let kept = map.text;
        match self.redacting().replace_all(SourceMap::unchanged(&kept), &kept, secrets::find) {
            Ok(Replacement { map, detected }) => (map.text, private + detected.len()),
            // Not reached: replacing refuses nothing.
            Err(_) => (String::new(), private + 1),
        }
    }

    /// Returns a text as it may leave the machine: without private parts, and with secrets, whatever the mode, and personal data
    /// replaced. Empty if the text is too large to be screened.
    pub fn outgoing(&self, text: &str) -> String {
        let sending = Self { secrets: SecretMode::Redact, ..self.clone() };
        sending.screen(text).map(|screened| screened.text).unwrap_or_default()
    }

    /// As [`Policy::redact`], for the value of a field; adds kind and characters of what was
    /// replaced to `found`. `None` if nothing was.
    pub(crate) fn redact_value(
        &self,
        name: &str,
        value: &str,
        found: &mut Vec<(String, usize, usize)>,
    ) -> Option<String> {
        let redacting = Self { secrets: SecretMode::Redact, ..self.clone() };
        let name = visible(name);
        let replacement = redacting.replace_all(SourceMap::unchanged(value), value, |text| {
            secrets::find_in_field(&name, text)
        });
        let Ok(Replacement { map, detected }) = replacement else { return None };
        found.extend(
            detected.iter().map(|one| (one.kind.to_owned(), one.range.start, one.range.end)),
        );
        (!detected.is_empty()).then_some(map.text)
    }

    /// Removes hidden characters from a text in which they split a tag of a private part or of HTML:
    /// they are removed before the text is stored, or before it is given out. Elsewhere they stay, so
    /// that the reply lists them.
    fn uncovered<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let clean = sanitize::text(text);
        let dropped = |text: &str| plain(text, self.strip_html).map.text;
        if clean == text || dropped(&clean) == sanitize::text(&dropped(text)) {
            return Cow::Borrowed(text);
        }
        clean
    }

    fn screen_with(
        &self,
        text: &str,
        find: impl Fn(&str) -> Vec<Finding>,
    ) -> Result<Screened, Failure> {
        if text.len() > MAX_BYTES {
            let message = format!("has {} bytes; at most {MAX_BYTES} are allowed", text.len());
            return Err(Failure::new(Code::TooLarge, message));
        }
        let Plain { map, dropped_private } = plain(text, self.strip_html);
        let Replacement { map, detected } = self.replace_all(map, text, find)?;
        let redacted = detected.iter().map(Detected::to_string).collect();
        Ok(Screened { text: map.text, redacted, dropped_private })
    }

    /// Replaces what is not to be stored. `text` is the text as given.
    fn replace_all(
        &self,
        mut map: SourceMap,
        text: &str,
        find: impl Fn(&str) -> Vec<Finding>,
    ) -> Result<Replacement, Failure> {
        let mut all = Vec::new();
        let characters = Characters::of(text);
        for _ in 0..MAX_PASSES {
            let mut found = if self.secrets == SecretMode::Allow {
                Vec::new()
            } else {
                found_in(&map.text, &find)
            };
            self.leave_to_personal(&mut found);
            if self.secrets == SecretMode::Refuse && !found.is_empty() {
                let listed =
                    found.iter().map(|one| characters.detected(&map, one.kind, &one.range));
                return Err(refusal(&listed.collect::<Vec<_>>()));
            }
            let cuts = self.cuts(&map.text, &found);
            if cuts.is_empty() {
                break;
            }
            all.extend(cuts.iter().map(|cut| characters.detected(&map, cut.kind, &cut.range)));
            map = map.then(replaced(&map.text, &cuts));
        }
        Ok(Replacement { map, detected: all })
    }

    /// Removes what is replaced as personal data.
    fn leave_to_personal(&self, found: &mut Vec<Finding>) {
        found.retain(|one| {
            one.kind != "card-number" || !self.personal.contains(&PersonalData::Card)
        });
    }

    /// Returns what is replaced, in order and without overlaps: secrets before personal data.
    fn cuts(&self, text: &str, found: &[Finding]) -> Vec<Cut> {
        let cut = |one: &Finding| Cut {
            kind: one.kind,
            range: one.range.clone(),
            mark: format!("[SECRET:{}]", one.kind),
        };
        let mut cuts: Vec<Cut> = found.iter().map(cut).collect();
        let seen = VisibleText::of(text);
        let mut add = |kind: &'static str, mark: &str, find: &dyn Fn(&str) -> Vec<Range<usize>>| {
            let mut ranges = find(text);
            if let Some(seen) = &seen {
                ranges.extend(find(&seen.text).iter().map(|range| seen.original(range)));
            }
            for range in merged(ranges) {
                if !is_in_mark(text, &range) && text[range.clone()] != *mark {
                    let parts = uncut(text, &cuts, range, kind == WORD);
                    let cut = |range| Cut { kind, range, mark: mark.to_owned() };
                    cuts.extend(parts.into_iter().map(cut));
                    cuts.sort_by_key(|cut| cut.range.start);
                }
            }
        };
        for kind in PersonalData::ALL {
            if self.personal.contains(&kind) {
                add(kind.as_str(), kind.mark(), &|text| personal::find(kind, text));
            }
        }
        if let Some(words) = &self.words {
            add(WORD, "[REDACTED]", &|text| words.find(text));
        }
        cuts
    }
}

/// Finds secrets in a text and in what is seen of it.
fn found_in(text: &str, find: impl Fn(&str) -> Vec<Finding>) -> Vec<Finding> {
    let mut found = find(text);
    if let Some(seen) = VisibleText::of(text) {
        let hidden = find(&seen.text).into_iter();
        found.extend(hidden.map(|one| Finding { range: seen.original(&one.range), ..one }));
        found = secrets::without_overlaps(found);
    }
    found
}

/// Returns what is left to cut of a range beside the cuts, which are in order: all or nothing of a datum, every part of a phrase.
fn uncut(text: &str, cuts: &[Cut], range: Range<usize>, in_parts: bool) -> Vec<Range<usize>> {
    let overlaps = |cut: &&Cut| cut.range.start < range.end && range.start < cut.range.end;
    let mut parts = Vec::new();
    let mut from = range.start;
    for cut in cuts.iter().filter(overlaps) {
        if !in_parts {
            return Vec::new();
        }
        parts.push(from..cut.range.start.max(from));
        from = cut.range.end;
    }
    parts.push(from..range.end.max(from));
    let trimmed = |part: Range<usize>| {
        let inner = &text[part.clone()];
        let start = part.start + (inner.len() - inner.trim_start().len());
        start..start + inner.trim().len()
    };
    parts.into_iter().map(trimmed).filter(|part| !part.is_empty()).collect()
}

/// Returns true if a range is in a mark such as `[EMAIL]`, which redaction has written.
fn is_in_mark(text: &str, range: &Range<usize>) -> bool {
    let Some(open) = text[..range.start].rfind('[') else { return false };
    let Some(close) = text[range.end..].find(']') else { return false };
    let inside = &text[open + 1..range.end + close];
    ["EMAIL", "PHONE", "ID", "REDACTED"].contains(&inside)
        || inside
            .strip_prefix("SECRET:")
            .is_some_and(|kind| kind.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'))
}

/// A text without private parts and markup.
struct Plain {
    map: SourceMap,
    dropped_private: bool,
}

/// Drops private parts and reduces HTML to its text.
fn plain(text: &str, strip_html: bool) -> Plain {
    let mut map = SourceMap::unchanged(text);
    let mut dropped_private = false;
    for _ in 0..MAX_PASSES {
        if let Some(kept) = private_parts::drop_parts(&map.text) {
            dropped_private = true;
            map = map.then(kept);
        } else if let Some(kept) = strip_html.then(|| html::strip(&map.text)).flatten() {
            map = map.then(kept);
        } else {
            return Plain { map, dropped_private };
        }
    }
    // What is left still joins to new tags: drop everything behind the next one.
    if let Some(at) = private_parts::first_tag(&map.text) {
        let mut kept = SourceMap::default();
        kept.push(&map.text[..at], 0);
        map = map.then(kept);
    }
    Plain { map, dropped_private }
}

/// Returns the text with the ranges replaced.
fn replaced(text: &str, cuts: &[Cut]) -> SourceMap {
    let mut map = SourceMap::default();
    let mut from = 0;
    for cut in cuts {
        map.push(&text[from..cut.range.start], from);
        map.push(&cut.mark, cut.range.start);
        from = cut.range.end;
    }
    map.push(&text[from..], from);
    map
}

/// The number of characters before each byte of a text.
struct Characters(Option<Vec<usize>>);

impl Characters {
    fn of(text: &str) -> Self {
        // In ASCII a byte is a character.
        let count = |text: &str| {
            let mut counts = vec![0; text.len() + 1];
            for (number, (at, c)) in text.char_indices().enumerate() {
                counts[at] = number;
                counts[at + 1..=at + c.len_utf8()].fill(number + 1);
            }
            counts
        };
        Self((!text.is_ascii()).then(|| count(text)))
    }

    fn before(&self, byte: usize) -> usize {
        self.0.as_ref().map_or(byte, |counts| counts.get(byte).copied().unwrap_or_default())
    }

    /// Returns a finding in characters. `range` is in bytes of the text of `map`.
    fn detected(&self, map: &SourceMap, kind: &'static str, range: &Range<usize>) -> Detected {
        let end = map.origin(range.end.saturating_sub(1)) + 1;
        Detected { kind, range: self.before(map.origin(range.start))..self.before(end) }
    }
}

/// The refusal of a text: kinds and positions, never the values.
fn refusal(found: &[Detected]) -> Failure {
    let listed = found
        .iter()
        .take(MAX_LISTED)
        .map(|one| format!("{} at characters {}..{}", one.kind, one.range.start, one.range.end));
    let mut listed: Vec<String> = listed.collect();
    if found.len() > MAX_LISTED {
        listed.push(format!("{} more", found.len() - MAX_LISTED));
    }
    Failure::new(Code::SecretDetected, format!("holds a secret: {}", listed.join(", ")))
        .hint("Store where it is kept, not its value; privacy.secrets in config.toml can redact or allow it")
}
