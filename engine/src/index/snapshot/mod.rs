//! The index snapshot: the file `memory.db-index`, which keeps the index of a large store from a clean stop to the next start.
//!
//! It belongs to one state of one database, identified by a nonce, which is written into the database as the last thing before it is
//! closed, and by the identity of the database file (device, inode, size, modification time). A start removes the nonce, and deletes the
//! snapshot as soon as it is read or rejected: while a daemon runs there is none, so no memory that is deleted meanwhile can remain in
//! it. Not here: the bytes of a record (`format`), when an index is loaded (`handles::open`).

pub(crate) mod error;
mod format;

use crate::error::{Error, Result};
use crate::index::Index;
use crate::index::snapshot::error::SnapshotError;
use crate::index::warmup::WarmupProgress;
use crate::model::entry::Entry;
use blake3::{Hash, Hasher, OUT_LEN};
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Memories from which a snapshot is written: below, building the index from the database takes a fraction of a second.
pub(crate) const SNAPSHOT_FROM: usize = 50_000;
/// Memories from which no snapshot is written: the stop would take longer than its deadline.
pub(crate) const SNAPSHOT_BELOW: usize = 400_000;
/// The first bytes of the file; the number is the version of the format.
const MAGIC: &[u8; 16] = b"loci index 00002";
/// Bytes per read and write.
const BUFFER_BYTES: usize = 1 << 20;

/// The state of a database to which a snapshot belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SnapshotState {
    /// The nonce that is in the database.
    pub nonce: String,
    /// The identity of the database file.
    pub identity: FileIdentity,
}

/// Device, inode, size and modification time (seconds, nanoseconds) of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileIdentity([i64; 5]);

impl FileIdentity {
    /// Returns the identity of a database file; `None` if its write-ahead log is not empty.
    pub(crate) fn of(database: &Path) -> Option<Self> {
        let log = std::fs::metadata(beside(database, "-wal"));
        if log.is_ok_and(|log| log.len() > 0) {
            return None;
        }
        let found = std::fs::metadata(database).ok()?;
        let [device, inode, size] = [found.dev(), found.ino(), found.size()].map(u64::cast_signed);
        Some(Self([device, inode, size, found.mtime(), found.mtime_nsec()]))
    }
}

/// Returns the path of the snapshot of a database.
pub(crate) fn path(database: &Path) -> PathBuf {
    beside(database, "-index")
}

fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes the snapshot, and an unfinished one. A folder in its place is left alone: it is never read either.
pub(crate) fn remove(database: &Path) -> Result<()> {
    let removed =
        [path(database), draft(database)].map(|path| match std::fs::symlink_metadata(&path) {
            Ok(found) if !found.is_dir() => match std::fs::remove_file(&path) {
                Err(source) if source.kind() != ErrorKind::NotFound => {
                    Err(Error::File { path, source })
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        });
    removed.into_iter().collect()
}

fn draft(database: &Path) -> PathBuf {
    beside(database, "-index.tmp")
}

/// Returns the header: format version, text fingerprint, state of the database, model.
fn head(state: &SnapshotState, model: &str) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend(text_fingerprint().as_bytes());
    for part in [state.nonce.as_bytes(), model.as_bytes()] {
        head.extend(blake3::hash(part).as_bytes());
    }
    head.extend(state.identity.0.iter().flat_map(|number| number.to_le_bytes()));
    head
}

/// Returns a hash of how this build tokenizes a few sample texts, so that a build with other rules rejects the snapshot.
fn text_fingerprint() -> Hash {
    let texts = [
        "[2026-01-20 10:00] Anna Kowalska: I've moved the running meetings to the bigger rooms yesterday, haven't we?",
        "Der Schlüssel für den Keller hängt in der Küche",
        "La réunion du lundi est dans la petite salle; la reunión del lunes es en la sala pequeña",
        "Klucze do piwnicy wiszą w kuchni",
        "会議室は3階 ½ ﬁle e-mail 서울에서 v1.2.3",
    ];
    let mut index = Index::default();
    for (seq, text) in (0..).zip(texts) {
        index.put(Entry { content: text.to_owned(), ..Entry::bare(seq) });
    }
    let told: Vec<String> = index.records().map(|record| format!("{record:?}")).collect();
    blake3::hash(told.join("\n").as_bytes())
}

/// Writes the snapshot to a temporary file and renames it once every byte is on the disk.
///
/// # Errors
/// `File`; there is no snapshot then.
pub(crate) fn write(
    database: &Path,
    index: &Index,
    state: &SnapshotState,
    model: &str,
) -> Result<()> {
    remove(database)?;
    let written = draft_of(database, index, state, model);
    if written.is_err() {
        // The first error is reported; the next start removes what is left.
        let _ = remove(database);
    }
    written.map_err(|source| Error::File { path: path(database), source })
}

fn draft_of(database: &Path, index: &Index, state: &SnapshotState, model: &str) -> io::Result<()> {
    let draft = draft(database);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    // BLAKE3 is fastest on large inputs.
    let (mut part, mut hasher) = (head(state, model), Hasher::new());
    for record in index.records_as_stored() {
        let first = part.len();
        part.extend([0; 4]);
        format::put(&record, &mut part);
        let length = u32::try_from(part.len() - first - 4).map_err(io::Error::other)?;
        part[first..first + 4].copy_from_slice(&length.to_le_bytes());
        if part.len() >= BUFFER_BYTES {
            hasher.update(&part);
            file.write_all(&part)?;
            part.clear();
        }
    }
    hasher.update(&part);
    part.extend(hasher.finalize().as_bytes());
    file.write_all(&part)?;
    file.sync_all()?;
    std::fs::rename(&draft, path(database))?;
    let folder =
        database.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()
}

/// Reads the snapshot, if it is intact and belongs to this state of the database.
///
/// # Errors
/// `busy` if the load was cancelled.
pub(crate) fn read(
    database: &Path,
    state: &SnapshotState,
    model: &str,
    warmup: &WarmupProgress,
) -> Result<Result<Index, SnapshotError>> {
    let file = match open(&path(database)) {
        Ok(file) => file,
        Err(fault) if fault.kind() == ErrorKind::NotFound => {
            return Ok(Err(SnapshotError::Missing));
        }
        Err(_) => return Ok(Err(SnapshotError::Unreadable)),
    };
    let wanted = head(state, model);
    let found = checked(&file, &wanted, warmup)?;
    match found.and_then(|records| reopened(&file, wanted.len(), records)) {
        Ok((source, records)) => read_records(source, records, warmup),
        Err(error) => Ok(Err(error)),
    }
}

/// Opens a regular file; a symbolic link is not followed, a pipe not waited for.
fn open(path: &Path) -> io::Result<File> {
    let found = std::fs::symlink_metadata(path)?;
    if found.is_file() { File::open(path) } else { Err(io::Error::other("is no file")) }
}

/// Checks the header and the checksum. Returns how many bytes of records there are.
fn checked(
    mut file: &File,
    wanted: &[u8],
    warmup: &WarmupProgress,
) -> Result<Result<u64, SnapshotError>> {
    let length = file.metadata().map_or(0, |found| found.len());
    let Some(records) = length.checked_sub((wanted.len() + OUT_LEN) as u64) else {
        return Ok(Err(SnapshotError::Damaged));
    };
    let mut head = vec![0; wanted.len()];
    if file.read_exact(&mut head).is_err() {
        return Ok(Err(SnapshotError::Unreadable));
    }
    let mut hasher = Hasher::new();
    hasher.update(&head);
    let (mut part, mut left) = (vec![0; BUFFER_BYTES], records);
    while left > 0 {
        warmup.check_not_stopped()?;
        let wanted = usize::try_from(left).unwrap_or(BUFFER_BYTES).min(BUFFER_BYTES);
        if file.read_exact(&mut part[..wanted]).is_err() {
            return Ok(Err(SnapshotError::Unreadable));
        }
        hasher.update(&part[..wanted]);
        left -= wanted as u64;
    }
    let mut kept = [0; OUT_LEN];
    if file.read_exact(&mut kept).is_err() || hasher.finalize() != Hash::from_bytes(kept) {
        return Ok(Err(SnapshotError::Damaged));
    }
    Ok(if head == wanted { Ok(records) } else { Err(SnapshotError::Stale) })
}

fn reopened(
    mut file: &File,
    head: usize,
    records: u64,
) -> Result<(BufReader<impl Read>, u64), SnapshotError> {
    use std::io::{Seek, SeekFrom};
    file.seek(SeekFrom::Start(head as u64)).map_err(|_| SnapshotError::Unreadable)?;
    Ok((BufReader::with_capacity(BUFFER_BYTES, file.take(records)), records))
}

fn read_records(
    mut source: impl Read,
    mut left: u64,
    warmup: &WarmupProgress,
) -> Result<Result<Index, SnapshotError>> {
    let (mut index, mut room, mut bytes) =
        (Index::default(), format::RecordReader::default(), Vec::new());
    while left > 0 {
        warmup.check_not_stopped()?;
        let mut length = [0; 4];
        if source.read_exact(&mut length).is_err() {
            return Ok(Err(SnapshotError::Damaged));
        }
        let length = u32::from_le_bytes(length);
        let Some(rest) = left.checked_sub(u64::from(length) + 4) else {
            return Ok(Err(SnapshotError::Damaged));
        };
        bytes.resize(length as usize, 0);
        let record = source.read_exact(&mut bytes).ok().and_then(|()| room.take(&bytes));
        let Some(record) = record.filter(|record| index.slot(record.entry.seq).is_none()) else {
            return Ok(Err(SnapshotError::Damaged));
        };
        index.insert_record(record);
        warmup.count();
        left = rest;
    }
    Ok(Ok(index))
}
