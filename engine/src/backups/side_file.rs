//! Opens the small files next to the backups. A link, a pipe or a folder in the place of one is
//! refused and never waited for.
//!
//! Not here: what the files contain (`forgotten_ids`, `redactions`).

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Opens a file to add lines, and creates it if it does not exist.
///
/// # Errors
/// When it is no regular file, or cannot be opened.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    regular(OpenOptions::new().create(true).append(true).mode(0o600), path)
}

/// Returns the bytes of a file; `None` if it does not exist.
///
/// # Errors
/// When it is no regular file, or cannot be read.
pub(crate) fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    match regular(OpenOptions::new().read(true), path) {
        Ok(mut file) => file.read_to_end(&mut bytes).map(|_| Some(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    // Opening a pipe does not wait for its other end.
    let file = options.custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "is no regular file; move it away"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_a_link_and_a_folder_are_refused_at_once() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = |name: &str| folder.path().join(name);
        assert_eq!(read(&path("missing")).expect("it is read"), None);
        nix::unistd::mkfifo(&path("pipe"), nix::sys::stat::Mode::S_IRWXU).expect("is made");
        std::os::unix::fs::symlink(path("missing"), path("link")).expect("is made");
        std::fs::create_dir(path("folder")).expect("is made");
        for name in ["pipe", "link", "folder"] {
            assert!(read(&path(name)).is_err(), "{name}");
            assert!(append(&path(name)).is_err(), "{name}");
        }
        assert!(!path("missing").exists());
    }
}
