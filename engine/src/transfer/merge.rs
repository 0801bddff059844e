//! Merges two versions of one memory. Pure and symmetric, so that two stores that import from each
//! other have the same memories afterwards.
//!
//! The status is that of the version whose status changed later, the content that of the version
//! that was updated later. Of counts and access times the larger is used, of creation times the
//! earlier.

use crate::transfer::record::MemoryLine;

/// Returns the merged memory.
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
        importance: local.importance.max(imported.importance),
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

/// Returns the fields other than the content that an edit can change, as text. They decide between
/// versions with equal times and contents.
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
        "candidate" => 1,
        "rejected" => 2,
        "compacted" => 3,
        "superseded" => 4,
        _ => 5,
    }
}
