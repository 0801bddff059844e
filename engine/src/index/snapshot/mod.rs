//! The file beside a large database that holds the warm index from a clean stop to the next start: `memory.db-index`.
//!
//! It belongs to one state of one database: to a word that was written into that database as the last thing before it was closed, and to
//! that file as it then lay on the disk. A start takes the word out again, and the file goes as soon as it was read or found error: while
//! a daemon runs there is none, so that nothing that is forgotten meanwhile can be left in it. Not here: what a record is as bytes
//! (`bytes`), when an index is loaded (`load`).

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

/// From this many memories on an index is kept: below, building it anew takes no longer than a wink.
pub(crate) const SNAPSHOT_FROM: usize = 50_000;
/// From this many on it is not: a stop would take longer than it may.
pub(crate) const SNAPSHOT_BELOW: usize = 400_000;
/// What the file begins with; the number is that of its form.
const MAGIC: &[u8; 16] = b"loci index 00002";
/// Bytes that are read and written at once.
const AT_ONCE: usize = 1 << 20;

/// Which state of which database a file belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SnapshotState {
    /// The word that stands in the database.
    pub nonce: String,
    /// How the database identity on the disk.
    pub identity: FileIdentity,
}

/// Where a file identity, how long it is, and when it was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileIdentity([i64; 5]);

impl FileIdentity {
    /// How a database identity on the disk; none where its log holds something that is not in it.
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

/// Where the file of a database identity.
pub(crate) fn path(database: &Path) -> PathBuf {
    beside(database, "-index")
}

fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Removes the file, and what is left of one that was not finished. What is no file of ours (a folder) is left where it is: it is never
/// read either.
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

/// What comes before the records: the form, how texts are read, the state of the database, the model.
fn head(state: &SnapshotState, model: &str) -> Vec<u8> {
    let mut head = MAGIC.to_vec();
    head.extend(reading().as_bytes());
    for part in [state.nonce.as_bytes(), model.as_bytes()] {
        head.extend(blake3::hash(part).as_bytes());
    }
    head.extend(state.identity.0.iter().flat_map(|number| number.to_le_bytes()));
    head
}

/// What the index makes of a few texts. A build that reads texts in another way gives another value.
fn reading() -> Hash {
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

/// Writes the file: whole, and under its name only when every byte is on the disk.
///
/// # Errors
/// `File`; there is none then.
pub(crate) fn write(
    database: &Path,
    index: &Index,
    state: &SnapshotState,
    model: &str,
) -> Result<()> {
    remove(database)?;
    let written = draft_of(database, index, state, model);
    if written.is_err() {
        // The reason is what counts; what is left of it the next start removes.
        let _ = remove(database);
    }
    written.map_err(|source| Error::File { path: path(database), source })
}

fn draft_of(database: &Path, index: &Index, state: &SnapshotState, model: &str) -> io::Result<()> {
    let draft = draft(database);
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    // The checksum is quickest over much at once.
    let (mut part, mut hasher) = (head(state, model), Hasher::new());
    for record in index.records_as_stored() {
        let first = part.len();
        part.extend([0; 4]);
        format::put(&record, &mut part);
        let length = u32::try_from(part.len() - first - 4).map_err(io::Error::other)?;
        part[first..first + 4].copy_from_slice(&length.to_le_bytes());
        if part.len() >= AT_ONCE {
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

/// Reads the file, if it is whole and belongs to this state of the database.
///
/// # Errors
/// When the load was stopped.
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

/// A link or a pipe in its place is not followed and not waited for.
fn open(path: &Path) -> io::Result<File> {
    let found = std::fs::symlink_metadata(path)?;
    if found.is_file() { File::open(path) } else { Err(io::Error::other("is no file")) }
}

/// Compares the head and the checksum; how many bytes of records there are.
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
    let (mut part, mut left) = (vec![0; AT_ONCE], records);
    while left > 0 {
        warmup.check_not_stopped()?;
        let wanted = usize::try_from(left).unwrap_or(AT_ONCE).min(AT_ONCE);
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
    Ok((BufReader::with_capacity(AT_ONCE, file.take(records)), records))
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
