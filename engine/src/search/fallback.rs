//! What a recall finds before the warm index stands: memories that have a word of the question in the durable keyword index.
//!
//! Those that the filter admits become an index of their own, which is searched as the warm one is: the same rules, the same order of
//! words, and nothing that another project has told. What the keyword index of the file does not know (other languages' stems, pairs of
//! characters, aliases, meanings) is not found yet. Not here: searching (`search`), the file's index (`db::lexical`).

use crate::db::{lexical, memories};
use crate::error::Result;
use crate::index::{Filter, Index};
use crate::model::entry::Entry;
use crate::search::query::date_filter::Days;
use crate::search::query::parse;
use crate::text::features::parts;
use loci_proto::degraded::Degraded;
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Most memories that are looked at: the best by the words that they have.
const MOST: usize = 1_000;
/// What an answer says of it.
const HINT: &str = "Searching by words alone: the index is being loaded; call again in a moment";

/// An index of what may be found by the words of a question.
pub(crate) fn index(
    conn: &Connection,
    filter: &Filter<'_>,
    days: Days,
    text: &str,
) -> Result<Index> {
    let mut found: BTreeMap<i64, Entry> = BTreeMap::new();
    lexical::matching(conn, &parse::words(text).words, filter.visibility, |entry| {
        if filter.admits(&entry) && days.admit(day(&entry)) {
            found.insert(entry.seq, entry);
        }
        found.len() < MOST
    })?;
    // A memory that a summary stands for is given with that summary, whatever its words.
    let mut above: Vec<i64> = found.values().filter_map(|entry| entry.summary).collect();
    while let Some(seq) = above.pop() {
        if let Some(entry) = memories::entry(conn, seq)?.filter(|_| !found.contains_key(&seq)) {
            above.extend(entry.summary);
            found.insert(seq, entry);
        }
    }
    let mut index = Index::default();
    for entry in found.into_values() {
        index.put(entry);
    }
    Ok(index)
}

/// The day of a memory, as the warm index knows it.
fn day(entry: &Entry) -> Option<i32> {
    entry.event_day.or(parts(&entry.content).day).or(Some(entry.created_day))
}

/// What the answer has to say.
pub(crate) fn degraded(otherwise: &Degraded) -> Degraded {
    let mut told = otherwise.clone();
    told.parts.push("index".to_owned());
    told.hint.get_or_insert_with(|| HINT.to_owned());
    told
}
