//! Which memories mend which error, by the hash of its key.
//!
//! Only memories that name an error are in it, so that an ordinary store has none.

use std::collections::HashMap;
use std::num::NonZeroU64;

/// The memories of each error.
#[derive(Debug, Default)]
pub struct Errors {
    memories: HashMap<NonZeroU64, Vec<i64>>,
    /// The error of each memory.
    errors: HashMap<i64, NonZeroU64>,
}

impl Errors {
    /// Sets the error of a memory.
    pub fn set(&mut self, seq: i64, error: Option<NonZeroU64>) {
        if let Some(old) = self.errors.remove(&seq)
            && let Some(memories) = self.memories.get_mut(&old)
        {
            memories.retain(|memory| *memory != seq);
            if memories.is_empty() {
                self.memories.remove(&old);
            }
        }
        if let Some(error) = error {
            self.errors.insert(seq, error);
            self.memories.entry(error).or_default().push(seq);
        }
    }

    /// Returns the error of a memory.
    pub fn of(&self, seq: i64) -> Option<NonZeroU64> {
        self.errors.get(&seq).copied()
    }

    /// Returns the memories of an error, oldest first.
    pub fn memories(&self, error: NonZeroU64) -> &[i64] {
        self.memories.get(&error).map_or(&[], Vec::as_slice)
    }
}
