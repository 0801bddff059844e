//! The database layer: the only place with SQL.
//!
//! Functions take a connection and plain values, and return rows or numbers. SQL only selects and
//! changes rows. Not here: validation of memories, detection of duplicates, ranking.

pub(crate) mod backup;
pub(crate) mod bridge;
pub(crate) mod checkpoint;
pub(crate) mod cipher;
pub(crate) mod click_feedback;
pub(crate) mod clusters;
pub(crate) mod codes;
pub(crate) mod connection;
pub(crate) mod damage;
pub(crate) mod damaged_copy;
#[cfg(test)]
pub(crate) mod dump;
pub(crate) mod entity_links;
pub(crate) mod expected_schema;
pub(crate) mod export_rows;
pub(crate) mod folders;
pub(crate) mod groups;
pub(crate) mod health;
pub(crate) mod hook_deliveries;
pub(crate) mod idempotency;
pub(crate) mod import_rows;
pub(crate) mod integrity;
pub(crate) mod isolated_groups;
pub(crate) mod journal;
pub(crate) mod kept_pairs;
pub(crate) mod lexical;
pub(crate) mod listing;
pub(crate) mod log;
pub(crate) mod memories;
pub(crate) mod memory_row;
pub(crate) mod mentions;
pub(crate) mod metadata;
pub(crate) mod migrate;
pub(crate) mod notices;
pub(crate) mod past;
pub(crate) mod probe;
#[cfg(feature = "encrypted")]
pub(crate) mod recrypt;
pub(crate) mod relations;
pub(crate) mod repair;
pub(crate) mod reread;
pub(crate) mod rows;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod schema_check;
pub(crate) mod sessions;
pub(crate) mod stats;
pub(crate) mod switches;
pub(crate) mod tombstones;
pub(crate) mod vector_sets;
pub(crate) mod vectors;
pub(crate) mod wishes;

/// A range of sequence numbers of memories, both ends included.
pub(crate) type SeqRange = std::ops::RangeInclusive<i64>;

/// The range of all memories, including those stored later.
pub(crate) const ALL_SEQS: SeqRange = i64::MIN..=i64::MAX;
