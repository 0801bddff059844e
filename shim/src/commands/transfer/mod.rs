//! `loci export` and `loci import`. Files are opened by the command; the daemon receives bytes, never a path.

pub mod export;
mod failed_export;
pub mod import;
mod markdown_folder;
