//! The index snapshot: the file `memory.db-index`, which stores the index of a large store from a
//! clean shutdown to the next start.
//!
//! It belongs to one state of one database, identified by a nonce, which is the last write to the
//! database before it is closed, and by the identity of the database file (device, inode, size,
//! modification time). A start removes the nonce, and deletes the snapshot as soon as it is read or
//! rejected. So there is no snapshot while a daemon runs, and a memory that is deleted then cannot
//! remain in one. Not here: the bytes of a record (`format`), when an index is loaded
//! (`handles::open`).

pub mod error;
mod format;

use crate::index::Index;
use crate::index::snapshot::error::{FileError, SnapshotError};
use crate::index::warmup::WarmupProgress;
use blake3::{Hash, Hasher, OUT_LEN};
use loci_base::Result;
use loci_base::model::entry::Entry;
use loci_base::model::time;
use loci_base::model::vector_set::VectorSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Number of memories from which a snapshot is written; with fewer, building the index from the
/// database takes a fraction of a second.
pub const SNAPSHOT_FROM: usize = 50_000;
/// Number of memories from which no snapshot is written: the shutdown would exceed its deadline.
pub const SNAPSHOT_BELOW: usize = 400_000;
/// The first bytes of the file; the number is the version of the format.
const MAGIC: &[u8; 16] = b"loci index 00009";
/// Size of the read and write buffers.
const BUFFER_BYTES: usize = 1 << 20;

/// The state of a database to which a snapshot belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotState {
    /// The nonce stored in the database.
    pub nonce: String,
    /// The identity of the database file.
    pub identity: FileIdentity,
}

/// Device, inode, size and modification time (seconds, nanoseconds) of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileIdentity([i64; 5]);

impl FileIdentity {
    /// Returns the identity of a database file; `None` if its write-ahead log is not empty.
    pub fn of(database: &Path) -> Option<Self> {
        let log = std::fs::metadata(with_suffix(database, "-wal"));
        if log.is_ok_and(|log| log.len() > 0) {
            return None;
        }
        let file = std::fs::metadata(database).ok()?;
        let [device, inode, size] = [file.dev(), file.ino(), file.size()].map(u64::cast_signed);
        Some(Self([device, inode, size, file.mtime(), file.mtime_nsec()]))
    }
}

/// Returns the path of the snapshot of a database.
pub fn path(database: &Path) -> PathBuf {
    with_suffix(database, "-index")
}

fn with_suffix(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes the snapshot and an unfinished one. A folder of that name is kept; it is never read.
pub fn remove(database: &Path) -> Result<(), FileError> {
    let removed =
        [path(database), unfinished(database)].map(|path| match std::fs::symlink_metadata(&path) {
            Ok(metadata) if !metadata.is_dir() => match std::fs::remove_file(&path) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    Err(FileError { path, source })
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        });
    removed.into_iter().collect()
}

fn unfinished(database: &Path) -> PathBuf {
    with_suffix(database, "-index.tmp")
}

/// Returns the header: format version, text fingerprint, state of the database, vector set, time zone of the days.
fn header(state: &SnapshotState, set: &VectorSet) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend(text_fingerprint().as_bytes());
    let zone = time::zone_fingerprint();
    for part in [state.nonce.as_bytes(), set.name.as_bytes(), &zone] {
        header.extend(blake3::hash(part).as_bytes());
    }
    header.extend(state.identity.0.iter().flat_map(|number| number.to_le_bytes()));
    header
}

/// Returns a hash of the records of a few sample texts, so that a build with other rules of text
/// analysis rejects the snapshot.
fn text_fingerprint() -> Hash {
    let texts = [
        "[2026-01-20 10:00] Anna Kowalska: I've moved the running meetings to the bigger rooms yesterday, haven't we?",
        "Der Schlüssel für den Keller hängt in der Küche",
        "La réunion du lundi est dans la petite salle; la reunión del lunes es en la sala pequeña",
        "Incident 22 April 2026: the queue stopped, the report is due on 3 May 2026",
        "Klucze do piwnicy wiszą w kuchni",
        "会議室は3階 ½ ﬁle e-mail 서울에서 v1.2.3",
    ];
    let mut index = Index::default();
    for (seq, text) in (0..).zip(texts) {
        index.put(Entry { content: text.to_owned(), ..Entry::bare(seq) });
    }
    let records: Vec<String> = index.records().map(|record| format!("{record:?}")).collect();
    blake3::hash(records.join("\n").as_bytes())
}

/// Writes the snapshot to a temporary file and renames it once every byte is on the disk.
///
/// # Errors
/// The first fault; then there is no snapshot.
pub fn write(
    database: &Path,
    index: &Index,
    state: &SnapshotState,
    set: &VectorSet,
) -> Result<(), FileError> {
    remove(database)?;
    let result = write_file(database, index, state, set);
    if result.is_err() {
        // Only the first error is reported. The next start removes files that are left.
        let _ = remove(database);
    }
    result.map_err(|source| FileError { path: path(database), source })
}

fn write_file(
    database: &Path,
    index: &Index,
    state: &SnapshotState,
    set: &VectorSet,
) -> io::Result<()> {
    let unfinished = unfinished(database);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&unfinished)?;
    // BLAKE3 is fastest on large inputs.
    let (mut buffer, mut hasher) = (header(state, set), Hasher::new());
    for record in index.records_by_seq() {
        let first = buffer.len();
        // Space for the length of the record.
        buffer.extend([0; 4]);
        format::write_record(&record, &mut buffer);
        let length = u32::try_from(buffer.len() - first - 4).map_err(io::Error::other)?;
        buffer[first..first + 4].copy_from_slice(&length.to_le_bytes());
        if buffer.len() >= BUFFER_BYTES {
            hasher.update(&buffer);
            file.write_all(&buffer)?;
            buffer.clear();
        }
    }
    hasher.update(&buffer);
    buffer.extend(hasher.finalize().as_bytes());
    file.write_all(&buffer)?;
    file.sync_all()?;
    std::fs::rename(&unfinished, path(database))?;
    let folder =
        database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Reads the snapshot, if it is intact and belongs to this state of the database.
///
/// # Errors
/// `busy` if the load was cancelled.
pub fn read(
    database: &Path,
    state: &SnapshotState,
    set: &VectorSet,
    warmup: &WarmupProgress,
) -> Result<Result<Index, SnapshotError>> {
    let file = match open(&path(database)) {
        Ok(file) => file,
        Err(fault) if fault.kind() == ErrorKind::NotFound => {
            return Ok(Err(SnapshotError::Missing));
        }
        Err(_) => return Ok(Err(SnapshotError::Unreadable)),
    };
    let header = header(state, set);
    let length = match check(&file, &header, warmup)? {
        Ok(length) => length,
        Err(error) => return Ok(Err(error)),
    };
    match records_reader(&file, header.len(), length) {
        Ok(source) => {
            let read = read_records(source, length, warmup)?;
            Ok(read.map(|index| index.of_set(set.clone())))
        }
        Err(error) => Ok(Err(error)),
    }
}

/// Opens a regular file. Refuses a symbolic link, and a pipe, which would block.
fn open(path: &Path) -> io::Result<File> {
    let metadata = std::fs::symlink_metadata(path)?;
    if metadata.is_file() { File::open(path) } else { Err(io::Error::other("not a regular file")) }
}

/// Checks the header and the checksum. Returns the length of all records in bytes.
fn check(
    mut file: &File,
    expected_header: &[u8],
    warmup: &WarmupProgress,
) -> Result<Result<u64, SnapshotError>> {
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    let Some(records) = length.checked_sub((expected_header.len() + OUT_LEN) as u64) else {
        return Ok(Err(SnapshotError::Damaged));
    };
    let mut header = vec![0; expected_header.len()];
    if file.read_exact(&mut header).is_err() {
        return Ok(Err(SnapshotError::Unreadable));
    }
    let mut hasher = Hasher::new();
    hasher.update(&header);
    let (mut buffer, mut left) = (vec![0; BUFFER_BYTES], records);
    while left > 0 {
        warmup.check_not_stopped()?;
        let count = usize::try_from(left).unwrap_or(BUFFER_BYTES).min(BUFFER_BYTES);
        if file.read_exact(&mut buffer[..count]).is_err() {
            return Ok(Err(SnapshotError::Unreadable));
        }
        hasher.update(&buffer[..count]);
        left -= count as u64;
    }
    let mut checksum = [0; OUT_LEN];
    if file.read_exact(&mut checksum).is_err() || hasher.finalize() != Hash::from_bytes(checksum) {
        return Ok(Err(SnapshotError::Damaged));
    }
    Ok(if header == expected_header { Ok(records) } else { Err(SnapshotError::Stale) })
}

/// Returns a reader of the records, which follow the header.
fn records_reader(
    mut file: &File,
    header: usize,
    records: u64,
) -> Result<BufReader<impl Read>, SnapshotError> {
    use std::io::{Seek, SeekFrom};
    file.seek(SeekFrom::Start(header as u64)).map_err(|_| SnapshotError::Unreadable)?;
    Ok(BufReader::with_capacity(BUFFER_BYTES, file.take(records)))
}

/// Builds an index from `left` bytes of records.
fn read_records(
    mut source: impl Read,
    mut left: u64,
    warmup: &WarmupProgress,
) -> Result<Result<Index, SnapshotError>> {
    let (mut index, mut reader, mut bytes) =
        (Index::default(), format::RecordReader::default(), Vec::new());
    while left > 0 {
        warmup.check_not_stopped()?;
        let mut length = [0; 4];
        if source.read_exact(&mut length).is_err() {
            return Ok(Err(SnapshotError::Damaged));
        }
        let length = u32::from_le_bytes(length);
        let Some(left_after) = left.checked_sub(u64::from(length) + 4) else {
            return Ok(Err(SnapshotError::Damaged));
        };
        bytes.resize(length as usize, 0);
        let record = source.read_exact(&mut bytes).ok().and_then(|()| reader.read(&bytes));
        let Some(record) = record.filter(|record| index.slot(record.entry.seq).is_none()) else {
            return Ok(Err(SnapshotError::Damaged));
        };
        index.insert_record(record);
        warmup.count();
        left = left_after;
    }
    Ok(Ok(index))
}
