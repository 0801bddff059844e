//! The record of each client session: what it has been given, over all of its surfaces.
//!
//! Kept in memory for the latest sessions; the database has the rest. Not here: reading the database.

use loci_engine::flags::safe_name;
use loci_engine::hooks::receipt::TextVersion;
use loci_engine::hooks::selection::Delivered;
use loci_engine::operations::deliveries::GivenToSession;
use loci_proto::gate::ModelText;
use loci_proto::group::{Group, GroupHint};
use loci_proto::hello;
use lru::LruCache;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Number of sessions in memory.
const MAX_SESSIONS: NonZeroUsize = NonZeroUsize::new(256).unwrap();
/// How far above a hook the process of its client is searched for: a hook may run in a shell.
const MAX_LEVELS: usize = 4;
/// Time after which a session without events no longer counts as running.
const STALE_AFTER: Duration = Duration::from_hours(12);
/// Time within which a second reset is the same compaction, announced twice.
const RESET_PAUSE: Duration = Duration::from_secs(10);

/// One session.
#[derive(Debug, Default)]
pub struct HookSession {
    record: Mutex<HookRecord>,
    delivery: tokio::sync::Mutex<()>,
}

/// What is known about a session.
#[derive(Debug, Default)]
pub struct HookRecord {
    /// The memories that it has been given, by row number, and what they said.
    pub given: HashMap<i64, TextVersion>,
    /// It has been given the brief.
    pub brief: bool,
    /// It has been given the instructions of the server.
    pub instructed: bool,
    /// It should have been given the brief before the first prompt.
    pub start_is_due: bool,
    /// It has been reminded to store.
    pub reminded: bool,
    /// When a prompt or an answer last stated a decision.
    pub decided: Option<Instant>,
    /// The hello of its last event in a project of a folder.
    pub hello: Option<hello::Session>,
    project: Option<Group>,
    folder_is_gone: bool,
    /// News of the project for the agent.
    pub news: Option<ModelText>,
    reset: Option<Instant>,
    ancestors: Vec<u32>,
    last_event: Option<Instant>,
    is_closed: bool,
}

impl HookRecord {
    /// Records memories that the session has been given.
    pub fn give<'a>(&mut self, delivered: impl IntoIterator<Item = &'a Delivered>) {
        self.given.extend(delivered.into_iter().map(|memory| (memory.seq, memory.version)));
    }

    /// Forgets what the session has been given, as a client that was started again does. Returns false if it has been given nothing.
    pub fn forget(&mut self) -> bool {
        let was_given = self.brief || !self.given.is_empty();
        self.given.clear();
        self.brief = false;
        self.instructed = false;
        was_given
    }

    /// Forgets what the session has been given: the conversation was compacted or cleared. Returns false if that was just done.
    pub fn reset(&mut self) -> bool {
        if self.reset.is_some_and(|at| at.elapsed() < RESET_PAUSE) {
            return false;
        }
        self.reset = Some(Instant::now());
        self.forget();
        self.start_is_due = true;
        true
    }

    /// Returns the project of its last event, if that has an id.
    pub fn project(&self, id: &str) -> Option<Group> {
        self.project.clone().filter(|project| project.id == id)
    }

    /// Notes the project of an event, and the news of it.
    pub fn note_place(&mut self, hello: &hello::Session, now: &Group, is_gone: bool) {
        let before = self.project.replace(now.clone());
        if let Some(before) = before.filter(|before| before.id != now.id) {
            self.news = Some(moved_text(&before, now));
            // The brief of the project comes with the next text.
            self.brief = false;
            self.start_is_due = true;
        }
        if is_gone && !self.folder_is_gone {
            self.news = Some(gone_text(&now.name));
        }
        self.folder_is_gone = is_gone;
        if is_folder(&hello.group) {
            self.hello = Some(hello.clone());
        }
    }

    /// Ends the session. A later event begins it again.
    pub fn close(&mut self) {
        self.is_closed = true;
    }

    fn touch(&mut self, ancestors: &[u32]) {
        self.is_closed = false;
        self.last_event = Some(Instant::now());
        if !ancestors.is_empty() {
            self.ancestors = ancestors.to_vec();
        }
    }

    fn is_running(&self) -> bool {
        !self.is_closed && self.last_event.is_some_and(|at| at.elapsed() < STALE_AFTER)
    }
}

impl HookSession {
    /// Waits until no other event of the session is choosing what to deliver.
    pub async fn delivery(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.delivery.lock().await
    }

    /// Locks the record.
    pub fn lock(&self) -> MutexGuard<'_, HookRecord> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The latest sessions, by the client's own id.
#[derive(Debug)]
pub struct HookSessions {
    latest: Mutex<LruCache<String, Arc<HookSession>>>,
    /// Sessions that ended and that are not in memory: of an incognito one nothing else is known.
    ended: Mutex<LruCache<String, ()>>,
}

impl Default for HookSessions {
    fn default() -> Self {
        let (latest, ended) = (LruCache::new(MAX_SESSIONS), LruCache::new(MAX_SESSIONS));
        Self { latest: Mutex::new(latest), ended: Mutex::new(ended) }
    }
}

impl HookSessions {
    /// Returns a session in memory, and notes an event of it.
    pub fn get(&self, id: &str, ancestors: &[u32]) -> Option<Arc<HookSession>> {
        let session = self.cache().get(id).cloned()?;
        session.lock().touch(ancestors);
        Some(session)
    }

    /// Adds a session, unless another event has added it meanwhile.
    pub fn insert(&self, id: &str, given: GivenToSession, ancestors: &[u32]) -> Arc<HookSession> {
        let mut cache = self.cache();
        if let Some(session) = cache.get(id) {
            return Arc::clone(session);
        }
        let mut record = HookRecord {
            given: given.memories.into_iter().collect(),
            brief: given.brief,
            start_is_due: given.start_is_due,
            reminded: given.reminded,
            ..HookRecord::default()
        };
        record.touch(ancestors);
        let session =
            Arc::new(HookSession { record: Mutex::new(record), ..HookSession::default() });
        self.ended().pop(id);
        cache.put(id.to_owned(), Arc::clone(&session));
        session
    }

    /// Returns the processes above the last hook of a session, the nearest first; none if it is not in memory.
    #[must_use]
    pub fn ancestors(&self, id: &str) -> Vec<u32> {
        self.cache().peek(id).map(|session| session.lock().ancestors.clone()).unwrap_or_default()
    }

    /// Returns whether a session is in memory.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.cache().contains(id)
    }

    /// Ends a session, also one that is not in memory.
    pub fn end(&self, id: &str) {
        match self.cache().peek(id) {
            Some(session) => session.lock().close(),
            None => drop(self.ended().put(id.to_owned(), ())),
        }
    }

    /// Returns whether a session is known to have ended.
    #[must_use]
    pub fn has_ended(&self, id: &str) -> bool {
        let known = self.cache().peek(id).map(|session| session.lock().is_closed);
        known.unwrap_or_else(|| self.ended().contains(id))
    }

    /// Returns whether a session is known to run.
    #[must_use]
    pub fn is_running(&self, id: &str) -> bool {
        self.cache().peek(id).is_some_and(|session| session.lock().is_running())
    }

    /// Forgets every session: the store was emptied.
    pub fn clear(&self) {
        self.cache().clear();
    }

    /// Returns whether another running session has hooks below the process `client`.
    #[must_use]
    pub fn has_other_of_process(&self, client: u32, id: &str) -> bool {
        self.cache().iter().any(|(other, session)| {
            let record = session.lock();
            other != id && record.is_running() && is_client(client, &record.ancestors)
        })
    }

    fn cache(&self) -> MutexGuard<'_, LruCache<String, Arc<HookSession>>> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn ended(&self) -> MutexGuard<'_, LruCache<String, ()>> {
        self.ended.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether a hint is a project of a folder.
#[must_use]
pub fn is_folder(hint: &GroupHint) -> bool {
    matches!(hint, GroupHint::Folder(_) | GroupHint::ProjectNamed { .. })
}

/// Says that a session is in another project now.
#[must_use]
pub fn moved_text(before: &Group, now: &Group) -> ModelText {
    let [before, now] = [before, now].map(|group| safe_name(&group.name));
    let text = ModelText::own("loci: this session is in project \"").and(&now);
    text.and_own("\" now; it was in \"").and(&before).and_own("\".")
}

/// Says that the folder of a session is gone, and in which project it is.
#[must_use]
pub fn gone_text(project: &str) -> ModelText {
    let text = "loci: the folder of this session no longer exists; it stays in project \"";
    ModelText::own(text).and(&safe_name(project)).and_own("\".")
}

/// Returns whether a process can be the client of a hook with these ancestors.
#[must_use]
pub fn is_client(process: u32, ancestors: &[u32]) -> bool {
    process > 1 && ancestors.iter().take(MAX_LEVELS).any(|ancestor| *ancestor == process)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(memories: &[i64]) -> GivenToSession {
        let memories = memories.iter().map(|seq| (*seq, TextVersion::default())).collect();
        GivenToSession { memories, brief: true, ..GivenToSession::default() }
    }

    #[test]
    fn a_reset_forgets_what_was_given_and_a_second_one_at_once_does_nothing() {
        let sessions = HookSessions::default();
        let session = sessions.insert("a", given(&[1, 2]), &[7]);
        let mut record = session.lock();
        assert!(record.given.contains_key(&2) && record.brief);
        assert!(record.reset() && record.given.is_empty() && !record.brief);
        record.brief = true;
        assert!(!record.reset() && record.brief);
    }

    #[test]
    fn a_session_that_is_not_in_memory_has_ended_until_it_begins_again() {
        let sessions = HookSessions::default();
        assert!(!sessions.has_ended("a"));
        sessions.end("a");
        assert!(sessions.has_ended("a") && !sessions.is_running("a"));
        sessions.insert("a", given(&[]), &[7]);
        assert!(!sessions.has_ended("a") && sessions.is_running("a"));
        sessions.end("a");
        assert!(sessions.has_ended("a") && !sessions.is_running("a"));
    }

    #[test]
    fn a_process_with_two_running_sessions_belongs_to_neither() {
        let sessions = HookSessions::default();
        sessions.insert("a", given(&[]), &[70, 7, 2]);
        assert!(!sessions.has_other_of_process(7, "a"));
        let second = sessions.insert("b", given(&[]), &[71, 7, 2]);
        assert!(sessions.has_other_of_process(7, "a"));
        second.lock().close();
        assert!(!sessions.has_other_of_process(7, "a"));
        assert!(!is_client(1, &[70, 1]) && !is_client(9, &[70, 7, 5, 2, 9]));
    }
}
