//! The record of what a daemon did with its files and what it acknowledged, and the states of the
//! disk that a loss of power may leave at any of its positions.
//!
//! A write that was not followed by a sync of its file is kept or lost by sectors of 512 bytes; a
//! truncation as a whole. Not modelled: a lost rename or removal, and a disk that lies about a sync.

use crate::proof::random::Random;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Bytes that a disk writes as a whole.
const SECTOR: usize = 512;
/// Bytes in front of the data of a record.
const HEAD: usize = 14;
/// The files of a store, as `record.c` numbers them from 1.
pub const FILES: [&str; 5] =
    ["memory.db", "memory.db-wal", "memory.db-identity", "memory.db-sums", "memory.db-journal"];
/// The number of the database in [`FILES`].
pub const DATABASE: usize = 0;
/// The number of the write-ahead log in [`FILES`].
pub const LOG: usize = 1;
/// The number of the identity in [`FILES`].
pub const IDENTITY: usize = 2;

/// One record.
#[derive(Debug, Clone)]
pub enum Record {
    Write {
        file: usize,
        offset: usize,
        data: Vec<u8>,
    },
    Truncate {
        file: usize,
        length: usize,
    },
    Sync {
        file: usize,
    },
    Remove {
        file: usize,
    },
    /// A session was answered: its calls up to this number.
    Acknowledged {
        session: usize,
        calls: usize,
    },
}

/// Returns the bytes of an acknowledgement, to be appended to the record.
pub fn acknowledgement(session: usize, calls: usize) -> Vec<u8> {
    let mut bytes = vec![b'A', u8::try_from(session).expect("there are few sessions")];
    bytes.extend((calls as u64).to_le_bytes());
    bytes.extend(0_u32.to_le_bytes());
    bytes
}

/// Parses the whole record.
pub fn parse(bytes: &[u8]) -> Vec<Record> {
    let (mut records, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let number = |range: std::ops::Range<usize>| {
            let mut all = [0; 8];
            all[..range.len()].copy_from_slice(&rest[range]);
            usize::try_from(u64::from_le_bytes(all)).expect("the number fits")
        };
        let (operation, index) = (rest[0], usize::from(rest[1]));
        let (offset, length) = (number(2..10), number(10..HEAD));
        let file = index.wrapping_sub(1);
        let data = if operation == b'W' { length } else { 0 };
        records.push(match operation {
            b'W' => Record::Write { file, offset, data: rest[HEAD..HEAD + data].to_vec() },
            b'T' => Record::Truncate { file, length: offset },
            b'S' => Record::Sync { file },
            b'U' => Record::Remove { file },
            b'A' => Record::Acknowledged { session: index, calls: offset },
            other => panic!("an unknown record: {other}"),
        });
        rest = &rest[HEAD + data..];
    }
    records
}

/// What is on the disk of one file for certain, and what may be.
#[derive(Debug, Clone, Default)]
struct FileState {
    /// `None` if there is no file.
    synced: Option<Vec<u8>>,
    unsynced: Vec<Record>,
}

/// The disk at one position of the record.
#[derive(Debug, Clone, Default)]
pub struct Disk {
    files: [FileState; FILES.len()],
    /// Acknowledged calls by session.
    pub acknowledged: Vec<usize>,
    /// Whether syncs of the write-ahead log have no effect: the disk of a control that must fail.
    ignores_log_syncs: bool,
}

impl Disk {
    /// Returns an empty disk.
    pub fn new(sessions: usize, ignores_log_syncs: bool) -> Self {
        Self { acknowledged: vec![0; sessions], ignores_log_syncs, ..Self::default() }
    }

    /// Takes one record.
    pub fn take(&mut self, record: &Record) {
        match record {
            Record::Write { file, .. } | Record::Truncate { file, .. } => {
                self.files[*file].synced.get_or_insert_default();
                self.files[*file].unsynced.push(record.clone());
            }
            Record::Sync { file: LOG } if self.ignores_log_syncs => {}
            Record::Sync { file } => {
                let state = &mut self.files[*file];
                let content = state.synced.get_or_insert_default();
                state.unsynced.drain(..).for_each(|record| apply(content, &record, |_| true));
            }
            Record::Remove { file } => self.files[*file] = FileState::default(),
            Record::Acknowledged { session, calls } => self.acknowledged[*session] = *calls,
        }
    }

    /// Writes the files into a folder as a loss of power may leave them. Of each file another share
    /// of the unsynced sectors is kept.
    pub fn write(&self, folder: &Path, random: &mut Random) {
        for (state, name) in self.files.iter().zip(FILES) {
            let keep = [0.0, 0.3, 0.7, 0.95][random.below(4)];
            let Some(mut content) = state.synced.clone() else { continue };
            for record in &state.unsynced {
                apply(&mut content, record, |_| random.chance(keep));
            }
            let path = folder.join(name);
            std::fs::write(&path, content).expect("the file is written");
            let private = std::fs::Permissions::from_mode(0o600);
            std::fs::set_permissions(&path, private).expect("the mode is set");
        }
    }
}

/// Applies a record to the content of its file; `is_kept` decides for each sector.
fn apply(content: &mut Vec<u8>, record: &Record, mut is_kept: impl FnMut(usize) -> bool) {
    match record {
        Record::Write { offset, data, .. } => {
            let mut at = 0;
            while at < data.len() {
                let sector = (offset + at) / SECTOR;
                let end = ((sector + 1) * SECTOR - offset).min(data.len());
                if is_kept(sector) {
                    let range = offset + at..offset + end;
                    content.resize(content.len().max(range.end), 0);
                    content[range].copy_from_slice(&data[at..end]);
                }
                at = end;
            }
        }
        Record::Truncate { length, .. } if is_kept(0) => content.resize(*length, 0),
        _ => {}
    }
}

#[test]
fn unsynced_sectors_are_kept_or_lost_and_synced_ones_stay() {
    let write = |offset, byte| Record::Write { file: 0, offset, data: vec![byte; 1024] };
    let mut disk = Disk::new(1, false);
    for record in [write(0, 1), Record::Sync { file: 0 }, write(512, 2)] {
        disk.take(&record);
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut random = Random::new(1);
    for _ in 0..100 {
        let folder = tempfile::tempdir().expect("the folder is created");
        disk.write(folder.path(), &mut random);
        let found = std::fs::read(folder.path().join(FILES[0])).expect("the file is readable");
        assert_eq!(found[..512], [1; 512], "the synced sector");
        seen.insert(found.chunks(512).map(|sector| sector[0]).collect::<Vec<_>>());
    }
    let all = [vec![1, 1], vec![1, 1, 2], vec![1, 2], vec![1, 2, 2]];
    let all = all.into_iter().chain([vec![1, 0, 2]]).collect();
    assert!(seen.is_subset(&all) && seen.len() >= 3, "{seen:?}");
}
