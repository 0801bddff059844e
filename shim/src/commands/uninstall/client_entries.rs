//! The entries that `loci setup` has written into the configuration of clients, as `loci uninstall` reports them.

use crate::output::Problem;
use crate::setup::environment::Environment;
use crate::setup::lock::SetupLock;
use crate::setup::manifest::Manifest;
use crate::setup::plan;
use crate::setup::uninstall::remove_everything;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// A file of a client, and what was done to it.
#[derive(Debug, Serialize)]
pub struct ClientFile {
    path: PathBuf,
    done: Vec<String>,
}

/// What became of the clients' entries.
#[derive(Debug, Default)]
pub struct ClientEntries {
    /// The files that were changed or deleted.
    pub files: Vec<ClientFile>,
    /// What was left as it is, and why.
    pub left: Vec<String>,
}

impl ClientFile {
    /// Returns the file with what was done to it in one line.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{}: {}", self.path.display(), self.done.join(", "))
    }
}

/// Keeps other commands from changing clients' files; `None` if the user's home folder is unknown.
///
/// # Errors
/// Another command is changing them.
pub fn lock() -> Result<Option<SetupLock>, Problem> {
    Environment::of_process().map(|environment| SetupLock::take(&environment.home)).transpose()
}

/// Returns what [`remove_client_entries`] would do now. `home` is the data folder.
///
/// # Errors
/// The record of what was written cannot be read.
pub fn plan_client_entries(home: &Path) -> Result<ClientEntries, Problem> {
    let plan = plan::take_down(&Manifest::read(home)?, None, None, false);
    let notes = plan.notes.into_iter().map(|(_, note)| note);
    let problems = plan.problems.into_iter().map(|(_, problem)| problem.message());
    let files =
        plan.changes.into_iter().map(|change| ClientFile { path: change.path, done: change.words });
    Ok(ClientEntries { files: files.collect(), left: notes.chain(problems).collect() })
}

/// Removes the entries of loci from all clients.
///
/// # Errors
/// The record of what was written cannot be read.
pub fn remove_client_entries(home: &Path) -> Result<ClientEntries, Problem> {
    let removal = remove_everything(home, false)?;
    let files = removal.done.into_iter().map(|(path, done)| ClientFile { path, done });
    Ok(ClientEntries { files: files.collect(), left: removal.left })
}
