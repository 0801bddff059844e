//! How memory works: what is stored, what counts as the same fact, what is found and in which order, how memories age.
//!
//! **A reading guide.** [`open`] gives the one [`Writer`] of a database and as many [`Reader`]s as are wanted. The verbs are files of that
//! name: [`store`], [`recall`], [`stats`], [`access`] (what a recall leaves behind), [`eval`], [`backfill`] (vectors that were missing)
//! and [`maintain`] (how episodes become summaries and facts, and what is cleaned up). What they decide is pure and has its own room:
//! [`soft`], [`rank`], `content`, `budget`, `query`, `bm25`, [`duplicate`], [`decay`]. What they find comes from `db` (the only SQL) and
//! [`index`] (the warm copy that searches).
//!
//! Everything is synchronous and is handed what it needs: the moment, the request, the vectors. Not here: clocks, threads, sockets,
//! the model, the environment.

mod db;
pub mod duplicate;
pub mod error;
mod handles;
pub mod index;
mod kernels;
pub mod maintain;
pub mod model;
pub mod operations;
pub mod ranking;
mod search;
#[cfg(test)]
mod tests;
pub mod text;
pub mod transaction;
pub mod transfer;

pub use handles::{Actor, Reader, Settings, Ttl, Writer};
pub(crate) use handles::{ChangeSet, IndexUpdate, Shared};
pub use index::warmup::{WarmupProgress, open, open_cold};
pub use search::Effort;
