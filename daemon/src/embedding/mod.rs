//! Embedding: from a text to checked vectors and the codes of its words, by the one model that this daemon owns.
//!
//! [`Embedder`] is the door: it can be cloned, asked from any task, and never makes anybody wait for a model that is not there.
//! Behind it one thread owns the model, because a run needs it for itself. Queries go before stores, stores before bulk work.
//!
//! Reading order: `pins` (which files), [`model`] (where they lie), [`onnx`] (running them), `desk`, `round`, `thread` (who gets the
//! next run), [`fetch`] (how the files come here, in a process of its own). Not here: any network in the serving daemon.

pub mod auto_fetch;
mod batch;
pub mod chunk;
pub mod fetch;
#[cfg(any(test, feature = "fault-embedder"))]
mod hash_encoder;
pub mod model_files;
pub mod onnx;
pub mod pinned_files;
mod query_cache;
mod queue;
mod resident_memory;
#[cfg(target_os = "linux")]
mod smaps;
#[cfg(test)]
mod test_encoder;
#[cfg(test)]
mod tests;
mod worker;

pub use model_files::ModelConfig;
pub use pinned_files::MODEL_ID;

use loci_engine::model::encoding::{DocumentEncoding, EmbeddingError, QueryEncoding};
use query_cache::Remembered;
use queue::{Desk, Look, Rank};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use worker::Source;

/// How often a call may have the models folder looked at.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// How the model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Being checked and loaded; texts wait for the end of it.
    WarmupProgress,
    /// Serving.
    Ready {
        /// SHA-256 of the weights, in hexadecimal.
        sha256: String,
    },
    /// A file is not on this machine.
    Missing {
        /// The next step.
        hint: String,
    },
    /// It is there and cannot be used.
    Failed {
        /// What is wrong, with which file.
        reason: String,
        /// The next step.
        hint: String,
    },
}

impl State {
    /// `loading`, `ready`, `missing` or `failed`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::WarmupProgress => "loading",
            Self::Ready { .. } => "ready",
            Self::Missing { .. } => "missing",
            Self::Failed { .. } => "failed",
        }
    }

    /// The next step, when the model is missing or failed.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::WarmupProgress | Self::Ready { .. } => None,
            Self::Missing { hint } | Self::Failed { hint, .. } => Some(hint),
        }
    }

    /// What is wrong, when the model failed.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// Why a text got no vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The model is missing or failed: go on without vectors.
    #[error("the embedding model is not available: {hint}")]
    Unavailable {
        /// The next step.
        hint: String,
    },
    /// The lane is full: try again later.
    #[error("too many texts wait for the embedding model")]
    Busy,
    /// The model gave numbers that are no embedding.
    #[error("the embedding model gave no usable vector: {0}")]
    Flawed(EmbeddingError),
    /// The run failed.
    #[error("the embedding model failed: {0}")]
    Failed(String),
}

/// Who waits for a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// A store that somebody waits for.
    Interactive,
    /// Filling in, importing, re-embedding.
    Bulk,
}

/// The door to the model; clones share it. The thread ends with the last clone or with [`Embedder::stop`].
#[derive(Clone)]
pub struct Embedder(Arc<Owner>);

struct Owner {
    desk: Arc<Desk>,
    thread: Mutex<Option<JoinHandle<()>>>,
    looked: Mutex<Instant>,
    remembered: Remembered,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.desk.stop();
    }
}

impl Embedder {
    /// Starts the thread; it begins to load at once.
    ///
    /// # Panics
    /// When the system gives no thread, as [`std::thread::spawn`] does.
    #[must_use]
    pub fn start(config: ModelConfig) -> Self {
        resident_memory::give_back_large_blocks();
        #[cfg(feature = "fault-embedder")]
        if let Some(stand_in) = hash_encoder::StandIn::of_process() {
            return Self::with_source(stand_in);
        }
        Self::with_source(config)
    }

    /// An embedder whose every vector is NaN.
    #[cfg(test)]
    pub(crate) fn of_nan() -> Self {
        Self::with_source(hash_encoder::StandIn::Nan)
    }

    /// An embedder of made-up vectors: texts that share words are near.
    #[cfg(test)]
    pub(crate) fn of_words() -> Self {
        Self::with_source(hash_encoder::StandIn::Hash)
    }

    fn with_source(source: impl Source + 'static) -> Self {
        let desk = Arc::new(Desk::new());
        let of_thread = Arc::clone(&desk);
        let thread = std::thread::Builder::new()
            .name("embedding".to_owned())
            .spawn(move || worker::serve(&of_thread, &source))
            .expect("the system gives a thread");
        Self(Arc::new(Owner {
            desk,
            thread: Mutex::new(Some(thread)),
            looked: Mutex::new(Instant::now()),
            remembered: Remembered::default(),
        }))
    }

    /// How the model is now.
    #[must_use]
    pub fn state(&self) -> State {
        self.0.desk.seen().borrow().state.clone()
    }

    /// What the person should know about the loaded model, in sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.0.desk.seen().borrow().warnings.clone()
    }

    /// Waits until the model is no longer loading, and says how it is.
    pub async fn settled(&self) -> State {
        let mut changes = self.0.desk.seen().subscribe();
        let seen = changes
            .wait_for(|seen| seen.state != State::WarmupProgress)
            .await
            .map(|seen| seen.state.clone());
        seen.unwrap_or_else(|_| self.state())
    }

    /// The vector and words of a query, ahead of all documents; of a long query only its first piece counts. One that was asked lately is
    /// not run again.
    ///
    /// # Errors
    /// [`EmbedError`]; `Unavailable` at once while the model is missing or failed.
    pub async fn query(&self, text: String) -> Result<QueryEncoding, EmbedError> {
        if let Some(asked) = self.0.remembered.get(&text) {
            return Ok(asked);
        }
        let read = self.embed(text.clone(), Rank::Query).await?.into_iter().next();
        let batch::Read { vector, words } =
            read.ok_or_else(|| EmbedError::Failed("the text has no piece".to_owned()))?;
        let asked = QueryEncoding { vector, words };
        self.0.remembered.put(text, asked.clone());
        Ok(asked)
    }

    /// The vectors of a document, one for each of its pieces, in order, and the codes of its words.
    ///
    /// # Errors
    /// [`EmbedError`]; `Unavailable` at once while the model is missing or failed.
    pub async fn document(&self, text: String, lane: Lane) -> Result<DocumentEncoding, EmbedError> {
        let rank = match lane {
            Lane::Interactive => Rank::Interactive,
            Lane::Bulk => Rank::Bulk,
        };
        let read = self.embed(text, rank).await?;
        let (pieces, words): (Vec<_>, Vec<_>) =
            read.into_iter().map(|read| (read.vector, read.words)).unzip();
        Ok(DocumentEncoding {
            pieces,
            words: Some(words.into_iter().flatten().map(|(_, code)| code).collect()),
        })
    }

    async fn embed(&self, text: String, rank: Rank) -> queue::Answer {
        let answer = self.0.desk.submit(text, rank)?;
        answer.await.unwrap_or_else(|_| Err(self.0.desk.unavailable()))
    }

    /// Has the models folder looked at, if the model is not ready; nothing is loaded again when nothing changed, but for a model that
    /// failed. Returns at once.
    pub fn look_again(&self) {
        self.0.desk.ask_for_look(Look::Anyway);
    }

    /// The same for any call that finds the model out, at most every 10 s and only for a folder that changed; returns when the
    /// folder has been looked at. A load that follows is not waited for here, but by the next [`Embedder::query`].
    pub async fn look_again_if_due(&self) {
        if self.state().hint().is_none() || !self.look_is_due() {
            return;
        }
        let number = self.0.desk.ask_for_look(Look::IfChanged);
        let mut changes = self.0.desk.seen().subscribe();
        // An error means that the thread has ended, and then there is nothing to wait for.
        let _ = changes.wait_for(|seen| seen.looks >= number).await;
    }

    fn look_is_due(&self) -> bool {
        let mut looked = self.0.looked.lock().unwrap_or_else(PoisonError::into_inner);
        let due = looked.elapsed() >= LOOK_EVERY;
        if due {
            *looked = Instant::now();
        }
        due
    }

    /// Texts that wait for vectors now.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.0.desk.waiting()
    }

    /// Asks the thread to end after its present run; whoever waits is refused. Returns at once.
    pub fn stop(&self) {
        self.0.desk.stop();
    }

    /// Waits for the end of the thread after [`Embedder::stop`]: one run, or the end of a load. Blocks; the last act of `main`.
    pub fn join(&self) {
        let thread = self.0.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It ends by a panic only if loci itself is at fault, and then its callers have been told.
            let _ = thread.join();
        }
    }
}
