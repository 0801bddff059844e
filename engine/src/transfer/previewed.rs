//! Says what becomes of one memory of an export, for a preview.

use crate::db::groups;
use crate::error::Result;
use crate::transfer::record::MemoryLine;
use loci_proto::requests::import::{ImportChange, ImportPreview, PreviewedMemory};
use rusqlite::Connection;

/// Characters of a text that are shown.
const EXCERPT_CHARS: usize = 200;

/// Returns that a memory is left out, or stays as it is here.
pub(super) fn left_out(line: &MemoryLine, reason: &str) -> PreviewedMemory {
    PreviewedMemory { reason: Some(reason.to_owned()), ..of(line, ImportChange::LeftOut) }
}

/// Returns the preview, with the names of the projects.
pub(super) fn of_previewed(
    conn: &Connection,
    memories: Vec<PreviewedMemory>,
) -> Result<ImportPreview> {
    let mut preview = ImportPreview { memories, ..ImportPreview::default() };
    for id in preview.memories.iter().filter_map(|memory| memory.group.clone()) {
        if !preview.projects.contains_key(&id)
            && let Some(name) = groups::name(conn, &id)?
        {
            preview.projects.insert(id, name);
        }
    }
    Ok(preview)
}

fn of(line: &MemoryLine, change: ImportChange) -> PreviewedMemory {
    let text = Some(excerpt(&line.content));
    let (group, flags) = (line.group.clone(), line.flags.clone());
    PreviewedMemory { change, reason: None, text, before: None, group, standing: None, flags }
}

/// Returns what becomes of a memory: as it was here, and as it is now.
pub(super) fn previewed(
    line: &MemoryLine,
    before: Option<&MemoryLine>,
    after: Option<&MemoryLine>,
) -> PreviewedMemory {
    let (Some(before), Some(after)) = (before, after) else { return of(line, ImportChange::New) };
    if before == after {
        let reason = "its updated_at is not later than that of the stored one";
        return if says_other(line, before) {
            PreviewedMemory { reason: Some(reason.to_owned()), ..of(line, ImportChange::LeftOut) }
        } else {
            of(line, ImportChange::Unchanged)
        };
    }
    let changed = of(after, ImportChange::Changed);
    if after.content != before.content {
        return PreviewedMemory { before: Some(excerpt(&before.content)), ..changed };
    }
    let mut reasons = Vec::new();
    if after.status != before.status {
        reasons.push(format!("{} -> {}", before.status, after.status));
    }
    let differs = [
        ("project", after.group != before.group),
        ("scope", after.scope != before.scope),
        ("type", after.kind != before.kind),
        ("pinned", after.pinned != before.pinned),
        ("confidence", after.confidence != before.confidence),
        ("expiry", after.expires_at != before.expires_at),
        ("metadata", after.metadata != before.metadata),
        ("trust", after.trust != before.trust),
    ];
    let fields: Vec<&str> =
        differs.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
    if !fields.is_empty() {
        reasons.push(format!("another {}", fields.join(", ")));
    }
    let reason = if reasons.is_empty() { "other fields".to_owned() } else { reasons.join("; ") };
    PreviewedMemory { reason: Some(reason), ..changed }
}

/// Returns whether a line has another text, or another field that an edit changes.
fn says_other(line: &MemoryLine, stored: &MemoryLine) -> bool {
    line.content != stored.content
        || line.kind != stored.kind
        || line.scope != stored.scope
        || line.pinned != stored.pinned
        || line.expires_at != stored.expires_at
        || line.metadata != stored.metadata
}

/// Returns the beginning of a text.
fn excerpt(text: &str) -> String {
    let mut shown: String = text.chars().take(EXCERPT_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}
