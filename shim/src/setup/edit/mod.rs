//! Puts entries into configuration files and takes them out again. Comments, the order of keys, indentation, trailing commas, line
//! endings and a byte order mark stay as they are: an edit replaces only the bytes of the entry. Every result is parsed and compared with
//! the text before ([`guard`]).
//!
//! Here is what all formats share. Not here: which entries a client needs, and files.

mod entry;
mod guard;
mod json;
mod layout;
mod syntax;
#[cfg(test)]
mod tests;
mod toml;
mod value;

pub use entry::{EditError, Entry, EntryKind, Format, Found, Ledger, Target, pointer};
pub use guard::at;
pub use value::Value;

use guard::Intent;
use serde_json::Value as Json;

/// The byte order mark that some editors write.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Runs `edit` on the text without its byte order mark.
fn without_mark<T>(
    text: &str,
    edit: impl FnOnce(&str) -> Result<T, EditError>,
) -> Result<T, EditError> {
    edit(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

/// Runs `edit` on the text without its byte order mark, and puts the mark back.
fn keep_mark(
    text: &str,
    edit: impl FnOnce(&str) -> Result<String, EditError>,
) -> Result<String, EditError> {
    match text.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => Ok(format!("{BYTE_ORDER_MARK}{}", edit(rest)?)),
        None => edit(text),
    }
}

/// Parses a text and returns its value.
///
/// # Errors
/// The text is not valid.
pub fn parse(text: &str, format: Format) -> Result<Json, EditError> {
    without_mark(text, |text| match format {
        Format::Toml => toml::parse(text),
        Format::Json | Format::Jsonc => json::parse(text, format),
    })
}

/// Looks for an entry.
///
/// # Errors
/// The text is not valid.
pub fn look(text: &str, format: Format, target: &Target) -> Result<Found, EditError> {
    Ok(guard::find(&parse(text, format)?, target))
}

/// Checks the result of an edit.
fn checked(
    before: &str,
    after: String,
    format: Format,
    target: &Target,
    intent: Intent,
) -> Result<String, EditError> {
    if before != after {
        let result = parse(&after, format).ok();
        guard::check(&parse(before, format)?, result.as_ref(), target, intent)?;
    }
    Ok(after)
}

/// Inserts an entry that is absent.
///
/// # Errors
/// The text is not valid, or an object on the path is something else.
pub fn insert(
    text: &str,
    format: Format,
    entry: &Entry,
    ledger: &mut Ledger,
) -> Result<String, EditError> {
    let after = keep_mark(text, |text| match format {
        Format::Toml => toml::insert(text, entry, ledger),
        Format::Json | Format::Jsonc => json::insert(text, format, entry, ledger),
    })?;
    checked(text, after, format, &entry.target(), Intent::Write)
}

/// Gives a key that exists another value; returns the new text and what the value was, as written.
///
/// # Errors
/// As [`insert`].
pub fn replace(text: &str, format: Format, entry: &Entry) -> Result<(String, String), EditError> {
    let mut previous = String::new();
    let after = keep_mark(text, |text| {
        let (text, was) = match format {
            Format::Toml => toml::replace(text, entry)?,
            Format::Json | Format::Jsonc => json::replace(text, format, entry)?,
        };
        previous = was;
        Ok(text)
    })?;
    Ok((checked(text, after, format, &entry.target(), Intent::Write)?, previous))
}

/// Gives a key the text of a value that [`replace`] returned.
///
/// # Errors
/// As [`insert`].
pub fn put_back(
    text: &str,
    format: Format,
    target: &Target,
    previous: &str,
) -> Result<String, EditError> {
    let after = keep_mark(text, |text| match format {
        Format::Toml => toml::put_back(text, target, previous),
        Format::Json | Format::Jsonc => json::put_back(text, format, target, previous),
    })?;
    checked(text, after, format, target, Intent::PutBack)
}

/// Removes an entry, and the objects that were created for it if they are empty now. The value of a key is not compared.
///
/// # Errors
/// As [`insert`].
pub fn remove(
    text: &str,
    format: Format,
    target: &Target,
    ledger: &Ledger,
) -> Result<String, EditError> {
    let after = keep_mark(text, |text| match format {
        Format::Toml => toml::remove(text, target, ledger),
        Format::Json | Format::Jsonc => json::remove(text, format, target, ledger),
    })?;
    checked(text, after, format, target, Intent::Remove)
}

/// Returns the path of another place that holds the value of an entry, which somebody has moved there.
///
/// # Errors
/// The text is not valid.
pub fn moved_to(
    text: &str,
    format: Format,
    target: &Target,
) -> Result<Option<Vec<String>>, EditError> {
    let mut path = Vec::new();
    let document = parse(text, format)?;
    Ok(find(&document, target, &mut path).then_some(path))
}

fn find(value: &Json, target: &Target, path: &mut Vec<String>) -> bool {
    let Json::Object(members) = value else { return false };
    for (key, member) in members {
        path.push(key.clone());
        let is_here = match target.kind {
            EntryKind::Key => target.path.last() == Some(key) && *member == target.value,
            EntryKind::Element => {
                member.as_array().is_some_and(|items| items.contains(&target.value))
            }
        };
        if (is_here && *path != target.path) || find(member, target, path) {
            return true;
        }
        path.pop();
    }
    false
}
