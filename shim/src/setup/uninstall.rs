//! Removes everything that setup wrote, for `loci uninstall`.

use super::apply::apply;
use super::environment::Environment;
use super::files;
use super::manifest::Manifest;
use super::plan::{self, Plan};
use super::unrecorded::{self, Search};
use crate::output::Problem;
use std::path::{Path, PathBuf};

/// What was removed and what is left.
#[derive(Debug, Default)]
pub struct Removal {
    /// The files that were changed or deleted, with what was done.
    pub done: Vec<(PathBuf, Vec<String>)>,
    /// What was left as it is, and why.
    pub left: Vec<String>,
}

/// Removes the entries of all clients, of the user and of projects; one that somebody has changed stays and is named. `home` is the data
/// folder. A file that cannot be edited is left and named.
///
/// # Errors
/// The manifest cannot be read.
pub fn remove_everything(
    home: &Path,
    environment: &Environment,
    loci: &Path,
) -> Result<Removal, Problem> {
    let mut manifest = Manifest::read(home)?;
    let folders = unrecorded::folders(&manifest, environment, loci);
    files::remove_leftovers(folders.iter().chain([&home.to_path_buf()]));
    let plan = plan_everything(&manifest, environment, loci);
    let mut removal = Removal::default();
    removal.left.extend(plan.notes.into_iter().map(|(_, note)| note));
    removal.left.extend(plan.problems.into_iter().map(|(_, problem)| problem.message()));
    for change in plan.changes {
        match apply(&change, &mut manifest, home) {
            Ok(()) => removal.done.push((change.path, change.words)),
            Err(problem) => removal.left.push(problem.message()),
        }
    }
    Ok(removal)
}

/// Returns what [`remove_everything`] would change.
#[must_use]
pub fn plan_everything(manifest: &Manifest, environment: &Environment, loci: &Path) -> Plan {
    let search = Search { environment, loci, client: None, scope: None, force: false };
    plan::take_down(manifest, &search)
}
