//! Removes the lines of a hard-deleted memory from the summaries that quote it, and from the
//! summaries of those.
//!
//! Not here: texts that an agent wrote in its own words; the caller gets their ids instead.

use crate::db::memories;
use crate::db::rows;
use crate::db::rows::{Image, Row};
use crate::db::tombstones;
use crate::db::{clusters, journal};
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::maintain::PeriodKind;
use crate::maintain::quotes::{is_extractive, quoted_memory};
use crate::maintain::summary;
use crate::maintain::summary::{Quote, parse_quotes};
use crate::model::memory::Memory;
use crate::transaction::change::Change;
use crate::transaction::mentions;
use loci_proto::memory::MemoryId;
use serde_json::{Value, json};
use std::collections::HashSet;

/// The part of a memory that was removed and must not be quoted any more.
enum RemovedPart<'a> {
    /// The whole memory, including its entry in `source_ids`.
    Memory,
    /// These lines.
    Lines(&'a [Quote]),
    /// An unknown part, since an agent wrote the text: every line that quotes it is removed.
    Unknown,
}

/// Removes a memory's lines from the extractive summaries made from it, directly or not. Returns
/// the memories that may still contain its text.
pub(crate) fn remove_quotes_of(change: &mut Change<'_>, memory: &Memory) -> Result<Vec<MemoryId>> {
    let mut may_contain = Vec::new();
    remove_from_summaries(
        change,
        memory,
        &RemovedPart::Memory,
        &mut may_contain,
        &mut HashSet::new(),
    )?;
    Ok(may_contain)
}

/// Removes a part of a memory from the summaries made from it, and from the summaries of those.
fn remove_from_summaries(
    change: &mut Change<'_>,
    memory: &Memory,
    removed: &RemovedPart<'_>,
    may_contain: &mut Vec<MemoryId>,
    visited: &mut HashSet<(i64, i64)>,
) -> Result<()> {
    for summary in clusters::made_from(change.conn, memory.seq)? {
        // An import may bring cycles, and two paths may lead to one summary.
        if !visited.insert((memory.seq, summary.seq)) {
            continue;
        }
        // The journal entries of edits contain its earlier text.
        journal::redact_texts(change.conn, summary.seq)?;
        if is_extractive(&summary) {
            let lines = rewrite(change, &summary, memory, removed)?;
            if !lines.is_empty() {
                let part = RemovedPart::Lines(&lines);
                remove_from_summaries(change, &summary, &part, may_contain, visited)?;
            }
        } else {
            if !may_contain.contains(&summary.id) {
                may_contain.push(summary.id.clone());
            }
            if matches!(removed, RemovedPart::Memory) {
                remove_source_id(change, &summary, &memory.id)?;
            }
            remove_from_summaries(change, &summary, &RemovedPart::Unknown, may_contain, visited)?;
        }
    }
    Ok(())
}

/// Removes an id from the source metadata of a memory.
fn remove_source_id(change: &mut Change<'_>, derived: &Memory, source: &MemoryId) -> Result<()> {
    let mut metadata = derived.metadata.clone();
    metadata.retain(|_, value| value.as_str() != Some(source.as_str()));
    if let Some(ids) = metadata.get_mut("source_ids").and_then(Value::as_array_mut) {
        ids.retain(|id| id.as_str() != Some(source.as_str()));
    }
    let columns = [
        ("metadata", json!(Value::Object(metadata).to_string())),
        ("updated_at", json!(change.call.now.0)),
    ];
    let columns: Image =
        columns.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    rows::update(change.conn, &Row::Memory(derived.seq), &columns)?;
    change.touch(derived.seq);
    Ok(())
}

/// Rewrites a summary without the removed part of a memory; returns the lines that were removed.
fn rewrite(
    change: &mut Change<'_>,
    summary: &Memory,
    memory: &Memory,
    removed: &RemovedPart<'_>,
) -> Result<Vec<Quote>> {
    let list = |name: &str| {
        summary.metadata.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
    };
    let (ids, quotes) = (list("source_ids"), list("quotes"));
    let Some(position) =
        ids.iter().position(|id| id == memory.id.as_str()).map(|position| position as u64)
    else {
        return Ok(Vec::new());
    };
    let is_removed = |quote: &Quote| {
        let quotes_it = quotes.get(quote.number).and_then(Value::as_u64) == Some(position);
        quotes_it
            && if let RemovedPart::Lines(lines) = removed {
                lines.iter().any(|removed_line| removed_line.is_same(quote))
            } else {
                true
            }
    };
    let removed_lines: Vec<Quote> =
        parse_quotes(&summary.content).into_iter().filter(is_removed).collect();
    let metadata = if matches!(removed, RemovedPart::Memory) {
        let mut metadata = summary.metadata.clone();
        // Positions after the removed id decrease by one.
        let positions = quotes
            .iter()
            .filter_map(Value::as_u64)
            .map(|at| if at > position { at - 1 } else { at });
        metadata.insert("quotes".to_owned(), json!(positions.collect::<Vec<_>>()));
        let ids: Vec<&Value> = ids.iter().filter(|id| *id != memory.id.as_str()).collect();
        metadata.insert("source_ids".to_owned(), json!(ids));
        metadata
    } else {
        summary.metadata.clone()
    };
    let numbers: Vec<usize> = removed_lines.iter().map(|quote| quote.number).collect();
    if !numbers.is_empty() || metadata != summary.metadata {
        rewrite_without(change, &Memory { metadata, ..summary.clone() }, &numbers)?;
    }
    Ok(removed_lines)
}

/// Rewrites a summary without the lines of these numbers; the daemon computes its new vector later.
pub(crate) fn rewrite_without(
    change: &mut Change<'_>,
    summary: &Memory,
    numbers: &[usize],
) -> Result<()> {
    let is_kept = |number: &usize| !numbers.contains(number);
    // A removed line may have had the date of the line after it.
    let quotes = parse_quotes(&summary.content);
    let kept = quotes.iter().filter(|quote| is_kept(&quote.number));
    let mut lines = summary::lines(kept.map(|quote| (quote.at, quote.text.as_str())));
    let is_quote = |number: usize| quotes.iter().any(|quote| quote.number == number);
    let others = summary.content.lines().enumerate();
    lines.extend(
        others
            .filter(|(number, _)| !is_quote(*number) && is_kept(number))
            .map(|(_, line)| line.to_owned()),
    );
    let content = lines.join("\n");
    let mut metadata = summary.metadata.clone();
    if let Some(quotes) = metadata.get_mut("quotes").and_then(Value::as_array_mut) {
        let mut number = 0..;
        quotes.retain(|_| number.next().is_some_and(|number| is_kept(&number)));
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
    change.delete_encodings(summary.seq)?;
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
    // Summaries of weeks first, because those of months quote them.
    summaries.sort_by_key(|summary| {
        (PeriodKind::of(&summary.metadata).map(|(kind, _)| kind), summary.seq)
    });
    for summary in summaries {
        let mut invalid = Vec::new();
        for quote in parse_quotes(&summary.content) {
            let Some(id) = quoted_memory(&summary, quote.number) else { continue };
            let is_invalid = match memories::by_id(change.conn, &id)? {
                Some(source) => {
                    is_extractive(&source)
                        && !parse_quotes(&source.content).iter().any(|other| other.is_same(&quote))
                }
                None => tombstones::has(change.conn, &id)?,
            };
            if is_invalid {
                invalid.push(quote.number);
            }
        }
        if !invalid.is_empty() {
            rewrite_without(change, &summary, &invalid)?;
        }
    }
    Ok(())
}
