//! Groups memories by their vectors, and names each group by the words that tell it apart.
//!
//! Deterministic: equal vectors in equal order give equal groups on every machine. Not here:
//! the topics of one period, which compaction summarises (`maintain::topics`); rows and replies
//! (`operations::topics`).

pub mod distinctive;
pub mod k_means;
