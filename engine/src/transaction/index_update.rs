//! Applies committed changes to the index.
//!
//! The index may lag behind the database for a moment and is never ahead of it. Not here: the
//! content of an update (`change_set`).

use crate::db::damage::{DamagedRow, DamagedRows};
use crate::db::{groups, isolated_groups, memories, switches, vectors};
use crate::error::Result;
use crate::handles::writer::Writer;
use crate::index::Index;
use crate::transaction::change_set::IndexUpdate;
use parking_lot::RwLockWriteGuard;
use rusqlite::Connection;

/// Memories and vectors applied before waiting readers get the lock: a few milliseconds of work.
const UPDATES_PER_LOCK: usize = 256;

impl Writer {
    /// Applies the pending updates of committed changes to the index, the group redirects and the
    /// isolated groups.
    ///
    /// # Errors
    /// `Database`; the index is suspect then.
    pub(crate) fn apply_to_index(&mut self) -> Result<()> {
        let mut suspect = self.shared.index_suspect.lock();
        // If this is interrupted by an error or a panic, the index stays suspect and is never
        // written to a snapshot.
        let was_suspect = std::mem::replace(&mut *suspect, true);
        let group_redirects = groups::group_redirects(&self.conn)?;
        *self.shared.group_redirects.write() = group_redirects;
        *self.shared.isolated.write() = isolated_groups::all(&self.conn)?;
        *self.shared.switches.write() = switches::all(&self.conn)?;
        let set = self.shared.sets().active.name.clone();
        let mut index = self.shared.index_mut();
        let mut applied = 0_usize;
        // Readers see a small change as a whole. A large one (an import) yields to them after every
        // `UPDATES_PER_LOCK` updates.
        let mut yield_to_readers = |index: &mut RwLockWriteGuard<'_, Index>| {
            applied += 1;
            if applied.is_multiple_of(UPDATES_PER_LOCK) {
                RwLockWriteGuard::bump(index);
            }
        };
        for IndexUpdate { entries, vectors: encodings, emptied, stored_vectors, links } in
            self.pending.drain(..)
        {
            if emptied {
                index.clear();
            }
            for (seq, entry) in entries {
                forget_repaired(&self.conn, &self.shared.damaged, seq, entry.is_some())?;
                match entry {
                    Some(entry) => index.put(entry),
                    None => index.remove(seq),
                }
                yield_to_readers(&mut index);
            }
            for link in links {
                index.set_link(link);
            }
            for (seq, encoding) in encodings {
                index.set_vectors(seq, &encoding);
                yield_to_readers(&mut index);
            }
            for seq in stored_vectors {
                index.set_vectors(seq, &vectors::encoding(&self.conn, seq, &set)?);
                yield_to_readers(&mut index);
            }
        }
        drop(index);
        self.compact_index();
        *suspect = was_suspect;
        Ok(())
    }

    /// Replaces the index by a copy without the slots of deleted memories if there are many.
    /// Recalls use the old index during the copy; no other thread changes it.
    fn compact_index(&self) {
        let compacted = Some(self.shared.index())
            .filter(|index| index.needs_compaction())
            .map(|index| index.compacted_copy());
        if let Some(compacted) = compacted {
            let old = self.shared.index_mut().swap_in(compacted);
            // Dropped after the lock is released, so that no recall waits for it.
            drop(old);
        }
    }
}

/// Removes a memory from the damaged rows if it is intact now, or deleted.
fn forget_repaired(
    conn: &Connection,
    damaged: &DamagedRows,
    seq: i64,
    is_intact: bool,
) -> Result<()> {
    if damaged.has(DamagedRow::MEMORY, seq) && (is_intact || !memories::has(conn, seq)?) {
        damaged.remove(|row| row.place == DamagedRow::MEMORY && row.row == seq);
    }
    Ok(())
}
