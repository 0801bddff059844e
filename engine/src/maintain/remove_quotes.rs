//! Removes a hard-deleted memory from the summaries that quote it, and from those that quote these.
//!
//! Not here: texts that an agent wrote in its own words; the caller gets their ids instead.

use crate::db::memories;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::tombstones;
use crate::db::{clusters, journal, vectors};
use crate::error::Result;
use crate::maintain::PeriodKind;
use crate::maintain::quotes::{is_extractive, quoted};
use crate::maintain::summary::parse_line;
use crate::model::encoding::DocumentEncoding;
use crate::model::memory::Memory;
use crate::operations::store::hash;
use crate::transaction::change::Change;
use crate::transaction::mentions;
use loci_proto::memory::MemoryId;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The part of a memory that must not be quoted any more.
enum RemovedPart<'a> {
    /// All of it, including its entry in `source_ids`.
    Memory,
    /// These lines.
    Lines(&'a [String]),
    /// Unknown, since an agent rewrote it: every line that quotes it is removed.
    Unknown,
}

/// Removes a memory's lines from the extractive summaries above it; returns the memories that may
/// still contain its content.
pub(crate) fn remove_quotes_of(change: &mut Change<'_>, memory: &Memory) -> Result<Vec<MemoryId>> {
    let mut left = Vec::new();
    above(change, memory, &RemovedPart::Memory, &mut left, &mut HashSet::new())?;
    Ok(left)
}

fn above(
    change: &mut Change<'_>,
    memory: &Memory,
    gone: &RemovedPart<'_>,
    left: &mut Vec<MemoryId>,
    seen: &mut HashSet<(i64, i64)>,
) -> Result<()> {
    for summary in clusters::made_from(change.conn, memory.seq)? {
        // An import may bring cycles, and two paths may lead to one summary.
        if !seen.insert((memory.seq, summary.seq)) {
            continue;
        }
        // Its earlier text is in the images of edits.
        journal::redact_texts(change.conn, summary.seq)?;
        if is_extractive(&summary) {
            let lines = rewrite(change, &summary, memory, gone)?;
            if !lines.is_empty() {
                above(change, &summary, &RemovedPart::Lines(&lines), left, seen)?;
            }
        } else {
            if !left.contains(&summary.id) {
                left.push(summary.id.clone());
            }
            if matches!(gone, RemovedPart::Memory) {
                forget_id(change, &summary, &memory.id)?;
            }
            above(change, &summary, &RemovedPart::Unknown, left, seen)?;
        }
    }
    Ok(())
}

/// Removes an id from the source metadata of a memory.
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

/// Rewrites a summary without the removed part of a memory; returns the lines that were removed.
fn rewrite(
    change: &mut Change<'_>,
    summary: &Memory,
    memory: &Memory,
    gone: &RemovedPart<'_>,
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
            && if let RemovedPart::Lines(lines) = gone {
                lines.iter().any(|gone| gone == line)
            } else {
                true
            }
    };
    let left: Vec<(usize, &str)> = summary.content.lines().enumerate().filter(leaves).collect();
    let metadata = if matches!(gone, RemovedPart::Memory) {
        let mut metadata = summary.metadata.clone();
        // Later positions move up by one.
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
        rewrite_without(change, &Memory { metadata, ..summary.clone() }, &lines)?;
    }
    Ok(left.into_iter().map(|(_, line)| line.to_owned()).collect())
}

/// Rewrites a summary without some of its lines; its new vector is computed later.
pub(crate) fn rewrite_without(
    change: &mut Change<'_>,
    summary: &Memory,
    lines: &[usize],
) -> Result<()> {
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

/// Removes invalid lines from imported extractive summaries: quotes of memories that were
/// hard-deleted here, and quotes of a summary that does not contain them here.
pub(crate) fn remove_invalid_quotes(change: &mut Change<'_>, seqs: &[i64]) -> Result<()> {
    let mut summaries: Vec<Memory> = Vec::new();
    for seq in seqs {
        summaries.extend(memories::by_seq(change.conn, *seq)?.filter(is_extractive));
    }
    // Weeks first: month summaries quote them.
    summaries.sort_by_key(|summary| {
        (PeriodKind::of(&summary.metadata).map(|(span, _)| span), summary.seq)
    });
    for summary in summaries {
        let mut left = Vec::new();
        for (number, line) in
            summary.content.lines().enumerate().filter(|(_, line)| parse_line(line).is_some())
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
            rewrite_without(change, &summary, &left)?;
        }
    }
    Ok(())
}
