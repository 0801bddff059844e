//! What the folder of a session turned out to be.
//!
//! Not here: recognising it (`service::project`).

use loci_proto::group::Group;
use std::sync::atomic::AtomicBool;

/// What the folder of a session turned out to be.
#[derive(Debug, Default)]
pub struct Recognised {
    /// The group of its project, if it is not that of its path.
    pub group: Option<Group>,
    /// What a person may do about a folder that is alike.
    pub suggestion: Option<String>,
    /// The store has no project of this folder yet; the folder is recorded when it has one.
    pub is_new: AtomicBool,
}
