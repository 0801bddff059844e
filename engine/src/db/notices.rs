//! Lasting notices to the user in `meta`: what happened to the store, kept until a person dismisses it.
//!
//! Key `notices`, a JSON array of `{"text": "…", "at": milliseconds}`. Not here: warnings that end by
//! themselves (the daemon's `storage_health`).

use crate::db::health;
use crate::error::Result;
use crate::model::time::Timestamp;
use rusqlite::Connection;
use serde::{Deserialize, Serialize};

/// Maximum number of notices; further ones replace the oldest.
const MAX_NOTICES: usize = 20;
const KEY: &str = "notices";

/// A lasting notice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notice {
    /// One or two sentences: what happened, and the next step.
    pub text: String,
    /// When it happened, in milliseconds since 1970.
    pub at: Timestamp,
}

/// Returns the notices, oldest first. Unreadable ones are none.
pub(crate) fn all(conn: &Connection) -> Result<Vec<Notice>> {
    let stored = health::meta(conn, KEY)?;
    Ok(stored.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Adds a notice, unless one with this text is there already.
pub(crate) fn add(conn: &Connection, text: &str, now: Timestamp) -> Result<()> {
    let mut notices = all(conn)?;
    if notices.iter().any(|notice| notice.text == text) {
        return Ok(());
    }
    notices.push(Notice { text: text.to_owned(), at: now });
    let newest = &notices[notices.len().saturating_sub(MAX_NOTICES)..];
    let text = serde_json::to_string(newest).map_err(|error| {
        loci_proto::error::Failure::new(loci_proto::error::Code::Internal, error.to_string())
    })?;
    health::set_meta(conn, KEY, &text)
}

/// Removes all notices; returns how many there were.
pub(crate) fn dismiss(conn: &Connection) -> Result<usize> {
    let count = all(conn)?.len();
    health::remove_meta(conn, KEY)?;
    Ok(count)
}
