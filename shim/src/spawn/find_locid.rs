//! Finds the daemon's binary: in the folder of `loci`, else on PATH.

use std::path::{Path, PathBuf};

/// Returns the path of `locid`.
///
/// # Errors
/// A message when it is in neither place.
pub fn find_locid() -> Result<PathBuf, String> {
    let our_binary = std::env::current_exe().ok();
    // An update may have replaced our file while we run; its folder stays the same.
    let our_binary = our_binary.map(|exe| exe.canonicalize().unwrap_or(exe));
    let in_our_folder =
        our_binary.as_deref().and_then(Path::parent).map(|folder| folder.join("locid"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("locid"));
    let found = in_our_folder.into_iter().chain(on_path).find(|binary| binary.is_file());
    found.ok_or_else(|| {
        "locid is neither in the folder of loci nor on PATH; install both".to_owned()
    })
}
