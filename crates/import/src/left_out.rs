//! Where in a file is what was left out of it: its lines, and how it begins. Pure.

use crate::front_matter::FIELDS;
use crate::markup::{LeftOut, PRIVATE, TAGS};
use crate::statements::{HEADING, TITLE};
use std::ops::Range;

/// How much of a text that is left out is shown, in bytes.
const SHOWN_BYTES: usize = 100;

/// Tags at most this far apart, in bytes, are listed together.
const NEAR_BYTES: usize = 200;

/// Where the lines of a text end.
#[derive(Debug)]
pub(crate) struct Lines(Vec<usize>);

impl Lines {
    pub fn new(text: &str) -> Self {
        Self(text.match_indices('\n').map(|(at, _)| at).collect())
    }

    /// Returns the number of the line with a byte, from 1.
    pub fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|end| *end < byte) + 1
    }

    /// Returns the lines of a part of the text, and how it begins.
    pub fn place(&self, text: &str, bytes: &Range<usize>, is_shown: bool) -> String {
        let part = &text[bytes.clone()];
        let start = bytes.start + (part.len() - part.trim_start().len());
        let end = bytes.start + part.trim_end().len();
        let (first, last) = (self.at(start), self.at(end.max(start + 1) - 1));
        let lines =
            if first == last { format!("line {first}") } else { format!("lines {first}-{last}") };
        match shown(part.trim()).filter(|_| is_shown) {
            Some(beginning) => format!("{lines}: {beginning}"),
            None => lines,
        }
    }
}

/// Returns the beginning of a text, of whole words: half of a secret would not be recognised as one.
fn shown(text: &str) -> Option<&str> {
    let line = text.lines().next()?.trim_end();
    if line.len() <= SHOWN_BYTES {
        return Some(line).filter(|line| !line.is_empty());
    }
    let ends = line.match_indices(' ').map(|(at, _)| at);
    let end = ends.take_while(|at| *at <= SHOWN_BYTES).last()?;
    Some(line[..end].trim_end())
}

/// Parts of a file next to each other that are left out.
pub(crate) struct Part {
    pub bytes: Range<usize>,
    pub reason: String,
    /// It says little.
    pub is_minor: bool,
    /// It must not be shown.
    pub is_private: bool,
}

/// Returns the parts with letters; those with nothing but signs between them as one.
pub(crate) fn merged(text: &str, mut parts: Vec<LeftOut>) -> Vec<Part> {
    parts.sort_by_key(|part| part.bytes.start);
    let mut found: Vec<Part> = Vec::new();
    for LeftOut { bytes, reason } in parts {
        if !has_letters(&text[bytes.clone()]) {
            continue;
        }
        let is_minor =
            [TAGS, TITLE, HEADING].contains(&reason.as_ref()) || reason.starts_with(FIELDS);
        let is_private = reason == PRIVATE;
        match found.last_mut() {
            Some(last) if is_next(text, last, &bytes, &reason) => {
                last.bytes.end = last.bytes.end.max(bytes.end);
                last.is_minor &= is_minor;
                last.is_private |= is_private;
                if !last.reason.contains(reason.as_ref()) && last.reason.len() < SHOWN_BYTES {
                    last.reason = format!("{}, {reason}", last.reason);
                }
            }
            _ => found.push(Part { bytes, reason: reason.into_owned(), is_minor, is_private }),
        }
    }
    found
}

/// Returns whether a part is listed with the last one: nothing is between them, or both are tags close to each other.
fn is_next(text: &str, last: &Part, bytes: &Range<usize>, reason: &str) -> bool {
    match (last.reason == TAGS, reason == TAGS) {
        (true, true) => bytes.start.saturating_sub(last.bytes.end) <= NEAR_BYTES,
        (false, false) => {
            bytes.start <= last.bytes.end || !has_letters(&text[last.bytes.end..bytes.start])
        }
        _ => false,
    }
}

fn has_letters(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}
