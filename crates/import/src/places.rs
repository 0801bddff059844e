//! The folders and variables of the person whose programs are read.

use std::ffi::OsString;
use std::path::PathBuf;

/// Where programs keep their files.
#[derive(Debug, Clone)]
pub struct Places {
    /// The home folder.
    pub home: PathBuf,
    /// The folder that the command was run in.
    pub working_dir: PathBuf,
    /// Looks up a variable of the environment.
    pub variable: fn(&str) -> Option<OsString>,
}

impl Places {
    /// Returns the folder that a variable names, or the default below the home folder.
    pub(crate) fn folder(&self, variable: &str, default: &str) -> PathBuf {
        let named = (self.variable)(variable).filter(|value| !value.is_empty());
        named.map_or_else(|| self.home.join(default), PathBuf::from)
    }
}
