//! Opens the files of models and their settings. A named pipe in the place of a file would block its reader for ever, and a device without
//! an end would fill the memory, so only a regular file of a limited size is read.
//!
//! Not here: what the files hold.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Maximum size of a profile, a record of hashes or the counters of an API.
pub(crate) const MAX_TEXT: u64 = 1 << 20;
/// Maximum size of a `tokenizer.json`; that of a large multilingual model has 35 MB.
pub(crate) const MAX_TOKENIZER: u64 = 256 << 20;
/// Maximum size of a graph or of its weights.
pub(crate) const MAX_WEIGHTS: u64 = 16 << 30;

/// Opens a file for reading.
///
/// # Errors
/// The file cannot be opened, is not a regular file, or is larger than `max` bytes.
pub(crate) fn open(path: &Path, max: u64) -> io::Result<File> {
    let refuse = |reason: String| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    let options = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).clone();
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return refuse("it is not a regular file".to_owned());
    }
    if metadata.len() > max {
        return refuse(format!("it has {} bytes; at most {max} are read", metadata.len()));
    }
    Ok(file)
}

/// Reads a whole file.
///
/// # Errors
/// As [`open`].
pub(crate) fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // It may grow after its size was checked.
    open(path, max)?.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a text.
///
/// # Errors
/// As [`open`]; the file is not UTF-8.
pub(crate) fn read_text(path: &Path, max: u64) -> io::Result<String> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read(path, max)?).map_err(invalid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::stat::Mode;

    #[test]
    fn only_a_regular_file_of_a_limited_size_is_read() {
        let folder = tempfile::tempdir().expect("a folder is created");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("text"), "twelve bytes").expect("is written");
        assert_eq!(read_text(&path("text"), 12).expect("is read"), "twelve bytes");
        nix::unistd::mkfifo(&path("pipe"), Mode::S_IRWXU).expect("a pipe is created");
        std::os::unix::fs::symlink("/dev/zero", path("endless")).expect("is linked");
        for (name, max, expected) in [
            ("text", 11, "it has 12 bytes; at most 11 are read"),
            ("pipe", 12, "not a regular file"),
            ("endless", 12, "not a regular file"),
            (".", 12, "not a regular file"),
        ] {
            let refused = read(&path(name), max).expect_err("is refused").to_string();
            assert!(refused.contains(expected), "{name}: {refused}");
        }
        let missing = read(&path("missing"), 12).expect_err("there is none");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }
}
