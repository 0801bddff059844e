//! Makes another wording of a memory a memory of its own again.
//!
//! Not here: which wordings are the same (`duplicate`).

use crate::db::log::Operation;
use crate::db::memories::NewMemory;
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::model::encoding::TextEncodings;
use crate::model::memory::Memory;
use crate::transaction::change::Change;
use crate::transaction::mentions;
use loci_proto::memory::{Confidence, MemoryId};
use serde_json::json;

/// Stores a wording of a memory as a memory with the same type, project, scope, metadata and provenance. The daemon encodes it later.
///
/// # Errors
/// `Database`.
pub(crate) fn store(change: &mut Change<'_>, of: &Memory, wording: &str) -> Result<MemoryId> {
    let id = MemoryId::from(uuid::Uuid::now_v7());
    let new = NewMemory {
        id: &id,
        kind: of.kind,
        content: wording,
        group: of.group.as_deref(),
        scope: of.scope,
        confidence: Confidence::FULL,
        metadata: &of.metadata,
        hash: &hash(wording),
        expires_at: of.expires_at,
        provenance: &of.provenance,
        importance: of.anchor.importance,
    };
    let seq = change.insert(&new, &TextEncodings::default())?;
    let details = json!({"type": of.kind, "scope": of.scope, "wording_of": of.id});
    change.log(Operation::Create, &id, &details)?;
    mentions::renew(change, seq)?;
    Ok(id)
}
