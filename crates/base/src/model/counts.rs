//! Numbers of memories, as the index and the database count them.
//!
//! Not here: counting (`index::counts`, `db::stats`).

use loci_proto::memory::{MemoryType, Scope};

/// Numbers of memories by status, and of active memories by type and scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryCounts {
    /// Memories of any status.
    pub total: u64,
    /// Memories in use.
    pub active: u64,
    /// Forgotten memories.
    pub forgotten: u64,
    /// Memories that a summary replaced.
    pub compacted: u64,
    /// Memories that wait for a person.
    pub candidates: u64,
    /// Memories that a person rejected.
    pub rejected: u64,
    /// Active memories of each type, in the order of [`MemoryType::ALL`].
    pub by_type: [u64; MemoryType::ALL.len()],
    /// Active memories of each scope, in the order of [`Scope::ALL`].
    pub by_scope: [u64; Scope::ALL.len()],
}
