//! The database: the only place where SQL stands.
//!
//! Functions here take a connection and plain values, and give rows or numbers back. Not here: what a memory may say, what counts as
//! a duplicate, how answers are ranked; no decision of the engine is made in SQL except which rows exist.

pub(crate) mod backup;
pub(crate) mod click_feedback;
pub(crate) mod clusters;
pub(crate) mod codes;
pub(crate) mod connection;
#[cfg(test)]
pub(crate) mod dump;
pub(crate) mod entity_links;
pub(crate) mod export_rows;
pub(crate) mod groups;
pub(crate) mod health;
pub(crate) mod idempotency;
pub(crate) mod import_rows;
pub(crate) mod integrity;
pub(crate) mod journal;
pub(crate) mod lexical;
pub(crate) mod listing;
pub(crate) mod log;
pub(crate) mod memories;
pub(crate) mod mentions;
pub(crate) mod migrate;
pub(crate) mod relations;
pub(crate) mod rows;
pub(crate) mod stats;
pub(crate) mod tombstones;
pub(crate) mod vectors;

/// Sequence numbers of memories, the first and the last.
pub(crate) type Seqs = std::ops::RangeInclusive<i64>;

/// Those of every memory, whenever it comes.
pub(crate) const EVERY: Seqs = i64::MIN..=i64::MAX;
