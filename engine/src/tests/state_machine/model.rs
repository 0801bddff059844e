//! A naive model of a store: memories in a list, and what each act changed. Not here: the engine.

use crate::model::status::Status;
use std::collections::BTreeSet;

/// A memory of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ModelMemory {
    pub text: String,
    pub is_entity: bool,
    pub status: Status,
    pub pinned: bool,
}

/// What an act has done to one row.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Before {
    Created(usize),
    Was(usize, ModelMemory),
    Related(usize, usize),
}

/// The store; a memory is named by its place in the list.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// `None` if there is no such memory any more.
    pub memories: Vec<Option<ModelMemory>>,
    pub relations: BTreeSet<(usize, usize)>,
    acts: Vec<Vec<Before>>,
}

impl Model {
    pub fn get(&self, at: usize) -> Option<&ModelMemory> {
        self.memories.get(at).and_then(Option::as_ref)
    }

    pub fn is_active(&self, at: usize) -> bool {
        self.get(at).is_some_and(|memory| memory.status == Status::Active)
    }

    /// Returns the active memories with this text and kind.
    pub fn active_with(&self, text: &str, is_entity: bool) -> Vec<usize> {
        let is_one = |memory: &ModelMemory| {
            memory.status == Status::Active && memory.text == text && memory.is_entity == is_entity
        };
        (0..self.memories.len()).filter(|at| self.get(*at).is_some_and(is_one)).collect()
    }

    /// Adds a memory; returns its place.
    pub fn store(&mut self, text: &str, is_entity: bool) -> usize {
        let (text, status) = (text.to_owned(), Status::Active);
        self.memories.push(Some(ModelMemory { text, is_entity, status, pinned: false }));
        self.memories.len() - 1
    }

    /// Changes one memory as an act; does nothing if it stays equal.
    pub fn change(&mut self, at: usize, change: impl FnOnce(&mut ModelMemory)) {
        let Some(memory) = self.memories[at].as_mut() else { return };
        let before = memory.clone();
        change(memory);
        if *memory != before {
            self.acts.push(vec![Before::Was(at, before)]);
        }
    }

    /// Replaces a memory by a new one.
    pub fn supersede(&mut self, old: usize, text: &str) {
        let Some(before) = self.get(old).cloned() else { return };
        let new = self.store(text, before.is_entity);
        if let Some(memory) = self.memories[old].as_mut() {
            memory.status = Status::Superseded;
        }
        self.acts.push(vec![Before::Created(new), Before::Was(old, before)]);
    }

    pub fn relate(&mut self, subject: usize, object: usize) -> bool {
        let is_new = self.relations.insert((subject, object));
        if is_new {
            self.acts.push(vec![Before::Related(subject, object)]);
        }
        is_new
    }

    /// Deletes a memory with its relations, also from the acts.
    pub fn erase(&mut self, at: usize) {
        self.memories[at] = None;
        self.relations.retain(|(subject, object)| *subject != at && *object != at);
        for act in &mut self.acts {
            act.retain(|before| match before {
                Before::Created(it) | Before::Was(it, _) => *it != at,
                Before::Related(subject, object) => *subject != at && *object != at,
            });
        }
        self.acts.retain(|act| !act.is_empty());
    }

    /// Undoes the newest act; returns false if there is none.
    pub fn undo(&mut self) -> bool {
        let Some(act) = self.acts.pop() else { return false };
        for before in act.into_iter().rev() {
            match before {
                Before::Created(at) => self.memories[at] = None,
                Before::Was(at, memory) => self.memories[at] = Some(memory),
                Before::Related(subject, object) => {
                    self.relations.remove(&(subject, object));
                }
            }
        }
        true
    }
}
