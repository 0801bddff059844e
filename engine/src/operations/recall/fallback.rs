//! Fallback search while the warm index is loading: by keywords, through the FTS5 index of the
//! database.
//!
//! The admitted memories with a keyword are put into a temporary index, which is searched by the
//! same rules, so ranking and visibility are the same. Matches that need more than FTS5 (stems of
//! other languages, character pairs, aliases, vectors) are found only when the index is loaded. Not
//! here: searching (`search`), FTS5 (`db::lexical`).

use crate::db::{lexical, memories};
use crate::error::Result;
use crate::index::{Filter, Index};
use crate::model::entry::Entry;
use crate::search::query::date_filter::DateFilter;
use crate::search::query::parse::ParsedQuery;
use crate::text::features::event_day;
use loci_proto::degraded::Degraded;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Maximum number of memories that are read, the best by keyword first.
const MAX_MEMORIES: usize = 1_000;
/// The hint in the reply.
const HINT: &str = "Searching by keywords only: the index is being loaded; call again in a moment";

/// Builds a temporary index of the admitted memories that contain a keyword of the query.
pub(crate) fn temporary_index(
    conn: &Connection,
    filter: &Filter<'_>,
    dates: DateFilter,
    query: &ParsedQuery,
) -> Result<Index> {
    let mut entries: BTreeMap<i64, Entry> = BTreeMap::new();
    lexical::matching(conn, &query.keywords, filter.visibility, |entry| {
        if filter.admits(&entry) && dates.admits(day(&entry)) {
            entries.insert(entry.seq, entry);
        }
        entries.len() < MAX_MEMORIES
    })?;
    // The summaries of these memories are needed even if they do not contain a keyword.
    let mut summaries: Vec<i64> = entries.values().filter_map(|entry| entry.summary).collect();
    while let Some(seq) = summaries.pop() {
        if let Some(entry) = memories::entry(conn, seq)?.filter(|_| !entries.contains_key(&seq)) {
            summaries.extend(entry.summary);
            entries.insert(seq, entry);
        }
    }
    let mut index = Index::default();
    for entry in entries.into_values() {
        index.put(entry);
    }
    Ok(index)
}

/// The day of a memory, as the warm index determines it.
pub(crate) fn day(entry: &Entry) -> Option<i32> {
    entry.event_day.or_else(|| event_day(&entry.content)).or(Some(entry.created_day))
}

/// Returns the degraded parts that a reply reports, with the loading index added.
pub(crate) fn degraded(others: &Degraded) -> Degraded {
    let mut degraded = others.clone();
    degraded.parts.push("index".to_owned());
    degraded.hint.get_or_insert_with(|| HINT.to_owned());
    degraded
}
