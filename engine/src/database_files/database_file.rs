//! The database file itself: its lock, and whether it is still the file that has the name.
//!
//! The lock belongs to the file, not to its name, so a hard link, a bind mount or a removed lock
//! file does not let a second daemon in. The handle stays open as long as SQLite's connections:
//! closing any descriptor of the file would release SQLite's own locks. Not here: its content
//! (`db`), its checksums (`page_sums`).

use crate::database_files::identity::FileStamp;
use crate::encryption::{header, readable};
use crate::error::{Error, Result};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The first bytes of every SQLite database.
const SQLITE_MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Where a database header has its application id.
const APPLICATION_ID_AT: std::ops::Range<usize> = 68..72;

/// The database file, locked for this process.
#[derive(Debug)]
pub(crate) struct DatabaseFile {
    file: Flock<File>,
    path: PathBuf,
}

impl DatabaseFile {
    /// Opens and locks an existing file; `None` if there is none.
    ///
    /// # Errors
    /// `InUse` if another process has locked it; `NotOurs` if it is no regular file or no database;
    /// `File` otherwise. The file is unchanged then.
    pub fn open(path: &Path) -> Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        match options.open(path) {
            Ok(file) => {
                let this = Self::lock(file, path)?;
                this.make_private()?;
                Ok(Some(this))
            }
            Err(fault) if fault.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::File { path: path.to_path_buf(), source }),
        }
    }

    /// Opens and locks a file that cannot be written.
    ///
    /// # Errors
    /// As [`DatabaseFile::open`]; `File` if there is none.
    pub fn open_read_only(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
        let file = options.open(path);
        Self::lock(file.map_err(|source| Error::File { path: path.to_path_buf(), source })?, path)
    }

    /// Creates an empty file that only its owner can read, and locks it.
    ///
    /// # Errors
    /// As [`DatabaseFile::open`]; `File` if there is a file already.
    pub fn create(path: &Path) -> Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = options
            .custom_flags(libc::O_NOFOLLOW)
            .open(path)
            .map_err(|source| Error::File { path: path.to_path_buf(), source })?;
        Self::lock(file, path)
    }

    fn lock(file: File, path: &Path) -> Result<Self> {
        let failed = |source| Error::File { path: path.to_path_buf(), source };
        let found = file.metadata().map_err(failed)?;
        if !found.is_file() {
            let reason = "it is not a regular file".to_owned();
            return Err(Error::NotOurs { path: path.to_path_buf(), reason });
        }
        let file =
            Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(
                |(_, errno)| match errno {
                    Errno::EWOULDBLOCK => Error::InUse { path: path.to_path_buf() },
                    errno => failed(errno.into()),
                },
            )?;
        let this = Self { file, path: path.to_path_buf() };
        this.check_header()?;
        Ok(this)
    }

    /// Removes the permissions of other users.
    fn make_private(&self) -> Result<()> {
        let failed = |source| Error::File { path: self.path.clone(), source };
        let found = self.file.metadata().map_err(failed)?;
        // SQLite creates its log with the mode of the database file, so an open database would make
        // both readable by others.
        let closed = Permissions::from_mode(found.permissions().mode() & !0o077);
        if found.permissions() != closed {
            self.file.set_permissions(closed).map_err(failed)?;
        }
        Ok(())
    }

    /// Refuses a file that is not empty and not a database that could be ours.
    fn check_header(&self) -> Result<()> {
        let mut header = [0; 100];
        let not_ours = |reason: String| Err(Error::NotOurs { path: self.path.clone(), reason });
        let read = self.file.read_at(&mut header, 0);
        if let Some(id) = header::key_id_in(&header) {
            return readable::require_key(&self.path, id);
        }
        match read {
            Ok(0) => Ok(()),
            Ok(read) if read == header.len() && header.starts_with(SQLITE_MAGIC) => {
                let id = &header[APPLICATION_ID_AT];
                match u32::from_be_bytes([id[0], id[1], id[2], id[3]]) {
                    // Zero: the first page with our id may still be in the log.
                    0 | crate::db::migrate::APPLICATION_ID => Ok(()),
                    other => not_ours(format!("its application id is {other:#x}")),
                }
            }
            Ok(_) if header.iter().all(|byte| *byte == 0) => Err(Error::Damaged {
                path: self.path.clone(),
                what: "its first page is empty".to_owned(),
            }),
            Ok(_) => not_ours(format!(
                "it is no SQLite database: it begins with {:?}",
                String::from_utf8_lossy(&header[..16])
            )),
            Err(source) => Err(Error::File { path: self.path.clone(), source }),
        }
    }

    /// Returns the length of the file in bytes.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    /// Reads bytes at an offset.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    /// Checks that the file still has its name and that nothing was written to it since `expected`.
    ///
    /// # Errors
    /// `Lost` if it was removed, moved, replaced, cut or changed.
    pub fn check_in_place(&self, expected: &FileStamp) -> Result<()> {
        let what = match FileStamp::of(&self.path) {
            Some(found) if found == *expected => return Ok(()),
            Some(found) if !found.is_same_file(expected) => "was replaced",
            Some(found) if found.bytes() < expected.bytes() => "was cut",
            Some(_) => "was changed by another program",
            None => "was removed or moved",
        };
        let what = format!("{what} while locid was running");
        Err(Error::Lost { path: self.path.clone(), what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(folder: &Path) -> DatabaseFile {
        DatabaseFile::create(&folder.join("memory.db")).expect("is created")
    }

    #[test]
    fn a_hard_link_is_the_same_locked_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = empty(folder.path());
        let link = folder.path().join("link.db");
        std::fs::hard_link(folder.path().join("memory.db"), &link).expect("is linked");
        let refused = DatabaseFile::open(&link).expect_err("it is locked");
        assert!(matches!(refused, Error::InUse { .. }), "{refused}");
        drop(held);
        assert!(DatabaseFile::open(&link).expect("it is free").is_some());
    }

    #[test]
    fn links_devices_and_foreign_files_are_refused_unchanged() {
        let folder = tempfile::tempdir().expect("a folder");
        let letter = folder.path().join("letter.txt");
        std::fs::write(&letter, "a letter").expect("is written");
        std::fs::set_permissions(&letter, Permissions::from_mode(0o644)).expect("is set");
        let link = folder.path().join("memory.db");
        std::os::unix::fs::symlink(&letter, &link).expect("is linked");
        for path in [&letter, &link, Path::new("/dev/null")] {
            assert!(DatabaseFile::open(path).is_err(), "{} is refused", path.display());
        }
        let mode = std::fs::metadata(&letter).expect("is there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o644, "its mode is unchanged");
    }

    #[test]
    fn a_removed_replaced_or_cut_file_is_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, file) = (folder.path().join("memory.db"), empty(folder.path()));
        std::fs::write(&path, [0; 100]).expect("is written");
        let expected = FileStamp::of(&path).expect("the file exists");
        assert!(file.check_in_place(&expected).is_ok());
        let said =
            |file: &DatabaseFile| file.check_in_place(&expected).expect_err("lost").to_string();
        std::fs::write(&path, [1; 100]).expect("is overwritten");
        assert!(said(&file).contains("was changed"));
        std::fs::write(&path, [0; 99]).expect("is cut");
        assert!(said(&file).contains("was cut"));
        std::fs::rename(&path, folder.path().join("moved.db")).expect("is moved");
        assert!(said(&file).contains("was removed or moved"));
        std::fs::write(&path, [0; 100]).expect("another file has the name");
        assert!(said(&file).contains("was replaced"));
    }
}
