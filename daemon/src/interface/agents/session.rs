//! The connected agents: the hello, the client and the calls of each session.
//!
//! Not here: the connection (`listen`), MCP (`mcp`).

use crate::interface::agents::followed::Followed;
use crate::interface::agents::recognised::Recognised;
use crate::interface::agents::shown::ShownMemories;
use loci_engine::Actor;
use loci_engine::model::actor::recorded_client;
use loci_engine::model::time::Timestamp;
use loci_proto::admin::SessionStatus;
use loci_proto::group::{Group, GroupHint, GroupName};
use loci_proto::hello;
use loci_proto::hello::{Checkout, Speaker};
use loci_proto::memory::{MemoryId, Origin};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;
use tokio::sync::{OnceCell, Semaphore, SemaphorePermit};

/// One connected agent.
#[derive(Debug)]
pub struct Session {
    /// The shim's hello.
    pub hello: hello::Session,
    /// The project of the session.
    pub group: Group,
    client: OnceLock<String>,
    calls: AtomicU64,
    since: Timestamp,
    connected_at: Instant,
    call_permits: Semaphore,
    /// Number of the latest warning about storage that the agent has been shown.
    pub seen_warnings: AtomicU64,
    /// The log of previews; shared with the copies made by [`Session::in_group`].
    pub previews: Arc<PreviewLog>,
    /// The memories that the agent has been shown; shared like `previews`.
    pub shown: Arc<ShownMemories>,
    /// What the folder of the project turned out to be, once the first call has looked; shared like `previews`.
    pub recognised: Arc<OnceCell<Recognised>>,
    /// The group that the hello makes.
    hinted: Group,
    /// What is checked out in the project.
    checkout: Option<Checkout>,
    /// When the agent last stored a memory; shared like `previews`.
    last_store: Arc<Mutex<Option<Instant>>>,
    /// The socket of the session: agents and people have different ones.
    from: SessionKind,
    /// The session may name no project but its own.
    is_bound: bool,
    /// Where the client has gone since.
    followed: Followed<Session>,
}

/// The socket that a session uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionKind {
    /// The agents' socket.
    Agent,
    /// The admin socket, which the command line uses.
    CommandLine,
}

/// The latest queries of a session that were answered with previews. A preview that the agent then reads in full is click feedback.
#[derive(Debug, Default)]
pub struct PreviewLog(Mutex<VecDeque<PreviewedQuery>>);

#[derive(Debug, Clone)]
struct PreviewedQuery {
    query: String,
    ids: Vec<MemoryId>,
    group: Group,
}

/// Maximum number of queries in the preview log of one session.
const MAX_PREVIEWED_QUERIES: usize = 4;

/// Maximum number of calls of one session that run at the same time; its other calls wait, so that no session starves the others.
const MAX_CONCURRENT_CALLS: usize = 4;

impl PreviewLog {
    /// Records a query that was answered with previews of these memories.
    pub fn record(&self, query: String, ids: Vec<MemoryId>, group: Group) {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.push_front(PreviewedQuery { query, ids, group });
        log.truncate(MAX_PREVIEWED_QUERIES);
    }

    /// Returns the latest query that showed this memory as a preview, and the group of the query.
    #[must_use]
    pub fn query_that_showed(&self, id: &MemoryId) -> Option<(String, Group)> {
        let log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        log.iter()
            .find(|previewed| previewed.ids.contains(id))
            .map(|previewed| (previewed.query.clone(), previewed.group.clone()))
    }
}

impl Session {
    /// Returns when the session began.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Creates a session from the shim's hello; outside any project its group is `default_group`.
    #[must_use]
    pub fn new(
        hello: hello::Session,
        from: SessionKind,
        default_group: &GroupName,
        since: Timestamp,
    ) -> Self {
        let group = match &hello.group {
            GroupHint::Named(name) => Group::named(name),
            GroupHint::ProjectNamed { folder, name } => Group::of_named_project(folder, name),
            GroupHint::Folder(path) => Group::of_folder(path),
            GroupHint::Default => Group::named(default_group),
        };
        Self {
            checkout: hello.checkout.clone(),
            hello,
            hinted: group.clone(),
            recognised: Arc::default(),
            group,
            client: OnceLock::new(),
            calls: AtomicU64::new(0),
            since,
            connected_at: Instant::now(),
            call_permits: Semaphore::new(MAX_CONCURRENT_CALLS),
            seen_warnings: AtomicU64::new(0),
            previews: Arc::default(),
            shown: Arc::default(),
            last_store: Arc::default(),
            from,
            is_bound: false,
            followed: Followed::default(),
        }
    }

    /// Returns the session with its project as the only one that it may name.
    #[must_use]
    pub fn bound_to_project(self) -> Self {
        Self { is_bound: true, ..self }
    }

    /// Returns whether the session may name no project but its own.
    #[must_use]
    pub fn is_bound_to_project(&self) -> bool {
        self.is_bound
    }

    /// Returns the group that the hello makes, whatever became of it.
    #[must_use]
    pub fn hinted_group(&self) -> &Group {
        &self.hinted
    }

    /// Returns whether replies name the project of the session: unless it is that of its folder, nobody would guess it.
    #[must_use]
    pub fn names_project(&self) -> bool {
        !matches!(self.hello.group, GroupHint::Folder(_)) || self.group != self.hinted
    }

    /// Returns whether the session works outside any project, in the default one.
    #[must_use]
    pub fn is_outside_projects(&self) -> bool {
        self.hello.group == GroupHint::Default
    }

    /// Waits until the session may run another call; the call ends when the permit is dropped.
    pub async fn call_permit(&self) -> Option<SemaphorePermit<'_>> {
        // The semaphore is never closed, so this never returns `None`.
        self.call_permits.acquire().await.ok()
    }

    /// Returns a copy of the session in another group, for one call.
    #[must_use]
    pub fn in_group(&self, group: Group) -> Self {
        Self {
            hello: self.hello.clone(),
            hinted: self.hinted.clone(),
            checkout: self.checkout.clone(),
            recognised: Arc::clone(&self.recognised),
            group,
            client: self.client.clone(),
            calls: AtomicU64::new(0),
            since: self.since,
            connected_at: self.connected_at,
            call_permits: Semaphore::new(MAX_CONCURRENT_CALLS),
            seen_warnings: AtomicU64::new(0),
            previews: Arc::clone(&self.previews),
            shown: Arc::clone(&self.shown),
            last_store: Arc::clone(&self.last_store),
            from: self.from,
            is_bound: self.is_bound,
            followed: Followed::default(),
        }
    }

    /// Counts a call, and records the client's name at the first call that has one.
    pub fn record_call(&self, client: Option<String>) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(client) = client {
            self.record_client(client);
        }
    }

    /// Records the client's name unless it is known.
    pub fn record_client(&self, client: String) {
        self.client.get_or_init(|| client);
    }

    /// Notes that the agent has stored a memory.
    pub fn record_store(&self) {
        *self.last_store.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns when the agent last stored a memory.
    #[must_use]
    pub fn last_store(&self) -> Option<Instant> {
        *self.last_store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the session as an actor of the audit log.
    #[must_use]
    pub fn actor(&self) -> Actor {
        let session = self.hello.agent_session.clone().unwrap_or_else(|| self.hello.id.clone());
        let named = self.client.get().cloned();
        // By this name the log tells what a person did.
        let client = match self.origin() {
            Origin::Person => named,
            _ => named.map(recorded_client),
        };
        Actor {
            client,
            session: Some(session),
            origin: self.origin(),
            group: self.group.clone(),
            checkout: self.checkout.clone(),
            is_bound: self.is_bound,
        }
    }

    /// Returns a copy of the session with another checkout, for one call.
    #[must_use]
    pub fn with_checkout(&self, checkout: Checkout) -> Self {
        Self { checkout: Some(checkout), ..self.in_group(self.group.clone()) }
    }

    /// Returns the name and version of the client, as it names itself.
    #[must_use]
    pub fn client(&self) -> Option<String> {
        self.client.get().cloned()
    }

    /// Returns whether the session is an agent's over MCP, and not the command line.
    #[must_use]
    pub fn is_agent(&self) -> bool {
        matches!(self.from, SessionKind::Agent)
    }

    /// Returns what kind of caller the session is. On the command line the shim says who runs it: an agent in its shell is the agent, and a
    /// script is trusted no more.
    fn origin(&self) -> Origin {
        match (self.from, &self.hello.speaker) {
            (SessionKind::CommandLine, _) if self.hello.hook.is_some() => Origin::Hook,
            (SessionKind::CommandLine, Speaker::Person) => Origin::Person,
            _ => Origin::Agent,
        }
    }

    /// Returns where the client has gone since the session began.
    #[must_use]
    pub fn followed(&self) -> &Followed<Self> {
        &self.followed
    }

    /// Returns the session as it is where the client works now.
    #[must_use]
    pub fn at_present(self: &Arc<Self>) -> Arc<Self> {
        self.followed.session().unwrap_or_else(|| Arc::clone(self))
    }

    /// Returns the session as it would be in the folder of another hello, with what it was shown; `None` if that is in no project of a
    /// folder.
    #[must_use]
    pub fn at_folder_of(&self, there: &hello::Session) -> Option<Self> {
        let group = match &there.group {
            GroupHint::Folder(path) => Group::of_folder(path),
            GroupHint::ProjectNamed { folder, name } => Group::of_named_project(folder, name),
            GroupHint::Named(_) | GroupHint::Default => return None,
        };
        let hello = hello::Session {
            group: there.group.clone(),
            isolated: there.isolated,
            folder: there.folder.clone(),
            place: there.place.clone(),
            checkout: there.checkout.clone(),
            off: there.off,
            opted_in: there.opted_in,
            asks: there.asks.clone(),
            ..self.hello.clone()
        };
        Some(Self {
            hello,
            hinted: group.clone(),
            checkout: there.checkout.clone(),
            recognised: Arc::default(),
            ..self.in_group(group)
        })
    }

    fn status(&self) -> SessionStatus {
        let present = self.followed.session();
        let group = present.as_ref().map_or(&self.group, |present| &present.group);
        SessionStatus {
            client: self.client.get().cloned(),
            group: group.name.clone(),
            pid: Some(self.hello.pid).filter(|pid| *pid != 0),
            calls: self.calls.load(Ordering::Relaxed),
            since: self.since.iso(),
            age_s: self.connected_at.elapsed().as_secs(),
            id: self.hello.id.clone(),
            off: None,
        }
    }
}

/// All connected sessions.
#[derive(Debug)]
pub struct Sessions {
    open: Mutex<BTreeMap<u64, Arc<Session>>>,
    next_number: AtomicU64,
    last_closed: Mutex<Instant>,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            open: Mutex::default(),
            next_number: AtomicU64::new(0),
            last_closed: Mutex::new(Instant::now()),
        }
    }
}

/// Registration of a session, removed when it is dropped.
#[derive(Debug)]
pub struct SessionGuard {
    sessions: Arc<Sessions>,
    number: u64,
    /// The session.
    pub session: Arc<Session>,
}

impl Drop for SessionGuard {
    fn drop(&mut self) {
        self.sessions.lock().remove(&self.number);
        *self.sessions.last_closed.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Sessions {
    /// Registers a session.
    #[must_use]
    pub fn register(self: &Arc<Self>, session: Session) -> SessionGuard {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let session = Arc::new(session);
        self.lock().insert(number, Arc::clone(&session));
        SessionGuard { sessions: Arc::clone(self), number, session }
    }

    /// Returns the number of sessions.
    #[must_use]
    pub fn count(&self) -> usize {
        self.lock().len()
    }

    /// Notes that a client has used the daemon without a session, so that the idle timeout begins again.
    pub fn record_activity(&self) {
        *self.last_closed.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    /// Returns the time since which no session has been open; `None` while one is open.
    #[must_use]
    pub fn idle_since(&self) -> Option<Instant> {
        let empty = self.lock().is_empty();
        empty.then(|| *self.last_closed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns all sessions, in the order of [`Sessions::list`].
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Session>> {
        self.lock().values().cloned().collect()
    }

    /// Returns all sessions for `loci ctl status`, and their distinct warnings.
    #[must_use]
    pub fn list(&self) -> (Vec<SessionStatus>, Vec<String>) {
        let open = self.lock();
        let suggestion =
            |session: &Arc<Session>| session.recognised.get()?.suggestion.clone().map(String::from);
        let mut warnings: Vec<String> =
            open.values().flat_map(|s| s.hello.warnings.clone()).collect();
        warnings.extend(open.values().filter_map(suggestion));
        warnings.sort();
        warnings.dedup();
        (open.values().map(|s| s.status()).collect(), warnings)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<u64, Arc<Session>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
