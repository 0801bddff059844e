//! Opens a store, and loads its index from the snapshot or the database.
//!
//! Not here: recalls during the load (`operations::recall::fallback`), the format of the snapshot
//! (`index::snapshot`).

use crate::backups::create::{self, NewBackup};
use crate::backups::forgotten_ids;
use crate::backups::manifest::Reason;
use crate::backups::swap;
use crate::database_files::database_file::DatabaseFile;
use crate::database_files::identity::{Identity, boot_id};
use crate::database_files::recognition::{Recognition, check_may_create, recognise};
use crate::database_files::store_files::{Begin, StoreFiles};
use crate::database_files::wal_file::{self, WalFile};
use crate::database_files::wal_path;
use crate::db::damage::{self, DamagedRows};
use crate::db::schema_check::Derived;
use crate::db::{
    ALL_SEQS, checkpoint, codes, connection, entity_links, groups, health, isolated_groups,
    memories, migrate, schema_check, switches, tombstones, vector_sets, vectors,
};
use crate::error::{Error, Result};
use crate::failpoint::failpoint;
use crate::handles::settings::Settings;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::index::Index;
use crate::index::snapshot;
use crate::index::snapshot::SnapshotState;
use crate::index::snapshot::error::SnapshotError;
use crate::index::warmup::{Origin, WarmupProgress};
use crate::model::entry::Entry;
use crate::model::time::Timestamp;
use crate::transaction::mentions;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::MemoryId;
use parking_lot::{Mutex, RwLock};
use rusqlite::Connection;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Opens or creates the database, migrates it, checks it if it was not closed properly, and loads
/// the index.
///
/// # Errors
/// `InUse`, `Lost`, `NewerDatabase`, `NotOurs`, `Damaged`, `File` or `Database`; the file is
/// unchanged then.
pub fn open(path: &Path, settings: Settings, now: Timestamp) -> Result<Writer> {
    let mut writer = open_cold(path, settings, now)?;
    writer.load()?;
    Ok(writer)
}

/// Like [`open`], but does not load the index: readers search the database alone until
/// [`Writer::load`] is called.
///
/// # Errors
/// As [`open`].
pub fn open_cold(path: &Path, settings: Settings, now: Timestamp) -> Result<Writer> {
    let FoundFiles { path, database, recognition } = FoundFiles::at(path, now)?;
    // Read before SQLite opens the file, because opening may change it.
    let identity = snapshot::FileIdentity::of(&path);
    let mut conn = connection::writer(&path, settings.key)?;
    let mut missing = check_file(&conn, &path)?;
    connection::make_durable(&conn)?;
    let committed = checkpoint::count_frames(&mut conn)?;
    schema_check::rebuild(&conn, migrate::version(&conn)?, &missing)?;
    let backup_notice = back_up_before_migration(&conn, &path, &settings, now)?;
    let schema = migrate::run(&mut conn, now)?;
    let mut moved = recognition.log_pages.clone();
    if schema < migrate::SCHEMA || !missing.is_empty() {
        // What was written since may be moved into the file too.
        moved.extend(log_pages(&path)?);
    }
    let needs_mention_backfill = health::needs_mention_backfill(&conn)?;
    let health::OpenedState { check, word: nonce } =
        health::begin(&conn, &path, recognition.condition())?;
    derive_damaged_sets(&conn, &mut missing)?;
    let mut findings = recognition.findings.clone();
    findings.extend(missing.iter().map(Derived::finding));
    findings.extend(backup_notice);
    let snapshot_state = nonce
        .zip(identity)
        .filter(|_| schema == migrate::SCHEMA && missing.is_empty())
        .map(|(nonce, identity)| SnapshotState { nonce, identity });
    let damaged = Arc::new(DamagedRows::default());
    damage::record_into(&conn, &damaged)?;
    damaged.replace(damage::recorded(&conn)?);
    let sets = vector_sets::open(&conn, &settings.model, now)?;
    failpoint!("after a store is marked as open");
    let sums_are_valid = recognition.sums_are_valid;
    let files = begin_files(
        &conn,
        &path,
        OpenedFiles { database: &database, sums_are_valid, moved, committed },
    )?;
    let warmup = Arc::new(WarmupProgress::of(memories::count(&conn)?));
    let shared = Arc::new(Shared {
        path,
        database,
        is_read_only: false,
        damaged,
        group_redirects: RwLock::new(groups::group_redirects(&conn)?),
        isolated: RwLock::new(isolated_groups::all(&conn)?),
        switches: RwLock::new(switches::all(&conn)?),
        settings: RwLock::new(Arc::new(settings)),
        sets: RwLock::new(Arc::new(sets)),
        index: RwLock::default(),
        index_suspect: Mutex::default(),
        warmup,
        erase_pending: AtomicBool::new(false),
    });
    let mut writer = Writer {
        conn,
        shared,
        check,
        pending: Vec::new(),
        needs_mention_backfill,
        snapshot_state,
        files,
        failure: None,
        is_log_lost: false,
        erased: Vec::new(),
        policies: None,
        findings,
    };
    writer.begin_records();
    if recognition.condition() != health::FileCondition::Known {
        writer.erase_what_came_back(now)?;
    }
    Ok(writer)
}

/// Derives the table of vector sets from the vectors if it is damaged.
fn derive_damaged_sets(conn: &Connection, missing: &mut BTreeSet<Derived>) -> Result<()> {
    if vector_sets::is_damaged(conn)? {
        vector_sets::derive(conn)?;
        missing.insert(Derived::Sets);
    }
    Ok(())
}

/// Backs an older store up before its schema is migrated. Returns a notice if there is too little
/// space for a backup: the migration is one transaction, which leaves the old schema if it fails.
fn back_up_before_migration(
    conn: &Connection,
    path: &Path,
    settings: &Settings,
    now: Timestamp,
) -> Result<Option<String>> {
    let Some(folder) = settings.backups.folder.clone() else { return Ok(None) };
    if !migrate::is_due(conn)? {
        return Ok(None);
    }
    let max_bytes = settings.backups.max_bytes;
    let new = NewBackup { folder, reason: Reason::Migration, now, max_bytes };
    let source = connection::reader(path)?;
    match create::create(&source, &new, &mut || Ok(())) {
        Ok(_) => Ok(None),
        Err(error @ (Error::Damaged { .. } | Error::Database(_))) => Err(error),
        Err(error) => Ok(Some(format!("The store was migrated without a backup: {error}"))),
    }
}

/// Returns the ids of permanently deleted memories that are not in the file next to the backups.
pub(crate) fn unrecorded_tombstones(conn: &Connection, settings: &Settings) -> Vec<MemoryId> {
    let Some(folder) = &settings.backups.folder else { return Vec::new() };
    let Ok(mut ids) = tombstones::ids(conn) else { return Vec::new() };
    if !ids.is_empty()
        && let Ok(recorded) = forgotten_ids::read(folder)
    {
        ids.retain(|id| !recorded.contains(id));
    }
    ids
}

/// Refuses a file that this build must not change, or that contains what loci has not created;
/// returns what has to be built again. Nothing is moved from the log into the file if the connection
/// is then closed ([`connection::set_checkpoint_on_close`]).
fn check_file(conn: &Connection, path: &Path) -> Result<BTreeSet<Derived>> {
    migrate::check(conn, path)?;
    let mut missing = schema_check::check(conn, path, migrate::version(conn)?)?;
    missing.append(&mut schema_check::unusable(conn));
    Ok(missing)
}

/// The files of a store, locked and recognised.
struct FoundFiles {
    path: PathBuf,
    database: Arc<DatabaseFile>,
    recognition: Recognition,
}

impl FoundFiles {
    /// Finds or creates the database file. Nothing is changed before it is recognised.
    fn at(path: &Path, now: Timestamp) -> Result<Self> {
        let path = resolved(path);
        swap::complete(&path)?;
        let failed = |source| Error::File { path: path.clone(), source };
        let found = DatabaseFile::open(&path)?;
        let is_empty = match &found {
            Some(database) => database.length().map_err(failed)? == 0,
            None => true,
        };
        if is_empty {
            check_may_create(&path, found.is_some())?;
        }
        let database = match found {
            Some(database) => database,
            None => DatabaseFile::create(&path)?,
        };
        let recognition =
            if is_empty { Recognition::default() } else { recognise(&path, &database, now)? };
        Ok(Self { path, database: Arc::new(database), recognition })
    }
}

/// The log and the other files are next to the database file itself, so symbolic links are resolved
/// first. Of a missing file those of its folder are.
fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
        match (folder, path.file_name()) {
            (Some(folder), Some(name)) => folder.join(name),
            _ => path.to_path_buf(),
        }
    })
}

/// Returns the pages that the log has now.
pub(crate) fn log_pages(path: &Path) -> Result<HashSet<u32>> {
    match wal_file::read(path) {
        Ok(WalFile::Valid(frames)) => Ok(frames.pages),
        Ok(WalFile::Empty | WalFile::Garbage) => Ok(HashSet::new()),
        Err(source) => Err(Error::File { path: wal_path(path), source }),
    }
}

/// What is known of the files of a database that was opened.
struct OpenedFiles<'a> {
    database: &'a Arc<DatabaseFile>,
    /// Whether the existing checksums belong to the file.
    sums_are_valid: bool,
    /// The pages that may have been moved from the log into the file.
    moved: HashSet<u32>,
    /// The number of committed frames, which SQLite's hook writes.
    committed: Arc<AtomicU32>,
}

/// Begins with the files next to an opened database.
fn begin_files(conn: &Connection, path: &Path, opened: OpenedFiles<'_>) -> Result<StoreFiles> {
    let OpenedFiles { database, sums_are_valid, moved, committed } = opened;
    if !sums_are_valid {
        // The checksums are those of the file alone.
        connection::truncate_log(conn)?;
        committed.store(0, Ordering::Relaxed);
    }
    let identity = Identity {
        uuid: health::database_uuid(conn)?,
        is_open: true,
        checkpoints: health::number(conn, "checkpoints")?.unwrap_or(0),
        last_change: health::last_change(conn)?,
        memories: memories::count(conn)?,
        boot: boot_id(),
        ..Identity::default()
    };
    let begin = Begin {
        database: Arc::clone(database),
        identity,
        page_size: connection::page_size(conn)?,
        sums_are_valid,
        replayed: &moved,
        committed,
    };
    StoreFiles::begin(path, begin)
}

impl Writer {
    /// Deletes the hard-deleted memories that an older copy of the database has brought back.
    fn erase_what_came_back(&mut self, now: Timestamp) -> Result<()> {
        let Some(folder) = self.shared.settings().backups.folder.clone() else { return Ok(()) };
        let Ok(mut ids) = forgotten_ids::read(&folder) else { return Ok(()) };
        let mut found = HashSet::new();
        for id in ids.drain() {
            if memories::by_id(&self.conn, &id)?.is_some() {
                found.insert(id);
            }
        }
        if found.is_empty() {
            return Ok(());
        }
        let erased = self.erase_again(&found, now)?;
        self.findings.push(format!(
            "Memories that were hard-deleted and came back with the database were deleted again: {erased}"
        ));
        Ok(())
    }

    /// Returns the progress of loading the index.
    #[must_use]
    pub fn warmup(&self) -> Arc<WarmupProgress> {
        Arc::clone(&self.shared.warmup)
    }

    /// Loads the index unless it is ready. Every write does this first.
    ///
    /// # Errors
    /// `Database`; `busy` if the load was cancelled. Nothing was changed then.
    pub fn load(&mut self) -> Result<()> {
        if self.shared.warmup.progress().is_none() {
            return Ok(());
        }
        let (mut index, origin) = self.load_memories()?;
        if self.needs_mention_backfill {
            let tx = self.conn.transaction()?;
            mentions::insert_all(&tx, &index)?;
            failpoint!("after the mentions of an older store");
            health::finish_mention_backfill(&tx)?;
            tx.commit()?;
            self.needs_mention_backfill = false;
        }
        for link in entity_links::all(&self.conn)? {
            index.set_link(link);
        }
        entity_links::record_changes(&self.conn)?;
        *self.shared.index_mut() = index;
        self.shared.warmup.finish(origin);
        Ok(())
    }

    /// Loads the index without the links: from the snapshot if it is usable, else from the
    /// database. Removes the snapshot in both cases; if that fails, the file is unusable all the
    /// same, since its nonce is no longer in the database.
    fn load_memories(&mut self) -> Result<(Index, Origin)> {
        let Shared { path, warmup, .. } = &*self.shared;
        warmup.check_not_stopped()?;
        let error = match self.snapshot_state.take() {
            None if snapshot::path(path).exists() => SnapshotError::Stale,
            None => SnapshotError::Missing,
            Some(state) => {
                match snapshot::read(path, &state, &self.shared.sets().active, warmup)? {
                    Ok(index) if index.size().memories == memories::count(&self.conn)? => {
                        let _ = snapshot::remove(path);
                        return Ok((index, Origin::Snapshot));
                    }
                    Ok(_) => SnapshotError::Stale,
                    Err(error) => error,
                }
            }
        };
        let _ = snapshot::remove(path);
        let index = from_database(&self.conn, &self.shared)?;
        Ok((
            index,
            if error == SnapshotError::Missing {
                Origin::Database
            } else {
                Origin::Fallback(error)
            },
        ))
    }
}

/// Builds the index without the links from the database. Texts and vectors are read in parallel on
/// two connections: nothing is written before the index is ready, so both see the same state.
pub(crate) fn from_database(conn: &Connection, shared: &Shared) -> Result<Index> {
    let (warmup, set) = (&shared.warmup, shared.sets().active.clone());
    warmup.restart();
    let seqs = memories::seqs(conn)?;
    let mut encodings = Index::of_slots(&seqs);
    std::thread::scope(|scope| {
        let encodings_thread = scope.spawn(|| {
            let conn = shared.reader_connection()?;
            load_encodings(&conn, &set.name, warmup, &mut encodings)?;
            Ok::<_, Error>(encodings)
        });
        let (mut index, mut damaged) = (Index::default(), Vec::new());
        let mut rows = seqs.iter().copied();
        // Both indexes need the same slots, so a damaged row keeps one until they are put together.
        let mut hold_slots = |index: &mut Index, next: Option<i64>| {
            for seq in rows.by_ref().take_while(|seq| Some(*seq) != next) {
                index.put(Entry::bare(seq));
                damaged.push(seq);
            }
        };
        let entries_read = memories::entries(conn, &ALL_SEQS, |entry| {
            hold_slots(&mut index, Some(entry.seq));
            index.put(entry);
            warmup.count();
            Ok(warmup.check_not_stopped()?)
        });
        hold_slots(&mut index, None);
        let encodings = encodings_thread.join().unwrap_or_else(|_| {
            Err(Failure::new(Code::Internal, "loading the index failed: internal error").into())
        });
        entries_read?;
        drop(index.swap_encodings(set.clone(), encodings?));
        for seq in damaged {
            index.remove(seq);
        }
        Ok(index)
    })
}

/// Loads the vectors and sign codes of a set.
pub(crate) fn load_encodings(
    conn: &Connection,
    set: &str,
    warmup: &WarmupProgress,
    into: &mut Index,
) -> Result<()> {
    vectors::load(conn, set, &ALL_SEQS, |seq, vector| {
        into.push_vector(seq, vector);
        Ok(warmup.check_not_stopped()?)
    })?;
    codes::load(conn, set, &ALL_SEQS, |seq, sign_codes| {
        into.set_codes(seq, Some(&sign_codes));
        Ok(warmup.check_not_stopped()?)
    })
}
