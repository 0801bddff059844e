//! Whether the HTTP server for clients is open, for `loci ctl status`, `loci doctor` and the idle timeout.
//!
//! Not here: the server (`interface::http`).

use loci_proto::error::Failure;
use loci_proto::http::HttpStatus;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of the HTTP server; closed until it is opened.
#[derive(Debug, Default)]
pub struct HttpState(Mutex<State>);

#[derive(Debug, Default)]
enum State {
    #[default]
    Closed,
    /// Somebody is opening it.
    Opening,
    Open(HttpStatus),
    /// The configuration asks for it, but it could not be opened.
    Failed(Failure),
}

impl HttpState {
    /// Reserves the right to open it; the caller must then set another state.
    ///
    /// # Errors
    /// What has opened it; `None` if somebody is opening it.
    pub fn reserve(&self) -> Result<(), Option<HttpStatus>> {
        let mut state = self.lock();
        match &*state {
            State::Open(status) => Err(Some(status.clone())),
            State::Opening => Err(None),
            State::Closed | State::Failed(_) => {
                *state = State::Opening;
                Ok(())
            }
        }
    }

    /// Records that it is open.
    pub fn set_open(&self, status: HttpStatus) {
        *self.lock() = State::Open(status);
    }

    /// Records that it is closed.
    pub fn set_closed(&self) {
        *self.lock() = State::Closed;
    }

    /// Records why it could not be opened.
    pub fn set_failed(&self, failure: Failure) {
        *self.lock() = State::Failed(failure);
    }

    /// Returns where it listens; `None` unless it is open.
    #[must_use]
    pub fn status(&self) -> Option<HttpStatus> {
        match &*self.lock() {
            State::Open(status) => Some(status.clone()),
            State::Closed | State::Opening | State::Failed(_) => None,
        }
    }

    /// Returns the warning for `loci ctl status`, if it could not be opened.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        match &*self.lock() {
            State::Failed(failure) => Some(format!("HTTP clients are not served: {failure}")),
            State::Closed | State::Opening | State::Open(_) => None,
        }
    }

    /// Returns whether it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(&*self.lock(), State::Open(_))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
