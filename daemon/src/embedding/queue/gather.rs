//! Several threads on one queue, each with priorities of its own: gathering texts for one request, and waiting while no text is accepted.
//!
//! Used for models behind an API, where a request takes long but no processor. Not here: the one thread of a local model.

use crate::embedding::queue::{EmbeddingQueue, Inner, Job, Priority, Reload};
use std::sync::{MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a thread takes from the queue.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gather {
    /// The priorities, highest first.
    pub priorities: &'static [Priority],
    /// With this many texts it waits no longer.
    pub enough: usize,
    /// How long it waits for further texts after the first.
    pub wait: Duration,
    /// How long it waits for the first.
    pub idle: Duration,
}

/// Why waiting for a closed queue has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Woken {
    /// The time has come.
    Due,
    /// A person asks to try again.
    Requested,
    /// Another thread has opened the queue.
    Opened,
    /// The thread must end.
    Stopped,
}

impl EmbeddingQueue {
    /// Waits for texts and takes at most `enough` of them, none after the idle time; `None` means that the thread must end.
    pub fn gather(&self, gather: &Gather) -> Option<Vec<Job>> {
        let idle_since = Instant::now();
        let mut inner = self.lock();
        let mut first_at = None;
        loop {
            if inner.stopping {
                return None;
            }
            // Texts are accepted, so a reload request needs no action.
            if inner.accepting && inner.reload.take().is_some() {
                self.mark_reloads_handled(inner.reloads_requested);
            }
            let count: usize = gather
                .priorities
                .iter()
                .map(|priority| inner.queues[*priority as usize].len())
                .sum();
            if count == 0 {
                first_at = None;
                let left = gather.idle.saturating_sub(idle_since.elapsed());
                if left.is_zero() {
                    return Some(Vec::new());
                }
                inner = self.wait_for(inner, left);
                continue;
            }
            let waited = first_at.get_or_insert_with(Instant::now).elapsed();
            let left = gather.wait.saturating_sub(waited);
            if count >= gather.enough || left.is_zero() {
                return Some(take(&mut inner, gather));
            }
            inner = self.wait_for(inner, left);
        }
    }

    /// Waits while no text is accepted.
    pub fn wait_while_closed(&self, until: Instant) -> Woken {
        let mut inner = self.lock();
        loop {
            if inner.stopping {
                return Woken::Stopped;
            }
            if inner.accepting {
                return Woken::Opened;
            }
            match inner.reload.take() {
                Some(Reload::Force) => return Woken::Requested,
                Some(Reload::IfChanged) => self.mark_reloads_handled(inner.reloads_requested),
                None => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Woken::Due;
            }
            inner = self.wait_for(inner, left);
        }
    }

    /// Returns true if the threads must end.
    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    fn wait_for<'a>(&self, inner: MutexGuard<'a, Inner>, time: Duration) -> MutexGuard<'a, Inner> {
        self.wakeup.wait_timeout(inner, time).unwrap_or_else(PoisonError::into_inner).0
    }
}

fn take(inner: &mut Inner, gather: &Gather) -> Vec<Job> {
    let mut jobs = Vec::new();
    for priority in gather.priorities {
        let queue = &mut inner.queues[*priority as usize];
        let count = queue.len().min(gather.enough - jobs.len());
        jobs.extend(queue.drain(..count));
    }
    jobs
}
