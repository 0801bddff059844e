//! Writes a damaged memory again, or deletes it. The keyword index has the terms of the text as it
//! was before the damage, so it is built again.

use crate::db::{lexical, memories};
use crate::error::Result;
use crate::model::importance::Importance;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use loci_proto::memory::Origin;
use rusqlite::Connection;
use serde_json::Value;

/// Writes every column of a damaged memory again, with a new text.
pub(crate) fn write(conn: &Connection, memory: &Memory, hash: &[u8], now: Timestamp) -> Result<()> {
    lexical::with_rebuild(conn, || write_columns(conn, memory, hash, now))
}

fn write_columns(conn: &Connection, memory: &Memory, hash: &[u8], now: Timestamp) -> Result<()> {
    let Memory { seq, kind, content, group, scope, status, anchor, metadata, provenance, .. } =
        memory;
    conn.prepare_cached(
        "UPDATE memories SET type = ?2, content = ?3, source_group = ?4, scope = ?5, status = ?6, confidence = ?7, confidence_at = ?8,
           pinned = ?9, created_at = ?10, expires_at = ?11, superseded_by = ?12, metadata = ?13, forgotten_reason = ?14,
           access_count = ?15, last_accessed = ?16, content_hash = ?17, updated_at = ?18, status_at = ?18, boosted_at = NULL,
           origin = ?19, client = ?20, session = ?21, trust = ?22, flags = ?23, echo = ?24, branch = ?25, commit_id = ?26,
           importance = ?27 WHERE seq = ?1",
    )?
    .execute(rusqlite::params![
        seq,
        kind.as_str(),
        content,
        group,
        scope.as_str(),
        status.as_str(),
        anchor.confidence.get(),
        anchor.at.0,
        anchor.pinned,
        memory.created_at.0,
        memory.expires_at.map(|at| at.0),
        memory.superseded_by,
        Value::Object(metadata.clone()).to_string(),
        memory.forgotten_reason,
        memory.access_count,
        memory.last_accessed.map(|at| at.0),
        hash,
        now.0,
        provenance.origin.map(Origin::as_str),
        provenance.client,
        provenance.session,
        provenance.trust.as_str(),
        memories::flags_column(provenance.flags),
        provenance.is_echo,
        provenance.branch,
        provenance.commit,
        anchor.importance.map(Importance::get),
    ])?;
    Ok(())
}

/// Deletes a damaged memory permanently. The keyword index has the terms of the text as it was, so it
/// is built again.
pub(crate) fn delete(conn: &Connection, seq: i64) -> Result<()> {
    lexical::with_rebuild(conn, || memories::delete(conn, seq))
}
