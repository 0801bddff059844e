//! Who is connected: what each session said of itself, and what it has done.

use loci_engine::Actor;
use loci_engine::model::time::Timestamp;
use loci_proto::admin::SessionStatus;
use loci_proto::group::{Group, GroupHint, GroupName};
use loci_proto::hello;
use loci_proto::memory::MemoryId;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::{Semaphore, SemaphorePermit};

/// One connected agent.
#[derive(Debug)]
pub struct Session {
    /// What the shim said.
    pub hello: hello::Session,
    /// The project it works in.
    pub group: Group,
    client: OnceLock<String>,
    calls: AtomicU64,
    since: Timestamp,
    entered: Instant,
    turns: Semaphore,
    /// The latest questions that were answered with previews, and what was shown; shared with the same session in other groups.
    shown: Arc<Mutex<VecDeque<Shown>>>,
}

/// A question that was answered with previews.
#[derive(Debug, Clone)]
struct Shown {
    query: String,
    ids: Vec<MemoryId>,
    group: Group,
}

/// Questions of one session that are kept in mind.
const QUESTIONS: usize = 4;

/// Calls of one session that are worked on at once; its others wait, so that no session crowds out the rest.
const TURNS: usize = 4;

impl Session {
    /// A session as its shim introduced it; without a project it belongs to `default_group`.
    #[must_use]
    pub fn new(hello: hello::Session, default_group: &GroupName, since: Timestamp) -> Self {
        let group = match &hello.group {
            GroupHint::Named(name) => Group::named(name),
            GroupHint::ProjectNamed { folder, name } => Group::of_named_project(folder, name),
            GroupHint::Folder(path) => Group::of_folder(path),
            GroupHint::Default => Group::named(default_group),
        };
        Self {
            hello,
            group,
            client: OnceLock::new(),
            calls: AtomicU64::new(0),
            since,
            entered: Instant::now(),
            turns: Semaphore::new(TURNS),
            shown: Arc::default(),
        }
    }

    /// Keeps a question in mind whose answers were shown as previews.
    pub fn has_seen(&self, query: String, ids: Vec<MemoryId>, group: Group) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown.push_front(Shown { query, ids, group });
        shown.truncate(QUESTIONS);
    }

    /// The latest question that showed this memory as a preview, and the project that it asked in.
    #[must_use]
    pub fn why_wanted(&self, id: &MemoryId) -> Option<(String, Group)> {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        shown
            .iter()
            .find(|shown| shown.ids.contains(id))
            .map(|shown| (shown.query.clone(), shown.group.clone()))
    }

    /// Waits for this session's turn; the turn ends when what is returned is dropped.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed, so there always is a permit.
        self.turns.acquire().await.ok()
    }

    /// The same session at work in another group, for one call.
    #[must_use]
    pub fn in_group(&self, group: Group) -> Self {
        Self {
            hello: self.hello.clone(),
            group,
            client: self.client.clone(),
            calls: AtomicU64::new(0),
            since: self.since,
            entered: self.entered,
            turns: Semaphore::new(TURNS),
            shown: Arc::clone(&self.shown),
        }
    }

    /// Counts a tool call of this client.
    pub fn called(&self, client: Option<String>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(client) = client {
            self.client.get_or_init(|| client);
        }
    }

    /// For the audit log.
    #[must_use]
    pub fn actor(&self) -> Actor {
        let session = self.hello.agent_session.clone().unwrap_or_else(|| self.hello.id.clone());
        Actor {
            client: self.client.get().cloned(),
            session: Some(session),
            group: self.group.clone(),
        }
    }

    fn status(&self) -> SessionStatus {
        SessionStatus {
            client: self.client.get().cloned(),
            group: self.group.name.clone(),
            pid: self.hello.pid,
            calls: self.calls.load(Ordering::Relaxed),
            since: self.since.iso(),
            age_s: self.entered.elapsed().as_secs(),
        }
    }
}

/// Every connected agent.
#[derive(Debug)]
pub struct Sessions {
    open: Mutex<BTreeMap<u64, Arc<Session>>>,
    next: AtomicU64,
    last_seen: Mutex<Instant>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            next: AtomicU64::new(0),
            last_seen: Mutex::new(Instant::now()),
        }
    }
}

/// A place among the connected agents, given up when it is dropped.
#[derive(Debug)]
pub struct Place {
    sessions: Arc<Sessions>,
    number: u64,
    /// Who holds it.
    pub session: Arc<Session>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.sessions.lock().remove(&self.number);
        *self.sessions.last_seen.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Sessions {
    /// Takes a place for a session.
    #[must_use]
    pub fn enter(self: &Arc<Self>, session: Session) -> Place {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let session = Arc::new(session);
        self.lock().insert(number, Arc::clone(&session));
        Place { sessions: Arc::clone(self), number, session }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Since when nobody is connected; none while somebody is.
    #[must_use]
    pub fn empty_since(&self) -> Option<Instant> {
        let empty = self.lock().is_empty();
        empty.then(|| *self.last_seen.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// All of them for `loci ctl status`, and their warnings.
    #[must_use]
    pub fn list(&self) -> (Vec<SessionStatus>, Vec<String>) {
        let open = self.lock();
        let mut warnings: Vec<String> =
            open.values().flat_map(|s| s.hello.warnings.clone()).collect();
        warnings.sort();
        warnings.dedup();
        (open.values().map(|s| s.status()).collect(), warnings)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
