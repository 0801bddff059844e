//! Mentions: which memories name which entities, found in the texts as they are stored. No model is asked.
//!
//! Not here: what counts as a name (`names`), how mentions are shown (`inspect`).

use crate::change::Change;
use crate::db::memories::{self, Memory};
use crate::db::mentions;
use crate::error::Result;
use crate::names;
use loci_proto::memory::{MemoryType, Scope};

/// Most texts that are looked through for one name of a new entity.
const TEXTS: usize = 10_000;

/// Makes the mentions of a memory anew: the entities that it names and, where it is an entity, the memories that name it.
pub(crate) fn renew(change: &Change<'_>, seq: i64) -> Result<()> {
    mentions::clear(change.conn, seq)?;
    find(change, seq)
}

/// The same for many that came at once and may name one another: the warm index knows none of them yet.
pub(crate) fn renew_all(change: &Change<'_>, seqs: &[i64]) -> Result<()> {
    seqs.iter().try_for_each(|seq| mentions::clear(change.conn, *seq))?;
    seqs.iter().try_for_each(|seq| find(change, *seq))
}

fn find(change: &Change<'_>, seq: i64) -> Result<()> {
    let Some(memory) = memories::by_seq(change.conn, seq)? else { return Ok(()) };
    for entity in named_in(change, &memory.content) {
        link(change, entity, &memory, true)?;
    }
    if memory.kind == MemoryType::Entity {
        for name in names::of(&memory.metadata) {
            for (found, text) in mentions::holding(change.conn, &name, TEXTS)? {
                if names::holds(&text, &name) {
                    link(change, found, &memory, false)?;
                }
            }
        }
    }
    Ok(())
}

/// Entities that bear a name in the text: as the warm index knows them, and as this change has made them.
fn named_in(change: &Change<'_>, text: &str) -> Vec<i64> {
    let index = change.shared.index();
    if index.has_no_names() {
        return Vec::new();
    }
    let mut found: Vec<i64> = names::candidates(text).iter().flat_map(|name| index.named(name)).copied().collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Links a memory with another one where both can be seen together; `entity` says which of the two is named.
fn link(change: &Change<'_>, other: i64, memory: &Memory, other_is_entity: bool) -> Result<()> {
    let Some(found) = memories::by_seq(change.conn, other)?.filter(|found| found.seq != memory.seq) else { return Ok(()) };
    let together = found.scope == Scope::Global || memory.scope == Scope::Global || found.group == memory.group;
    match (together, other_is_entity) {
        (false, _) => Ok(()),
        (true, true) => mentions::insert(change.conn, other, memory.seq),
        (true, false) => mentions::insert(change.conn, memory.seq, other),
    }
}
