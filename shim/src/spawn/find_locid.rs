//! Where the daemon's binary is: beside our own, else on PATH.

use std::path::{Path, PathBuf};

/// Finds `locid`.
///
/// # Errors
/// In words, when it is nowhere.
pub fn find_locid() -> Result<PathBuf, String> {
    let here = std::env::current_exe().ok();
    // While it runs, our own file may have been replaced by a newer one; its folder is still right.
    let here = here.map(|exe| exe.canonicalize().unwrap_or(exe));
    let beside = here.as_deref().and_then(Path::parent).map(|folder| folder.join("locid"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("locid"));
    let found = beside.into_iter().chain(on_path).find(|binary| binary.is_file());
    found.ok_or_else(|| "locid is neither beside loci nor on PATH; install both".to_owned())
}
