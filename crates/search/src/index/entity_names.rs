//! The names of entities, and the entities of a name.
//!
//! Not here: finding names in a text (`model::names`).

use crate::index::{Index, slot_id};
use loci_base::model::entry::Entry;
use loci_base::model::names::EntityNames;

impl Index {
    /// Returns the sequence numbers of the entities with this name, whatever their status: those of
    /// a project by every name, those of others by their own.
    pub fn entities_named<'a>(
        &'a self,
        name: &'a str,
        is_own_project: impl Fn(u32) -> bool + 'a,
    ) -> impl Iterator<Item = i64> + 'a {
        let entities = self.entities_by_name.get(name).into_iter().flatten().copied();
        entities.filter(move |entity| self.is_name_of(*entity, name, &is_own_project))
    }

    /// Returns whether a name of an entity counts in a project.
    pub fn is_name_of(
        &self,
        entity: i64,
        name: &str,
        is_own_project: impl Fn(u32) -> bool,
    ) -> bool {
        let Some(slot) = self.slot(entity) else { return false };
        let names = self.names_by_slot.get(&slot_id(slot));
        let is_own_name = names.is_some_and(|names| names.own.as_deref() == Some(name));
        is_own_name || is_own_project(self.group(slot))
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
        for name in entry.names.all() {
            self.entities_by_name.entry(name.clone()).or_default().push(entry.seq);
        }
        if !entry.names.is_empty() {
            self.names_by_slot.insert(slot_id(slot), entry.names);
        }
    }

    /// Removes the names of an entity.
    pub(super) fn remove_names(&mut self, slot: usize, seq: i64) {
        let names: EntityNames = self.names_by_slot.remove(&slot_id(slot)).unwrap_or_default();
        for name in names.all() {
            if let Some(entities) = self.entities_by_name.get_mut(name) {
                entities.retain(|entity| *entity != seq);
                if entities.is_empty() {
                    self.entities_by_name.remove(name);
                }
            }
        }
    }
}
