//! Transaction.

pub mod access;
pub mod backfill;
pub mod change;
pub(crate) mod mentions;
