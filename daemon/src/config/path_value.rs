//! A path in the configuration: absolute, or below the home folder. Not here: the keys that have one.

use loci_proto::error::Failure;
use std::path::PathBuf;

/// Replaces a leading `~/` of a configured path by the home folder; refuses any other path that is not absolute.
///
/// # Errors
/// `invalid`, naming the key.
pub fn expand(key: &str, path: &str) -> Result<PathBuf, Failure> {
    let home = || directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    let expanded = match path.strip_prefix("~/") {
        Some(rest) => home().map(|home| home.join(rest)),
        None => Some(PathBuf::from(path)),
    };
    match expanded {
        Some(path) if path.to_string_lossy().chars().any(char::is_control) => {
            Err(Failure::invalid(key, "must not contain control characters"))
        }
        Some(path) if path.is_absolute() => Ok(path),
        _ => Err(Failure::invalid(
            key,
            format!("must be an absolute path or begin with ~/, not {path}"),
        )),
    }
}
