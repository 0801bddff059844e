//! The entries that `loci setup` has written into the configuration of clients, as `loci uninstall` reports them.

use crate::output::Problem;
use crate::setup::environment::{Environment, own_path};
use crate::setup::lock::SetupLock;
use crate::setup::manifest::Manifest;
use crate::setup::uninstall::{plan_everything, remove_everything};
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

fn machine() -> Result<(Environment, PathBuf), Problem> {
    let environment = Environment::of_process().ok_or_else(|| {
        Problem::new("The home folder is unknown").hint("Set HOME to your home folder")
    })?;
    let loci = own_path(&environment)?;
    Ok((environment, loci))
}

/// Returns what [`remove_client_entries`] would do now. `home` is the data folder.
///
/// # Errors
/// The record of what was written cannot be read.
pub fn plan_client_entries(home: &Path) -> Result<ClientEntries, Problem> {
    let (environment, loci) = machine()?;
    let plan = plan_everything(&Manifest::read(home)?, &environment, &loci);
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
    let (environment, loci) = machine()?;
    let removal = remove_everything(home, &environment, &loci)?;
    let files = removal.done.into_iter().map(|(path, done)| ClientFile { path, done });
    Ok(ClientEntries { files: files.collect(), left: removal.left })
}
