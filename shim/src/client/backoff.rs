//! Delays between attempts: 5 ms, doubled each time, at most 100 ms.

use std::time::Duration;
use tokio::time::sleep;

/// The delay before the next attempt.
#[derive(Debug)]
pub struct Backoff(Duration);

impl Backoff {
    /// Waits for the current delay, then doubles it.
    pub async fn wait(&mut self) {
        sleep(self.0).await;
        self.0 = (self.0 * 2).min(Duration::from_millis(100));
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self(Duration::from_millis(5))
    }
}
