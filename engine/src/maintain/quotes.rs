//! The quotes of an extractive summary: each line is a sentence of one of its sources, word for
//! word.
//!
//! A line is valid as long as its source is covered by the summary and contains it. Not here: which
//! sentences are quoted (`summary`), removing a deleted source (`remove_quotes`).

use crate::db::memories;
use crate::error::Result;
use crate::maintain::PeriodKind;
use crate::maintain::summary::{Quote, parse_quotes};
use crate::model::memory::Memory;
use crate::model::method;
use crate::model::status::Status;
use loci_proto::memory::MemoryId;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// Returns true for an extractive summary whose lines were not edited.
pub(crate) fn is_extractive(memory: &Memory) -> bool {
    may_quote(&memory.metadata)
        && PeriodKind::of(&memory.metadata).is_some()
        && has_all_lines(memory)
}

/// Returns whether the metadata says that the memory was made from other memories.
pub(crate) fn may_quote(metadata: &Map<String, Value>) -> bool {
    method::is_extractive(metadata)
}

/// Returns whether the text has one line per quote and the closing line, so that no line was added
/// or removed by an edit.
fn has_all_lines(summary: &Memory) -> bool {
    let quotes = summary.metadata.get("quotes").and_then(Value::as_array).map_or(0, Vec::len);
    summary.content.lines().count() == quotes + 1
}

/// Returns the quotes of an extractive summary whose sources still contain them.
pub(crate) fn valid_quotes(conn: &Connection, summary: &Memory) -> Result<Vec<Quote>> {
    let mut valid = Vec::new();
    for quote in parse_quotes(&summary.content) {
        if is_valid(conn, summary, &quote)? {
            valid.push(quote);
        }
    }
    Ok(valid)
}

/// Returns the memory that a line quotes.
pub(crate) fn quoted_memory(summary: &Memory, line: usize) -> Option<MemoryId> {
    let list = |name: &str| summary.metadata.get(name).and_then(Value::as_array);
    let position = usize::try_from(list("quotes")?.get(line)?.as_u64()?).ok()?;
    list("source_ids")?.get(position)?.as_str()?.parse().ok()
}

/// Returns whether the source of a quote still contains it, down to the original memory.
fn is_valid(conn: &Connection, summary: &Memory, quote: &Quote) -> Result<bool> {
    let source = quoted_memory(summary, quote.number)
        .map(|id| memories::by_id(conn, &id))
        .transpose()?
        .flatten();
    let Some(source) = source else { return Ok(false) };
    if !matches!(source.status, Status::Active | Status::Compacted) {
        return Ok(false);
    }
    // A source must be older than its summary, so this recursion ends.
    if !is_extractive(&source) || source.seq >= summary.seq {
        return Ok(true);
    }
    match parse_quotes(&source.content).into_iter().find(|other| other.is_same(quote)) {
        Some(other) => is_valid(conn, &source, &other),
        None => Ok(false),
    }
}
