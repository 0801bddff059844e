//! What the folder of a session turned out to be.
//!
//! Not here: recognising it (`service::project`).

use loci_proto::gate::ModelText;
use loci_proto::group::Group;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the folder of a session turned out to be.
#[derive(Debug, Default)]
pub struct Recognised {
    /// The group of its project, if it is not that of its path.
    pub group: Option<Group>,
    /// Which project the user may join to this one.
    pub suggestion: Option<ModelText>,
    /// The agent has got the suggestion.
    pub is_told: AtomicBool,
    /// The store has no project of this folder yet; the folder is recorded when it has one.
    pub is_new: AtomicBool,
}

impl Recognised {
    /// Returns whether the store has no project of this folder yet.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.is_new.load(Ordering::Relaxed)
    }

    /// Returns the suggestion, once.
    #[must_use]
    pub fn take_suggestion(&self) -> Option<ModelText> {
        let suggestion = self.suggestion.as_ref()?;
        (!self.is_told.swap(true, Ordering::Relaxed)).then(|| suggestion.clone())
    }
}
