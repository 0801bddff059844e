//! Edits of JSON texts. Each edit is a list of replacements of places, so every other byte stays.
//!
//! Not here: parsing (`syntax`).

use super::entry::{EditError, Entry, EntryKind, Format, Ledger, Target, pointer};
use super::layout::{Layout, is_first_on_line, line_indent};
use super::syntax::{self, Kind, Node, Syntax, TokenKind};
use super::value::{Value, quoted};
use serde_json::Value as Json;
use std::ops::Range;

/// Replacements of places that do not overlap.
type Splices = Vec<(Range<usize>, String)>;

fn apply(text: &str, mut splices: Splices) -> String {
    splices.sort_by_key(|(place, _)| (place.start, place.end));
    let mut edited = String::with_capacity(text.len() + 256);
    let mut at = 0;
    for (place, new) in splices {
        edited.push_str(&text[at..place.start]);
        edited.push_str(&new);
        at = place.end;
    }
    edited.push_str(&text[at..]);
    edited
}

fn syntax_of(text: &str, format: Format) -> Result<Syntax, EditError> {
    syntax::parse(text, format == Format::Jsonc)
}

/// Parses a text; a blank one counts as an empty object.
pub fn parse(text: &str, format: Format) -> Result<Json, EditError> {
    let syntax = syntax_of(text, format)?;
    Ok(syntax.root.map_or_else(|| Json::Object(serde_json::Map::new()), |root| root.to_json()))
}

/// Inserts an entry that is absent.
pub fn insert(
    text: &str,
    format: Format,
    entry: &Entry,
    ledger: &mut Ledger,
) -> Result<String, EditError> {
    let syntax = syntax_of(text, format)?;
    let (parents, key) = match entry.kind {
        EntryKind::Key => entry.path.split_at(entry.path.len() - 1),
        EntryKind::Element => (entry.path.as_slice(), [].as_slice()),
    };
    let Some(root) = &syntax.root else {
        return Ok(start_document(text, entry, ledger));
    };
    let mut container = root;
    let mut depth = 0;
    while let Some(member) = parents.get(depth).and_then(|name| container.member(name)) {
        container = &member.value;
        depth += 1;
        check_shape(container, entry, depth, parents.len())?;
    }
    check_shape(container, entry, depth, parents.len())?;
    let missing: Vec<&String> = parents[depth..].iter().chain(key).collect();
    for created in depth..parents.len() {
        ledger.created.insert(pointer(&parents[..=created]));
    }
    let item = match missing.split_first() {
        None => Item { key: None, value: entry.value.clone() },
        Some((first, rest)) => Item { key: Some((*first).clone()), value: nested(rest, entry) },
    };
    if container.item_spans().is_empty() {
        let inner = text[container.inner()].to_owned();
        ledger.gaps.entry(pointer(&parents[..depth])).or_insert(inner);
    }
    Ok(apply(text, append(text, &syntax, container, &item)))
}

/// What is appended to an object or an array.
struct Item {
    key: Option<String>,
    value: Value,
}

impl Item {
    fn to_lines(&self, indent: &str, layout: &Layout) -> String {
        let value = self.value.to_lines(indent, &layout.unit, layout.newline);
        self.key.as_ref().map_or(value.clone(), |key| format!("{}: {value}", quoted(key)))
    }

    fn to_line(&self, spaced: bool) -> String {
        let value = self.value.to_line(spaced);
        let space = if spaced { " " } else { "" };
        self.key.as_ref().map_or(value.clone(), |key| format!("{}:{space}{value}", quoted(key)))
    }
}

/// Puts the value into the objects that are missing on the path.
fn nested(missing: &[&String], entry: &Entry) -> Value {
    let innermost = match entry.kind {
        EntryKind::Key => entry.value.clone(),
        EntryKind::Element => Value::List(vec![entry.value.clone()]),
    };
    missing.iter().rev().fold(innermost, |value, name| Value::Table(vec![((*name).clone(), value)]))
}

/// Refuses a value on the path that is not what the entry needs there.
fn check_shape(node: &Node, entry: &Entry, depth: usize, last: usize) -> Result<(), EditError> {
    let is_array = entry.kind == EntryKind::Element && depth == last;
    let fits = match node.kind {
        Kind::Array(_) => is_array,
        Kind::Object(_) => !is_array,
        Kind::Scalar(_) => false,
    };
    let expected = if is_array { "an array" } else { "an object" };
    if fits {
        Ok(())
    } else {
        Err(EditError::Shape { path: entry.path[..depth].join("."), expected })
    }
}

/// Writes an object after a text of blanks and comments.
fn start_document(text: &str, entry: &Entry, ledger: &mut Ledger) -> String {
    let layout = Layout::of(text);
    ledger.gaps.insert(String::new(), text.to_owned());
    let parents = entry.path.len() - usize::from(entry.kind == EntryKind::Key);
    for depth in 0..=parents {
        ledger.created.insert(pointer(&entry.path[..depth]));
    }
    let path: Vec<&String> = entry.path.iter().collect();
    let document = nested(&path, entry).to_lines("", &layout.unit, layout.newline);
    let kept = if text.trim().is_empty() { "" } else { text };
    let separator = if kept.is_empty() || kept.ends_with('\n') { "" } else { layout.newline };
    format!("{kept}{separator}{document}{}", layout.newline)
}

/// Returns the splices that append an item.
fn append(text: &str, syntax: &Syntax, container: &Node, item: &Item) -> Splices {
    let layout = Layout::of(text);
    let inner = container.inner();
    let spans = container.item_spans();
    let has_lines = text[inner.clone()].contains('\n');
    let base = line_indent(text, container.span.start);
    let Some(last) = spans.last() else {
        let at = syntax.after_comments(text, inner.start, inner.end);
        let is_root = syntax.root.as_ref().is_some_and(|root| root.span == container.span);
        if !is_root && !text.trim().contains('\n') {
            return vec![(at..at, item.to_line(layout.spaced))];
        }
        let indent = format!("{base}{}", layout.unit);
        let end = if text[at..inner.end].contains('\n') {
            String::new()
        } else {
            format!("{}{base}", layout.newline)
        };
        let lines = item.to_lines(&indent, &layout);
        return vec![(at..at, format!("{}{indent}{lines}{end}", layout.newline))];
    };
    let comma = syntax.comma_in(&(last.end..inner.end));
    let after = comma.as_ref().map_or(last.end, |comma| comma.end);
    let at = syntax.after_comments(text, after, inner.end);
    let new = if has_lines {
        let indent = if is_first_on_line(text, last.start) {
            line_indent(text, last.start).to_owned()
        } else {
            format!("{base}{}", layout.unit)
        };
        format!("{}{indent}{}", layout.newline, item.to_lines(&indent, &layout))
    } else {
        format!("{}{}", if layout.spaced { " " } else { "" }, item.to_line(layout.spaced))
    };
    if comma.is_some() {
        vec![(at..at, format!("{new},"))]
    } else if at == last.end {
        vec![(at..at, format!(",{new}"))]
    } else {
        vec![(last.end..last.end, ",".to_owned()), (at..at, new)]
    }
}

/// Gives a key that exists another value.
pub fn replace(text: &str, format: Format, entry: &Entry) -> Result<(String, String), EditError> {
    let syntax = syntax_of(text, format)?;
    let Some(node) = syntax.root.as_ref().and_then(|root| root.at(&entry.path)) else {
        return Err(EditError::Shape { path: entry.path.join("."), expected: "a key" });
    };
    let layout = Layout::of(text);
    let has_lines = text[node.span.clone()].contains('\n');
    let value = if has_lines {
        let indent = line_indent(text, node.span.start);
        entry.value.to_lines(indent, &layout.unit, layout.newline)
    } else {
        entry.value.to_line(layout.spaced)
    };
    let previous = text[node.span.clone()].to_owned();
    Ok((apply(text, vec![(node.span.clone(), value)]), previous))
}

/// Gives a key a value as it was written.
pub fn put_back(
    text: &str,
    format: Format,
    target: &Target,
    previous: &str,
) -> Result<String, EditError> {
    let syntax = syntax_of(text, format)?;
    Ok(match syntax.root.as_ref().and_then(|root| root.at(&target.path)) {
        Some(node) => apply(text, vec![(node.span.clone(), previous.to_owned())]),
        None => text.to_owned(),
    })
}

/// Removes an entry, and the containers that were created for it and are empty now.
pub fn remove(
    text: &str,
    format: Format,
    target: &Target,
    ledger: &Ledger,
) -> Result<String, EditError> {
    let syntax = syntax_of(text, format)?;
    let Some(root) = &syntax.root else { return Ok(text.to_owned()) };
    let parent = match target.kind {
        EntryKind::Key => &target.path[..target.path.len() - 1],
        EntryKind::Element => target.path.as_slice(),
    };
    let Some(container) = root.at(parent) else { return Ok(text.to_owned()) };
    let position = match (&container.kind, target.kind) {
        (Kind::Array(items), EntryKind::Element) => {
            items.iter().rposition(|item| item.to_json() == target.value)
        }
        (Kind::Object(members), EntryKind::Key) => {
            members.iter().rposition(|member| Some(&member.key) == target.path.last())
        }
        _ => None,
    };
    let Some(position) = position else { return Ok(text.to_owned()) };
    let text = apply(text, cut(text, &syntax, container, position));
    tidy_container(text, format, parent, ledger)
}

/// Returns the splices that cut an item with one comma and the blanks before it.
fn cut(text: &str, syntax: &Syntax, container: &Node, position: usize) -> Splices {
    let spans = container.item_spans();
    let item = &spans[position];
    let limit = spans.get(position + 1).map_or(container.inner().end, |next| next.start);
    let own_comma = syntax.comma_in(&(item.end..limit));
    let end = own_comma.as_ref().map_or(item.end, |comma| comma.end);
    let is_kept_line = |before: &(Range<usize>, TokenKind)| {
        let after = text[end..].trim_start_matches([' ', '\t', '\r']);
        before.1 == TokenKind::LineComment && !after.starts_with('\n')
    };
    let start = match syntax.token_before(item.start) {
        Some(before) if is_kept_line(before) => item.start,
        Some(before) => before.0.end,
        None => item.start,
    };
    let mut splices: Splices = Vec::new();
    match own_comma {
        Some(comma) if text[item.end..comma.start].trim().is_empty() => {
            splices.push((start..comma.end, String::new()));
        }
        Some(comma) => {
            splices.extend([(start..item.end, String::new()), (comma, String::new())]);
        }
        None => {
            let previous = position.checked_sub(1).and_then(|at| spans.get(at));
            let comma = previous.and_then(|span| syntax.comma_in(&(span.end..item.start)));
            match comma {
                // The comma is the token before the item: one cut.
                Some(comma) if comma.end == start => {
                    splices.push((comma.start..item.end, String::new()));
                }
                comma => {
                    splices.extend(comma.map(|comma| (comma, String::new())));
                    splices.push((start..item.end, String::new()));
                }
            }
        }
    }
    splices
}

/// Removes an empty container that was created, and its empty parents; gives back the blanks of one that was empty before.
fn tidy_container(
    text: String,
    format: Format,
    path: &[String],
    ledger: &Ledger,
) -> Result<String, EditError> {
    let syntax = syntax_of(&text, format)?;
    let Some(root) = &syntax.root else { return Ok(text) };
    let Some(container) = root.at(path).filter(|node| node.item_spans().is_empty()) else {
        return Ok(text);
    };
    let inner = &text[container.inner()];
    if ledger.is_created(path) && inner.trim().is_empty() {
        let Some((name, parent)) = path.split_last() else {
            let rest = apply(&text, vec![(container.span.clone(), String::new())]);
            let gap = ledger.gap(path).unwrap_or_default();
            return Ok(if rest.trim() == gap.trim() { gap.to_owned() } else { rest });
        };
        let members = root.at(parent).map(Node::item_spans).unwrap_or_default();
        let position = members.iter().position(|span| span.end == container.span.end);
        if let (Some(parent_node), Some(position)) = (root.at(parent), position) {
            debug_assert!(parent_node.member(name).is_some());
            let text = apply(&text, cut(&text, &syntax, parent_node, position));
            return tidy_container(text, format, parent, ledger);
        }
    }
    let gap = match ledger.gap(path) {
        Some(gap) if gap.split_whitespace().eq(inner.split_whitespace()) => gap,
        _ if inner.trim().is_empty() => "",
        _ => return Ok(text),
    };
    Ok(apply(&text, vec![(container.inner(), gap.to_owned())]))
}
