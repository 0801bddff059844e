//! What an extractive summary quotes: each line is a sentence of one of its sources, word for word.
//!
//! A line holds as long as its source stands below the summary and says it. Not here: which sentences are quoted (`summary`), a source
//! that is removed for good (`unquote`).

use crate::db::memories;
use crate::db::tombstones;
use crate::error::Result;
use crate::maintain::Span;
use crate::maintain::summary::dated;
use crate::model::memory::Memory;
use crate::model::status::Status;
use crate::model::time::Timestamp;
use crate::transaction::change::Change;
use loci_proto::memory::MemoryId;
use rusqlite::Connection;
use serde_json::{Map, Value};

/// True for a summary made of sentences of others, whose lines are as they were made.
pub(crate) fn is_extractive(memory: &Memory) -> bool {
    may_quote(&memory.metadata) && Span::of(&memory.metadata).is_some() && is_as_written(memory)
}

/// Whether what is said of a memory says that it was made of what others say.
pub(crate) fn may_quote(metadata: &Map<String, Value>) -> bool {
    metadata.get("method").and_then(Value::as_str) == Some("extractive")
}

/// One line for each quote, and the ending.
fn is_as_written(summary: &Memory) -> bool {
    let quotes = summary.metadata.get("quotes").and_then(Value::as_array).map_or(0, Vec::len);
    summary.content.lines().count() == quotes + 1
}

/// The lines of an extractive summary, but those whose memory was forgotten or replaced since.
pub(crate) fn still_said(conn: &Connection, summary: &Memory) -> Result<Vec<(Timestamp, String)>> {
    let mut said = Vec::new();
    for (number, line) in summary.content.lines().enumerate() {
        let Some((at, text)) = dated(line) else { continue };
        if holds(conn, summary, number, line)? {
            said.push((at, text.to_owned()));
        }
    }
    Ok(said)
}

/// Takes lines out of extractive summaries that have come from elsewhere: of memories that were removed here for good, and what the summary
/// that they quote does not say here any more.
pub(crate) fn hold_to_sources(change: &mut Change<'_>, seqs: &[i64]) -> Result<()> {
    let mut summaries: Vec<Memory> = Vec::new();
    for seq in seqs {
        summaries.extend(memories::by_seq(change.conn, *seq)?.filter(is_extractive));
    }
    // Weeks first: months quote them.
    summaries
        .sort_by_key(|summary| (Span::of(&summary.metadata).map(|(span, _)| span), summary.seq));
    for summary in summaries {
        let mut left = Vec::new();
        for (number, line) in
            summary.content.lines().enumerate().filter(|(_, line)| dated(line).is_some())
        {
            let Some(id) = quoted(&summary, number) else { continue };
            let is_gone = match memories::by_id(change.conn, &id)? {
                Some(source) => {
                    is_extractive(&source)
                        && !source.content.lines().any(|of_source| of_source == line)
                }
                None => tombstones::has(change.conn, &id)?,
            };
            if is_gone {
                left.push(number);
            }
        }
        if !left.is_empty() {
            crate::maintain::remove_quotes::without(change, &summary, &left)?;
        }
    }
    Ok(())
}

/// The memory that a line quotes.
fn quoted(summary: &Memory, line: usize) -> Option<MemoryId> {
    let list = |name: &str| summary.metadata.get(name).and_then(Value::as_array);
    let place = usize::try_from(list("quotes")?.get(line)?.as_u64()?).ok()?;
    list("source_ids")?.get(place)?.as_str()?.parse().ok()
}

/// Whether what a line quotes still stands, down to the memory that said it first.
fn holds(conn: &Connection, summary: &Memory, number: usize, line: &str) -> Result<bool> {
    let source =
        quoted(summary, number).map(|id| memories::by_id(conn, &id)).transpose()?.flatten();
    let Some(source) = source else { return Ok(false) };
    if !matches!(source.status, Status::Active | Status::Compacted) {
        return Ok(false);
    }
    // A source was made before its summary, so this ends.
    if !is_extractive(&source) || source.seq >= summary.seq {
        return Ok(true);
    }
    match source.content.lines().position(|of_source| of_source == line) {
        Some(below) => holds(conn, &source, below, line),
        None => Ok(false),
    }
}
