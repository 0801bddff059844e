//! The cross-encoder: a model of the user's own that reads a query and a text together. One thread owns it.
//!
//! A recall gives it at most 20 texts and waits a limited time; while the model is busy or cannot be loaded, the recall keeps the order of
//! the search. Not here: what is done with the scores (the engine), the forward pass (`model`).

mod model;
#[cfg(test)]
mod tests;

use crate::config::rerank::CrossEncoderConfig;
use crate::embedding::ModelConfig;
use crate::embedding::model_thread::{END_DEADLINE, ModelThread};
use loci_engine::model::rerank::{PairScorer, Rerank};
use model::Model;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The longest time for which a recall waits for its turn and for the scores.
const DEADLINE: Duration = Duration::from_secs(1);
/// Comparisons that may wait for the thread. Recalls take turns, so a second one would be of a recall that waits no longer.
const QUEUE: usize = 1;
/// A recall that has less time left does not ask the model.
const MIN_TIME: Duration = Duration::from_millis(20);

/// Whether the model can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It is being loaded.
    Loading,
    /// It answers.
    Ready,
    /// It cannot be used, with the reason.
    Failed(String),
}

/// Texts to be compared with a query.
struct Comparison {
    query: String,
    texts: Vec<String>,
    deadline: Instant,
    scores: SyncSender<Vec<f64>>,
}

/// A cross-encoder, and how recalls use it.
#[derive(Debug, Clone)]
pub struct Reranker {
    /// The model.
    pub encoder: Arc<CrossEncoder>,
    config: CrossEncoderConfig,
    /// One permit: a recall that waits for scores keeps a reader of the store, of which there are few.
    turns: Arc<Semaphore>,
}

/// How one recall uses the model.
#[derive(Debug)]
pub struct RerankTurn {
    encoder: Arc<CrossEncoder>,
    config: CrossEncoderConfig,
    /// The longest time for which it waits for the scores.
    left: Duration,
    /// `None` if others use the model; the recall then keeps the order of the search.
    permit: Option<OwnedSemaphorePermit>,
}

impl RerankTurn {
    /// Returns how the best results of the recall are compared with its query.
    #[must_use]
    pub fn of_recall(&self) -> Rerank<'_> {
        let CrossEncoderConfig { depth, floor, .. } = self.config;
        Rerank { scorer: self, depth, floor }
    }
}

impl PairScorer for RerankTurn {
    fn score(&self, query: &str, texts: &[&str]) -> Option<Vec<f64>> {
        self.permit.as_ref()?;
        self.encoder.score(query, texts, self.left)
    }
}

impl Reranker {
    /// Starts the model. `runtime` says where ONNX Runtime is.
    ///
    /// # Errors
    /// The system's, if the thread cannot be started.
    pub fn start(config: CrossEncoderConfig, runtime: ModelConfig) -> std::io::Result<Self> {
        let encoder = Arc::new(CrossEncoder::start(config.clone(), runtime)?);
        Ok(Self { encoder, config, turns: Arc::new(Semaphore::new(1)) })
    }

    /// Waits until no other recall uses the model, at most 1 s, and not at all while the model is too slow.
    pub async fn turn(&self) -> RerankTurn {
        let started = Instant::now();
        let turns = Arc::clone(&self.turns);
        let permit = match Arc::clone(&turns).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) if self.encoder.is_late.load(Ordering::Relaxed) => None,
            Err(_) => {
                let turn = tokio::time::timeout(DEADLINE, turns.acquire_owned()).await;
                turn.ok().and_then(Result::ok)
            }
        };
        let left = DEADLINE.saturating_sub(started.elapsed());
        let permit = permit.filter(|_| left >= MIN_TIME);
        RerankTurn { encoder: Arc::clone(&self.encoder), config: self.config.clone(), left, permit }
    }

    /// Returns why the model cannot be used, as a sentence.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        match self.encoder.state() {
            State::Failed(reason) => Some(format!("the cross-encoder is not loaded: {reason}")),
            State::Loading | State::Ready => None,
        }
    }

    /// Returns the folder of the model.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.config.folder
    }
}

/// A running cross-encoder.
#[derive(Debug)]
pub struct CrossEncoder {
    /// `None` once it is stopped.
    queue: Mutex<Option<SyncSender<Comparison>>>,
    thread: ModelThread,
    state: Arc<Mutex<State>>,
    /// True if the last comparison was not made in time.
    is_late: AtomicBool,
}

impl CrossEncoder {
    /// Starts the thread, which loads the model. `runtime` says where ONNX Runtime is.
    ///
    /// # Errors
    /// The system's, if the thread cannot be started.
    pub fn start(config: CrossEncoderConfig, runtime: ModelConfig) -> std::io::Result<Self> {
        let (queue, comparisons) = sync_channel(QUEUE);
        let state = Arc::new(Mutex::new(State::Loading));
        let shared = Arc::clone(&state);
        let run = move || run(&config, &runtime, &comparisons, &shared);
        let thread = ModelThread::start("rerank", run)?;
        let queue = Mutex::new(Some(queue));
        Ok(Self { queue, thread, state, is_late: AtomicBool::new(false) })
    }

    /// Returns whether the model can be used.
    #[must_use]
    pub fn state(&self) -> State {
        locked(&self.state).clone()
    }

    /// Returns a score for each text; `None` if the model is not loaded or does not answer within `limit`.
    fn score(&self, query: &str, texts: &[&str], limit: Duration) -> Option<Vec<f64>> {
        if self.state() != State::Ready {
            return None;
        }
        let deadline = Instant::now() + limit;
        let (scores, answer) = sync_channel(1);
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        let comparison = Comparison { query: query.to_owned(), texts, deadline, scores };
        let sent = locked(&self.queue).as_ref()?.try_send(comparison);
        let found = sent.ok().and_then(|()| answer.recv_timeout(limit).ok());
        self.is_late.store(found.is_none(), Ordering::Relaxed);
        found
    }

    /// Asks the thread to end after its current comparison; returns at once.
    pub fn stop(&self) {
        *locked(&self.queue) = None;
    }

    /// Waits for the thread to end after [`CrossEncoder::stop`]; returns false if it still runs after `limit`.
    #[must_use]
    pub fn join_within(&self, limit: Duration) -> bool {
        self.thread.join_within(limit)
    }
}

impl Drop for CrossEncoder {
    /// Waits for the thread, which must not use ONNX Runtime while the process ends; see `model_thread` for one that does not end.
    fn drop(&mut self) {
        // After a call of `stop` the queue is gone, and `join_within` has waited.
        let is_running = locked(&self.queue).take().is_some();
        if is_running {
            self.thread.join_within(END_DEADLINE);
        }
    }
}

/// Loads the model and compares until the last [`CrossEncoder`] is dropped.
fn run(
    config: &CrossEncoderConfig,
    runtime: &ModelConfig,
    comparisons: &Receiver<Comparison>,
    state: &Mutex<State>,
) {
    let started = Instant::now();
    let mut model = match Model::load(config, runtime) {
        Ok(model) => model,
        Err(reason) => {
            tracing::warn!(
                reason,
                "cross-encoder not loaded; results keep the order of the search"
            );
            *locked(state) = State::Failed(reason);
            return;
        }
    };
    tracing::info!(ms = started.elapsed().as_millis(), "cross-encoder loaded");
    *locked(state) = State::Ready;
    for Comparison { query, texts, deadline, scores } in comparisons {
        // The recall does not wait any longer.
        if Instant::now() >= deadline {
            continue;
        }
        match model.score(&query, &texts, deadline) {
            // Fails if the recall waits no longer.
            Ok(found) => drop(scores.send(found)),
            Err(reason) => tracing::warn!(reason, "the cross-encoder failed"),
        }
    }
}

fn locked<T>(state: &Mutex<T>) -> MutexGuard<'_, T> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
