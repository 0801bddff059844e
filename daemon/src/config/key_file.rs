//! The key file of an encrypted store: `storage.key_file`, else `key` in the data folder. Only its owner may read it.
//!
//! Not here: what is done with the keys (the engine).

use crate::config::{self, Config};
use loci_proto::error::Failure;
use loci_proto::paths::Paths;
use std::path::PathBuf;

#[cfg(feature = "encrypted")]
pub use file::{read, write};

/// Returns the path of the key file.
///
/// # Errors
/// `invalid`, naming the key.
pub fn path(paths: &Paths, config: &Config) -> Result<PathBuf, Failure> {
    match &config.storage.key_file {
        Some(path) => config::expand("storage.key_file", path),
        None => Ok(paths.home.join("key")),
    }
}

/// Reads the keys, before a database is opened. Does nothing in a build without encryption.
///
/// # Errors
/// `invalid` if the key file can be read by others, or is no key file.
#[cfg(feature = "encrypted")]
pub fn load(paths: &Paths) -> Result<(), Failure> {
    let config = Config::read(&paths.config)?;
    loci_engine::encryption::keys::use_keys(read(&path(paths, &config)?)?);
    Ok(())
}

/// Does nothing.
///
/// # Errors
/// None.
#[cfg(not(feature = "encrypted"))]
pub fn load(_: &Paths) -> Result<(), Failure> {
    Ok(())
}

#[cfg(feature = "encrypted")]
mod file {
    //! Reads and writes the key file.

    use loci_engine::encryption::keys::KeyRing;
    use loci_proto::error::{Code, Failure};
    use std::fs::{File, OpenOptions};
    use std::io::{ErrorKind, Read, Write};
    use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
    use std::path::Path;

    /// A key file is never longer.
    const MAX_BYTES: u64 = 1 << 20;

    /// Reads a key file; a missing one has no keys.
    ///
    /// # Errors
    /// `invalid` if others can read it, or it is no key file.
    pub fn read(path: &Path) -> Result<KeyRing, Failure> {
        let source = path.display().to_string();
        let opened = OpenOptions::new().read(true).custom_flags(nix::libc::O_NONBLOCK).open(path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(KeyRing { source, ..KeyRing::default() });
            }
            Err(error) => return Err(refused(path, &format!("cannot be read: {error}"))),
        };
        let found = file.metadata().map_err(|error| refused(path, &error.to_string()))?;
        if !found.is_file() {
            return Err(refused(path, "is no regular file"));
        }
        if found.uid() != nix::unistd::geteuid().as_raw() {
            return Err(refused(path, "belongs to another user"));
        }
        if found.mode() & 0o077 != 0 {
            return Err(refused(path, "can be read by other users")
                .hint(format!("Run: chmod 600 {}", path.display())));
        }
        let mut text = String::new();
        file.take(MAX_BYTES)
            .read_to_string(&mut text)
            .map_err(|error| refused(path, &format!("cannot be read: {error}")))?;
        KeyRing::parse(&text, &source)
    }

    /// Writes a key file, whole or not at all, on the disk before it returns.
    ///
    /// # Errors
    /// `storage_failed`.
    pub fn write(path: &Path, ring: &KeyRing) -> Result<(), Failure> {
        // A link stays one.
        let path = loci_proto::paths::canonical(path);
        let mut new = path.clone().into_os_string();
        new.push(".new");
        let write = || {
            let _ = std::fs::remove_file(&new);
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(ring.text().as_bytes())?;
            file.sync_all()?;
            std::fs::rename(&new, &path)?;
            File::open(path.parent().unwrap_or(Path::new("/")))?.sync_all()
        };
        write().map_err(|error: std::io::Error| {
            let message = format!("the key file {} cannot be written: {error}", path.display());
            Failure::new(Code::StorageFailed, message)
                .hint("Make its folder writable, then run the command again: it goes on")
        })
    }

    fn refused(path: &Path, fault: &str) -> Failure {
        Failure::invalid("storage.key_file", format!("{} {fault}", path.display()))
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::os::unix::fs::PermissionsExt;

        #[test]
        fn a_key_file_that_others_can_read_is_refused() {
            let folder = tempfile::tempdir().expect("the folder is created");
            let path = folder.path().join("key");
            let missing = read(&path).expect("no file has no keys");
            assert_eq!(missing.current, None);
            write(&path, &missing).expect("it is written");
            assert_eq!(path.metadata().expect("it exists").mode() & 0o777, 0o600);
            assert_eq!(read(&path).expect("it is read"), missing);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640))
                .expect("is set");
            let failure = read(&path).expect_err("it is refused");
            assert!(failure.hint.is_some_and(|hint| hint.contains("chmod 600")));
        }
    }
}
