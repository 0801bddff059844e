//! Where the client of a session has gone since, as its hooks say, and what the agent has not been told of that yet.
//!
//! Not here: when a session follows its client (`service::hooks::following`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The session of a client that has gone to another folder.
#[derive(Debug)]
pub struct Followed<S>(Mutex<State<S>>);

#[derive(Debug)]
struct State<S> {
    session: Option<Arc<S>>,
    news: Option<String>,
    knows_folder_is_gone: bool,
}

impl<S> Default for Followed<S> {
    fn default() -> Self {
        Self(Mutex::new(State { session: None, news: None, knows_folder_is_gone: false }))
    }
}

impl<S> Followed<S> {
    /// Returns the session where the client is now; `None` where it began.
    #[must_use]
    pub fn session(&self) -> Option<Arc<S>> {
        self.lock().session.clone()
    }

    /// Goes to another folder, or back to the first, which the next reply says.
    pub fn go_to(&self, session: Option<S>, news: Option<String>) {
        *self.lock() = State { session: session.map(Arc::new), news, knows_folder_is_gone: false };
    }

    /// Adds what the next reply says.
    pub fn tell(&self, news: String) {
        self.lock().news = Some(news);
    }

    /// Returns whether the agent was not told before that its folder is gone.
    #[must_use]
    pub fn learns_of_missing_folder(&self) -> bool {
        !std::mem::replace(&mut self.lock().knows_folder_is_gone, true)
    }

    /// Returns what the agent has not been told yet, once.
    #[must_use]
    pub fn take_news(&self) -> Option<String> {
        self.lock().news.take()
    }

    fn lock(&self) -> MutexGuard<'_, State<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
