//! Merges two versions of one memory. Pure and symmetric, so that two stores that import from each
//! other end with the same memories.
//!
//! The status comes from the version whose status changed later, the content from the version that
//! was updated later. Counts take the larger number.

use crate::transfer::record::MemoryLine;

/// Returns the memory that two versions of it result in.
pub(crate) fn merge(local: &MemoryLine, imported: &MemoryLine) -> MemoryLine {
    let content = later(local, imported, |m| (m.updated_at, m.content.clone(), details(m)));
    let status = later(local, imported, |m| {
        (m.status_at, status_rank(&m.status), m.superseded_by.clone(), m.forgotten_reason.clone())
    });
    let confidence = later(local, imported, |m| (m.confidence_at, m.confidence.get().to_bits()));
    MemoryLine {
        status: status.status.clone(),
        status_at: status.status_at,
        superseded_by: status.superseded_by.clone(),
        forgotten_reason: status.forgotten_reason.clone(),
        confidence: confidence.confidence,
        confidence_at: confidence.confidence_at,
        access_count: local.access_count.max(imported.access_count),
        last_accessed: local.last_accessed.max(imported.last_accessed),
        boosted_at: local.boosted_at.max(imported.boosted_at),
        created_at: local.created_at.min(imported.created_at),
        ..content.clone()
    }
}

/// Returns the version with the greater key.
fn later<'a, K: PartialOrd>(
    local: &'a MemoryLine,
    imported: &'a MemoryLine,
    key: impl Fn(&MemoryLine) -> K,
) -> &'a MemoryLine {
    if key(imported) > key(local) { imported } else { local }
}

/// Returns all other fields that an edit can change, as text: a total order for versions with equal
/// times.
fn details(memory: &MemoryLine) -> String {
    let fields = (
        memory.kind,
        memory.scope,
        &memory.group,
        memory.pinned,
        memory.expires_at,
        &memory.metadata,
    );
    serde_json::to_string(&fields).unwrap_or_default()
}

/// Ranks statuses by how much they hide a memory. With equal times the higher rank wins, so that an
/// import never makes a hidden memory active again.
fn status_rank(status: &str) -> u8 {
    match status {
        "active" => 0,
        "compacted" => 1,
        "superseded" => 2,
        _ => 3,
    }
}
