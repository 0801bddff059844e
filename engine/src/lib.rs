//! The memory engine.

pub mod embedding;
