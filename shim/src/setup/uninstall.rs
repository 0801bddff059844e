//! Removes everything that setup wrote, for `loci uninstall`.

use super::apply::apply;
use super::manifest::Manifest;
use super::plan;
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

/// Removes the entries of all clients, of the user and of projects. `home` is the data folder; with `force`, entries that somebody has
/// changed go too. A file that cannot be edited is left and named.
///
/// # Errors
/// The manifest cannot be read.
pub fn remove_everything(home: &Path, force: bool) -> Result<Removal, Problem> {
    let mut manifest = Manifest::read(home)?;
    let plan = plan::take_down(&manifest, None, None, force);
    let mut removal = Removal::default();
    removal.left.extend(plan.notes.into_iter().map(|(_, note)| note));
    removal.left.extend(plan.problems.into_iter().map(|(_, problem)| problem.message()));
    for change in plan.changes {
        let (path, words) = (change.path.clone(), change.words.clone());
        match apply(change, &mut manifest, home) {
            Ok(()) => removal.done.push((path, words)),
            Err(problem) => removal.left.push(problem.message()),
        }
    }
    Ok(removal)
}
