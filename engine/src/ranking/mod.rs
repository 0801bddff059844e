//! Ranking.

pub(crate) mod bm25;
pub mod fusion;
pub mod late_interaction;
