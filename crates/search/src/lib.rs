//! The warm index of all memories, and the search and ranking over it.
//!
//! **Reading guide.** [`index`] is the copy of the memories in memory that the engine updates after
//! each commit. [`search`] finds and orders the candidates of a query; its first comment numbers the
//! steps. [`ranking`] has the formulas, and [`clustering`] groups similar vectors.
//!
//! Not here: SQL and rows, the operations that call a search (`loci-engine`), types and text
//! analysis (`loci-base`).

pub mod calibration;
pub mod clustering;
pub mod index;
pub mod ranking;
pub mod search;
