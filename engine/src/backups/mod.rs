//! Backups of the store: verified copies in a folder, each with a manifest; which of them are kept;
//! restoring one; and recovering a damaged store from one.
//!
//! A backup is `memory-<time>.db` and its manifest `memory-<time>.json`. A file gets its name only
//! after it was verified and synced. Not here: when backups are made (the daemon), SQL (`db`).

pub mod create;
pub mod drill;
pub mod due;
pub mod forgotten_ids;
pub mod manifest;
pub(crate) mod mirrored;
pub(crate) mod policies;
pub mod prepare;
pub mod recover;
pub(crate) mod redactions;
pub mod restore;
pub mod rotation;
pub(crate) mod side_file;
pub(crate) mod swap;
pub mod verify;
