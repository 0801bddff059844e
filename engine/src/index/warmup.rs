//! Opening a store: the database at once, and the warm index from it while readers answer already.
//!
//! Texts and vectors are read side by side, on two connections: until the index stands nothing is written, so both see the same. Not
//! here: what a recall answers meanwhile (`early`).

use crate::db::{
    ALL_SEQS, codes, connection, entity_links, groups, health, memories, migrate, vectors,
};
use crate::error::{Error, Result};
use crate::index::Index;
use crate::index::snapshot;
use crate::index::snapshot::{SnapshotError, SnapshotState};
use crate::model::time::Timestamp;
use crate::transaction::mentions;
use crate::{Settings, Shared, Writer};
use loci_proto::error::{Code, Failure};
use parking_lot::{Mutex, RwLock};
use rusqlite::Connection;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// The first schema that keeps which memories name an entity.
const SCHEMA_WITH_MENTIONS: i64 = 2;

/// How far the warm index has come.
#[derive(Debug, Default)]
pub struct WarmupProgress {
    read: AtomicUsize,
    all: AtomicUsize,
    stands: AtomicBool,
    stopped: AtomicBool,
    origin: OnceLock<Origin>,
}

/// What the index was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    Database,
    File,
    /// There was a file, and it could not be used.
    Instead(SnapshotError),
}

impl WarmupProgress {
    /// How many memories were read of how many; none once the index stands.
    #[must_use]
    pub fn progress(&self) -> Option<(usize, usize)> {
        (!self.stands.load(Ordering::Acquire)).then(|| self.counts())
    }

    /// How many memories were read of how many, standing or not.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        (self.read.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }

    /// The daemon ends: a load that is under way gives up.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Where the index came from, for a sentence that begins with it; none until it stands.
    #[must_use]
    pub fn origin(&self) -> Option<&'static str> {
        Some(match self.origin.get()? {
            Origin::File => "read from the file beside the database",
            Origin::Database | Origin::Instead(SnapshotError::Missing) => "built from the database",
            Origin::Instead(SnapshotError::Unreadable) => {
                "built from the database: the file beside it cannot be read"
            }
            Origin::Instead(SnapshotError::Damaged) => {
                "built from the database: the file beside it was damaged"
            }
            Origin::Instead(SnapshotError::Stale) => {
                "built from the database: the file beside it was of another state, model or build"
            }
        })
    }

    /// One more memory was read.
    pub(crate) fn count(&self) {
        self.read.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn check_not_stopped(&self) -> Result<()> {
        if self.stopped.load(Ordering::Relaxed) {
            return Err(Failure::new(Code::Busy, "the daemon is ending").hint("Call again").into());
        }
        Ok(())
    }
}

/// Opens the database, makes or migrates it, checks it where the last daemon did not close it, and builds the warm index.
///
/// # Errors
/// `NewerDatabase`, `NotOurs`, `Damaged`, `File` or `Database`; the file is then as it was.
pub fn open(path: &Path, settings: Settings, now: Timestamp) -> Result<Writer> {
    let mut writer = open_cold(path, settings, now)?;
    writer.load()?;
    Ok(writer)
}

/// The same without the index: readers answer by what the database alone can tell, and [`Writer::load`] is due.
///
/// # Errors
/// As [`open`].
pub fn open_cold(path: &Path, settings: Settings, now: Timestamp) -> Result<Writer> {
    // Before it is opened: that may already change how it identity.
    let identity = path.canonicalize().ok().and_then(|path| snapshot::FileIdentity::of(&path));
    let mut conn = connection::writer(path)?;
    // What stands beside the database stands beside the file itself, whichever link leads to it.
    let path = &path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    migrate::check(&conn, path)?;
    connection::make_durable(&conn)?;
    let schema = migrate::run(&mut conn, now)?;
    if (1..SCHEMA_WITH_MENTIONS).contains(&schema) {
        health::request_mention_backfill(&conn)?;
    }
    let needs_mention_backfill = health::needs_mention_backfill(&conn)?;
    let health::OpenedState { check, word } = health::begin(&conn, path)?;
    let kept = word
        .zip(identity)
        .filter(|_| schema == migrate::SCHEMA)
        .map(|(word, identity)| SnapshotState { nonce: word, identity });
    let warmup = WarmupProgress::default();
    warmup.all.store(memories::count(&conn)?, Ordering::Relaxed);
    let shared = Arc::new(Shared {
        path: path.clone(),
        aliases: RwLock::new(groups::group_redirects(&conn)?),
        settings: RwLock::new(Arc::new(settings)),
        index: RwLock::default(),
        index_suspect: Mutex::default(),
        warmup: Arc::new(warmup),
    });
    Ok(Writer {
        conn,
        shared,
        check,
        pending: Vec::new(),
        erase_pending: false,
        needs_mention_backfill,
        kept,
    })
}

impl Writer {
    /// How far the warm index has come.
    #[must_use]
    pub fn warmup(&self) -> Arc<WarmupProgress> {
        Arc::clone(&self.shared.warmup)
    }

    /// Builds the warm index, where it does not stand yet. What is written before does this by itself.
    ///
    /// # Errors
    /// `Database`; `busy` when it was stopped. Nothing was changed then.
    pub fn load(&mut self) -> Result<()> {
        if self.shared.warmup.progress().is_none() {
            return Ok(());
        }
        let (mut index, origin) = self.made()?;
        if self.needs_mention_backfill {
            let tx = self.conn.transaction()?;
            mentions::renew_store(&tx, &index)?;
            health::finish_mention_backfill(&tx)?;
            tx.commit()?;
            self.needs_mention_backfill = false;
        }
        for link in entity_links::all(&self.conn)? {
            index.set_link(link);
        }
        entity_links::record_changes(&self.conn)?;
        *self.shared.index_mut() = index;
        let _ = self.shared.warmup.origin.set(origin);
        self.shared.warmup.stands.store(true, Ordering::Release);
        Ok(())
    }
}

impl Writer {
    /// The index but for what links memories: from the file where that is fit, else from the database. The file goes either way; one that
    /// cannot be removed is of no state to come, since the word that it belongs to is gone from the database.
    fn made(&mut self) -> Result<(Index, Origin)> {
        let Shared { path, warmup, .. } = &*self.shared;
        warmup.check_not_stopped()?;
        let error = match self.kept.take() {
            None if snapshot::path(path).exists() => SnapshotError::Stale,
            None => SnapshotError::Missing,
            Some(state) => {
                match snapshot::read(path, &state, &self.shared.settings().model, warmup)? {
                    Ok(index) if index.held().0 == memories::count(&self.conn)? => {
                        let _ = snapshot::remove(path);
                        return Ok((index, Origin::File));
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
            if error == SnapshotError::Missing { Origin::Database } else { Origin::Instead(error) },
        ))
    }
}

/// Everything but what links memories.
fn from_database(conn: &Connection, shared: &Shared) -> Result<Index> {
    let (warmup, model) = (&shared.warmup, shared.settings().model.clone());
    warmup.read.store(0, Ordering::Relaxed);
    let mut encodings = Index::of_slots(&memories::seqs(conn)?);
    std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let conn = connection::reader(&shared.path)?;
            vectors::load(&conn, &model, &ALL_SEQS, |seq, vector| {
                encodings.push_vector(seq, vector);
                warmup.check_not_stopped()
            })?;
            codes::load(&conn, &model, &ALL_SEQS, |seq, words| {
                encodings.set_codes(seq, Some(&words));
                warmup.check_not_stopped()
            })?;
            Ok::<_, Error>(encodings)
        });
        let mut index = Index::default();
        let texts = memories::entries(conn, &ALL_SEQS, |entry| {
            index.put(entry);
            warmup.count();
            warmup.check_not_stopped()
        });
        let encodings = reading.join().unwrap_or_else(|_| {
            Err(Failure::new(Code::Internal, "a fault of loci ended the load").into())
        });
        texts?;
        index.attach_encodings(encodings?);
        Ok(index)
    })
}
