//! Two accounts of one memory become one. Pure, and the same whichever of the two is there first, so that two machines that import from
//! each other end up alike.
//!
//! Its state (active, replaced, forgotten) is that of the later change of state; what it says is that of the later change; use adds up.

use crate::transfer::record::MemoryLine;

/// What is known of a memory from both accounts.
pub(crate) fn merged(local: &MemoryLine, other: &MemoryLine) -> MemoryLine {
    let says = later(local, other, |m| (m.updated_at, m.content.clone(), details(m)));
    let stands = later(local, other, |m| {
        (m.status_at, rank(&m.status), m.superseded_by.clone(), m.forgotten_reason.clone())
    });
    let sure = later(local, other, |m| (m.confidence_at, m.confidence.get().to_bits()));
    MemoryLine {
        status: stands.status.clone(),
        status_at: stands.status_at,
        superseded_by: stands.superseded_by.clone(),
        forgotten_reason: stands.forgotten_reason.clone(),
        confidence: sure.confidence,
        confidence_at: sure.confidence_at,
        access_count: local.access_count.max(other.access_count),
        last_accessed: local.last_accessed.max(other.last_accessed),
        boosted_at: local.boosted_at.max(other.boosted_at),
        created_at: local.created_at.min(other.created_at),
        ..says.clone()
    }
}

fn later<'a, K: PartialOrd>(
    local: &'a MemoryLine,
    other: &'a MemoryLine,
    key: impl Fn(&MemoryLine) -> K,
) -> &'a MemoryLine {
    if key(other) > key(local) { other } else { local }
}

/// Everything else that a change of a memory may change, as text, so that there is an order even where the moments are equal.
fn details(memory: &MemoryLine) -> String {
    let said = (
        memory.kind,
        memory.scope,
        &memory.group,
        memory.pinned,
        memory.expires_at,
        &memory.metadata,
    );
    serde_json::to_string(&said).unwrap_or_default()
}

/// Of two states of the same moment the one further from being found holds: an import never revives.
fn rank(status: &str) -> u8 {
    match status {
        "active" => 0,
        "compacted" => 1,
        "superseded" => 2,
        _ => 3,
    }
}
