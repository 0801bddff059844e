//! Effects of calls on a naive model of a store: memories by their text, and relations.
//!
//! Texts are unique, so that a memory whose id no reply has named can be found too.

use std::collections::{BTreeMap, BTreeSet};

/// Stands for the text of a memory that was deleted permanently.
pub const DELETED: &str = "a deleted memory";

/// What one call changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// A memory was stored.
    Stored(String),
    /// A memory was stored in place of another one.
    Superseded { old: String, new: String },
    /// A memory was hidden.
    Forgotten(String),
    /// A memory was deleted permanently.
    Erased(String),
    /// A hidden memory is active again.
    Restored(String),
    /// Two entities were related.
    Related(Triple),
    /// Nothing: the call only reads.
    None,
}

/// A relation by the texts of its entities.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Triple {
    pub subject: String,
    pub predicate: String,
    pub object: String,
}

/// One memory of a state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryState {
    /// As in the database.
    pub status: String,
    /// The text of the memory that replaced it, or [`DELETED`].
    pub replaced_by: Option<String>,
}

impl MemoryState {
    fn with(status: &str) -> Self {
        Self { status: status.to_owned(), replaced_by: None }
    }
}

/// The memories and relations of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct State {
    pub memories: BTreeMap<String, MemoryState>,
    pub relations: BTreeSet<Triple>,
}

impl State {
    /// Changes the state as an acknowledged call does.
    pub fn apply(&mut self, effect: &Effect) {
        match effect {
            Effect::Stored(text) | Effect::Restored(text) => {
                self.memories.insert(text.clone(), MemoryState::with("active"));
            }
            Effect::Superseded { old, new } => {
                let replaced =
                    MemoryState { status: "superseded".to_owned(), replaced_by: Some(new.clone()) };
                self.memories.insert(old.clone(), replaced);
                self.memories.insert(new.clone(), MemoryState::with("active"));
            }
            Effect::Forgotten(text) => {
                self.memories.insert(text.clone(), MemoryState::with("forgotten"));
            }
            Effect::Erased(text) => {
                self.memories.remove(text);
                for memory in self.memories.values_mut() {
                    if memory.replaced_by.as_ref() == Some(text) {
                        memory.replaced_by = Some(DELETED.to_owned());
                    }
                }
            }
            Effect::Related(triple) => drop(self.relations.insert(triple.clone())),
            Effect::None => {}
        }
    }

    /// Returns whether a sign of the effect is in the state.
    fn shows(&self, effect: &Effect) -> bool {
        let has = |text: &String, status: &str| {
            self.memories.get(text).is_some_and(|memory| memory.status == status)
        };
        match effect {
            Effect::Stored(text) => self.memories.contains_key(text),
            Effect::Superseded { old, new } => {
                self.memories.contains_key(new) || has(old, "superseded")
            }
            Effect::Forgotten(text) => has(text, "forgotten"),
            Effect::Erased(text) => !self.memories.contains_key(text),
            Effect::Restored(text) => has(text, "active"),
            Effect::Related(triple) => self.relations.contains(triple),
            Effect::None => false,
        }
    }

    /// Compares a found state with this one, after calls without an answer: each of those has had
    /// its whole effect or none.
    ///
    /// # Errors
    /// The first differences.
    pub fn check<'a>(
        mut self,
        unanswered: impl IntoIterator<Item = &'a Effect>,
        found: &Self,
    ) -> Result<(), String> {
        for effect in unanswered {
            if found.shows(effect) {
                self.apply(effect);
            }
        }
        let mut faults = Vec::new();
        for (text, expected) in &self.memories {
            if found.memories.get(text) != Some(expected) {
                faults.push(format!(
                    "{text}: expected {expected:?}, found {:?}",
                    found.memories.get(text)
                ));
            }
        }
        let unknown = found.memories.keys().filter(|text| !self.memories.contains_key(*text));
        faults.extend(unknown.map(|text| format!("{text}: is not expected")));
        let missing = self.relations.difference(&found.relations);
        faults.extend(missing.map(|relation| format!("{relation:?} is missing")));
        let unknown = found.relations.difference(&self.relations);
        faults.extend(unknown.map(|relation| format!("{relation:?} is not expected")));
        faults.truncate(5);
        if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
    }
}

#[test]
fn a_half_done_call_and_a_lost_effect_are_found() {
    let stored = |text: &str| Effect::Stored(text.to_owned());
    let replaced = Effect::Superseded { old: "a".to_owned(), new: "b".to_owned() };
    let mut state = State::default();
    state.apply(&stored("a"));
    let mut found = state.clone();
    assert_eq!(state.clone().check([&replaced], &found), Ok(()), "no effect");
    found.apply(&stored("b"));
    assert!(state.clone().check([&replaced], &found).is_err(), "half of the effect");
    found.apply(&replaced);
    assert_eq!(state.clone().check([&replaced], &found), Ok(()), "the whole effect");
    assert!(state.clone().check([], &found).is_err(), "an effect without a call");
    state.apply(&replaced);
    found.apply(&Effect::Erased("a".to_owned()));
    assert!(state.check([], &found).is_err(), "a lost effect");
}
