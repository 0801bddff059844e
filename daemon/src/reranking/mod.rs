//! The cross-encoder: a model of the user's own that reads a query and a text together. One thread owns it.
//!
//! A recall gives it at most 20 texts and waits a limited time; while the model is busy or cannot be loaded, the recall keeps the order of
//! the search. Not here: what is done with the scores (the engine), the forward pass (`model`).

mod model;
#[cfg(test)]
mod tests;

use crate::config::rerank::CrossEncoderConfig;
use crate::embedding::ModelConfig;
use loci_engine::model::rerank::{PairScorer, Rerank};
use model::Model;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The longest time for which a recall waits for the scores.
const DEADLINE: Duration = Duration::from_secs(1);
/// Comparisons that may wait for the thread.
const QUEUE: usize = 2;

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
}

impl Reranker {
    /// Starts the model. `runtime` says where ONNX Runtime is.
    ///
    /// # Errors
    /// The system's, if the thread cannot be started.
    pub fn start(config: CrossEncoderConfig, runtime: ModelConfig) -> std::io::Result<Self> {
        let encoder = Arc::new(CrossEncoder::start(config.clone(), runtime)?);
        Ok(Self { encoder, config })
    }

    /// Returns how the best results of a recall are compared with its query.
    #[must_use]
    pub fn of_recall(&self) -> Rerank<'_> {
        let CrossEncoderConfig { depth, floor, .. } = self.config;
        Rerank { scorer: &*self.encoder, depth, floor }
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
    /// `None` only while it is dropped.
    queue: Option<SyncSender<Comparison>>,
    thread: Option<JoinHandle<()>>,
    state: Arc<Mutex<State>>,
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
        let thread = std::thread::Builder::new()
            .name("rerank".to_owned())
            .spawn(move || run(&config, &runtime, &comparisons, &shared))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), state })
    }

    /// Returns whether the model can be used.
    #[must_use]
    pub fn state(&self) -> State {
        locked(&self.state).clone()
    }
}

impl PairScorer for CrossEncoder {
    fn score(&self, query: &str, texts: &[&str]) -> Option<Vec<f64>> {
        if self.state() != State::Ready {
            return None;
        }
        let deadline = Instant::now() + DEADLINE;
        let (scores, answer) = sync_channel(1);
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        let comparison = Comparison { query: query.to_owned(), texts, deadline, scores };
        self.queue.as_ref()?.try_send(comparison).ok()?;
        answer.recv_timeout(DEADLINE).ok()
    }
}

impl Drop for CrossEncoder {
    /// Waits for the thread, which must not use ONNX Runtime while the process ends.
    fn drop(&mut self) {
        self.queue = None;
        // A panic of the thread was reported when it happened.
        self.thread.take().map(JoinHandle::join).map(Result::ok);
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
        match model.score(&query, &texts) {
            // Fails if the recall waits no longer.
            Ok(found) => drop(scores.send(found)),
            Err(reason) => tracing::warn!(reason, "the cross-encoder failed"),
        }
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
