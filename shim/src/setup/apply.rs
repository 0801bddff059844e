//! Makes the changes of a plan: the manifest is written before each file, so that a crash leaves nothing that is not recorded.

use super::change::Change;
use super::files;
use super::manifest::Manifest;
use crate::output::Problem;
use std::path::Path;

/// Makes one change. `home` is the data folder.
///
/// # Errors
/// The file was changed since the plan was shown, or it or the manifest cannot be written.
pub fn apply(change: Change, manifest: &mut Manifest, home: &Path) -> Result<(), Problem> {
    let Change { path, before, after, mut record, .. } = change;
    if files::read(&path)? != before {
        let message = format!("{} was changed while the plan was shown", path.display());
        return Err(Problem::new(message).hint("Nothing was written to it. Run the command again"));
    }
    let earlier = manifest.file(&path).cloned();
    let folders = record.folders.clone();
    if record.entries.is_empty() {
        write(&path, before.as_deref(), after.as_deref(), &folders)?;
        manifest.forget(&path);
        return manifest.write(home);
    }
    manifest.put(record.clone());
    manifest.write(home)?;
    match write(&path, before.as_deref(), after.as_deref(), &folders) {
        Ok(created) if created.is_empty() => Ok(()),
        Ok(created) => {
            record.folders = created;
            manifest.put(record);
            manifest.write(home)
        }
        Err(problem) => {
            manifest.forget(&path);
            if let Some(earlier) = earlier {
                manifest.put(earlier);
            }
            manifest.write(home)?;
            Err(problem)
        }
    }
}

fn write(
    path: &Path,
    before: Option<&str>,
    after: Option<&str>,
    folders: &[std::path::PathBuf],
) -> Result<Vec<std::path::PathBuf>, Problem> {
    match after {
        None => files::delete(path, folders).map(|()| Vec::new()),
        Some(text) if before == Some(text) => Ok(Vec::new()),
        Some(text) => files::write(path, text),
    }
}
