//! Is a silent daemon at work, or stuck? A call may take long; a hello may not.
//!
//! While somebody waits and the daemon says nothing, another connection says hello. A daemon that answers there is at work. One that
//! does not (it was stopped, or hangs) gets no more of the agent's time.

use crate::client::{Reach, Unreachable};
use std::fmt;
use std::future::{Future, pending};
use std::pin::Pin;
use std::rc::Rc;
use tokio::time::{Instant, sleep_until};

type Probe = Pin<Box<dyn Future<Output = Result<(), Unreachable>>>>;

/// Watches one connection.
pub struct Doubt {
    reach: Rc<Reach>,
    silent_since: Option<Instant>,
    probe: Option<Probe>,
}

impl fmt::Debug for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Doubt").field("silent_since", &self.silent_since).finish_non_exhaustive()
    }
}

impl Doubt {
    /// No doubt yet.
    #[must_use]
    pub fn new(reach: Rc<Reach>) -> Self {
        Self { reach, silent_since: None, probe: None }
    }

    /// The daemon said something, or nobody waits for it.
    pub fn dispel(&mut self) {
        self.silent_since = None;
        self.probe = None;
    }

    /// Somebody waits: comes back only when the daemon is stuck. Cancelling loses nothing.
    pub async fn confirmed(&mut self, somebody_waits: bool) -> Unreachable {
        if !somebody_waits {
            self.dispel();
            return pending().await;
        }
        loop {
            let since = *self.silent_since.get_or_insert_with(Instant::now);
            if let Some(probe) = &mut self.probe {
                let answered = probe.await;
                self.dispel();
                if let Err(reason) = answered {
                    return reason;
                }
            } else {
                sleep_until(since + self.reach.patience.hello).await;
                let reach = Rc::clone(&self.reach);
                self.probe = Some(Box::pin(async move { reach.probe().await }));
            }
        }
    }
}
