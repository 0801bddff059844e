//! The configuration file as text: ownership, permissions, size limit, and the line of each key.
//!
//! Not here: what the keys mean.

use loci_proto::error::{Code, Failure};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Returns the text of the file; `None` if there is no file.
///
/// # Errors
/// `invalid`, naming the file and what is wrong with it.
pub fn text(path: &Path) -> Result<Option<String>, Failure> {
    let refuse = |what: String| Failure::new(Code::Invalid, format!("{} {what}", path.display()));
    // Checked before it is opened: opening a pipe would block until something writes to it.
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(refuse(format!("cannot be read: {e}"))),
    };
    if !found.is_file() {
        return Err(refuse("is not a file".to_owned()).hint("Move it away"));
    }
    if found.uid() != nix::unistd::geteuid().as_raw() && found.uid() != 0 {
        return Err(refuse("belongs to another user".to_owned())
            .hint("Run as its owner, or set LOCI_CONFIG"));
    }
    if found.mode() & 0o002 != 0 {
        return Err(refuse("is writable by everybody".to_owned())
            .hint(format!("Run: chmod 600 {}", path.display())));
    }
    if found.len() > MAX_BYTES {
        return Err(refuse(format!(
            "is too large for a configuration ({} > {MAX_BYTES} bytes)",
            found.len()
        )));
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    read.map_err(|e| refuse(format!("cannot be read: {e}")))?;
    String::from_utf8(bytes).map(Some).map_err(|e| {
        let valid = String::from_utf8_lossy(&e.as_bytes()[..e.utf8_error().valid_up_to()]);
        at(path, &valid, valid.len(), "is not UTF-8")
    })
}

/// Returns a fault at an offset of the file: `FILE:LINE:COLUMN: what`.
#[must_use]
pub fn at(path: &Path, text: &str, offset: usize, what: &str) -> Failure {
    let (line, column) = position(text, offset);
    Failure::new(Code::Invalid, format!("{}:{line}:{column}: {what}", path.display()))
}

/// Adds the position of the key to a fault of its value, if the file has the key.
#[must_use]
pub fn of_key(path: &Path, text: &str, failure: Failure) -> Failure {
    let Some((key, span)) =
        failure.field.clone().and_then(|key| Some((key.clone(), keys(text).remove(&key)?)))
    else {
        return failure;
    };
    let (line, column) = position(text, span.start);
    let message = format!("{}:{line}:{column}: {key} {}", path.display(), failure.message);
    Failure { field: None, message, ..failure }
}

/// Returns the byte range of each key, by `section.key`; of a section itself by its name.
#[must_use]
pub fn keys(text: &str) -> BTreeMap<String, Range<usize>> {
    let mut found = BTreeMap::new();
    let Ok(table) = DeTable::parse(text) else { return found };
    for (section, value) in table.get_ref() {
        found.insert(section.get_ref().to_string(), section.span());
        if let DeValue::Table(keys) = value.get_ref() {
            found.extend(
                keys.iter().map(|(key, _)| {
                    (format!("{}.{}", section.get_ref(), key.get_ref()), key.span())
                }),
            );
        }
    }
    found
}

/// Adds the key to a fault of the value at an offset: `section.key: fault`.
#[must_use]
pub fn with_key_at(text: &str, offset: usize, fault: String) -> String {
    let key = DeTable::parse(text).ok().and_then(|table| key_at(table.get_ref(), offset));
    match key {
        Some(key) => format!("{key}: {fault}"),
        None => fault,
    }
}

/// Returns the innermost dotted key whose value contains an offset.
fn key_at(table: &DeTable<'_>, offset: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        let inner = match value.get_ref() {
            DeValue::Table(inner) => key_at(inner, offset),
            _ => None,
        };
        match inner {
            Some(inner) => Some(format!("{}.{inner}", key.get_ref())),
            None => value.span().contains(&offset).then(|| key.get_ref().to_string()),
        }
    })
}

/// Rewrites the parser's message about a value of the wrong type; `None` for any other message.
#[must_use]
pub fn wrong_type(message: &str) -> Option<String> {
    let first = message.lines().next().unwrap_or_default();
    let (found, expected) = first.strip_prefix("invalid type: ")?.split_once(", expected ")?;
    let expected = match expected {
        "i64" => "an integer",
        "f64" => "a number",
        "a boolean" | "bool" => "true or false",
        other if other.starts_with("struct ") || other == "a map" => "a table",
        other => other,
    };
    let article = |kind: &str| if kind.starts_with(['a', 'i']) { "an" } else { "a" };
    // The parser adds the value, which may be long or secret.
    let found = match found.split([' ', '`']).next()? {
        "floating" => "number",
        "map" => "table",
        "sequence" => "array",
        kind => kind,
    };
    Some(format!("expected {expected}, found {} {found}", article(found)))
}

/// Returns the line of an offset; the first is 1.
#[must_use]
pub fn line(text: &str, offset: usize) -> usize {
    position(text, offset).0
}

fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    (line, before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1)
}

/// Rewrites a message of the parser; for an unknown key, also returns a hint with the nearest known key, or with all of them.
#[must_use]
pub fn plain_message(message: &str) -> (String, Option<String>) {
    let first = message.lines().next().unwrap_or_default();
    let Some((unknown, expected)) =
        first.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'))
    else {
        return (first.to_owned(), None);
    };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let similarity = |name: &str| strsim::jaro_winkler(name, unknown);
    let nearest = known.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let hint = match nearest {
        Some(name) if similarity(name) > 0.8 => format!("Did you mean {name}?"),
        _ => format!("Known here: {}", known.join(", ")),
    };
    (format!("unknown key {unknown}"), Some(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_reported_with_the_nearest_known_one() {
        let rewritten = plain_message("unknown field `rrf_kk`, expected one of `fusion`, `rrf_k`");
        assert_eq!(
            rewritten,
            ("unknown key rrf_kk".to_owned(), Some("Did you mean rrf_k?".to_owned()))
        );
        assert_eq!(
            plain_message("unknown field `x`, expected `a` or `b`").1.as_deref(),
            Some("Known here: a, b")
        );
    }

    #[test]
    fn a_wrong_type_is_reported_with_its_key() {
        for (message, expected) in [
            ("invalid type: string \"five\", expected i64", "expected an integer, found a string"),
            (
                "invalid type: integer `5`, expected a boolean",
                "expected true or false, found an integer",
            ),
            (
                "invalid type: floating point `1.5`, expected i64",
                "expected an integer, found a number",
            ),
            ("invalid type: sequence, expected a string", "expected a string, found an array"),
            (
                "invalid type: integer `5`, expected struct Retrieval",
                "expected a table, found an integer",
            ),
        ] {
            assert_eq!(wrong_type(message).as_deref(), Some(expected));
        }
        assert_eq!(wrong_type("unknown field `x`, expected `a`"), None);
        let text = "[retrieval]\nrrf_k = \"five\"\n";
        let at = text.find("\"five").expect("is there");
        assert_eq!(with_key_at(text, at, "wrong".to_owned()), "retrieval.rrf_k: wrong");
        let inline = "retrieval = { rrf_k = \"five\" }\n";
        let at = inline.find("\"five").expect("is there");
        assert_eq!(with_key_at(inline, at, "wrong".to_owned()), "retrieval.rrf_k: wrong");
    }

    #[test]
    fn keys_have_positions() {
        let text = "# head\n[retrieval]\nrrf_k = 5\n[ttl]\nepisodic = 1\n";
        let lines: Vec<(String, usize)> =
            keys(text).into_iter().map(|(key, span)| (key, line(text, span.start))).collect();
        let expected = [("retrieval", 2), ("retrieval.rrf_k", 3), ("ttl", 4), ("ttl.episodic", 5)];
        assert_eq!(lines, expected.map(|(key, line)| (key.to_owned(), line)));
    }
}
