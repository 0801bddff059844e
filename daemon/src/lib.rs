//! The living process.

pub mod embedding;
