//! Where viewers are open, for `loci ctl status`, `loci doctor` and the idle timeout.
//!
//! Not here: the viewer (`interface::view`).

use std::net::SocketAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The addresses of the open viewers.
#[derive(Debug, Default)]
pub struct Viewers(Mutex<Vec<SocketAddr>>);

impl Viewers {
    /// Records that one was opened.
    pub fn add(&self, address: SocketAddr) {
        self.lock().push(address);
    }

    /// Records that it was closed.
    pub fn remove(&self, address: SocketAddr) {
        self.lock().retain(|open| *open != address);
    }

    /// Returns the addresses of those that are open.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SocketAddr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
