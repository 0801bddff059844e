//! Mentions: which memories name which entities. They are found in the texts at storage, without a
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
use crate::model::names::EntityNames;
use crate::transaction::change::Change;
use loci_proto::memory::MemoryType;
use rusqlite::Connection;

/// Maximum texts searched for one name of a new entity.
const MAX_TEXTS: usize = 10_000;

/// Replaces the mentions of a memory: the entities that it names and, for an entity, the memories
/// that name it.
pub(crate) fn renew(change: &Change<'_>, seq: i64) -> Result<()> {
    mentions::clear(change.conn, seq)?;
    if has_no_entity_names(change) && !memories::is_entity(change.conn, seq)? {
        return Ok(());
    }
    insert_mentions(change, seq)
}

/// Like [`renew`] for many memories that may name each other and are not in the index yet. Keeps
/// the mentions that this change has inserted for the memories that `is_new` selects.
pub(crate) fn renew_all(
    change: &Change<'_>,
    seqs: &[i64],
    is_new: impl Fn(i64) -> bool,
) -> Result<()> {
    seqs.iter()
        .filter(|seq| !is_new(**seq))
        .try_for_each(|seq| mentions::clear(change.conn, *seq))?;
    let only_entities =
        if has_no_entity_names(change) { Some(memories::entities(change.conn)?) } else { None };
    let may_have_mentions =
        |seq: &&i64| only_entities.as_ref().is_none_or(|entities| entities.contains(*seq));
    seqs.iter().filter(may_have_mentions).try_for_each(|seq| insert_mentions(change, *seq))
}

/// Returns true if no stored entity has a name, so that only a new entity can have mentions: true
/// for most stores and most of an import.
fn has_no_entity_names(change: &Change<'_>) -> bool {
    change.shared.index().has_no_names()
        && earlier_in_group(change).all(|entry| entry.names.is_empty())
}

/// Returns the memories stored earlier in the same group commit, which are not in the index yet.
fn earlier_in_group<'a>(change: &'a Change<'_>) -> impl Iterator<Item = &'a Entry> {
    change
        .touched
        .earlier
        .iter()
        .flat_map(|update| &update.entries)
        .filter_map(|(_, entry)| entry.as_ref())
}

fn insert_mentions(change: &Change<'_>, seq: i64) -> Result<()> {
    let Some(memory) = memories::by_seq(change.conn, seq)? else { return Ok(()) };
    insert_indexed_mentions(change.conn, &change.shared.index(), &memory)?;
    for entity in earlier_in_group(change) {
        let mut counting = entity.names.counting(entity.group == memory.group);
        if counting.any(|name| names::contains_name(&memory.content, name))
            && let Some(entity) = visible_together(change.conn, entity.seq, &memory)?
        {
            mentions::insert(change.conn, entity.seq, seq)?;
        }
    }
    Ok(())
}

/// Inserts the mentions of every memory of a store that has none yet.
pub(crate) fn insert_all(conn: &Connection, index: &Index) -> Result<()> {
    index.entries().try_for_each(|entry| match memories::by_seq(conn, entry.seq)? {
        Some(memory) => insert_indexed_mentions(conn, index, &memory),
        None => Ok(()),
    })
}

/// Inserts the mentions between a memory and the memories in the index.
fn insert_indexed_mentions(conn: &Connection, index: &Index, memory: &Memory) -> Result<()> {
    for entity in entities_named_in(index, memory) {
        if let Some(entity) = visible_together(conn, entity, memory)? {
            mentions::insert(conn, entity.seq, memory.seq)?;
        }
    }
    if memory.kind != MemoryType::Entity {
        return Ok(());
    }
    let names = EntityNames::of(&memory.metadata);
    for name in names.all() {
        let candidates = match names::unspaced_prefix(name) {
            Some(characters) => mentions::containing_characters(conn, &characters, MAX_TEXTS)?,
            None => mentions::containing_phrase(conn, name, MAX_TEXTS)?,
        };
        for (seq, text) in candidates {
            if names::contains_name(&text, name)
                && let Some(other) = visible_together(conn, seq, memory)?
                && names.counting(other.group == memory.group).any(|counting| counting == name)
            {
                mentions::insert(conn, memory.seq, seq)?;
            }
        }
    }
    Ok(())
}

/// Returns the entities in the index whose name occurs in the text of a memory.
fn entities_named_in(index: &Index, memory: &Memory) -> Vec<i64> {
    if index.has_no_names() {
        return Vec::new();
    }
    let is_own_project = |group| index.group_id(group) == memory.group;
    let mut entities: Vec<i64> = names::candidates(&memory.content)
        .iter()
        .flat_map(|name| index.entities_named(name, is_own_project))
        .collect();
    entities.sort_unstable();
    entities.dedup();
    entities
}

/// Returns the memory `other` if it is another one and some session can see both.
fn visible_together(conn: &Connection, other: i64, memory: &Memory) -> Result<Option<Memory>> {
    let Some(other) = memories::by_seq(conn, other)?.filter(|other| other.seq != memory.seq) else {
        return Ok(None);
    };
    Ok(other.audience().overlaps(memory.audience()).then_some(other))
}
