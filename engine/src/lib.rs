//! How memory works: what is stored, what counts as the same fact, what is found and in which order, how memories age.
//!
//! **A reading guide.** [`open`] gives the one [`Writer`] of a database and as many [`Reader`]s as are wanted. The verbs are files of that
//! name: [`store`], [`recall`], [`stats`], [`access`] (what a recall leaves behind), [`eval`], [`backfill`] (vectors that were missing)
//! and [`maintain`] (how episodes become summaries and facts, and what is cleaned up). What they decide is pure and has its own room:
//! [`soft`], [`rank`], `content`, `budget`, `query`, `bm25`, [`duplicate`], [`decay`]. What they find comes from `db` (the only SQL) and
//! [`index`] (the warm copy that searches).
//!
//! Everything is synchronous and is handed what it needs: the moment, the request, the vectors. Not here: clocks, threads, sockets,
//! the model, the environment.

pub mod access;
pub mod backfill;
pub mod backup;
mod bm25;
mod brief;
mod budget;
pub mod change;
mod collapse;
mod content;
mod days;
mod db;
pub mod decay;
mod doctor;
pub mod duplicate;
mod early;
mod edit;
pub mod embedding;
pub mod error;
pub mod eval;
mod explain;
mod forget;
mod graph;
pub mod groups;
pub mod index;
mod inspect;
mod kernels;
mod links;
mod list;
mod load;
pub mod maintain;
mod names;
mod query;
pub mod rank;
pub mod recall;
mod relate;
mod restore;
mod search;
mod sidecar;
pub mod soft;
mod spoken;
pub mod stats;
pub mod store;
pub mod time;
pub mod transfer;
mod undo;
mod visible;

#[cfg(test)]
mod collapse_tests;
#[cfg(test)]
mod early_tests;
#[cfg(test)]
mod explain_tests;
#[cfg(test)]
mod graph_tests;
#[cfg(test)]
mod growth_tests;
#[cfg(test)]
mod idempotency_tests;
#[cfg(test)]
mod recall_tests;
#[cfg(test)]
mod search_tests;
#[cfg(test)]
mod sidecar_tests;
#[cfg(test)]
#[path = "../../tests/it/skipped.rs"]
mod skipped;
#[cfg(test)]
mod store_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tongue_tests;
#[cfg(test)]
mod undo_tests;

use db::{connection, upkeep};
use decay::Decay;
use error::Result;
use index::{Filter, Index};
pub use load::{Loading, open, open_cold};
use loci_proto::error::{Code, Failure};
use loci_proto::group::Group;
use loci_proto::memory::{Confidence, MemoryType, Scope};
use parking_lot::{Mutex, RwLock, RwLockReadGuard, RwLockWriteGuard};
use rank::Fusion;
use rusqlite::Connection;
pub use search::Depth;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use time::Timestamp;

/// What a person can set about the engine. The defaults are the specification's.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Which model's vectors are written and searched.
    pub model: String,
    /// How the two legs become one score.
    pub fusion: Fusion,
    /// Above this cosine two texts may be the same fact; 0 to 1.
    pub dedup_threshold: f64,
    /// Results of a recall that does not say how many.
    pub default_max_results: usize,
    /// Tokens of an answer of previews, where the call does not say.
    pub preload_token_budget: usize,
    /// Tokens of an answer in full, where the call does not say.
    pub recall_token_budget: usize,
    /// How fast confidence fades.
    pub decay: Decay,
    /// How long memories hold that do not say so themselves.
    pub ttl: Ttl,
    /// When episodes are compacted, facts promoted, and memories cleaned up.
    pub rules: maintain::Rules,
    /// How much of a large store a recall compares; nobody sets it but who measures.
    pub depth: Depth,
    /// From how many memories on the index is kept in a file between a stop and a start; nobody sets it but tests.
    pub kept_from: usize,
}

/// How long memories of each type hold, in seconds; none means for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ttl {
    /// What happened.
    pub episodic: Option<usize>,
    /// What is so.
    pub semantic: Option<usize>,
    /// How something is done.
    pub procedural: Option<usize>,
    /// Who or what.
    pub entity: Option<usize>,
}

impl Ttl {
    fn of(self, kind: MemoryType) -> Option<usize> {
        match kind {
            MemoryType::Episodic => self.episodic,
            MemoryType::Semantic => self.semantic,
            MemoryType::Procedural => self.procedural,
            MemoryType::Entity => self.entity,
        }
    }
}

impl Settings {
    /// The defaults with a model of this name.
    #[must_use]
    pub fn for_model(model: &str) -> Self {
        Self {
            model: model.to_owned(),
            fusion: Fusion::default(),
            dedup_threshold: 0.92,
            default_max_results: 5,
            preload_token_budget: 2000,
            recall_token_budget: 4000,
            decay: Decay::default(),
            ttl: Ttl::default(),
            rules: maintain::Rules::default(),
            depth: Depth::default(),
            kept_from: sidecar::KEPT_FROM,
        }
    }
}

/// Who acts, for the audit log and for what is visible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// What the agent calls itself.
    pub client: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The project that the session works in.
    pub group: Group,
}

/// The one connection that changes the database.
#[derive(Debug)]
pub struct Writer {
    conn: Connection,
    shared: Arc<Shared>,
    check: upkeep::Check,
    pending: Vec<News>,
    /// Something that was deleted for good may still stand in the write-ahead log.
    traces: bool,
    /// The store is older than mentions are.
    wants_mentions: bool,
    /// The state in which the last daemon left the store, where it left its index too.
    kept: Option<sidecar::State>,
}

/// A connection that can only read, beside the warm index.
#[derive(Debug)]
pub struct Reader {
    conn: Connection,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    path: PathBuf,
    settings: RwLock<Arc<Settings>>,
    index: RwLock<Index>,
    /// Held while the index is being told of a change. True where it may have missed something: it was being told, and that did not end
    /// well, or a check has found a fault.
    telling: Mutex<bool>,
    /// Where groups lead that were merged into others.
    aliases: RwLock<HashMap<String, Group>>,
    loading: Arc<Loading>,
}

impl Reader {
    /// Looks at the structure of every page of the database; takes a second for some 150 MB.
    ///
    /// # Errors
    /// `Damaged` with the first fault, `Database`.
    pub fn check(&self) -> Result<()> {
        upkeep::check(&self.fresh()?, &self.shared.path)
    }

    /// A connection that has in mind nothing of how FTS5's index lay before: what another one has moved since would count as damage.
    fn fresh(&self) -> Result<Connection> {
        connection::reader(&self.shared.path)
    }
}

impl Writer {
    /// One more connection for reading the same store.
    ///
    /// # Errors
    /// `Database` when it cannot be opened.
    pub fn reader(&self) -> Result<Reader> {
        Ok(Reader {
            conn: connection::reader(&self.shared.path)?,
            shared: Arc::clone(&self.shared),
        })
    }

    /// True when the last daemon did not close the store and it has not been checked since: [`Reader::check`] is due.
    #[must_use]
    pub fn wants_check(&self) -> bool {
        self.check == upkeep::Check::Due
    }

    /// Notes what a check has found, so that the next start looks before it serves.
    ///
    /// # Errors
    /// `Database`.
    pub fn note_damage(&self, what: &str) -> Result<()> {
        upkeep::set_damaged(&self.conn, what)
    }

    /// The latest moment that the store has seen; a clock behind it has been set back.
    ///
    /// # Errors
    /// `Database`.
    pub fn last_seen(&self) -> Result<Timestamp> {
        upkeep::last_seen(&self.conn)
    }

    /// The first moment that was too far ahead to be believed, if one was noted since the last believed one.
    ///
    /// # Errors
    /// `Database`.
    pub fn suspected(&self) -> Result<Option<Timestamp>> {
        upkeep::suspected(&self.conn)
    }

    /// Notes a moment that is too far ahead to be believed, unless one is noted already.
    ///
    /// # Errors
    /// `Database`.
    pub fn suspect(&self, now: Timestamp) -> Result<()> {
        upkeep::suspect(&self.conn, now)
    }

    /// Keeps a moment as one that the clock has reached; only the caller can tell whether its clock is to be believed.
    ///
    /// # Errors
    /// `Database`.
    pub fn remember_moment(&self, now: Timestamp) -> Result<()> {
        upkeep::set_last_seen(&self.conn, now)
    }

    /// Moves committed pages from the write-ahead log into the database; how many are left in the log.
    ///
    /// # Errors
    /// `Database`: a disk that fails here is dying, though nothing is lost yet.
    pub fn checkpoint(&mut self) -> Result<i64> {
        if self.traces {
            self.leave_no_trace()?;
            return Ok(i64::from(self.traces));
        }
        upkeep::checkpoint(&self.conn)
    }

    /// What was deleted for good may stand in a file of the index, which goes, and in the write-ahead log, which is emptied: now or, where
    /// a reader is in the way (an export may read for minutes), with the next checkpoint that can.
    fn leave_no_trace(&mut self) -> Result<()> {
        // Until both are done, the next checkpoint tries again.
        self.traces = true;
        let emptied = upkeep::empty_log(&self.conn)?;
        sidecar::remove(&self.shared.path)?;
        self.traces = !emptied;
        Ok(())
    }

    /// Forgets the answers of mutating calls that were given before a moment; how many there were.
    ///
    /// # Errors
    /// `Database`.
    pub fn expire_answers(&self, before: Timestamp) -> Result<usize> {
        db::idempotency::expire(&self.conn, before)
    }

    /// Other settings from the next call on. The model stays: another one needs another start.
    pub fn set_settings(&self, settings: Settings) {
        let model = self.shared.settings().model.clone();
        *self.shared.settings.write() = Arc::new(Settings { model, ..settings });
    }

    /// Closes the store: the write-ahead log is emptied into the database. The index of a large one is left in a file for the next start.
    ///
    /// # Errors
    /// `Database`, `File`; nothing is lost then, the next start reads the log.
    pub fn close(self) -> Result<()> {
        let Self { conn, shared, pending, .. } = self;
        let worth_it = |index: &Index| {
            (shared.settings().kept_from..sidecar::KEPT_BELOW).contains(&index.held().0)
        };
        let sound = pending.is_empty() && !shared.is_suspect();
        let keeps = sound && shared.warm().is_some_and(|index| worth_it(&index));
        let word = keeps.then(|| uuid::Uuid::now_v7().simple().to_string());
        upkeep::end(&conn, word.as_deref())?;
        // Only then does the file lie as the next start finds it.
        conn.close().map_err(|(_, fault)| fault)?;
        match word.zip(sidecar::Lies::of(&shared.path)) {
            Some((word, lies)) => sidecar::write(
                &shared.path,
                &shared.index(),
                &sidecar::State { word, lies },
                &shared.settings().model,
            ),
            None => sidecar::remove(&shared.path),
        }
    }
}

/// What a change has touched, for the warm index.
#[derive(Debug, Default)]
struct Touched {
    seqs: Vec<i64>,
    vectors: Vec<(i64, embedding::Coded)>,
    /// Nothing is left.
    emptied: bool,
    /// Memories whose vectors are read from the store, for there may be many.
    stored_vectors: Vec<i64>,
    /// What the changes before it in the same group have made; the index does not know it yet.
    earlier: Vec<News>,
}

/// What the warm index has to be told of a change, once it is committed.
#[derive(Debug)]
struct News {
    entries: Vec<(i64, Option<index::Entry>)>,
    vectors: Vec<(i64, embedding::Coded)>,
    emptied: bool,
    stored_vectors: Vec<i64>,
    links: Vec<db::graph::Link>,
}

impl Shared {
    /// The warm index, where it stands.
    fn warm(&self) -> Option<RwLockReadGuard<'_, Index>> {
        self.loading.standing().is_none().then(|| self.index())
    }

    /// The index may have missed something; it is not to be kept for the next start. Not to be called by whoever looks at the index.
    fn suspect(&self) {
        *self.telling.lock() = true;
    }

    fn is_suspect(&self) -> bool {
        *self.telling.lock()
    }

    /// Refuses what needs the whole index while it is being loaded.
    fn stands(&self) -> Result<()> {
        match self.loading.standing() {
            Some(_) => Err(Failure::new(Code::Busy, "the index is still being loaded")
                .hint("Call again in a moment")
                .into()),
            None => Ok(()),
        }
    }

    fn index(&self) -> RwLockReadGuard<'_, Index> {
        self.index.read()
    }

    fn index_mut(&self) -> RwLockWriteGuard<'_, Index> {
        self.index.write()
    }

    /// Where the index lags behind the store because it is being told of a change, waits until it has been told all of it.
    fn wait_for_news(&self) {
        drop(self.telling.lock());
    }

    /// The settings at this moment; a call takes them once and keeps to them.
    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    /// The filter of everything that a session of this group can see.
    fn filter<'a>(&self, group: &'a str, now: Timestamp) -> Filter<'a> {
        let (kind, scope): (Option<MemoryType>, Option<Scope>) = (None, None);
        let lowest = Confidence::new(0.0).unwrap_or(Confidence::FULL);
        Filter {
            group,
            kind,
            scope,
            min_confidence: lowest,
            now,
            decay: self.settings().decay,
            compacted: false,
        }
    }
}
