//! The hash of the key of an error, by which the index finds the memories that mend it. Pure.
//!
//! Not here: the key itself (`loci_proto::error_text`).

use loci_proto::error_text;
use serde_json::{Map, Value};
use std::num::NonZeroU64;

/// The field of metadata with the text of the error.
const ERROR: &str = "error";

/// Returns the hash of the key of the error that metadata names; `None` if it names none.
pub fn of_metadata(metadata: &Map<String, Value>) -> Option<NonZeroU64> {
    let text = metadata.get(ERROR)?.as_str()?;
    hash(&error_text::key(text)?)
}

/// Returns the hash of a key.
pub fn hash(key: &str) -> Option<NonZeroU64> {
    let digest = blake3::hash(key.as_bytes());
    let first = digest.as_bytes().first_chunk::<8>()?;
    NonZeroU64::new(u64::from_le_bytes(*first))
}
