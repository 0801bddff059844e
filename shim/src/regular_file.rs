//! Reads a file of a client that may have been replaced by something else: a pipe is not waited for, and a huge file is not read.

use nix::libc;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Maximum size; the daemon keeps no larger memory file than 1 MiB.
const MAX_BYTES: u64 = 4 << 20;

/// Reads a regular file.
///
/// # Errors
/// It does not exist, is not a regular file, is too large, or cannot be read.
pub fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(io::Error::other("it has more than 4 MiB"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_and_a_folder_are_not_files() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let pipe = folder.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRWXU).expect("the pipe is made");
        assert!(read(&pipe).is_err() && read(folder.path()).is_err());
        let path = folder.path().join("a.md");
        std::fs::write(&path, "one").expect("the file is written");
        assert_eq!(read(&path).expect("the file is read"), b"one");
        std::fs::write(&path, vec![b'x'; (4 << 20) + 1]).expect("the file is written");
        assert!(read(&path).is_err_and(|error| error.to_string().contains("4 MiB")));
    }
}
