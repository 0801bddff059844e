//! Changes of the store: transactions, what follows them in the index, mentions, accesses and vectors that come later.

pub mod access;
pub mod backfill;
pub mod change;
pub(crate) mod change_set;
pub(crate) mod index_update;
pub(crate) mod mentions;
