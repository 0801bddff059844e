//! Distinguishes a busy daemon from one that hangs: a call may take long, a hello may not.
//!
//! While a request waits and the daemon is silent, a second connection sends a hello. If the daemon answers it, the daemon is busy;
//! otherwise the process is stopped or hangs, and is reported as unresponsive.

use crate::client::connector::Connector;
use crate::client::unreachable::Unreachable;
use std::fmt;
use std::future::{Future, pending};
use std::pin::Pin;
use std::rc::Rc;
use tokio::time::{Instant, sleep_until};

type Probe = Pin<Box<dyn Future<Output = Result<(), Unreachable>>>>;

/// The liveness probe of one connection.
pub struct LivenessProbe {
    connector: Rc<Connector>,
    /// Since when a request waits and the daemon has sent nothing.
    silent_since: Option<Instant>,
    /// The hello in progress on a second connection.
    probe: Option<Probe>,
}

impl fmt::Debug for LivenessProbe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LivenessProbe")
            .field("silent_since", &self.silent_since)
            .finish_non_exhaustive()
    }
}

impl LivenessProbe {
    /// Creates a probe that has not started.
    #[must_use]
    pub fn new(connector: Rc<Connector>) -> Self {
        Self { connector, silent_since: None, probe: None }
    }

    /// Restarts the timer. Call it when the daemon has sent something, or no request waits.
    pub fn reset(&mut self) {
        self.silent_since = None;
        self.probe = None;
    }

    /// Returns once the daemon is unresponsive; never returns unless `reply_expected`. Cancel safe.
    pub async fn until_unresponsive(&mut self, reply_expected: bool) -> Unreachable {
        if !reply_expected {
            self.reset();
            return pending().await;
        }
        loop {
            let since = *self.silent_since.get_or_insert_with(Instant::now);
            if let Some(probe) = &mut self.probe {
                let result = probe.await;
                self.reset();
                if let Err(reason) = result {
                    return reason;
                }
            } else {
                sleep_until(since + self.connector.timeouts.hello).await;
                let connector = Rc::clone(&self.connector);
                self.probe = Some(Box::pin(async move { connector.probe().await }));
            }
        }
    }
}
