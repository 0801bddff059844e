//! The disk of the database: free space, whether it can be written, and the reserve that makes room on a full disk.
//!
//! Not here: what is reported about it (`storage_health`).

use loci_proto::error::StorageFault;
use nix::errno::Errno;
use nix::fcntl::OFlag;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Size of the reserve, in bytes.
pub const RESERVE_BYTES: u64 = 4 << 20;
/// Bytes that must remain free beside a reserve that is created or completed by housekeeping.
pub const KEPT_FREE: u64 = 4 << 20;
/// A reserve is not made smaller than this, in bytes.
const MIN_RESERVE_BYTES: u64 = 64 << 10;
/// Bytes that [`probe`] writes: more than SQLite needs to open a database and to store a memory.
const PROBE_BYTES: usize = 256 << 10;

/// Returns the number of bytes that this user may still write beside a file; `None` if the system does not say.
#[must_use]
pub fn free_bytes(database: &Path) -> Option<u64> {
    let stats = nix::sys::statvfs::statvfs(folder(database)).ok()?;
    Some(to_u64(stats.blocks_available()).saturating_mul(to_u64(stats.fragment_size())))
}

/// Converts a block count, whose integer type differs between systems.
fn to_u64(number: impl Into<u64>) -> u64 {
    number.into()
}

fn folder(database: &Path) -> &Path {
    database.parent().unwrap_or(Path::new("/"))
}

/// Writes a temporary file beside the database, to find out why the database cannot be written; `None` if it can.
#[must_use]
pub fn probe(database: &Path) -> Option<StorageFault> {
    let written = tempfile::tempfile_in(folder(database))
        .and_then(|mut file| file.write_all(&vec![0; PROBE_BYTES]));
    written.err().map(|error| fault_of(&error))
}

/// Returns whether this user may not write to the folder of the database. Unlike [`probe`], writes nothing.
#[must_use]
pub fn is_read_only(database: &Path) -> bool {
    let access = nix::unistd::access(folder(database), nix::unistd::AccessFlags::W_OK);
    matches!(access, Err(Errno::EROFS | Errno::EACCES))
}

fn fault_of(error: &io::Error) -> StorageFault {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StorageFault::Full,
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            StorageFault::ReadOnly
        }
        _ => StorageFault::Io,
    }
}

/// The file `memory.db-reserve`: space that is given up on a full disk, so that a memory can be forgotten and the store be closed.
#[derive(Debug)]
pub struct Reserve {
    path: PathBuf,
}

impl Reserve {
    /// Returns the reserve of a database, which may not exist yet.
    #[must_use]
    pub fn of(database: &Path) -> Self {
        let mut name = database.file_name().unwrap_or_default().to_os_string();
        name.push("-reserve");
        Self { path: database.with_file_name(name) }
    }

    /// Deletes the reserve; returns whether that made room.
    #[must_use]
    pub fn release(&self) -> bool {
        let size = self.size();
        std::fs::remove_file(&self.path).is_ok() && size > 0
    }

    /// Creates or completes the reserve, if `kept_free` bytes remain free beside it.
    pub fn fill(&self, kept_free: u64) {
        let size = self.size();
        let missing = RESERVE_BYTES.saturating_sub(size);
        if missing > 0 && free_bytes(&self.path).is_some_and(|free| free >= missing + kept_free) {
            self.grow(size, RESERVE_BYTES);
        }
    }

    /// Takes the space that was released and not used: the whole reserve, or as much as there is room for.
    pub fn refill(&self) {
        let size = self.size();
        let mut target = RESERVE_BYTES.min(size + free_bytes(&self.path).unwrap_or(0));
        while target >= size + MIN_RESERVE_BYTES && !self.grow(size, target) {
            target = size + (target - size) / 2;
        }
    }

    fn size(&self) -> u64 {
        let metadata = std::fs::symlink_metadata(&self.path);
        metadata.ok().filter(std::fs::Metadata::is_file).map_or(0, |metadata| metadata.len())
    }

    /// Returns false if there is no room; the reserve then has its previous size.
    fn grow(&self, from: u64, to: u64) -> bool {
        let opened = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
            .open(&self.path);
        let Ok(file) = opened else { return false };
        let grown = allocate(&file, from, to).is_ok();
        if !grown {
            // The rest of the reserve is unaffected if this fails too.
            let _ = file.set_len(from);
        }
        grown
    }
}

/// Reserves the blocks of a range of a file; writes zeros where the system has no call for that.
fn allocate(file: &File, from: u64, to: u64) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        let (start, length) = (i64::try_from(from), i64::try_from(to - from));
        if let (Ok(start), Ok(length)) = (start, length) {
            match nix::fcntl::posix_fallocate(file, start, length) {
                Ok(()) => return Ok(()),
                Err(Errno::EOPNOTSUPP | Errno::EINVAL | Errno::ENOSYS) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }
    let zeros = vec![0; 64 << 10];
    let mut at = from;
    while at < to {
        let length = usize::try_from(to - at).unwrap_or(zeros.len()).min(zeros.len());
        file.write_all_at(&zeros[..length], at)?;
        at += length as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_reserve_occupies_its_blocks_and_is_private() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let reserve = Reserve::of(&folder.path().join("memory.db"));
        assert!(!reserve.release(), "there is none yet");
        reserve.fill(u64::MAX - RESERVE_BYTES);
        assert!(!reserve.path.exists(), "no disk has so much room");
        reserve.fill(0);
        let metadata = reserve.path.metadata().expect("the reserve exists");
        assert_eq!((metadata.len(), metadata.mode() & 0o777), (RESERVE_BYTES, 0o600));
        assert!(metadata.blocks() * 512 >= RESERVE_BYTES, "the file has no holes");
        assert!(reserve.release() && !reserve.path.exists());
    }

    #[test]
    fn a_link_in_place_of_the_reserve_leads_nowhere() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let target = folder.path().join("letter");
        std::fs::write(&target, "Dear Anna").expect("the file is written");
        let reserve = Reserve::of(&folder.path().join("memory.db"));
        std::os::unix::fs::symlink(&target, &reserve.path).expect("the link is created");
        reserve.fill(0);
        reserve.refill();
        assert!(!reserve.release(), "the link alone is removed");
        assert_eq!(std::fs::read(&target).expect("the file is read"), b"Dear Anna");
    }
}
