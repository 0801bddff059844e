//! `loci export` and `loci import`: files on this side, the store on the other. The daemon is given bytes, never a path.

pub mod export;
pub mod import;
