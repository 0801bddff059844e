//! Vector sets: the encodings of the memories by one model. Recalls read one set, the active one.
//!
//! Not here: their rows (`db::vector_sets`), changing from one to another (`operations::reembed`).

use crate::model::time::Timestamp;

/// The encodings of the memories by one model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VectorSet {
    /// The name of the set, unique in the store; rows of vectors have it.
    pub name: String,
    /// The id of the model.
    pub model: String,
    /// Where the files of the model are, in the form that the daemon gave; may be empty.
    pub source: String,
}

/// A model, as the daemon knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRef {
    /// The id of the model.
    pub id: String,
    /// Where its files are, in a form that the daemon understands.
    pub source: String,
}

/// The sets that are in use.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct VectorSets {
    /// The set that recalls read. Its name is empty while the store has no set.
    pub active: VectorSet,
    /// The set that will be the active one when every memory is in it.
    pub filling: Option<VectorSet>,
}

/// A set that is not in use, and is kept for a return to its model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptSet {
    /// The set.
    pub set: VectorSet,
    /// True if it was active; false if its filling was given up.
    pub was_active: bool,
    /// When it went out of use.
    pub since: Timestamp,
}

impl VectorSets {
    /// Returns the sets into which new encodings are written.
    pub fn in_use(&self) -> impl Iterator<Item = &VectorSet> {
        std::iter::once(&self.active).filter(|set| !set.name.is_empty()).chain(&self.filling)
    }
}

/// State of a set in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetState {
    /// Searched.
    Active,
    /// Being encoded.
    Filling,
    /// Searched before, and kept.
    Retired,
    /// Given up.
    Abandoned,
}

impl SetState {
    /// Returns the value of the column.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Filling => "filling",
            Self::Retired => "retired",
            Self::Abandoned => "abandoned",
        }
    }
}
