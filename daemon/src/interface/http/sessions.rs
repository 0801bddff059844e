//! The sessions of HTTP clients: the requests of one client with one token in one project share what a session remembers.
//!
//! HTTP has no connection that lasts as long as an agent, so a session ends when it was not used for a while. One that a person has made
//! incognito stays until the server is closed: the client would go on without knowing. Not here: what a session is
//! (`agents::session`).

use crate::interface::agents::session::{Session, SessionGuard, SessionKind};
use crate::service::Service;
use loci_proto::group::{GroupHint, GroupName};
use loci_proto::{hello, sanitize};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A session that was not used for this long has ended.
pub const IDLE_LIMIT: Duration = Duration::from_mins(5);
/// Maximum number of sessions that are not incognito; a further one ends the one of these that was not used for the longest time.
const MAX_SESSIONS: usize = 64;
/// Maximum characters of a client's name.
const MAX_CLIENT_CHARS: usize = 100;

/// Who sends a request, as its headers say. The guard has checked it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpCaller {
    /// The name of the token.
    pub token: Arc<str>,
    /// The project: that of the header, else that of the token.
    pub group: GroupHint,
    /// The token may use no other project.
    pub is_bound: bool,
    /// The header `User-Agent`.
    pub user_agent: Option<String>,
}

/// What the requests of one session have in common.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    token: Arc<str>,
    group: Option<GroupName>,
    is_bound: bool,
    client: Option<String>,
}

struct Entry {
    guard: SessionGuard,
    last_used: Instant,
}

/// The sessions of all HTTP clients.
pub struct HttpSessions {
    service: Arc<Service>,
    default_group: GroupName,
    open: Mutex<HashMap<Key, Entry>>,
}

impl HttpSessions {
    /// Creates an empty set of sessions.
    #[must_use]
    pub fn new(service: Arc<Service>, default_group: GroupName) -> Self {
        Self { service, default_group, open: Mutex::default() }
    }

    /// Returns the session of a request. `client` is the client's name if the request itself has it, as in the stateless protocol; else
    /// the program that the headers name stands for it.
    #[must_use]
    pub fn session(&self, caller: &HttpCaller, client: Option<&str>) -> Arc<Session> {
        let key = Key {
            token: Arc::clone(&caller.token),
            group: match &caller.group {
                GroupHint::Named(name) => Some(name.clone()),
                _ => None,
            },
            is_bound: caller.is_bound,
            client: client.or(caller.user_agent.as_deref()).map(short),
        };
        let now = Instant::now();
        let mut open = self.lock();
        self.remove_idle(&mut open, now);
        if !open.contains_key(&key) && open.len() >= MAX_SESSIONS {
            self.make_room(&mut open);
        }
        let entry = open.entry(key).or_insert_with(|| Entry {
            guard: self.service.sessions.register(self.create(caller)),
            last_used: now,
        });
        entry.last_used = now;
        Arc::clone(&entry.guard.session)
    }

    /// Ends the sessions that were not used for [`IDLE_LIMIT`].
    pub fn end_idle(&self) {
        self.remove_idle(&mut self.lock(), Instant::now());
    }

    fn remove_idle(&self, open: &mut HashMap<Key, Entry>, now: Instant) {
        open.retain(|_, entry| {
            now.duration_since(entry.last_used) < IDLE_LIMIT || self.is_incognito(entry)
        });
    }

    /// Ends the session that was not used for the longest time, if there are too many.
    fn make_room(&self, open: &mut HashMap<Key, Entry>) {
        let others = open.iter().filter(|(_, entry)| !self.is_incognito(entry));
        let others: Vec<_> = others.map(|(key, entry)| (entry.last_used, key)).collect();
        if others.len() < MAX_SESSIONS {
            return;
        }
        let oldest = others.into_iter().min_by_key(|(last_used, _)| *last_used);
        if let Some(oldest) = oldest.map(|(_, key)| key.clone()) {
            open.remove(&oldest);
        }
    }

    fn is_incognito(&self, entry: &Entry) -> bool {
        self.service.became_incognito(&entry.guard.session)
    }

    fn create(&self, caller: &HttpCaller) -> Session {
        let hello = hello::Session {
            id: uuid::Uuid::now_v7().to_string(),
            group: caller.group.clone(),
            ..hello::Session::default()
        };
        let session =
            Session::new(hello, SessionKind::Agent, &self.default_group, self.service.now());
        if caller.is_bound { session.bound_to_project() } else { session }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Entry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the name of a client without hidden characters, and not longer than status and log can show.
#[must_use]
pub fn short(client: &str) -> String {
    sanitize::text(client).chars().filter(|c| !c.is_control()).take(MAX_CLIENT_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::test_fixture::ServiceFixture;

    fn caller(token: &str, group: Option<&str>) -> HttpCaller {
        let group = group.map_or(GroupHint::Default, |name| {
            GroupHint::Named(name.parse().expect("the name is valid"))
        });
        let user_agent = Some("test/1".to_owned());
        HttpCaller { token: token.into(), group, is_bound: false, user_agent }
    }

    fn sessions(service: &Arc<Service>) -> HttpSessions {
        HttpSessions::new(Arc::clone(service), "default".parse().expect("the name is valid"))
    }

    #[tokio::test]
    async fn requests_of_one_client_token_and_project_share_a_session() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let fixture = ServiceFixture::cold(&folder);
        let (service, http) = (&fixture.service, sessions(&fixture.service));
        let first = http.session(&caller("a", Some("shop")), None);
        assert!(Arc::ptr_eq(&first, &http.session(&caller("a", Some("shop")), None)));
        for other in [
            http.session(&caller("b", Some("shop")), None),
            http.session(&caller("a", Some("notes")), None),
            http.session(&caller("a", None), None),
            http.session(&caller("a", Some("shop")), Some("other 1")),
            http.session(&HttpCaller { is_bound: true, ..caller("a", Some("shop")) }, None),
        ] {
            assert!(!Arc::ptr_eq(&first, &other));
        }
        assert_eq!(service.sessions.count(), 6);
        http.end_idle();
        assert_eq!(service.sessions.count(), 6, "they were just used");
        drop(http);
        assert_eq!(service.sessions.count(), 0);
    }

    #[tokio::test]
    async fn the_number_of_sessions_is_bounded() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let fixture = ServiceFixture::cold(&folder);
        let (service, http) = (&fixture.service, sessions(&fixture.service));
        let kept = http.session(&caller("a", None), Some("client 0"));
        for number in 1..=MAX_SESSIONS + 9 {
            let _ = http.session(&caller("a", None), Some(&format!("client {number}")));
            let again = http.session(&caller("a", None), Some("client 0"));
            assert!(Arc::ptr_eq(&kept, &again), "the one in use stays");
        }
        assert_eq!(service.sessions.count(), MAX_SESSIONS);
    }
}
