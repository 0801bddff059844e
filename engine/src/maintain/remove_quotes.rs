//! A memory that is removed for good leaves the summaries that quote it, and those that quote these, too.
//!
//! Not here: what an agent has written in its own words; the caller is told of that instead.

use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::{clusters, journal, vectors};
use crate::error::Result;
use crate::maintain::quotes::is_extractive;
use crate::model::encoding::DocumentEncoding;
use crate::model::memory::Memory;
use crate::operations::store::hash;
use crate::transaction::change::Change;
use crate::transaction::mentions;
use loci_proto::memory::MemoryId;
use serde_json::{Value, json};
use std::collections::HashSet;

/// What of a memory must not be quoted any more.
enum Gone<'a> {
    /// All of it: it leaves `source_ids`, too.
    Memory,
    /// These lines.
    Lines(&'a [String]),
    /// It cannot be told which, since it is in somebody's own words: every line that quotes it leaves.
    Unknown,
}

/// Takes a memory's lines out of the extractive summaries above it; the memories that may still say what it said.
pub(crate) fn unquote(change: &mut Change<'_>, memory: &Memory) -> Result<Vec<MemoryId>> {
    let mut left = Vec::new();
    above(change, memory, &Gone::Memory, &mut left, &mut HashSet::new())?;
    Ok(left)
}

fn above(
    change: &mut Change<'_>,
    memory: &Memory,
    gone: &Gone<'_>,
    left: &mut Vec<MemoryId>,
    seen: &mut HashSet<(i64, i64)>,
) -> Result<()> {
    for summary in clusters::made_from(change.conn, memory.seq)? {
        // An import may bring circles, and two ways may lead to one summary.
        if !seen.insert((memory.seq, summary.seq)) {
            continue;
        }
        // What it said before is in the images of edits.
        journal::redact_texts(change.conn, summary.seq)?;
        if is_extractive(&summary) {
            let lines = rewrite(change, &summary, memory, gone)?;
            if !lines.is_empty() {
                above(change, &summary, &Gone::Lines(&lines), left, seen)?;
            }
        } else {
            if !left.contains(&summary.id) {
                left.push(summary.id.clone());
            }
            if matches!(gone, Gone::Memory) {
                forget_id(change, &summary, &memory.id)?;
            }
            above(change, &summary, &Gone::Unknown, left, seen)?;
        }
    }
    Ok(())
}

/// Takes an id out of what a memory says of its origin.
fn forget_id(change: &mut Change<'_>, made: &Memory, gone: &MemoryId) -> Result<()> {
    let mut metadata = made.metadata.clone();
    metadata.retain(|_, value| value.as_str() != Some(gone.as_str()));
    if let Some(ids) = metadata.get_mut("source_ids").and_then(Value::as_array_mut) {
        ids.retain(|id| id.as_str() != Some(gone.as_str()));
    }
    let columns = [
        ("metadata", json!(Value::Object(metadata).to_string())),
        ("updated_at", json!(change.call.now.0)),
    ];
    let columns: Image =
        columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    rows::update(change.conn, &Row::Memory(made.seq), &columns)?;
    change.touch(made.seq);
    Ok(())
}

/// Writes a summary without what of a memory is gone; the lines that left it.
fn rewrite(
    change: &mut Change<'_>,
    summary: &Memory,
    memory: &Memory,
    gone: &Gone<'_>,
) -> Result<Vec<String>> {
    let list = |name: &str| {
        summary.metadata.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let (ids, quotes) = (list("source_ids"), list("quotes"));
    let Some(place) = ids.iter().position(|id| id == memory.id.as_str()).map(|place| place as u64)
    else {
        return Ok(Vec::new());
    };
    let leaves = |(number, line): &(usize, &str)| {
        let of_it = quotes.get(*number).and_then(Value::as_u64) == Some(place);
        of_it
            && if let Gone::Lines(lines) = gone {
                lines.iter().any(|gone| gone == line)
            } else {
                true
            }
    };
    let left: Vec<(usize, &str)> = summary.content.lines().enumerate().filter(leaves).collect();
    let metadata = if matches!(gone, Gone::Memory) {
        let mut metadata = summary.metadata.clone();
        // The places of those behind it move up by one.
        let moved =
            quotes.iter().filter_map(Value::as_u64).map(|at| if at > place { at - 1 } else { at });
        metadata.insert("quotes".to_owned(), json!(moved.collect::<Vec<_>>()));
        let ids: Vec<&Value> = ids.iter().filter(|id| *id != memory.id.as_str()).collect();
        metadata.insert("source_ids".to_owned(), json!(ids));
        metadata
    } else {
        summary.metadata.clone()
    };
    let lines: Vec<usize> = left.iter().map(|(number, _)| *number).collect();
    if !lines.is_empty() || metadata != summary.metadata {
        without(change, &Memory { metadata, ..summary.clone() }, &lines)?;
    }
    Ok(left.into_iter().map(|(_, line)| line.to_owned()).collect())
}

/// Writes a summary without some of its lines; it gets a vector of its new text later.
pub(crate) fn without(change: &mut Change<'_>, summary: &Memory, lines: &[usize]) -> Result<()> {
    let stays = |number: &usize| !lines.contains(number);
    let kept: Vec<&str> = summary
        .content
        .lines()
        .enumerate()
        .filter(|(number, _)| stays(number))
        .map(|(_, line)| line)
        .collect();
    let content = kept.join("\n");
    let mut metadata = summary.metadata.clone();
    if let Some(quotes) = metadata.get_mut("quotes").and_then(Value::as_array_mut) {
        let mut number = 0..;
        quotes.retain(|_| number.next().is_some_and(|number| stays(&number)));
    }
    let columns: Image = [
        ("content", json!(content)),
        ("content_hash", rows::blob(&hash(&content))),
        ("metadata", json!(Value::Object(metadata).to_string())),
        ("updated_at", json!(change.call.now.0)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    rows::update(change.conn, &Row::Memory(summary.seq), &columns)?;
    vectors::delete(change.conn, summary.seq)?;
    change.touched.vectors.push((summary.seq, DocumentEncoding::default()));
    change.touch(summary.seq);
    mentions::renew(change, summary.seq)
}
