//! A memory that is removed for good leaves the summaries that quote it, and those that quote these, too.
//!
//! Not here: what an agent has written in its own words; the caller is told of that instead.

use crate::change::Change;
use crate::db::memories::Memory;
use crate::db::rows::{self, Image, Row};
use crate::db::{clusters, vectors};
use crate::embedding::Coded;
use crate::error::Result;
use crate::links;
use crate::store::hash;
use loci_proto::memory::MemoryId;
use serde_json::{Value, json};

/// What of a memory must not be quoted any more.
enum Gone<'a> {
    /// All of it: it leaves `source_ids`, too.
    Memory,
    /// These lines.
    Lines(&'a [String]),
    /// It cannot be told which: it is in somebody's own words.
    Unknown,
}

/// Takes a memory's lines out of the extractive summaries above it; the memories that may still say what it said.
pub(crate) fn unquote(change: &mut Change<'_>, memory: &Memory) -> Result<Vec<MemoryId>> {
    let mut left = Vec::new();
    above(change, memory, &Gone::Memory, &mut left)?;
    Ok(left)
}

fn above(change: &mut Change<'_>, memory: &Memory, gone: &Gone<'_>, left: &mut Vec<MemoryId>) -> Result<()> {
    for summary in clusters::made_from(change.conn, memory.seq)? {
        let field = |name: &str| summary.metadata.get(name).and_then(Value::as_str);
        let known = !matches!(gone, Gone::Unknown);
        if known && field("method") == Some("extractive") && is_as_written(&summary) {
            let lines = rewrite(change, &summary, memory, gone)?;
            if !lines.is_empty() {
                above(change, &summary, &Gone::Lines(&lines), left)?;
            }
        } else if field("method").is_some() || field("promoted_from") == Some(memory.id.as_str()) {
            if !left.contains(&summary.id) {
                left.push(summary.id.clone());
            }
            above(change, &summary, &Gone::Unknown, left)?;
        }
    }
    Ok(())
}

/// One line for each quote, and the ending; a person may have edited it since.
fn is_as_written(summary: &Memory) -> bool {
    let quotes = summary.metadata.get("quotes").and_then(Value::as_array).map_or(0, Vec::len);
    summary.content.lines().count() == quotes + 1
}

/// Writes a summary without what of a memory is gone; the lines that left it.
fn rewrite(change: &mut Change<'_>, summary: &Memory, memory: &Memory, gone: &Gone<'_>) -> Result<Vec<String>> {
    let list = |name: &str| summary.metadata.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (ids, quotes) = (list("source_ids"), list("quotes"));
    let Some(place) = ids.iter().position(|id| id == memory.id.as_str()).map(|place| place as u64) else { return Ok(Vec::new()) };
    let leaves = |(number, line): &(usize, &str)| {
        let of_it = quotes.get(*number).and_then(Value::as_u64) == Some(place);
        of_it && if let Gone::Lines(lines) = gone { lines.iter().any(|gone| gone == line) } else { true }
    };
    let (left, kept): (Vec<_>, Vec<_>) = summary.content.lines().enumerate().partition(leaves);
    if left.is_empty() && !matches!(gone, Gone::Memory) {
        return Ok(Vec::new());
    }
    let content = kept.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
    let mut quotes: Vec<u64> = kept.iter().filter_map(|(number, _)| quotes.get(*number).and_then(Value::as_u64)).collect();
    let mut metadata = summary.metadata.clone();
    if matches!(gone, Gone::Memory) {
        // The places of those behind it move up by one.
        quotes.iter_mut().filter(|at| **at > place).for_each(|at| *at -= 1);
        let ids: Vec<&Value> = ids.iter().filter(|id| *id != memory.id.as_str()).collect();
        metadata.insert("source_ids".to_owned(), json!(ids));
    }
    metadata.insert("quotes".to_owned(), json!(quotes));
    let columns: Image = [
        ("content", json!(content)),
        ("content_hash", json!({"hex": hex_of(hash(&content))})),
        ("metadata", json!(Value::Object(metadata).to_string())),
        ("updated_at", json!(change.call.now.0)),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect();
    rows::update(change.conn, &Row::Memory(summary.seq), &columns)?;
    vectors::delete(change.conn, summary.seq)?;
    change.touched.vectors.push((summary.seq, Coded::default()));
    change.touch(summary.seq);
    links::renew(change, summary.seq)?;
    Ok(left.into_iter().map(|(_, line)| line.to_owned()).collect())
}

fn hex_of(hash: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(hash))
}
