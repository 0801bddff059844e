//! Encryption at rest: how an encrypted file is recognised, the keys, and the conversion of a store
//! and its backups.
//!
//! Every build recognises an encrypted file. Only one with the feature `encrypted` can read it: its
//! SQLite is `SQLCipher`, which encrypts each page of the database, of its log and of its backups. Not
//! here: the SQL (`db::cipher`), where the key file is (the daemon).

#[cfg(feature = "encrypted")]
pub mod convert;
pub(crate) mod header;
#[cfg(feature = "encrypted")]
pub mod keys;
pub(crate) mod readable;

pub use header::{KeyId, key_id_of};
pub use readable::{key_of_new_files, require_readable};
