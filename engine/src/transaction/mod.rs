//! Changes of the store: transactions, the index updates that follow them, mentions, accesses, and
//! encodings added later.

pub mod access;
pub mod backfill;
pub mod change;
pub(crate) mod change_set;
pub(crate) mod index_update;
pub(crate) mod mentions;
