//! The bounded priority queue between callers and the worker thread, together with the state of the model.
//!
//! One lock guards the queues and the flag that says whether texts are accepted. Therefore no text can be queued after the model has
//! failed, where it would never be answered. Not here: encoding the texts (`batch`, `worker`).

pub(crate) mod gather;

use crate::embedding::chunk::{EncodedChunk, TextKind};
use crate::embedding::state::{EmbedError, ModelState};
use loci_proto::limits::QUEUE_LENGTH;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{oneshot, watch};

/// Priority of a text, highest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// A caller waits for search results.
    Query,
    /// A caller waits for a store.
    Interactive,
    /// No caller waits: backfill, import, maintenance.
    Bulk,
}

impl Priority {
    /// All priorities, highest first; a priority's position is its queue's index.
    pub(crate) const ALL: [Self; 3] = [Self::Query, Self::Interactive, Self::Bulk];
}

/// The encoded chunks of a text, in order, and the model that encoded them.
pub(crate) struct EncodedText {
    pub model: Arc<str>,
    pub chunks: Vec<EncodedChunk>,
    /// False if the model gives no sign codes.
    pub has_sign_codes: bool,
}

/// The answer to a text.
pub(crate) type EmbedResult = Result<EncodedText, EmbedError>;

/// A queued text.
pub(crate) struct Job {
    pub text: String,
    pub kind: TextKind,
    reply: oneshot::Sender<EmbedResult>,
    pending: PendingGuard,
}

impl Job {
    /// True if the caller no longer waits for the result.
    pub fn is_abandoned(&self) -> bool {
        self.reply.is_closed()
    }

    /// Sends the result to the caller, if it still waits.
    pub fn reply(self, result: EmbedResult) {
        drop(self.pending);
        // Fails if the caller no longer waits.
        let _ = self.reply.send(result);
    }
}

/// Counts a text as pending until it is dropped.
struct PendingGuard(Arc<AtomicUsize>);

impl PendingGuard {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for PendingGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The worker's next action while the model is ready.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextAction {
    /// Encode one batch of this priority: from its open plan if it has one, else from its queue.
    Encode(Priority),
    /// Trim memory: nothing was queued for the requested idle time.
    TrimMemory,
    /// End the thread.
    Stop,
}

/// A request to check the model's files and to load the model again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reload {
    /// Load only if the files have changed.
    IfChanged,
    /// After a failure, load also unchanged files.
    Force,
}

/// The worker's state as callers see it.
#[derive(Debug, Clone)]
pub(crate) struct WorkerStatus {
    pub state: ModelState,
    /// The id of the model: of the loaded one, or of the last that was; `None` until it is known.
    pub id: Option<Arc<str>>,
    /// Warnings for the user about the loaded model, in sentences.
    pub warnings: Vec<String>,
    /// Number of reload requests that have been handled.
    pub reloads_handled: u64,
}

/// The queue, shared by callers and the worker.
pub(crate) struct EmbeddingQueue {
    inner: Mutex<Inner>,
    wakeup: Condvar,
    status: watch::Sender<WorkerStatus>,
    pending: Arc<AtomicUsize>,
    /// Number of loads and batches that have succeeded.
    progress: AtomicU64,
    /// The progress at which a caller gave up waiting.
    late_at: AtomicU64,
}

struct Inner {
    /// One queue per priority, at most [`QUEUE_LENGTH`] texts each.
    queues: [VecDeque<Job>; 3],
    /// False while the model is missing or has failed: texts are refused at once.
    accepting: bool,
    reload: Option<Reload>,
    /// Number of reload requests so far.
    reloads_requested: u64,
    stopping: bool,
    /// The worker has ended: no reload request will be handled.
    ended: bool,
}

/// The callers' side.
impl EmbeddingQueue {
    /// Creates a queue; `id` is the id of the model if it is known before it is loaded.
    pub fn new(id: Option<Arc<str>>) -> Self {
        Self {
            inner: Mutex::new(Inner {
                queues: [VecDeque::new(), VecDeque::new(), VecDeque::new()],
                accepting: true,
                reload: None,
                reloads_requested: 0,
                stopping: false,
                ended: false,
            }),
            wakeup: Condvar::new(),
            status: watch::Sender::new(WorkerStatus {
                state: ModelState::Loading,
                id,
                warnings: Vec::new(),
                reloads_handled: 0,
            }),
            pending: Arc::default(),
            progress: AtomicU64::new(0),
            late_at: AtomicU64::new(u64::MAX),
        }
    }

    /// Returns how far the worker has got; to be compared only.
    pub fn progress(&self) -> u64 {
        self.progress.load(Ordering::Relaxed)
    }

    /// Records that a caller has given up which began to wait at this progress.
    pub fn note_late(&self, progress: u64) {
        self.late_at.store(progress, Ordering::Relaxed);
    }

    /// Returns true if a caller has given up and the worker has made no progress while it waited, nor since.
    pub fn is_late(&self) -> bool {
        self.late_at.load(Ordering::Relaxed) == self.progress()
    }

    /// Records that a load or a batch has ended.
    pub fn note_progress(&self) {
        self.progress.fetch_add(1, Ordering::Relaxed);
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker's status; subscribe to it to wait for changes.
    pub fn status(&self) -> &watch::Sender<WorkerStatus> {
        &self.status
    }

    /// Number of texts that were submitted and have no result yet.
    pub fn pending(&self) -> usize {
        self.pending.load(Ordering::Relaxed)
    }

    /// Queues a text.
    ///
    /// # Errors
    /// `Busy` if the queue of this priority is full, `Unavailable` if the model is missing or failed.
    pub fn submit(
        &self,
        text: String,
        kind: TextKind,
        priority: Priority,
    ) -> Result<oneshot::Receiver<EmbedResult>, EmbedError> {
        let mut inner = self.lock();
        if !inner.accepting {
            return Err(self.unavailable());
        }
        let queue = &mut inner.queues[priority as usize];
        if queue.len() >= QUEUE_LENGTH {
            queue.retain(|job| !job.is_abandoned());
        }
        if queue.len() >= QUEUE_LENGTH {
            return Err(EmbedError::Busy);
        }
        let (reply, result) = oneshot::channel();
        queue.push_back(Job { text, kind, reply, pending: PendingGuard::new(&self.pending) });
        drop(inner);
        self.wakeup.notify_all();
        Ok(result)
    }

    /// Returns the error for a text that is refused because there is no model.
    pub fn unavailable(&self) -> EmbedError {
        EmbedError::Unavailable {
            hint: self
                .status
                .borrow()
                .state
                .hint()
                .unwrap_or("try again when the daemon is running")
                .to_owned(),
        }
    }

    /// Requests a reload; returns its number, which `WorkerStatus::reloads_handled` reaches when the request has been handled.
    pub fn request_reload(&self, reload: Reload) -> u64 {
        let mut inner = self.lock();
        if inner.reload != Some(Reload::Force) {
            inner.reload = Some(reload);
        }
        inner.reloads_requested += 1;
        let number = inner.reloads_requested;
        if inner.ended {
            self.mark_reloads_handled(number);
        }
        drop(inner);
        self.wakeup.notify_all();
        number
    }

    /// Asks the worker to end after its current batch.
    pub fn stop(&self) {
        self.lock().stopping = true;
        self.wakeup.notify_all();
    }
}

/// The worker's side.
impl EmbeddingQueue {
    /// Waits for the next action. `open` is the highest priority with an unfinished batch plan. With `trim_after`, an idle time of this
    /// length ends the wait with [`NextAction::TrimMemory`].
    pub fn next_action(&self, open: Option<Priority>, trim_after: Option<Duration>) -> NextAction {
        let mut inner = self.lock();
        loop {
            if inner.stopping {
                return NextAction::Stop;
            }
            // The model is ready, so a reload request needs no action.
            if inner.reload.take().is_some() {
                self.mark_reloads_handled(inner.reloads_requested);
            }
            let queued = Priority::ALL
                .into_iter()
                .find(|priority| !inner.queues[*priority as usize].is_empty());
            if let Some(priority) = queued.into_iter().chain(open).min() {
                return NextAction::Encode(priority);
            }
            let Some(trim_after) = trim_after else {
                inner = self.wakeup.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let (woken, timeout) =
                self.wakeup.wait_timeout(inner, trim_after).unwrap_or_else(PoisonError::into_inner);
            inner = woken;
            if timeout.timed_out() && !inner.stopping && inner.queues.iter().all(VecDeque::is_empty)
            {
                return NextAction::TrimMemory;
            }
        }
    }

    /// Removes and returns the next text of a priority.
    pub fn pop(&self, priority: Priority) -> Option<Job> {
        self.lock().queues[priority as usize].pop_front()
    }

    /// Waits for a reload request; `None` means that the worker must end.
    pub fn next_reload(&self) -> Option<Reload> {
        let mut inner = self.lock();
        loop {
            if inner.stopping {
                return None;
            }
            if let Some(reload) = inner.reload.take() {
                return Some(reload);
            }
            inner = self.wakeup.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Marks all reload requests as handled: the files have not changed.
    pub fn skip_reload(&self) {
        let requested = self.lock().reloads_requested;
        self.mark_reloads_handled(requested);
    }

    fn mark_reloads_handled(&self, requested: u64) {
        self.status.send_modify(|status| status.reloads_handled = requested);
    }

    /// Publishes the state of a model that is loading or ready, and accepts texts. `id` is that of a loaded model.
    pub fn open(&self, state: ModelState, id: Option<Arc<str>>, warnings: Vec<String>) {
        let mut inner = self.lock();
        inner.accepting = true;
        self.note_progress();
        self.publish(state, id, warnings, inner.reloads_requested);
        drop(inner);
        self.wakeup.notify_all();
    }

    /// Publishes a state; without an `id` the last one stays.
    fn publish(
        &self,
        state: ModelState,
        id: Option<Arc<str>>,
        warnings: Vec<String>,
        reloads_handled: u64,
    ) {
        self.status.send_modify(|status| {
            let id = id.or_else(|| status.id.take());
            *status = WorkerStatus { state, id, warnings, reloads_handled };
        });
    }

    /// Publishes the state of a model that cannot serve, refuses the queued texts and accepts no more.
    pub fn close(&self, state: ModelState) {
        let mut inner = self.lock();
        inner.accepting = false;
        // A reload request that arrived during the failed load has not been handled yet.
        let reloads_handled = if inner.reload.is_some() {
            self.status.borrow().reloads_handled
        } else {
            inner.reloads_requested
        };
        self.publish(state, None, Vec::new(), reloads_handled);
        let refused: Vec<Job> = inner.queues.iter_mut().flat_map(std::mem::take).collect();
        drop(inner);
        for job in refused {
            job.reply(Err(self.unavailable()));
        }
    }

    /// Closes the queue permanently when the worker ends, so that no caller waits for it.
    pub fn end(&self, state: ModelState) {
        let mut inner = self.lock();
        inner.ended = true;
        inner.reload = None;
        drop(inner);
        self.close(state);
    }
}
