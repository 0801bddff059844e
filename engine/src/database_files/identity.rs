//! `memory.db-identity`: what the daemon knew of the database when it last answered a call.
//!
//! The database cannot tell that it was emptied, removed, or replaced by an older copy; this file
//! can. It is written in place after each commit, without a sync: it has to be exact after the
//! death of the process, and may lag after a power loss, which [`Identity::boot`] shows. Not here:
//! what is concluded from it (`recognition`).

use crate::database_files::wal_file::Salt;
use crate::database_files::with_suffix;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Bytes of the file.
const FILE_BYTES: usize = 1024;
/// Characters of the checksum at the start of the file.
const SUM_CHARACTERS: usize = 32;
/// Where Linux gives the id of the running boot.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// A database as it was last seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Identity {
    /// The id in the database's `meta` table.
    pub uuid: String,
    /// Whether a daemon had it open.
    pub is_open: bool,
    /// How many checkpoints it had seen, as `meta` counts them.
    pub checkpoints: i64,
    /// The number of the last acknowledged change: a row of `memory_log`.
    pub last_change: i64,
    /// How many memories it had when it was opened or closed.
    pub memories: usize,
    /// The salts of its write-ahead log; `None` if the log was empty.
    pub salt: Option<Salt>,
    /// How many frames of the log were committed.
    pub frames: u32,
    /// How many of these frames were in the database file.
    pub moved: u32,
    /// The database file after the last checkpoint.
    pub file: Option<FileStamp>,
    /// Device and inode of the log.
    pub log: Option<(u64, u64)>,
    /// The boot of the machine in which this was written; empty if unknown.
    pub boot: String,
}

/// Device, inode, size and modification time (seconds, nanoseconds) of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileStamp([i64; 5]);

impl FileStamp {
    /// Returns whether device and inode are equal.
    pub fn is_same_file(&self, other: &Self) -> bool {
        self.0[..2] == other.0[..2]
    }

    /// Returns the size in bytes.
    pub fn bytes(&self) -> i64 {
        self.0[2]
    }

    /// Returns the stamp of a file; `None` if it cannot be read.
    pub fn of(path: &Path) -> Option<Self> {
        let found = std::fs::symlink_metadata(path).ok()?;
        let [device, inode, size] = [found.dev(), found.ino(), found.size()].map(u64::cast_signed);
        Some(Self([device, inode, size, found.mtime(), found.mtime_nsec()]))
    }
}

impl Identity {
    /// Returns whether the database had data.
    pub fn has_data(&self) -> bool {
        self.memories > 0 || (self.is_open && self.last_change > 0)
    }

    /// Returns whether the machine has run without a break since this was written: only then the
    /// file is exact.
    pub fn is_of_this_boot(&self) -> bool {
        !self.boot.is_empty() && self.boot == boot_id()
    }
}

/// Returns the id of the running boot, or an empty text where the system has none.
pub(crate) fn boot_id() -> String {
    std::fs::read_to_string(BOOT_ID).map_or_else(|_| String::new(), |id| id.trim().to_owned())
}

/// What is found in place of the identity.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StoredIdentity {
    /// There is no file: the database is new, or was last used by an older build.
    Missing,
    /// The file is damaged.
    Unreadable,
    /// It is whole.
    Known(Identity),
}

/// Reads the identity of a database.
pub(crate) fn read(database: &Path) -> StoredIdentity {
    let mut options = OpenOptions::new();
    options.read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut bytes = [0; FILE_BYTES];
    match options.open(with_suffix(database, "-identity")) {
        Ok(file) => file
            .read_exact_at(&mut bytes, 0)
            .ok()
            .and_then(|()| decode(&bytes))
            .map_or(StoredIdentity::Unreadable, StoredIdentity::Known),
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => StoredIdentity::Missing,
        Err(_) => StoredIdentity::Unreadable,
    }
}

/// The open file, for writing it again after each commit.
#[derive(Debug)]
pub(crate) struct IdentityFile {
    file: File,
}

impl IdentityFile {
    /// Opens the file, or creates it readable only by its owner.
    ///
    /// # Errors
    /// When the file system refuses.
    pub fn open(database: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false).mode(0o600);
        let file = options
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(with_suffix(database, "-identity"))?;
        Ok(Self { file })
    }

    /// Writes the identity in place.
    ///
    /// # Errors
    /// When the file system fails.
    pub fn write(&self, identity: &Identity) -> io::Result<()> {
        self.file.write_all_at(&encode(identity)?, 0)
    }

    /// Writes the file to the disk.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// A checksum, a space, and JSON padded with spaces to the size of the file.
fn encode(identity: &Identity) -> io::Result<[u8; FILE_BYTES]> {
    let json = serde_json::to_vec(identity)?;
    let mut bytes = [b' '; FILE_BYTES];
    let body = &mut bytes[SUM_CHARACTERS + 1..FILE_BYTES - 1];
    let room = body.get_mut(..json.len()).ok_or(io::ErrorKind::FileTooLarge)?;
    room.copy_from_slice(&json);
    let sum = sum_of(body);
    bytes[..SUM_CHARACTERS].copy_from_slice(sum.as_bytes());
    bytes[FILE_BYTES - 1] = b'\n';
    Ok(bytes)
}

fn decode(bytes: &[u8; FILE_BYTES]) -> Option<Identity> {
    let body = &bytes[SUM_CHARACTERS + 1..FILE_BYTES - 1];
    let is_whole = bytes[..SUM_CHARACTERS] == *sum_of(body).as_bytes();
    is_whole.then(|| serde_json::from_slice(body.trim_ascii_end()).ok()).flatten()
}

fn sum_of(body: &[u8]) -> String {
    blake3::hash(body).to_hex()[..SUM_CHARACTERS].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity {
            uuid: "0195".to_owned(),
            is_open: true,
            checkpoints: 7,
            last_change: 42,
            memories: 40,
            salt: Some([u32::MAX, 1]),
            frames: 12,
            moved: 10,
            log: Some((u64::MAX, u64::MAX)),
            file: Some(FileStamp([i64::MAX; 5])),
            boot: boot_id(),
        }
    }

    #[test]
    fn an_identity_is_read_as_it_was_written_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("memory.db");
        assert_eq!(read(&path), StoredIdentity::Missing);
        let file = IdentityFile::open(&path).expect("is created");
        file.write(&Identity { uuid: "9".repeat(36), ..identity() }).expect("is written");
        file.write(&identity()).expect("is written");
        assert_eq!(read(&path), StoredIdentity::Known(identity()));
    }

    #[test]
    fn a_changed_byte_makes_it_unreadable() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("memory.db");
        IdentityFile::open(&path).and_then(|file| file.write(&identity())).expect("is written");
        let stored = with_suffix(&path, "-identity");
        let whole = std::fs::read(&stored).expect("is readable");
        for at in [0, 40, 200, 1000] {
            let mut changed = whole.clone();
            changed[at] ^= 1;
            std::fs::write(&stored, &changed).expect("is written");
            assert_eq!(read(&path), StoredIdentity::Unreadable, "byte {at}");
        }
        std::fs::write(&stored, &whole[..100]).expect("is cut");
        assert_eq!(read(&path), StoredIdentity::Unreadable);
    }
}
