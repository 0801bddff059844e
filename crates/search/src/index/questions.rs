//! Which memories have questions, by slot. Their words are in the posting lists, their vector is
//! the last chunk of the memory.
//!
//! Not here: the texts (`model::document`).

use crate::index::slot_id;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;

/// A fingerprint of the questions of each memory that has some. Most have none.
#[derive(Debug, Default)]
pub struct Questions(HashMap<u32, NonZeroU64>);

impl Questions {
    /// Sets the questions of a slot, one a line; returns whether they differ from the earlier ones.
    pub fn put(&mut self, slot: usize, questions: &str) -> bool {
        let fingerprint = (!questions.is_empty()).then(|| fingerprint(questions));
        let is_new = self.of(slot) != fingerprint;
        self.set(slot, fingerprint);
        is_new
    }

    /// Sets the fingerprint of a slot; `None` for no questions.
    pub fn set(&mut self, slot: usize, fingerprint: Option<NonZeroU64>) {
        match fingerprint {
            Some(fingerprint) => self.0.insert(slot_id(slot), fingerprint),
            None => self.0.remove(&slot_id(slot)),
        };
    }

    /// Returns the fingerprint of a slot; `None` without questions.
    pub fn of(&self, slot: usize) -> Option<NonZeroU64> {
        self.0.get(&slot_id(slot)).copied()
    }
}

fn fingerprint(questions: &str) -> NonZeroU64 {
    let mut hasher = DefaultHasher::new();
    questions.hash(&mut hasher);
    NonZeroU64::new(hasher.finish()).unwrap_or(NonZeroU64::MIN)
}
