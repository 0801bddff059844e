//! The write-ahead log as bytes: its salts and its committed frames, found as SQLite's recovery
//! finds them.
//!
//! Format: <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>. Numbers are big-endian.
//! Not here: what a log means for the database (`recognition`).

use crate::database_files::wal_path;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Bytes of the header of the file.
const HEADER_BYTES: usize = 32;
/// Bytes of the header of a frame, which a page follows.
const FRAME_HEADER_BYTES: usize = 24;
/// The first word of the file if checksums read words as little-endian; one more if big-endian.
const MAGIC_LITTLE_ENDIAN: u32 = 0x377F_0682;
/// Bytes per read.
const BUFFER_BYTES: usize = 1 << 20;

/// The two random words that all frames of one generation of a log carry. SQLite changes them each
/// time it starts the log again from the beginning.
pub(crate) type Salt = [u32; 2];

/// What is found in place of a write-ahead log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WalFile {
    /// There is no file, or it has no bytes.
    Empty,
    /// It is not a log of SQLite, or its header is damaged. SQLite would ignore it.
    Garbage,
    /// It is a log.
    Valid(WalFrames),
}

/// The committed frames of a log.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct WalFrames {
    /// The salts in the header.
    pub salt: Salt,
    /// The number of valid frames up to the last commit.
    pub committed: u32,
    /// The pages of these frames.
    pub pages: HashSet<u32>,
}

/// Reads the whole log of a database and verifies its checksums.
///
/// # Errors
/// When the file exists and cannot be read.
pub(crate) fn read(database: &Path) -> io::Result<WalFile> {
    let Some(file) = open(database)? else { return Ok(WalFile::Empty) };
    let mut source = BufReader::with_capacity(BUFFER_BYTES, file);
    let mut header = [0; HEADER_BYTES];
    if !read_whole(&mut source, &mut header)? {
        return Ok(WalFile::Garbage);
    }
    let Some(Header { page_size, salt, mut checksum }) = Header::parse(&header) else {
        return Ok(WalFile::Garbage);
    };
    let mut frames = WalFrames { salt, ..WalFrames::default() };
    let (mut frame, mut pending) = (vec![0; FRAME_HEADER_BYTES + page_size], Vec::new());
    for number in 1.. {
        if !read_whole(&mut source, &mut frame)? {
            break;
        }
        let (head, page) = frame.split_at(FRAME_HEADER_BYTES);
        checksum.add(&head[..8]);
        checksum.add(page);
        if [word(head, 8), word(head, 12)] != salt
            || [word(head, 16), word(head, 20)] != checksum.sums
        {
            break;
        }
        pending.push(word(head, 0));
        // A frame that ends a transaction names the size of the database after it.
        if word(head, 4) != 0 {
            frames.pages.extend(pending.drain(..));
            frames.committed = number;
        }
    }
    Ok(WalFile::Valid(frames))
}

/// An open log, for reading its salts and the page numbers of its frames again and again.
#[derive(Debug)]
pub(crate) struct WalHandle {
    file: File,
    inode: (u64, u64),
}

impl WalHandle {
    /// Opens the log of a database; `None` if there is none.
    ///
    /// # Errors
    /// When the file exists and cannot be opened.
    pub fn open(database: &Path) -> io::Result<Option<Self>> {
        let Some(file) = open(database)? else { return Ok(None) };
        let found = file.metadata()?;
        Ok(Some(Self { file, inode: (found.dev(), found.ino()) }))
    }

    /// Returns whether the log still has its name. SQLite would go on writing into a removed file.
    pub fn is_in_place(&self, database: &Path) -> bool {
        inode_of_log(database) == Some(self.inode)
    }

    /// Returns device and inode of the log.
    pub fn inode(&self) -> (u64, u64) {
        self.inode
    }

    /// Returns the salts in the header; `None` while the log is empty.
    pub fn salt(&self) -> Option<Salt> {
        let mut header = [0; HEADER_BYTES];
        self.file.read_exact_at(&mut header, 0).ok()?;
        Some([word(&header, 16), word(&header, 20)])
    }

    /// Returns the page of each frame in `range`; frames are numbered from 1.
    ///
    /// # Errors
    /// When a frame cannot be read.
    pub fn pages(
        &self,
        range: std::ops::RangeInclusive<u32>,
        page_size: u32,
    ) -> io::Result<HashSet<u32>> {
        let stride = FRAME_HEADER_BYTES as u64 + u64::from(page_size);
        let mut number = [0; 4];
        range
            .map(|frame| {
                let at = HEADER_BYTES as u64 + u64::from(frame - 1) * stride;
                self.file.read_exact_at(&mut number, at)?;
                Ok(u32::from_be_bytes(number))
            })
            .collect()
    }
}

/// Returns device and inode of the file that has the name of the log.
pub(crate) fn inode_of_log(database: &Path) -> Option<(u64, u64)> {
    let found = std::fs::symlink_metadata(wal_path(database)).ok()?;
    Some((found.dev(), found.ino()))
}

/// Opens a regular file that is not empty, without following a link or waiting for a pipe.
fn open(database: &Path) -> io::Result<Option<File>> {
    let path = wal_path(database);
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(fault) if fault.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(fault) => return Err(fault),
    };
    let found = file.metadata()?;
    if !found.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    Ok((found.len() > 0).then_some(file))
}

/// Fills the buffer; returns false if the file ends before.
fn read_whole(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match source.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(fault) if fault.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(fault) => Err(fault),
    }
}

struct Header {
    page_size: usize,
    salt: Salt,
    checksum: Checksum,
}

impl Header {
    fn parse(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let little_endian = match word(bytes, 0) {
            MAGIC_LITTLE_ENDIAN => true,
            magic if magic == MAGIC_LITTLE_ENDIAN | 1 => false,
            _ => return None,
        };
        let mut checksum = Checksum { sums: [0; 2], little_endian };
        checksum.add(&bytes[..24]);
        let page_size = word(bytes, 8) as usize;
        let is_intact = [word(bytes, 24), word(bytes, 28)] == checksum.sums
            && (512..=65536).contains(&page_size)
            && page_size.is_power_of_two();
        let salt = [word(bytes, 16), word(bytes, 20)];
        is_intact.then_some(Self { page_size, salt, checksum })
    }
}

/// The running checksum of a log.
struct Checksum {
    sums: Salt,
    little_endian: bool,
}

impl Checksum {
    /// Adds bytes, a multiple of eight.
    fn add(&mut self, bytes: &[u8]) {
        let [mut first, mut second] = self.sums;
        for pair in bytes.chunks_exact(8) {
            let [left, right] = [&pair[..4], &pair[4..]].map(|part| {
                let part = [part[0], part[1], part[2], part[3]];
                if self.little_endian { u32::from_le_bytes(part) } else { u32::from_be_bytes(part) }
            });
            first = first.wrapping_add(left).wrapping_add(second);
            second = second.wrapping_add(right).wrapping_add(first);
        }
        self.sums = [first, second];
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::dump;
    use rusqlite::Connection;

    /// A database with three transactions in its log.
    fn database(folder: &Path) -> (std::path::PathBuf, Connection) {
        let path = folder.join("memory.db");
        let conn = dump::database_with_log(&path);
        (path, conn)
    }

    fn frames(path: &Path) -> WalFrames {
        match read(path).expect("the log is readable") {
            WalFile::Valid(frames) => frames,
            other => panic!("not a valid log: {other:?}"),
        }
    }

    #[test]
    fn committed_frames_are_counted_as_sqlite_counts_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, conn) = database(folder.path());
        let found = frames(&path);
        let in_log = dump::frames_in_log(&conn);
        assert_eq!(found.committed, in_log);
        assert_eq!(found.pages, HashSet::from([1, 2]));
        let handle = WalHandle::open(&path).expect("opens").expect("there is a log");
        assert_eq!(handle.salt(), Some(found.salt));
        assert_eq!(handle.pages(1..=in_log, 4096).expect("is read"), found.pages);
        assert!(handle.is_in_place(&path));
        std::fs::remove_file(wal_path(&path)).expect("the log is removed");
        assert!(!handle.is_in_place(&path));
    }

    #[test]
    fn a_cut_or_changed_log_ends_at_the_last_commit_before_the_fault() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, _conn) = database(folder.path());
        let (whole, bytes) = (frames(&path), std::fs::read(wal_path(&path)).expect("is readable"));
        for at in [40, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let copy = folder.path().join("copy.db");
            std::fs::write(wal_path(&copy), &changed).expect("is written");
            assert!(frames(&copy).committed < whole.committed, "byte {at} is changed");
            std::fs::write(wal_path(&copy), &bytes[..at]).expect("is written");
            assert!(frames(&copy).committed < whole.committed, "cut at {at}");
        }
    }

    #[test]
    fn a_missing_empty_or_foreign_file_is_told_apart() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("memory.db");
        assert_eq!(read(&path).expect("is judged"), WalFile::Empty);
        std::fs::write(wal_path(&path), "").expect("is written");
        assert_eq!(read(&path).expect("is judged"), WalFile::Empty);
        for garbage in ["short".to_owned(), "not a write-ahead log ".repeat(50)] {
            std::fs::write(wal_path(&path), garbage).expect("is written");
            assert_eq!(read(&path).expect("is judged"), WalFile::Garbage);
        }
    }
}
