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

/// Sections of the files of Loomem and Local Memory that have no namesake here.
const FOREIGN_SECTIONS: &[&str] =
    &["streams", "namespaces", "search", "worker", "retention", "cost", "search_stages", "tier"];
const FOREIGN_HINT: &str = "Loomem and Local Memory have it; docs/configuration.md#keys-of-loomem-and-local-memory lists the keys that do the same";

/// Maximum size of the file, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Reads the text of the file; `None` if there is no file.
///
/// # Errors
/// `invalid`, naming the file and its fault.
pub fn read_text(path: &Path) -> Result<Option<String>, Failure> {
    let refuse = |fault: String| Failure::new(Code::Invalid, format!("{} {fault}", path.display()));
    // Checked before it is opened: opening a pipe would block until something writes to it.
    let metadata = match std::fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(refuse(format!("cannot be read: {e}"))),
    };
    if !metadata.is_file() {
        return Err(refuse("is not a file".to_owned()).hint("Move it away"));
    }
    if metadata.uid() != nix::unistd::geteuid().as_raw() && metadata.uid() != 0 {
        return Err(refuse("belongs to another user".to_owned())
            .hint("Run as its owner, or set LOCI_CONFIG"));
    }
    if metadata.mode() & 0o002 != 0 {
        return Err(refuse("is writable by everybody".to_owned())
            .hint(format!("Run: chmod 600 {}", path.display())));
    }
    if metadata.len() > MAX_BYTES {
        return Err(refuse(format!(
            "is too large for a configuration ({} > {MAX_BYTES} bytes)",
            metadata.len()
        )));
    }
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
    read.map_err(|e| refuse(format!("cannot be read: {e}")))?;
    String::from_utf8(bytes).map(Some).map_err(|e| {
        let valid = String::from_utf8_lossy(&e.as_bytes()[..e.utf8_error().valid_up_to()]);
        fault_at(path, &valid, valid.len(), "is not UTF-8")
    })
}

/// Returns the failure for a fault at an offset of the file: `FILE:LINE:COLUMN: fault`.
#[must_use]
pub fn fault_at(path: &Path, text: &str, offset: usize, fault: &str) -> Failure {
    let Position { line, column } = position(text, offset);
    Failure::new(Code::Invalid, format!("{}:{line}:{column}: {fault}", path.display()))
}

/// Adds the position of the key to the failure of its value; that of its section if the file has only that.
#[must_use]
pub fn with_position_of_key(path: &Path, text: &str, failure: Failure) -> Failure {
    let Some(key) = failure.field.clone() else { return failure };
    let mut positions = key_positions(text);
    let mut sections = std::iter::successors(Some(key.as_str()), |key| {
        key.rsplit_once('.').map(|(outer, _)| outer)
    });
    let Some(span) = sections.find_map(|key| positions.remove(key)) else {
        return failure;
    };
    let Position { line, column } = position(text, span.start);
    let message = format!("{}:{line}:{column}: {key} {}", path.display(), failure.message);
    Failure { field: None, message, ..failure }
}

/// Returns the byte range of each key by `section.key`, also in tables within a section, and of each section by its name.
#[must_use]
pub fn key_positions(text: &str) -> BTreeMap<String, Range<usize>> {
    let mut positions = BTreeMap::new();
    if let Ok(table) = DeTable::parse(text) {
        add_positions("", table.get_ref(), &mut positions);
    }
    positions
}

/// Adds the byte ranges of the keys of a table, whose dotted keys begin with a prefix.
fn add_positions(
    prefix: &str,
    table: &DeTable<'_>,
    positions: &mut BTreeMap<String, Range<usize>>,
) {
    for (key, value) in table {
        let dotted = format!("{prefix}{}", key.get_ref());
        if let DeValue::Table(inner) = value.get_ref() {
            add_positions(&format!("{dotted}."), inner, positions);
        }
        positions.insert(dotted, key.span());
    }
}

/// Returns the name of the key at an offset with its section, as `section.key`; `key` if there is none.
#[must_use]
pub fn key_with_section(text: &str, offset: usize, key: &str) -> String {
    let mut positions = key_positions(text).into_iter();
    let is_it = |dotted: &str| dotted.rsplit('.').next() == Some(key);
    let found = positions.find(|(dotted, span)| span.contains(&offset) && is_it(dotted));
    found.map_or_else(|| key.to_owned(), |(dotted, _)| dotted)
}

/// Adds the key to the fault of the value at an offset: `section.key: fault`.
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
pub fn type_fault(message: &str) -> Option<String> {
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
    let found_kind = match found.split([' ', '`']).next()? {
        "floating" => "number",
        "map" => "table",
        "sequence" => "array",
        kind => kind,
    };
    Some(format!("expected {expected}, found {} {found_kind}", article(found_kind)))
}

/// Returns the line number of an offset; the first line is 1.
#[must_use]
pub fn line_number(text: &str, offset: usize) -> usize {
    position(text, offset).line
}

/// A position in a text; line and column start at 1.
struct Position {
    line: usize,
    column: usize,
}

fn position(text: &str, offset: usize) -> Position {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().map_or(0, |tail| tail.chars().count()) + 1;
    Position { line, column }
}

/// Rewrites a message of the parser about an offset of the text; for an unknown key, also returns a hint with the nearest known key, or
/// with all of them.
#[must_use]
pub fn plain_message(text: &str, offset: usize, message: &str) -> (String, Option<String>) {
    let first = message.lines().next().unwrap_or_default();
    let Some((unknown, expected)) =
        first.strip_prefix("unknown field `").and_then(|rest| rest.split_once('`'))
    else {
        return (first.to_owned(), None);
    };
    let known: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
    let similarity = |name: &str| strsim::jaro_winkler(name, unknown);
    let nearest = known.iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
    let dotted = key_with_section(text, offset, unknown);
    let hint = match nearest {
        _ if FOREIGN_SECTIONS.contains(&dotted.as_str()) => FOREIGN_HINT.to_owned(),
        Some(name) if similarity(name) > 0.8 => format!("Did you mean {name}?"),
        _ => format!("Known here: {}", known.join(", ")),
    };
    (format!("unknown key {dotted}"), Some(hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_reported_with_the_nearest_known_one() {
        let text = "[retrieval]\nrrf_kk = 5\n";
        let message = "unknown field `rrf_kk`, expected one of `fusion`, `rrf_k`";
        assert_eq!(
            plain_message(text, 12, message),
            ("unknown key retrieval.rrf_kk".to_owned(), Some("Did you mean rrf_k?".to_owned()))
        );
        assert_eq!(
            plain_message("x = 1", 0, "unknown field `x`, expected `a` or `b`"),
            ("unknown key x".to_owned(), Some("Known here: a, b".to_owned()))
        );
        let (message, hint) = plain_message("[cost]\n", 1, "unknown field `cost`, expected `ttl`");
        assert_eq!((message.as_str(), hint.as_deref()), ("unknown key cost", Some(FOREIGN_HINT)));
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
            assert_eq!(type_fault(message).as_deref(), Some(expected));
        }
        assert_eq!(type_fault("unknown field `x`, expected `a`"), None);
        let text = "[retrieval]\nrrf_k = \"five\"\n";
        let offset = text.find("\"five").expect("the text has the value");
        assert_eq!(with_key_at(text, offset, "wrong".to_owned()), "retrieval.rrf_k: wrong");
        let inline = "retrieval = { rrf_k = \"five\" }\n";
        let offset = inline.find("\"five").expect("the text has the value");
        assert_eq!(with_key_at(inline, offset, "wrong".to_owned()), "retrieval.rrf_k: wrong");
    }

    #[test]
    fn the_line_of_each_key_and_section_is_found() {
        let text =
            "# head\n[retrieval]\nrrf_k = 5\n[ttl]\nepisodic = 1\n[retrieval.inner]\nx = 1\n";
        let lines: Vec<(String, usize)> = key_positions(text)
            .into_iter()
            .map(|(key, span)| (key, line_number(text, span.start)))
            .collect();
        let expected = [
            ("retrieval", 2),
            ("retrieval.inner", 6),
            ("retrieval.inner.x", 7),
            ("retrieval.rrf_k", 3),
            ("ttl", 4),
            ("ttl.episodic", 5),
        ];
        assert_eq!(lines, expected.map(|(key, line)| (key.to_owned(), line)));
    }
}
