//! Whether this process can read an encrypted file, and the error if it cannot.
//!
//! Not here: opening the file (`db::cipher`).

use crate::encryption::header::{self, KeyId};
#[cfg(feature = "encrypted")]
use crate::encryption::keys;
use crate::error::{Error, Result};
use std::path::Path;

/// Refuses a file whose key this process does not have.
///
/// # Errors
/// `Encrypted`.
pub(crate) fn require_key(path: &Path, id: KeyId) -> Result<()> {
    #[cfg(feature = "encrypted")]
    let found = keys::key(id).map(drop).ok_or_else(|| keys::missing(id));
    #[cfg(not(feature = "encrypted"))]
    let found = Err((
        format!("with the key {id}, and this build of loci reads no encrypted files"),
        "Use a build with the feature encrypted (docs/security-model.md); decrypt with it: loci decrypt"
            .to_owned(),
    ));
    found.map_err(|(reason, hint)| Error::Encrypted { path: path.to_path_buf(), reason, hint })
}

/// Refuses a file that is encrypted with a key that this process does not have. As [`header::key_id_of`], not
/// for a database that is open.
///
/// # Errors
/// `Encrypted`.
pub fn require_readable(path: &Path) -> Result<()> {
    header::key_id_of(path).map_or(Ok(()), |id| require_key(path, id))
}

/// Returns the key of new files; `None` if they are not encrypted.
#[must_use]
pub fn key_of_new_files() -> Option<KeyId> {
    #[cfg(feature = "encrypted")]
    return keys::current();
    #[cfg(not(feature = "encrypted"))]
    None
}
