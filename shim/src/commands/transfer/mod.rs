//! `loci export` and `loci import`. Files are opened by the command; the daemon receives bytes, never a path.

pub mod export;
pub mod history;
pub mod import;
