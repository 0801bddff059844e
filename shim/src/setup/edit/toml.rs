//! Edits of TOML texts. A table with a header is appended and cut as lines; what is written inside another table is edited with
//! `toml_edit`, and the lines that did not change keep their line endings.

use super::entry::{EditError, Entry, EntryKind, Ledger, Target, pointer};
use super::layout::Layout;
use super::value::Value;
use serde_json::Value as Json;
use similar::{ChangeTag, TextDiff};
use std::fmt::Write as _;
use std::ops::Range;
use toml_edit::{Document, DocumentMut, Item, Table, TableLike};

/// Parses a text and returns its value.
pub fn parse(text: &str) -> Result<Json, EditError> {
    Ok(table_to_json(document(text)?.as_table()))
}

fn document(text: &str) -> Result<Document<String>, EditError> {
    Document::parse(text.to_owned()).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start).min(text.len());
        let before = text.get(..at).unwrap_or_default();
        EditError::Syntax {
            line: before.matches('\n').count() + 1,
            column: before.rsplit('\n').next().unwrap_or_default().chars().count() + 1,
            reason: error.message().trim().replace('\n', ", "),
        }
    })
}

fn table_to_json(table: &dyn TableLike) -> Json {
    Json::Object(table.iter().map(|(key, item)| (key.to_owned(), item_to_json(item))).collect())
}

fn item_to_json(item: &Item) -> Json {
    match item {
        Item::None => Json::Null,
        Item::Table(table) => table_to_json(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| table_to_json(table)).collect(),
        Item::Value(value) => value_to_json(value),
    }
}

fn value_to_json(value: &toml_edit::Value) -> Json {
    match value {
        toml_edit::Value::String(text) => Json::from(text.value().as_str()),
        toml_edit::Value::Integer(number) => Json::from(*number.value()),
        toml_edit::Value::Float(number) => Json::from(*number.value()),
        toml_edit::Value::Boolean(flag) => Json::from(*flag.value()),
        toml_edit::Value::Datetime(time) => Json::from(time.value().to_string()),
        toml_edit::Value::Array(items) => items.iter().map(value_to_json).collect(),
        toml_edit::Value::InlineTable(table) => table_to_json(table),
    }
}

/// Returns the value as TOML that fits on one line.
fn to_toml(value: &Value) -> toml_edit::Value {
    match value {
        Value::Text(text) => text.as_str().into(),
        Value::Number(number) => (*number).into(),
        Value::Flag(flag) => (*flag).into(),
        Value::List(items) => items.iter().map(to_toml).collect::<toml_edit::Array>().into(),
        Value::Table(members) => {
            let members = members.iter().map(|(key, value)| (key.as_str(), to_toml(value)));
            members.collect::<toml_edit::InlineTable>().into()
        }
        // Null is how a number that JSON does not have was read.
        Value::Other(value) => value.as_f64().unwrap_or(f64::NAN).into(),
    }
}

/// Inserts an entry that is absent.
pub fn insert(text: &str, entry: &Entry, ledger: &mut Ledger) -> Result<String, EditError> {
    let document = document(text)?;
    let parents = &entry.path[..entry.path.len() - 1];
    let mut parent = Some(document.as_item());
    for depth in 0..parents.len() {
        parent = parent.and_then(|item| item.get(&parents[depth]));
        if parent.is_some_and(|item| !item.is_table_like()) {
            let path = parents[..=depth].join(".");
            return Err(EditError::Shape { path, expected: "a table" });
        }
    }
    let Value::Table(members) = &entry.value else { return insert_inside(text, entry) };
    if parent.is_some_and(Item::is_inline_table) || entry.kind == EntryKind::Element {
        return insert_inside(text, entry);
    }
    let newline = Layout::of(text).newline;
    let lead = match () {
        () if text.is_empty() => String::new(),
        () if !text.ends_with('\n') => newline.repeat(2),
        () if text.ends_with("\n\n") || text.ends_with("\n\r\n") => String::new(),
        () => newline.to_owned(),
    };
    ledger.gaps.insert(pointer(&entry.path), lead.clone());
    Ok(format!("{text}{lead}{}", block(&entry.path, members, newline)))
}

/// Writes a table with its header.
fn block(path: &[String], members: &[(String, Value)], newline: &str) -> String {
    let keys: Vec<String> = path.iter().map(|name| toml_edit::Key::new(name).to_string()).collect();
    let mut block = format!("[{}]{newline}", keys.join("."));
    for (key, value) in members {
        let key = toml_edit::Key::new(key);
        let _ = write!(block, "{key} = {}{newline}", to_toml(value).to_string().trim());
    }
    block
}

/// Edits with `toml_edit`. Lines that it leaves as they are keep their bytes.
fn edit(
    text: &str,
    change: impl FnOnce(&mut DocumentMut) -> Option<()>,
) -> Result<String, EditError> {
    let mut document = document(text)?.into_mut();
    if change(&mut document).is_none() {
        return Ok(text.to_owned());
    }
    let newline = Layout::of(text).newline;
    // `toml_edit` writes line feeds, except within strings of several lines.
    let (before, mut after) = (text.replace('\r', ""), document.to_string().replace('\r', ""));
    // `toml_edit` ends every line.
    if !text.ends_with('\n') && after.ends_with('\n') {
        after.pop();
    }
    let originals: Vec<&str> = text.split_inclusive('\n').collect();
    let mut edited = String::with_capacity(text.len());
    for line in TextDiff::from_lines(&before, &after).iter_all_changes() {
        match (line.tag(), line.old_index()) {
            (ChangeTag::Equal, Some(at)) => edited.push_str(originals[at]),
            (ChangeTag::Insert, _) => edited.push_str(&line.value().replace('\n', newline)),
            _ => {}
        }
    }
    Ok(edited)
}

fn insert_inside(text: &str, entry: &Entry) -> Result<String, EditError> {
    edit(text, |document| {
        let (key, parents) = entry.path.split_last()?;
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for name in parents {
            table = table
                .entry(name)
                .or_insert_with(|| Item::Table(Table::new()))
                .as_table_like_mut()?;
        }
        match entry.kind {
            EntryKind::Key => {
                table.insert(key, Item::Value(to_toml(&entry.value)));
            }
            EntryKind::Element => {
                let empty = || Item::Value(toml_edit::Array::new().into());
                let array = table.entry(key).or_insert_with(empty).as_array_mut()?;
                array.push(to_toml(&entry.value));
            }
        }
        Some(())
    })
}

/// Returns the places of a table with a header, and of the tables below it: whole lines.
fn blocks(text: &str, path: &[String]) -> Result<Vec<Range<usize>>, EditError> {
    let document = document(text)?;
    let item = path.iter().try_fold(document.as_item(), |item, name| item.get(name));
    let mut found = Vec::new();
    if let Some(Item::Table(table)) = item {
        collect_blocks(text, table, &mut found);
    }
    found.sort_by_key(|place: &Range<usize>| place.start);
    Ok(found)
}

fn collect_blocks(text: &str, table: &Table, found: &mut Vec<Range<usize>>) {
    for (_, item) in table {
        if let Item::Table(inner) = item {
            collect_blocks(text, inner, found);
        }
    }
    let header = table.span().filter(|span| !span.is_empty());
    if let Some(header) = header.filter(|_| !table.is_dotted() && !table.is_implicit()) {
        let start = text[..header.start].rfind('\n').map_or(0, |newline| newline + 1);
        let end = last_value(table).unwrap_or(header.end).max(header.end);
        let end = text[end..].find('\n').map_or(text.len(), |newline| end + newline + 1);
        found.push(start..end);
    }
}

/// Returns where the last value of a table ends that is not below a header of its own.
fn last_value(table: &Table) -> Option<usize> {
    let ends = table.iter().filter_map(|(_, item)| match item {
        Item::Table(inner) if inner.is_dotted() => last_value(inner),
        Item::Value(value) => value.span().map(|span| span.end),
        _ => None,
    });
    ends.max()
}

/// Cuts places of whole lines; `new` takes the place of the first.
fn cut(text: &str, places: &[Range<usize>], new: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut at = 0;
    for (number, place) in places.iter().enumerate() {
        kept.push_str(&text[at..place.start]);
        kept.push_str(if number == 0 { new } else { "" });
        at = place.end;
    }
    kept.push_str(&text[at..]);
    kept
}

/// Returns [`blocks`]; none if the table itself is written with dotted keys, which may be anywhere in the table around it.
fn header_blocks(text: &str, path: &[String]) -> Result<Vec<Range<usize>>, EditError> {
    let document = document(text)?;
    let item = path.iter().try_fold(document.as_item(), |item, name| item.get(name));
    let is_dotted = item.and_then(Item::as_table).is_some_and(Table::is_dotted);
    if is_dotted { Ok(Vec::new()) } else { blocks(text, path) }
}

/// Gives a table that exists another value.
pub fn replace(text: &str, entry: &Entry) -> Result<(String, String), EditError> {
    let places = header_blocks(text, &entry.path)?;
    let Value::Table(members) = &entry.value else {
        return Err(EditError::Shape {
            path: entry.path.join("."),
            expected: "a value to replace",
        });
    };
    if places.is_empty() {
        let path = entry.path.join(".");
        return Err(EditError::Shape { path, expected: "a table with a header of its own" });
    }
    let previous: String = places.iter().map(|place| &text[place.clone()]).collect();
    let new = block(&entry.path, members, Layout::of(text).newline);
    Ok((cut(text, &places, &new), previous))
}

/// Gives a table the lines that it had.
pub fn put_back(text: &str, target: &Target, previous: &str) -> Result<String, EditError> {
    let places = header_blocks(text, &target.path)?;
    if places.is_empty() {
        return put_back_inside(text, target, previous);
    }
    // It was the end of the file when it was replaced, and may not be now.
    let is_end = places.last().is_some_and(|place| place.end == text.len()) && places.len() == 1;
    let newline = if is_end || previous.ends_with('\n') { "" } else { Layout::of(text).newline };
    Ok(cut(text, &places, &format!("{previous}{newline}")))
}

/// Removes an entry.
pub fn remove(text: &str, target: &Target, ledger: &Ledger) -> Result<String, EditError> {
    let mut places = header_blocks(text, &target.path)?;
    let Some(first) = places.first_mut() else { return remove_inside(text, target) };
    // The blank line before a table belongs to the table that was appended, unless another text follows directly.
    let before = &text[..first.start];
    let lead = ledger.gap(&target.path).unwrap_or_default();
    let rest = &text[first.end..];
    let is_blank_line = lead.len() <= 2 && before.ends_with(&format!("\n{lead}"));
    let is_end = lead.len() > 1 && rest.is_empty() && before.ends_with(lead);
    if (is_blank_line && is_separate(rest)) || is_end {
        first.start -= lead.len();
    }
    Ok(cut(text, &places, ""))
}

/// Whether a text may follow directly on the line before a table that is removed.
fn is_separate(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(['\n', '\r', '['])
}

/// Gives a value inside another table what the lines of a table with a header say.
fn put_back_inside(text: &str, target: &Target, previous: &str) -> Result<String, EditError> {
    let previous = document(previous)?.into_mut();
    let item = target.path.iter().try_fold(previous.as_item(), |item, name| item.get(name));
    let value = item.and_then(|item| item.clone().into_value().ok());
    edit(text, |document| {
        let (key, parents) = target.path.split_last()?;
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for name in parents {
            table = table.get_mut(name)?.as_table_like_mut()?;
        }
        table.insert(key, Item::Value(value?));
        Some(())
    })
}

fn remove_inside(text: &str, target: &Target) -> Result<String, EditError> {
    edit(text, |document| {
        let (key, parents) = target.path.split_last()?;
        let mut table: &mut dyn TableLike = document.as_table_mut();
        for name in parents {
            table = table.get_mut(name)?.as_table_like_mut()?;
        }
        match target.kind {
            EntryKind::Key => {
                table.remove(key)?;
            }
            EntryKind::Element => {
                let array = table.get_mut(key)?.as_array_mut()?;
                let at = array.iter().position(|item| value_to_json(item) == target.value)?;
                array.remove(at);
            }
        }
        Some(())
    })
}
