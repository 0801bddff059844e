//! The folder in which the client of a session works now, and the news of that for the agent.
//!
//! Not here: when a session follows its client (`service::hooks::following`).

use loci_proto::gate::ModelText;
use parking_lot::Mutex;
use std::sync::Arc;

/// The session of a client that has gone to another folder.
#[derive(Debug)]
pub struct Followed<S>(Mutex<State<S>>);

#[derive(Debug)]
struct State<S> {
    session: Option<Arc<S>>,
    news: Option<ModelText>,
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
        self.0.lock().session.clone()
    }

    /// Goes to another folder, or back to the first, which the next reply says.
    pub fn go_to(&self, session: Option<S>, news: Option<ModelText>) {
        *self.0.lock() =
            State { session: session.map(Arc::new), news, knows_folder_is_gone: false };
    }

    /// Adds what the next reply says.
    pub fn tell(&self, news: ModelText) {
        self.0.lock().news = Some(news);
    }

    /// Notes that the folder is gone; returns whether that is news to the agent.
    #[must_use]
    pub fn learns_of_missing_folder(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().knows_folder_is_gone, true)
    }

    /// Takes the news for the agent.
    #[must_use]
    pub fn take_news(&self) -> Option<ModelText> {
        self.0.lock().news.take()
    }
}
