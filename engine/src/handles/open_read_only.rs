//! Opens a store without a writer: on a full disk or a read-only file system its memories are still
//! served, and `doctor --offline` reads it. Nothing is created, changed or migrated.
//!
//! Not here: when this is tried, and when the store is opened for writing again (the daemon).

use crate::database_files::database_file::DatabaseFile;
use crate::db::connection;
use crate::db::damage::{self, DamagedRows};
use crate::db::{
    entity_links, groups, health, isolated_groups, memories, migrate, schema_check, switches,
    vector_sets,
};
use crate::error::{Error, Result};
use crate::handles::open::from_database;
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::handles::shared::Shared;
use crate::index::Index;
use crate::index::snapshot::error::SnapshotError;
use crate::index::snapshot::{self, FileIdentity, SnapshotState};
use crate::index::warmup::{Origin, WarmupProgress};
use crate::model::time::Timestamp;
use crate::operations::groups::GroupRedirects;
use crate::operations::isolation::IsolatedGroups;
use crate::operations::reembed::ActiveSets;
use crate::operations::switches::Switches;
use parking_lot::{Mutex, RwLock};
use rusqlite::Connection;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A store that can only be read.
#[derive(Debug)]
pub struct ReadOnlyStore {
    shared: Arc<Shared>,
    last_seen: Timestamp,
}

/// Opens a database of the current schema for reading, and loads its index. The caller makes sure
/// that no process writes to it meanwhile.
///
/// # Errors
/// `Damaged`, `NotOurs`, `NewerDatabase`, `Database`; `Refused` if the database must be migrated
/// first.
pub fn open_read_only(path: &Path, settings: Settings) -> Result<ReadOnlyStore> {
    let (shared, conn) = open_unloaded(path, settings)?;
    let index = from_database(&conn, &shared)?;
    put_in_place(&shared, &conn, index, Origin::Database)?;
    Ok(ReadOnlyStore { last_seen: health::last_seen(&conn)?, shared })
}

/// Loads the index of an unloaded store from the snapshot, as the next start would, and keeps the
/// snapshot. Returns false, and leaves the index empty, if the next start would not use it.
///
/// # Errors
/// `Database`.
pub(crate) fn load_snapshot(
    shared: &Shared,
    conn: &Connection,
    identity: Option<FileIdentity>,
) -> Result<bool> {
    let nonce = health::snapshot_nonce(conn)?;
    let state = nonce.zip(identity).map(|(nonce, identity)| SnapshotState { nonce, identity });
    let read = match state {
        Some(state) => snapshot::read(&shared.path, &state, &shared.sets().active, &shared.warmup)?,
        None if snapshot::path(&shared.path).exists() => Err(SnapshotError::Stale),
        None => Err(SnapshotError::Missing),
    };
    let error = match read {
        Ok(index) if index.size().memories == memories::count(conn)? => {
            put_in_place(shared, conn, index, Origin::Snapshot)?;
            return Ok(true);
        }
        Ok(_) => SnapshotError::Stale,
        Err(error) => error,
    };
    shared.warmup.finish(Origin::Fallback(error));
    Ok(false)
}

/// Opens a database of the current schema for reading, without its index.
///
/// # Errors
/// As [`open_read_only`].
pub(crate) fn open_unloaded(path: &Path, settings: Settings) -> Result<(Arc<Shared>, Connection)> {
    let path = path.canonicalize().map_err(|source| Error::File { path: path.into(), source })?;
    let database = DatabaseFile::open_read_only(&path)?;
    let conn = connection::reader_without_files(&path)?;
    migrate::check(&conn, &path)?;
    migrate::require_current(&conn)?;
    schema_check::check(&conn, &path, migrate::SCHEMA)?;
    let damaged = Arc::new(DamagedRows::default());
    damage::record_into(&conn, &damaged)?;
    damaged.replace(damage::recorded(&conn)?);
    let warmup = WarmupProgress::of(memories::count(&conn)?);
    let shared = Arc::new(Shared {
        path,
        database: Arc::new(database),
        is_read_only: true,
        damaged,
        erase_pending: AtomicBool::new(false),
        group_redirects: RwLock::new(groups::group_redirects(&conn)?),
        isolated: RwLock::new(isolated_groups::all(&conn)?),
        switches: RwLock::new(switches::all(&conn)?),
        settings: RwLock::new(Arc::new(settings)),
        sets: RwLock::new(Arc::new(vector_sets::in_use(&conn)?)),
        index: RwLock::default(),
        index_suspect: Mutex::default(),
        warmup: Arc::new(warmup),
    });
    Ok((shared, conn))
}

/// Adds the links to a loaded index and puts it in its place.
fn put_in_place(
    shared: &Shared,
    conn: &Connection,
    mut index: Index,
    origin: Origin,
) -> Result<()> {
    for link in entity_links::all(conn)? {
        index.set_link(link);
    }
    *shared.index_mut() = index;
    shared.warmup.finish(origin);
    Ok(())
}

impl ReadOnlyStore {
    /// Opens a handle for reading.
    ///
    /// # Errors
    /// `Database` when it cannot be opened.
    pub fn reader(&self) -> Result<Reader> {
        Reader::new(&self.shared)
    }

    /// Returns the redirects of merged groups.
    #[must_use]
    pub fn group_redirects(&self) -> GroupRedirects {
        GroupRedirects::of(&self.shared)
    }

    /// Returns the isolated projects.
    #[must_use]
    pub fn isolated_groups(&self) -> IsolatedGroups {
        IsolatedGroups::of(&self.shared)
    }

    /// Returns the switches of projects and sessions.
    #[must_use]
    pub fn switches(&self) -> Switches {
        Switches::of(&self.shared)
    }

    /// Returns the vector sets in use.
    #[must_use]
    pub fn active_sets(&self) -> ActiveSets {
        ActiveSets::of(&self.shared)
    }

    /// Returns the progress of loading the index, which is complete.
    #[must_use]
    pub fn warmup(&self) -> Arc<WarmupProgress> {
        Arc::clone(&self.shared.warmup)
    }

    /// Returns the latest trusted time that the store has recorded.
    #[must_use]
    pub fn last_seen(&self) -> Timestamp {
        self.last_seen
    }
}
