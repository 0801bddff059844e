//! What `loci doctor` and `loci ctl status` say about encryption at rest: nothing without a key. Not in a build without encryption.
//!
//! Not here: the commands that encrypt (`process::encryption_commands`).

use crate::service::Service;
use loci_engine::Reader;
use loci_engine::encryption::keys::{self, Conversion};
use loci_proto::error::Failure;
use loci_proto::requests::doctor::Finding;

const SUBJECT: &str = "key";

/// Says with which key the database is encrypted, and what is left to do.
///
/// # Errors
/// The store cannot be read.
pub async fn describe(service: &Service) -> Result<Option<Finding>, Failure> {
    let Some(ring) = keys::in_use() else { return Ok(None) };
    let key = service.read(|reader: &Reader| Ok(reader.key())).await?;
    let current = ring.current.as_ref().map(keys::Key::id);
    let found = match key {
        Some(key) => format!("the database is encrypted with the key {key} in {}", ring.source),
        None => format!("the database is not encrypted; {} has keys", ring.source),
    };
    let command = match (ring.unfinished, current) {
        (None, current) if key == current => return Ok(Some(Finding::ok(SUBJECT, found))),
        (Some(unfinished), _) => unfinished,
        (None, Some(_)) => Conversion::Encrypt,
        (None, None) => Conversion::Decrypt,
    };
    let next_step =
        format!("Run loci {}: it goes on with the database and the backups", command.name());
    Ok(Some(Finding::warn(SUBJECT, found, next_step)))
}

/// Returns a sentence if an encryption, decryption or change of the key was interrupted.
#[must_use]
pub fn warning() -> Option<String> {
    let command = keys::in_use()?.unfinished?.name();
    Some(format!("loci {command} was interrupted; run it again: it goes on"))
}
