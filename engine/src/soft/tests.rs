//! The whole ranking against the reference.
