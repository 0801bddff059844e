//! Makes the changes of a plan: the manifest is written before each file, so that a crash leaves nothing that is not recorded.

use super::change::Change;
use super::files;
use super::manifest::Manifest;
use crate::output::Problem;
use std::path::{Path, PathBuf};

/// Makes one change. `home` is the data folder.
///
/// # Errors
/// The file was changed since the plan was shown, or it or the manifest cannot be written.
pub fn apply(change: &Change, manifest: &mut Manifest, home: &Path) -> Result<(), Problem> {
    let path = &change.path;
    let mut record = change.record.clone();
    files::check_unchanged(path, change.before.as_deref())?;
    let earlier = manifest.file(path).cloned();
    if record.entries.is_empty() {
        write(change)?;
        manifest.forget(path);
        return manifest.write(home);
    }
    manifest.put(record.clone());
    manifest.write(home)?;
    match write(change) {
        Ok(created) if created.is_empty() => Ok(()),
        Ok(created) => {
            record.folders = created;
            manifest.put(record);
            manifest.write(home)
        }
        Err(problem) => {
            manifest.forget(path);
            if let Some(earlier) = earlier {
                manifest.put(earlier);
            }
            manifest.write(home)?;
            Err(problem)
        }
    }
}

/// Writes or deletes the file; returns the folders that were created.
fn write(change: &Change) -> Result<Vec<PathBuf>, Problem> {
    let (path, before) = (&change.path, change.before.as_deref());
    match change.after.as_deref() {
        None => {
            files::check_unchanged(path, before)?;
            files::delete(path, &change.record.folders).map(|()| Vec::new())
        }
        Some(text) if before == Some(text) => Ok(Vec::new()),
        Some(text) => files::replace(path, before, text),
    }
}
