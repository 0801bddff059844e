//! A memory that is removed for good leaves the summaries that quote it, too.
//!
//! Not here: what an agent has written in its own words; the caller is told of that instead.

use crate::change::Change;
use crate::db::memories::{self, Memory};
use crate::db::rows::{self, Image, Row};
use crate::db::{clusters, vectors};
use crate::embedding::Coded;
use crate::error::Result;
use crate::links;
use crate::store::hash;
use loci_proto::memory::MemoryId;
use serde_json::{Value, json};

/// Takes a memory's lines out of the extractive summaries above it; the memories that may still say what it said.
pub(crate) fn unquote(change: &mut Change<'_>, memory: &Memory) -> Result<Vec<MemoryId>> {
    let mut left = Vec::new();
    for above in clusters::made_from(change.conn, memory.seq)? {
        let field = |name: &str| above.metadata.get(name).and_then(Value::as_str);
        if field("method") == Some("extractive") && is_as_written(&above) {
            rewrite(change, &above, &memory.id)?;
        } else if field("method").is_some() || field("promoted_from") == Some(memory.id.as_str()) {
            left.push(above.id);
        }
    }
    Ok(left)
}

/// One line for each quote, and the ending; a person may have edited it since.
fn is_as_written(summary: &Memory) -> bool {
    let quotes = summary.metadata.get("quotes").and_then(Value::as_array).map_or(0, Vec::len);
    summary.content.lines().count() == quotes + 1
}

fn rewrite(change: &mut Change<'_>, summary: &Memory, gone: &MemoryId) -> Result<()> {
    let list = |name: &str| summary.metadata.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let (ids, quotes) = (list("source_ids"), list("quotes"));
    let Some(place) = ids.iter().position(|id| id == gone.as_str()).map(|place| place as u64) else { return Ok(()) };
    let lines = summary.content.lines().enumerate();
    let kept: Vec<&str> = lines.filter(|(i, _)| quotes.get(*i).and_then(Value::as_u64) != Some(place)).map(|(_, line)| line).collect();
    let content = kept.join("\n");
    let mut metadata = summary.metadata.clone();
    let ids: Vec<Value> = ids.into_iter().filter(|id| id != gone.as_str()).collect();
    // The places of those behind it move up by one.
    let moved = quotes.iter().filter_map(Value::as_u64).filter(|at| *at != place).map(|at| if at > place { at - 1 } else { at });
    metadata.insert("quotes".to_owned(), json!(moved.collect::<Vec<_>>()));
    metadata.insert("source_ids".to_owned(), json!(ids));
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
    if let Some(now) = memories::by_seq(change.conn, summary.seq)? {
        links::renew(change, now.seq)?;
    }
    Ok(())
}

fn hex_of(hash: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(hash))
}
