//! The names of entities, and the entities of a name.
//!
//! Not here: finding names in a text (`model::names`).

use crate::index::{Index, slot_id};
use loci_base::model::entry::Entry;

impl Index {
    /// Returns the sequence numbers of the entities with this name, whatever their status.
    pub fn entities_named(&self, name: &str) -> &[i64] {
        self.entities_by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Returns all names with the sequence numbers of their entities.
    pub fn names(&self) -> impl Iterator<Item = (&str, &[i64])> {
        self.entities_by_name.iter().map(|(name, entities)| (name.as_str(), entities.as_slice()))
    }

    /// Returns whether no entity has a name.
    pub fn has_no_names(&self) -> bool {
        self.entities_by_name.is_empty()
    }

    /// Adds the names of an entity.
    pub(super) fn add_names(&mut self, slot: usize, entry: Entry) {
        for name in &entry.names {
            self.entities_by_name.entry(name.clone()).or_default().push(entry.seq);
        }
        if !entry.names.is_empty() {
            self.names_by_slot.insert(slot_id(slot), entry.names);
        }
    }

    /// Removes the names of an entity.
    pub(super) fn remove_names(&mut self, slot: usize, seq: i64) {
        for name in self.names_by_slot.remove(&slot_id(slot)).unwrap_or_default() {
            if let Some(entities) = self.entities_by_name.get_mut(&name) {
                entities.retain(|entity| *entity != seq);
                if entities.is_empty() {
                    self.entities_by_name.remove(&name);
                }
            }
        }
    }
}
