//! Scoring formulas: values in, values out. They read no index and no database.
//!
//! [`late_interaction`] is the default ranking (`fusion = "soft"`), [`fusion`] combines the two
//! plain signals, `bm25` is the lexical one.

pub mod bm25;
pub mod fusion;
pub mod late_interaction;
