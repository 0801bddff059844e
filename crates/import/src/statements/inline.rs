//! Texts of the parts of a block of Markdown, and the addresses and footnotes that they refer to. Pure.

use crate::markup::{CELL_END, FILLER, HEAD_END, TABLE_END};
use pulldown_cmark::{Event, Tag};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A longer paragraph is split at the ends of sentences, in bytes.
pub(super) const PARAGRAPH_BYTES: usize = 1200;
/// The boxes of a list of tasks, and what they mean.
const TASKS: [(&str, &str); 6] = [
    ("[ ] ", "To do: "),
    ("[x] ", "Done: "),
    ("[X] ", "Done: "),
    ("[/] ", "In progress: "),
    ("[-] ", "Cancelled: "),
    ("[>] ", "Forwarded: "),
];

pub(super) type Events<'e, 'a> = &'e [(Event<'a>, Range<usize>)];

/// The addresses (`[label]: address`) and footnotes of a text, and where it refers to them.
pub(super) struct Addresses {
    /// Where a text refers to something, and the bytes of that, in order.
    uses: Vec<(usize, Range<usize>)>,
    /// The addresses.
    all: Vec<Range<usize>>,
    /// Where those begin that were added to a statement.
    added: HashSet<usize>,
    /// How much may still be added, in bytes: many statements may refer to one long footnote.
    budget: usize,
}

impl Addresses {
    pub fn new(
        addresses: Vec<(String, Range<usize>)>,
        events: Events<'_, '_>,
        budget: usize,
    ) -> Self {
        let all = addresses.iter().map(|(_, bytes)| bytes.clone()).collect();
        let mut known: HashMap<(bool, String), Range<usize>> =
            addresses.into_iter().map(|(label, bytes)| ((false, label), bytes)).collect();
        for (event, bytes) in events {
            if let Event::Start(Tag::FootnoteDefinition(label)) = event {
                known.insert((true, label.to_string()), bytes.clone());
            }
        }
        let target = |(event, bytes): &(Event<'_>, Range<usize>)| {
            let key = match event {
                Event::Start(Tag::Link { id, .. } | Tag::Image { id, .. }) if !id.is_empty() => {
                    (false, id.to_lowercase())
                }
                Event::FootnoteReference(label) => (true, label.to_string()),
                _ => return None,
            };
            Some((bytes.start, known.get(&key)?.clone()))
        };
        let mut uses: Vec<_> = events.iter().filter_map(target).collect();
        uses.sort_by_key(|(at, _)| *at);
        Self { uses, all, added: HashSet::new(), budget }
    }

    /// Returns what a part of the text refers to outside itself.
    pub fn of(&mut self, range: &Range<usize>) -> Vec<Range<usize>> {
        let first = self.uses.partition_point(|(at, _)| *at < range.start);
        let (mut found, mut seen) = (Vec::new(), HashSet::new());
        for (_, bytes) in self.uses[first..].iter().take_while(|(at, _)| *at < range.end) {
            let is_inside = range.start <= bytes.start && bytes.end <= range.end;
            if !is_inside && seen.insert(bytes.start) {
                if bytes.len() > self.budget {
                    continue;
                }
                self.budget -= bytes.len();
                found.push(bytes.clone());
            }
            self.added.insert(bytes.start);
        }
        found
    }

    /// Returns whether something was added to a statement.
    pub fn is_added(&self, bytes: &Range<usize>) -> bool {
        self.added.contains(&bytes.start)
    }

    /// Returns the addresses that no statement has.
    pub fn unused(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.all.iter().filter(|bytes| !self.is_added(bytes)).cloned()
    }
}

/// Returns the letters and digits of a text.
pub(crate) fn letters(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Returns the text of the inline elements of a block as it is read, if it has every letter of it; else as it is written.
pub(super) fn faithful(source: &str, events: Events<'_, '_>) -> String {
    let mut text = String::new();
    for (event, _) in events {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    let start = events.first().map_or(0, |(_, range)| range.start);
    let end = events.iter().map(|(_, range)| range.end).max().unwrap_or(start);
    let written = source[start..end].trim();
    let text = if letters(&text) == letters(written) { text.trim() } else { written };
    without_blanks(text)
}

/// Returns a text without the marks of what was taken out of it.
pub(super) fn without_marks(text: &str) -> String {
    text.replace([FILLER, TABLE_END], "").replace([HEAD_END, CELL_END], ";")
}

/// Returns a text whose lines have single spaces between words, as it is read.
pub(crate) fn without_blanks(text: &str) -> String {
    let text = without_marks(text);
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    text.lines().map(words).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Returns the index of the event that ends the element at `at`; `at` itself for any other event.
pub(super) fn end_of(events: Events<'_, '_>, at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, (event, _)) in events[at..].iter().enumerate() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + offset;
        }
    }
    events.len() - 1
}

/// Returns a part of a text inside `quotes` quotes without the marks of its lines; the first one begins after its own.
pub(super) fn unquoted(source: &str, range: Range<usize>, quotes: usize) -> Cow<'_, str> {
    let part = &source[range];
    if quotes == 0 || !part.contains('\n') {
        return part.into();
    }
    let unquoted = |(number, line)| match number {
        0 => line,
        _ => (0..quotes).fold(line, |line: &str, _| match line.trim_start().strip_prefix('>') {
            Some(rest) => rest.strip_prefix(' ').unwrap_or(rest),
            None => line,
        }),
    };
    part.lines().enumerate().map(unquoted).collect::<Vec<_>>().join("\n").into()
}

/// Reads a callout (`[!type] title` above its text): its head, and the whole if it has a text.
pub(super) fn callout(text: &str) -> Option<(String, Option<String>)> {
    let (kind, rest) = text.strip_prefix("[!")?.split_once(']')?;
    let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let (title, body) = rest.split_once('\n').unwrap_or((rest, ""));
    let (kind, title, body) = (kind.trim(), title.trim(), body.trim());
    let head = if title.is_empty() { kind.to_owned() } else { format!("{kind}: {title}") };
    let whole = match (title, body) {
        (_, "") => None,
        ("", _) => Some(format!("{kind}: {body}")),
        _ => Some(format!("{head}\n{body}")),
    };
    (!kind.contains('\n')).then_some((head, whole))
}

/// Returns the text of a list item without its marker and the indentation of its other lines.
pub(super) fn item_text(source: &str) -> String {
    let (source, indent) = (source.trim(), source.len() - source.trim_start().len());
    let marker = source.len()
        - source
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches(['-', '*', '+', '.', ')'])
            .trim_start_matches(' ')
            .len();
    let first = source.get(marker..).unwrap_or_default();
    let mut lines = first.lines();
    let first = lines.next().unwrap_or_default();
    let task = TASKS.iter().find_map(|(mark, state)| Some((state, first.strip_prefix(mark)?)));
    let mut text = task.map_or(first.to_owned(), |(state, rest)| format!("{state}{rest}"));
    for line in lines {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        text.push('\n');
        text.push_str(&line[blanks.min(indent + marker)..]);
    }
    text.trim().to_owned()
}

/// Splits a long paragraph at the ends of sentences.
pub(super) fn parts(text: &str) -> Vec<String> {
    if text.len() <= PARAGRAPH_BYTES {
        return vec![text.to_owned()];
    }
    let mut parts: Vec<String> = Vec::new();
    for sentence in text.split_sentence_bounds() {
        match parts.last_mut() {
            Some(part) if part.len() + sentence.len() <= PARAGRAPH_BYTES => part.push_str(sentence),
            _ => parts.push(sentence.to_owned()),
        }
    }
    parts
}

/// Returns whether a text is only images, in the form of Markdown or of Obsidian.
pub(super) fn is_image(text: &str) -> bool {
    let wiki = |rest: &'_ str| rest.strip_prefix("![[")?.find("]]").map(|at| at + 5);
    let plain = |rest: &'_ str| {
        let address = rest.strip_prefix("![")?.find("](")? + 4;
        rest[address..].find(')').map(|at| address + at + 1)
    };
    let mut rest = text.trim();
    while !rest.is_empty() {
        let Some(length) = wiki(rest).or_else(|| plain(rest)) else { return false };
        rest = rest[length..].trim_start();
    }
    true
}

/// Returns what a whole note is if it is data of a program.
pub(crate) fn data(body: &str, fields: &Map<String, Value>) -> Option<&'static str> {
    if fields.contains_key("excalidraw-plugin") {
        return Some("is a drawing");
    }
    let mut lines = body.lines().filter(|line| !line.trim().is_empty()).peekable();
    let is_lines = lines.peek().is_some() && lines.all(|line| is_json(line.trim()));
    (is_lines || is_json(body.trim())).then_some("is JSON of a program")
}

/// Returns whether a text is JSON that a program has written: an object, or a list with one.
pub(super) fn is_json(text: &str) -> bool {
    if !text.starts_with(['{', '[']) {
        return false;
    }
    match serde_json::from_str(text) {
        Ok(serde_json::Value::Object(_)) => true,
        Ok(serde_json::Value::Array(items)) => items.iter().any(serde_json::Value::is_object),
        _ => false,
    }
}
