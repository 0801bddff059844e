//! Verifies a backup: its bytes against the digest in its manifest, every page, and its rows against
//! the counts and the digest in the manifest. The outcome is written to the manifest.
//!
//! Not here: opening and searching a backup as a test (`drill`).

use crate::backups::create::digest_of;
use crate::backups::manifest::{self, Backup, Manifest, Reason};
use crate::db::backup;
use crate::error::{Error, Result};
use crate::model::time::Timestamp;

/// The outcome of a verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// The manifest with the outcome.
    pub manifest: Manifest,
    /// What is wrong; `None` if the backup is whole.
    pub fault: Option<String>,
}

/// Verifies a backup and records the outcome in its manifest. A backup without a manifest gets one.
///
/// # Errors
/// `File` if the backup cannot be read, `Encrypted` if its key is not known; the outcome of an earlier verification stays then.
pub fn verify(found: &Backup, now: Timestamp) -> Result<Verification> {
    let digest = digest_of(&found.path)?;
    let (contents, fault) = match backup::examine(&found.path) {
        Ok(contents) => (Some(contents), None),
        Err(error @ (Error::File { .. } | Error::Encrypted { .. })) => return Err(error),
        Err(error) => (None, Some(error.to_string())),
    };
    let known = found.manifest.clone();
    let fault = match &known {
        Some(known) if known.digest != digest && known.replaced.as_ref() != Some(&digest) => {
            Some(fault.unwrap_or_else(|| "its bytes have changed since it was made".to_owned()))
        }
        Some(known) if fault.is_none() && contents.as_ref() != Some(&known.contents) => {
            Some("its rows differ from its manifest".to_owned())
        }
        _ => fault,
    };
    let adopted = || Manifest {
        reason: Reason::Unknown,
        created_at: found.created_at.0,
        contents: contents.unwrap_or_default(),
        bytes: found.bytes,
        digest,
        ..Manifest::default()
    };
    let manifest = Manifest {
        verified_at: Some(now.0),
        fault: fault.clone(),
        ..known.unwrap_or_else(adopted)
    };
    // Verifying must also be possible where nothing can be written.
    let written = manifest::write_manifest(&found.path, &manifest);
    match written {
        Err(error) if fault.is_none() && found.manifest.is_none() => Err(error),
        _ => Ok(Verification { manifest, fault }),
    }
}
