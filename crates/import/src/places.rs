//! Where the files of a person are.

use std::path::PathBuf;

/// Where a person's files are.
#[derive(Debug, Clone)]
pub struct Places {
    /// The home folder.
    pub home: PathBuf,
    /// The working directory.
    pub working_dir: PathBuf,
}
