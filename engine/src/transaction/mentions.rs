//! Mentions: which memories name which entities, found in the texts when they are stored, without a
//! model.
//!
//! Not here: what counts as a name (`model::names`), showing mentions (`operations::inspect`).

use crate::db::memories;
use crate::db::mentions;
use crate::error::Result;
use crate::index::Index;
use crate::model::entry::Entry;
use crate::model::memory::Memory;
use crate::model::names;
use crate::transaction::change::Change;
use loci_proto::memory::MemoryType;
use rusqlite::Connection;

/// Maximum texts searched for one name of a new entity.
const TEXTS: usize = 10_000;

/// Replaces the mentions of a memory: the entities that it names and, for an entity, the memories
/// that name it.
pub(crate) fn renew(change: &Change<'_>, seq: i64) -> Result<()> {
    mentions::clear(change.conn, seq)?;
    find(change, seq)
}

/// The same for many new memories that may name each other and are not in the index yet. Mentions
/// made by this change are kept.
pub(crate) fn renew_all(
    change: &Change<'_>,
    seqs: &[i64],
    is_new: impl Fn(i64) -> bool,
) -> Result<()> {
    seqs.iter()
        .filter(|seq| !is_new(**seq))
        .try_for_each(|seq| mentions::clear(change.conn, *seq))?;
    let entities =
        if is_nothing_named(change) { Some(memories::entities(change.conn)?) } else { None };
    let of_use = |seq: &&i64| entities.as_ref().is_none_or(|entities| entities.contains(*seq));
    seqs.iter().filter(of_use).try_for_each(|seq| look_through(change, *seq))
}

fn find(change: &Change<'_>, seq: i64) -> Result<()> {
    if is_nothing_named(change) && !memories::is_entity(change.conn, seq)? {
        return Ok(());
    }
    look_through(change, seq)
}

/// Without entity names a text mentions nothing: true for most stores, and for most of an import.
fn is_nothing_named(change: &Change<'_>) -> bool {
    change.shared.index().has_no_names() && earlier(change).all(|entry| entry.names.is_empty())
}

/// Memories stored earlier in the same group commit, which are not in the index yet.
fn earlier<'a>(change: &'a Change<'_>) -> impl Iterator<Item = &'a Entry> {
    change
        .touched
        .earlier
        .iter()
        .flat_map(|news| &news.entries)
        .filter_map(|(_, entry)| entry.as_ref())
}

fn look_through(change: &Change<'_>, seq: i64) -> Result<()> {
    let Some(memory) = memories::by_seq(change.conn, seq)? else { return Ok(()) };
    find_with(change.conn, &change.shared.index(), &memory)?;
    for entity in earlier(change) {
        if entity.names.iter().any(|name| names::holds(&memory.content, name))
            && let Some(entity) = visible_together(change.conn, entity.seq, &memory)?
        {
            mentions::insert(change.conn, entity, seq)?;
        }
    }
    Ok(())
}

/// The same for every memory of a store without mentions.
pub(crate) fn renew_store(conn: &Connection, index: &Index) -> Result<()> {
    index.entries().try_for_each(|entry| match memories::by_seq(conn, entry.seq)? {
        Some(memory) => find_with(conn, index, &memory),
        None => Ok(()),
    })
}

fn find_with(conn: &Connection, index: &Index, memory: &Memory) -> Result<()> {
    for entity in named_in(index, &memory.content) {
        if let Some(entity) = visible_together(conn, entity, memory)? {
            mentions::insert(conn, entity, memory.seq)?;
        }
    }
    if memory.kind != MemoryType::Entity {
        return Ok(());
    }
    for name in names::of(&memory.metadata) {
        let holding = match names::unspaced(&name) {
            Some(characters) => mentions::holding_characters(conn, &characters, TEXTS)?,
            None => mentions::holding(conn, &name, TEXTS)?,
        };
        for (found, text) in holding {
            if names::holds(&text, &name)
                && let Some(found) = visible_together(conn, found, memory)?
            {
                mentions::insert(conn, memory.seq, found)?;
            }
        }
    }
    Ok(())
}

/// Returns the entities in the index whose name occurs in the text.
fn named_in(index: &Index, text: &str) -> Vec<i64> {
    if index.has_no_names() {
        return Vec::new();
    }
    let mut found: Vec<i64> = names::candidates(text)
        .iter()
        .flat_map(|name| index.entities_named(name))
        .copied()
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the sequence number of `other` if it is another memory and some session can see both.
fn visible_together(conn: &Connection, other: i64, memory: &Memory) -> Result<Option<i64>> {
    let Some(found) = memories::by_seq(conn, other)?.filter(|found| found.seq != memory.seq) else {
        return Ok(None);
    };
    Ok(found.audience().overlaps(memory.audience()).then_some(found.seq))
}
