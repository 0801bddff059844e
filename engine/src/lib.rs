//! The memory engine: storing, duplicate detection, search, ranking and the ageing of memories.
//!
//! **Reading guide.** [`open`] returns the one [`Writer`] of a database; [`Writer::reader`] opens
//! any number of [`Reader`]s. Their methods are in [`operations`], one file per verb. A write runs
//! in `transaction::change`, which commits it together with its journal entry and then updates the
//! index. A recall goes through `search` (candidates from [`index`]), [`ranking`] (scores) and back
//! to `operations::recall` (rows, token budget). [`maintain`] turns episodes into summaries and
//! facts, and cleans up; [`transfer`] exports and imports. [`text`], [`duplicate`], [`flags`],
//! [`privacy`] and [`model`] are those of `loci-base`; [`index`], [`ranking`], `search` and
//! `clustering` those of `loci-search`.
//!
//! `db` contains all SQL; the database is the source of truth. [`index`] is its copy in memory,
//! updated after each commit: it may lag behind the database for a moment and is never ahead of it.
//!
//! Everything is synchronous and receives what it needs: the time, the request, the vectors. Not
//! here: clocks, threads, sockets, the model, the environment.

pub mod backups;
pub mod bridge;
mod database_files;
mod db;
pub mod encryption;
pub mod error;
mod failpoint;
mod handles;
pub mod hooks;
pub mod maintain;
pub mod operations;
#[cfg(test)]
mod tests;
pub mod transaction;
pub mod transfer;

pub use loci_base::{duplicate, flags, model, privacy, text};
pub use loci_search::{calibration, index, ranking};
use loci_search::{clustering, search};

pub use db::damage::{DamagedRow, DamagedRows};
pub use db::salvage::{Salvage, salvage};
pub use handles::open::{open, open_cold};
pub use handles::open_read_only::{ReadOnlyStore, open_read_only};
pub use handles::reader::Reader;
pub use handles::settings::{BackupSettings, DefaultScopes, Settings, Ttl};
pub use handles::writer::Writer;
pub use index::warmup::{LoadCount, WarmupProgress};
pub use model::actor::{Actor, Viewer};
pub use model::past::EncodedPast;
pub use operations::reembed::ActiveSets;
pub use search::{Effort, FieldWeights, RecencyLambda, Stages, Weights};
