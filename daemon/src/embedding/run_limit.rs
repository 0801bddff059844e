//! Ends a forward pass that takes too long: a graph of the user's own may never end.
//!
//! A thread per model waits for the latest time of the current pass, then has ONNX Runtime end it. Only a step of the graph that itself
//! does not end cannot be ended. Not here: which time is too long.

use crate::embedding::onnx::{message, run_options};
use ort::session::RunOptions;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Maximum time of a forward pass of an embedding model, and of the test of any model when it is loaded.
pub(crate) const MAX_PASS: Duration = Duration::from_secs(30);

/// Runs the forward passes of one model.
pub(crate) struct RunLimit {
    watch: Arc<Watch>,
    /// `None` only while it is dropped.
    thread: Option<JoinHandle<()>>,
}

struct Watch {
    options: RunOptions,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// When the current pass is ended; `None` if there is none.
    until: Option<Instant>,
    /// When the thread looks next; `None` if it waits to be woken.
    next_look: Option<Instant>,
    /// True once the current pass is being ended.
    is_over: bool,
    /// True once the model is dropped.
    is_dropped: bool,
}

impl Drop for RunLimit {
    fn drop(&mut self) {
        self.watch.lock().is_dropped = true;
        self.watch.changed.notify_all();
        // It has nothing else to do, and must not use ONNX Runtime while the process ends.
        self.thread.take().map(JoinHandle::join).map(Result::ok);
    }
}

impl RunLimit {
    /// Starts the thread.
    ///
    /// # Errors
    /// The message of ONNX Runtime or of the system.
    pub fn new() -> Result<Self, String> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        let watch = Arc::new(Watch { options: run_options().map_err(message)?, state, changed });
        let of_thread = Arc::clone(&watch);
        let thread = std::thread::Builder::new().name("model-limit".to_owned());
        let thread = thread.spawn(move || of_thread.run()).map_err(|error| error.to_string())?;
        Ok(Self { watch, thread: Some(thread) })
    }

    /// Runs a forward pass that is ended at a time.
    ///
    /// # Errors
    /// Those of the pass; that it was ended.
    pub fn run<T>(
        &self,
        until: Instant,
        pass: impl FnOnce(&RunOptions) -> Result<T, String>,
    ) -> Result<T, String> {
        let started = Instant::now();
        self.watch.begin(until);
        let outcome = pass(&self.watch.options);
        let was_ended = self.watch.end()?;
        match outcome {
            Err(_) if was_ended => Err(format!(
                "the model did not answer within {:.1} s",
                started.elapsed().as_secs_f64()
            )),
            outcome => outcome,
        }
    }
}

impl Watch {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, until: Instant) {
        let mut state = self.lock();
        state.until = Some(until);
        // Not woken for each pass: the thread looks in time anyway if an earlier pass had an earlier end.
        if state.next_look.is_none_or(|look| look > until) {
            self.changed.notify_all();
        }
    }

    /// Returns true if the pass had exceeded its time.
    fn end(&self) -> Result<bool, String> {
        let mut state = self.lock();
        state.until = None;
        let was_ended = std::mem::take(&mut state.is_over);
        if was_ended {
            self.options.unterminate().map_err(message)?;
        }
        Ok(was_ended)
    }

    fn run(&self) {
        let mut state = self.lock();
        while !state.is_dropped {
            let Some(until) = state.until.filter(|_| !state.is_over) else {
                state.next_look = None;
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                state.is_over = true;
                if let Err(error) = self.options.terminate() {
                    tracing::warn!(%error, "a forward pass could not be ended");
                }
                continue;
            }
            state.next_look = Some(until);
            let woken = self.changed.wait_timeout(state, left);
            state = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
