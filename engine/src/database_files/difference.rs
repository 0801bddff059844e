//! Says how a database differs from the one that was last served in its place.
//!
//! Not here: what is done about it (`recognition`).

use crate::database_files::identity::{self, Identity, StoredIdentity};
use crate::db::probe::FileState;
use std::path::Path;

/// Says how the state that is served differs from the one that was known, if it does.
pub(crate) fn difference(path: &Path, known: &Identity, served: &FileState) -> Option<String> {
    let file = name(path);
    if served.uuid != known.uuid {
        return Some(format!(
            "Another database was put in the place of {file}: it has {}, the one before had {}",
            count(served.memories, "memory"),
            count(known.memories, "memory"),
        ));
    }
    (served.last_change < known.last_change).then(|| {
        missing(
            path,
            known,
            served,
            "an older copy was put back, or the write-ahead log was removed",
        )
    })
}

/// Says which changes are missing, and why.
pub(crate) fn missing(path: &Path, known: &Identity, served: &FileState, reason: &str) -> String {
    let missing = known.last_change - served.last_change;
    format!(
        "Missing from {}: {} ({reason}); it has {}, up to change {} of {}",
        name(path),
        count(usize::try_from(missing).unwrap_or(0), "acknowledged change"),
        count(served.memories, "memory"),
        served.last_change,
        known.last_change,
    )
}

/// Says how a database differs from the one that was last served in its place, if it does.
pub(crate) fn difference_from_last(path: &Path, found: &FileState) -> Option<String> {
    match identity::read(path) {
        StoredIdentity::Known(known) => difference(path, &known, found),
        StoredIdentity::Missing | StoredIdentity::Unreadable => None,
    }
}

/// Returns the name of the file for a sentence.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Formats a number of things.
pub(crate) fn count(number: usize, of: &str) -> String {
    match (number, of) {
        (1, of) => format!("1 {of}"),
        (number, "memory") => format!("{number} memories"),
        (number, of) => format!("{number} {of}s"),
    }
}
