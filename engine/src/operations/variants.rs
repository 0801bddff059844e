//! Makes another wording of a memory a memory of its own again.
//!
//! Not here: which wordings are the same (`duplicate`).

use crate::db::log::Operation;
use crate::db::memories::NewMemory;
use crate::duplicate::content_hash::hash;
use crate::error::Result;
use crate::flags;
use crate::model::encoding::TextEncodings;
use crate::model::memory::Memory;
use crate::transaction::change::Change;
use crate::transaction::mentions;
use loci_proto::memory::{Confidence, MemoryId, Origin, Scope, Trust};
use serde_json::json;

/// Stores a wording of a memory as a memory with the same type, project, scope and metadata. The daemon encodes it later. What a person has
/// confirmed is the memory and not the wording: it has the trust of an agent at most, and the flags of its own text.
///
/// # Errors
/// `Database`.
pub(crate) fn store(change: &mut Change<'_>, of: &Memory, wording: &str) -> Result<MemoryId> {
    let id = MemoryId::from(uuid::Uuid::now_v7());
    let is_import = of.provenance.origin == Some(Origin::Import);
    let most = if is_import { Trust::Import } else { Trust::Agent };
    let mut provenance = of.provenance.clone();
    provenance.trust = provenance.trust.min(most);
    provenance.flags.merge(flags::of_memory(wording, &of.metadata));
    let scope = if provenance.is_gated() { Scope::Group } else { of.scope };
    let new = NewMemory {
        id: &id,
        kind: of.kind,
        content: wording,
        group: of.group.as_deref(),
        scope,
        confidence: Confidence::FULL,
        metadata: &of.metadata,
        hash: &hash(wording),
        expires_at: of.expires_at,
        provenance: &provenance,
        importance: of.anchor.importance,
    };
    let seq = change.insert(&new, &TextEncodings::default())?;
    let details = json!({"type": of.kind, "scope": scope, "wording_of": of.id});
    change.log(Operation::Create, &id, &details)?;
    mentions::renew(change, seq)?;
    Ok(id)
}
