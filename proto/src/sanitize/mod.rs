//! Removes from texts what a person does not see but a model or a terminal obeys: ANSI escapes, control characters, bidi overrides and
//! isolates, tag characters, zero-width characters between letters that need none. Pure.
//!
//! The engine applies it to what is stored, and the gate ([`crate::gate`]) again to everything that agents are given, because imported
//! texts and rows of earlier versions are stored as they were written. Joiners of emoji, Arabic and Indic scripts, direction marks, combining marks and
//! variation selectors stay; `characters` has the rule. Sanitising twice gives the same text as once.

mod characters;

use characters::{Action, Kind, decide, is_conditional};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::ops::Range;

/// Maximum number of entries in a list of what was removed.
const MAX_LISTED: usize = 8;

/// The flags of England, Scotland and Wales: the only emoji that contain tag characters.
const TAGGED_FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// Collects what was removed, for the reply.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Removed(Vec<String>);

impl Removed {
    /// Returns one entry for each kind and field, for example `ansi escape at 10` or `tag character in metadata.name at 3, 11 more`.
    /// Positions are counted in characters of the text as it was given. At most 8 entries; a ninth says how many more there are.
    #[must_use]
    pub fn into_list(self) -> Vec<String> {
        let mut list = self.0;
        if list.len() > MAX_LISTED {
            let more = list.len() - MAX_LISTED;
            list.truncate(MAX_LISTED);
            list.push(format!("{more} more"));
        }
        list
    }
}

/// Returns the text without its hidden characters.
#[must_use]
pub fn text(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_conditional) { Cow::Owned(scan(text).0) } else { Cow::Borrowed(text) }
}

/// Returns true if a text has characters that [`text`] removes, or keeps only by their neighbours.
#[must_use]
pub fn may_hide(text: &str) -> bool {
    text.chars().any(is_conditional)
}

/// Returns the characters of a text that are seen, each with its bytes in the text: none that [`text`] removes, and none that it keeps
/// although it has no shape of its own.
#[must_use]
pub fn visible(text: &str) -> Vec<(char, Range<usize>)> {
    let (bytes, chars): (Vec<usize>, Vec<char>) = text.char_indices().unzip();
    let mut seen = Vec::with_capacity(chars.len());
    walk(&chars, |at, kept, _| {
        let shown = kept.iter().filter(|c| !is_conditional(**c));
        seen.extend(shown.map(|c| (*c, bytes[at]..bytes[at] + chars[at].len_utf8())));
    });
    seen
}

/// Like [`text`], and adds what was removed. `field` is empty for the main text of a memory.
pub fn text_of(field: &str, text: &str, removed: &mut Removed) -> String {
    let (clean, findings) = scan(text);
    for finding in findings {
        let place = if field.is_empty() { String::new() } else { format!(" in {field}") };
        let more =
            if finding.more > 0 { format!(", {} more", finding.more) } else { String::new() };
        removed.0.push(format!("{}{place} at {}{more}", finding.kind.as_str(), finding.position));
    }
    clean
}

/// Removes the hidden characters of all keys and strings of a JSON object. Returns the first key that would then occur twice.
///
/// # Errors
/// The key, if two keys differ only by hidden characters; the fields are incomplete then.
pub fn fields(
    path: &str,
    fields: &mut Map<String, Value>,
    removed: &mut Removed,
) -> Result<(), String> {
    for (key, mut value) in std::mem::take(fields) {
        let clean_key = text_of(&format!("a key of {path}"), &key, removed);
        let inner = format!("{path}.{clean_key}");
        value_of(&inner, &mut value, removed)?;
        if fields.insert(clean_key, value).is_some() {
            return Err(inner);
        }
    }
    Ok(())
}

fn value_of(path: &str, value: &mut Value, removed: &mut Removed) -> Result<(), String> {
    match value {
        Value::String(text) => {
            if text.chars().any(is_conditional) {
                *text = text_of(path, text, removed);
            }
            Ok(())
        }
        Value::Array(items) => items
            .iter_mut()
            .enumerate()
            .try_for_each(|(i, item)| value_of(&format!("{path}[{i}]"), item, removed)),
        Value::Object(inner) => fields(path, inner, removed),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The first hidden character of a kind, and how many follow.
struct Finding {
    kind: Kind,
    position: usize,
    more: usize,
}

fn scan(text: &str) -> (String, Vec<Finding>) {
    let chars: Vec<char> = text.chars().collect();
    let (mut clean, mut findings) = (String::with_capacity(text.len()), Vec::new());
    walk(&chars, |at, kept, kind| {
        clean.extend(kept);
        if let Some(kind) = kind {
            add(&mut findings, kind, at);
        }
    });
    (clean, findings)
}

/// Calls `each` with a position, the characters that are kept of it, and the kind of what is not.
fn walk(chars: &[char], mut each: impl FnMut(usize, &[char], Option<Kind>)) {
    let (mut at, mut before) = (0, None);
    while let Some(&c) = chars.get(at) {
        let flag = flag_tags(&chars[at..]).filter(|_| before == Some('\u{1F3F4}'));
        let (length, kept, kind) = match flag {
            Some(length) => (length, &chars[at..at + length], None),
            None if !is_conditional(c) => (1, &chars[at..=at], None),
            None => match decide(c, before, chars.get(at + 1).copied()) {
                Action::Keep => (1, &chars[at..=at], None),
                Action::BreakLine(kind) => (1, &['\n'][..], Some(kind)),
                Action::Remove(kind) => (escape_length(&chars[at..]), &[][..], Some(kind)),
            },
        };
        each(at, kept, kind);
        before = kept.last().copied().or(before);
        at += length;
    }
}

fn add(findings: &mut Vec<Finding>, kind: Kind, position: usize) {
    match findings.iter_mut().find(|finding| finding.kind == kind) {
        Some(finding) => finding.more += 1,
        None => findings.push(Finding { kind, position, more: 0 }),
    }
}

/// Returns the length of the tag characters of a known flag at the start of `chars`.
fn flag_tags(chars: &[char]) -> Option<usize> {
    let tag = |c: char| char::from_u32(0xE0000 + u32::from(c));
    TAGGED_FLAGS.iter().find_map(|flag| {
        let tags = || flag.chars().filter_map(tag).chain(['\u{E007F}']);
        chars.iter().copied().take(6).eq(tags()).then_some(6)
    })
}

/// Returns the length of the escape sequence at the start of `chars`: a complete control sequence (`ESC [ 3 1 m`) or a choice of
/// character set (`ESC ( B`). Other sequences may contain readable text, so only their control characters are removed.
fn escape_length(chars: &[char]) -> usize {
    let skip = |from: usize, range: std::ops::RangeInclusive<char>| {
        from + chars.iter().skip(from).take_while(|c| range.contains(c)).count()
    };
    let (start, final_range) = match chars {
        ['\u{1B}', '[', ..] => (skip(2, '0'..='?'), '@'..='~'),
        ['\u{9B}', ..] => (skip(1, '0'..='?'), '@'..='~'),
        ['\u{1B}', ' '..='/', ..] => (1, '0'..='~'),
        _ => return 1,
    };
    let end = skip(start, ' '..='/');
    if chars.get(end).is_some_and(|c| final_range.contains(c)) { end + 1 } else { 1 }
}

#[cfg(test)]
mod tests;
