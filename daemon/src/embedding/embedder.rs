//! `Embedder`: the callers' handle to the worker thread, the queue and the query cache. Not here: encoding (`worker`).

use crate::embedding::api::sender::{self, Api, BULK_WAIT, CALLER_WAIT, late_error};
use crate::embedding::chunk::TextKind;
use crate::embedding::encoder::EncoderSource;
#[cfg(any(test, feature = "fault-embedder"))]
use crate::embedding::hash_encoder::FakeEncoder;
use crate::embedding::model_source::ModelSource;
use crate::embedding::model_thread::ModelThread;
use crate::embedding::query_cache::QueryCache;
use crate::embedding::queue::{EmbedResult, EmbeddingQueue, EncodedText, Priority, Reload};
use crate::embedding::state::{EmbedError, ModelState};
use crate::embedding::{resident_memory, worker};
use loci_engine::model::document::{Document, with_questions};
use loci_engine::model::encoding::{DocumentEncoding, ModelEncoding, QueryEncoding};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Minimum time between two checks of the models folder by [`Embedder::reload_if_due`].
pub(crate) const RELOAD_CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// Maximum time for which a recall waits for a model on this machine.
const QUERY_WAIT: Duration = Duration::from_secs(2);
/// The same for a store: a long text has many parts, and other stores may come first.
const DOCUMENT_WAIT: Duration = Duration::from_secs(5);
/// The same for background work, which comes back later.
const LOCAL_BULK_WAIT: Duration = Duration::from_mins(2);
/// The same for a recall or a store while the model is being loaded.
const LOADING_WAIT: Duration = Duration::from_secs(5);
/// The same while the model makes no progress: another caller has waited for nothing.
const LATE_WAIT: Duration = Duration::from_millis(100);
/// How long callers still wait for the current batch once the embedder is stopped.
const STOP_WAIT: Duration = Duration::from_secs(1);
/// A model on this machine, in an error.
const LOCAL: &str = "the embedding model";

/// Encodes texts; clones share one model. The thread ends with the last clone or with [`Embedder::stop`].
#[derive(Clone)]
pub struct Embedder(Arc<Inner>);

struct Inner {
    queue: Arc<EmbeddingQueue>,
    thread: ModelThread,
    /// Cancelled by [`Embedder::stop`], so that no caller waits for a thread that does not end.
    stopped: CancellationToken,
    last_reload_check: Mutex<Instant>,
    cache: QueryCache,
    /// `None` for a model on this machine.
    api: Option<Arc<Api>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.stop();
    }
}

/// Who waits for an encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    Recall,
    Store,
    Background,
}

impl Embedder {
    /// Starts the thread, which begins to load the model at once.
    ///
    /// # Panics
    /// If the system cannot start a thread, as [`std::thread::spawn`] does.
    #[must_use]
    pub fn start(source: impl Into<ModelSource>) -> Self {
        resident_memory::return_large_blocks_at_once();
        let source = source.into();
        if let ModelSource::Api(config) = source {
            return Self::with_api(Arc::new(Api::new(config)));
        }
        #[cfg(feature = "fault-embedder")]
        if let Some(fake) = FakeEncoder::from_environment() {
            return Self::with_source(fake);
        }
        Self::with_source(source)
    }

    fn with_api(api: Arc<Api>) -> Self {
        let queue = Arc::new(EmbeddingQueue::new(Some(api.id())));
        let (queue_of_thread, api_of_thread) = (Arc::clone(&queue), Arc::clone(&api));
        Self::with_thread(queue, Some(api), move || sender::run(&queue_of_thread, &api_of_thread))
    }

    /// Starts an embedder whose vectors are all NaN.
    #[cfg(test)]
    pub(crate) fn with_nan_vectors() -> Self {
        Self::with_source(FakeEncoder::Nan)
    }

    /// Starts an embedder of hashed words: texts that share words have similar vectors.
    #[cfg(test)]
    pub(crate) fn with_hash_vectors() -> Self {
        Self::with_source(FakeEncoder::Hash)
    }

    pub(crate) fn with_source(source: impl EncoderSource + 'static) -> Self {
        let queue = Arc::new(EmbeddingQueue::new(source.id()));
        let queue_of_thread = Arc::clone(&queue);
        Self::with_thread(queue, None, move || worker::run(&queue_of_thread, &source))
    }

    fn with_thread(
        queue: Arc<EmbeddingQueue>,
        api: Option<Arc<Api>>,
        run: impl FnOnce() + Send + 'static,
    ) -> Self {
        let thread = ModelThread::start("embedding", run).expect("the system starts a thread");
        Self(Arc::new(Inner {
            queue,
            thread,
            stopped: CancellationToken::new(),
            last_reload_check: Mutex::new(Instant::now()),
            cache: QueryCache::new(),
            api,
        }))
    }

    /// Returns whether anybody else has this embedder: a call that waits for it, for example.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Returns what is known of the API; `None` for a model on this machine.
    #[must_use]
    pub fn api(&self) -> Option<&Api> {
        self.0.api.as_deref()
    }

    /// Returns the id of the model; `None` until it is known. A model of the user's own has its id from its files, so a reload may change it.
    #[must_use]
    pub fn id(&self) -> Option<Arc<str>> {
        self.0.queue.status().borrow().id.clone()
    }

    /// Returns true if the model is ready and has this id.
    #[must_use]
    pub fn is_ready_as(&self, id: &str) -> bool {
        let status = self.0.queue.status().borrow();
        matches!(status.state, ModelState::Ready { .. }) && status.id.as_deref() == Some(id)
    }

    /// Returns the current state of the model.
    #[must_use]
    pub fn state(&self) -> ModelState {
        self.0.queue.status().borrow().state.clone()
    }

    /// Returns warnings for the user about the loaded model, in sentences.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        self.0.queue.status().borrow().warnings.clone()
    }

    /// Waits until the model is no longer loading and returns its state.
    pub async fn wait_until_loaded(&self) -> ModelState {
        let mut changes = self.0.queue.status().subscribe();
        let state = changes
            .wait_for(|status| status.state != ModelState::Loading)
            .await
            .map(|status| status.state.clone());
        state.unwrap_or_else(|_| self.state())
    }

    /// Encodes a query, ahead of all documents. Only the first chunk of a long query is encoded. Recent queries are cached.
    ///
    /// # Errors
    /// [`EmbedError`]. While the model is missing or failed, returns `Unavailable` without waiting.
    pub async fn query(&self, text: String) -> Result<QueryEncoding, EmbedError> {
        let cached = self.id().and_then(|id| self.0.cache.get(&id, &text));
        if let Some(encoding) = cached {
            return Ok(encoding);
        }
        let Some(api) = self.api() else {
            return self.in_time(Waiting::Recall, self.encode_query(text)).await;
        };
        // The task goes on without its caller, so that the next call finds the encoding.
        let embedder = self.clone();
        let task = tokio::spawn(async move { embedder.encode_query(text).await });
        match tokio::time::timeout(CALLER_WAIT, task).await {
            Ok(Ok(Err(EmbedError::Busy)) | Err(_)) | Err(_) => {
                Err(late_error(&api.config.target.host, true))
            }
            Ok(Ok(result)) => result,
        }
    }

    async fn encode_query(&self, text: String) -> Result<QueryEncoding, EmbedError> {
        let EncodedText { model, chunks, has_sign_codes } =
            self.embed(text.clone(), TextKind::Query, Priority::Query).await?;
        let chunk = chunks
            .into_iter()
            .next()
            .ok_or_else(|| EmbedError::Failed("the text has no chunk".to_owned()))?;
        let (vector, words) = (chunk.vector, chunk.words);
        let encoding = QueryEncoding { model, vector, words, has_sign_codes };
        self.0.cache.put(text, encoding.clone());
        Ok(encoding)
    }

    /// Encodes a document: one vector per chunk, in order, and the sign codes of its content words. Questions are another chunk.
    ///
    /// # Errors
    /// [`EmbedError`]. While the model is missing or failed, returns `Unavailable` without waiting.
    pub async fn document(
        &self,
        document: impl Into<Document>,
        priority: Priority,
    ) -> Result<ModelEncoding, EmbedError> {
        let document = document.into();
        let is_bulk = priority == Priority::Bulk;
        let Some(api) = self.api() else {
            let waiting = if is_bulk { Waiting::Background } else { Waiting::Store };
            return self.in_time(waiting, self.encode_document(document, priority)).await;
        };
        let wait = if is_bulk { BULK_WAIT } else { CALLER_WAIT };
        let encoded = tokio::time::timeout(wait, self.encode_document(document, priority)).await;
        match encoded.unwrap_or_else(|_| Err(late_error(&api.config.target.host, false))) {
            // A store does not fail because many texts wait for the API.
            Err(EmbedError::Busy) if !is_bulk => Err(late_error(&api.config.target.host, false)),
            result => result,
        }
    }

    async fn encode_document(
        &self,
        document: Document,
        priority: Priority,
    ) -> Result<ModelEncoding, EmbedError> {
        let Document { content, questions } = document;
        let text = self.embed(content, TextKind::Document, priority);
        if questions.is_empty() {
            return Ok(to_encoding(text.await?));
        }
        let questions = self.embed(questions, TextKind::Document, priority);
        let (text, questions) = tokio::try_join!(text, questions)?;
        let (ModelEncoding { model, encoding }, questions) =
            (to_encoding(text), to_encoding(questions));
        Ok(ModelEncoding { model, encoding: with_questions(encoding, questions.encoding) })
    }

    async fn embed(&self, text: String, kind: TextKind, priority: Priority) -> EmbedResult {
        let result = self.0.queue.submit(text, kind, priority)?;
        tokio::select! {
            result = result => result.unwrap_or_else(|_| Err(self.0.queue.unavailable())),
            () = self.wait_for_stop() => Err(self.0.queue.unavailable()),
        }
    }

    async fn wait_for_stop(&self) {
        self.0.stopped.cancelled().await;
        tokio::time::sleep(STOP_WAIT).await;
    }

    /// Waits for a model on this machine as long as this caller can wait. A recall then searches by keywords, and a text is encoded later.
    async fn in_time<T>(
        &self,
        waiting: Waiting,
        encode: impl Future<Output = Result<T, EmbedError>>,
    ) -> Result<T, EmbedError> {
        let before = self.0.queue.progress();
        match tokio::time::timeout(self.wait_of(waiting), encode).await {
            // Its queue is full of texts that wait for nothing.
            Ok(Err(EmbedError::Busy)) if self.is_late() => {
                Err(late_error(LOCAL, waiting == Waiting::Recall))
            }
            Ok(result) => result,
            Err(_) => {
                self.0.queue.note_late(before);
                Err(late_error(LOCAL, waiting == Waiting::Recall))
            }
        }
    }

    fn wait_of(&self, waiting: Waiting) -> Duration {
        match waiting {
            Waiting::Background => LOCAL_BULK_WAIT,
            _ if self.is_late() => LATE_WAIT,
            _ if self.state() == ModelState::Loading => LOADING_WAIT,
            Waiting::Recall => QUERY_WAIT,
            Waiting::Store => DOCUMENT_WAIT,
        }
    }

    /// Returns true if a caller has waited for nothing, and the model has made no progress since.
    #[must_use]
    pub fn is_late(&self) -> bool {
        self.0.queue.is_late()
    }

    /// Waits until the model is no longer loading, as long as a recall or a store can wait.
    pub async fn wait_briefly_until_loaded(&self) {
        let before = self.0.queue.progress();
        let wait = self.wait_of(Waiting::Recall);
        if tokio::time::timeout(wait, self.wait_until_loaded()).await.is_err() {
            self.0.queue.note_late(before);
        }
    }

    /// Requests another load if the model is missing and its files have changed, or if it failed. Returns at once.
    pub fn reload(&self) {
        self.0.queue.request_reload(Reload::Force);
    }

    /// Checks the models folder if the model cannot serve, at most every 10 s, and requests another load if the files have changed.
    ///
    /// Returns when the folder has been checked. Only the next [`Embedder::query`] or [`Embedder::document`] waits for the load.
    pub async fn reload_if_due(&self) {
        if self.state().hint().is_none() || !self.start_reload_check() {
            return;
        }
        let number = self.0.queue.request_reload(Reload::IfChanged);
        let mut changes = self.0.queue.status().subscribe();
        // Fails only if the thread has ended: then no check will follow.
        let _ = changes.wait_for(|status| status.reloads_handled >= number).await;
    }

    /// Returns true and restarts the interval if the next check is due.
    fn start_reload_check(&self) -> bool {
        let mut last = self.0.last_reload_check.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = last.elapsed() >= RELOAD_CHECK_INTERVAL;
        if is_due {
            *last = Instant::now();
        }
        is_due
    }

    /// Makes the next check due at once.
    #[cfg(test)]
    pub(crate) fn expire_reload_interval(&self) {
        *self.0.last_reload_check.lock().unwrap_or_else(PoisonError::into_inner) -=
            RELOAD_CHECK_INTERVAL;
    }

    /// Returns the number of texts that wait for their vectors.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.0.queue.pending()
    }

    /// Asks the thread to end after its current batch; waiting callers get an error. Returns at once.
    pub fn stop(&self) {
        self.0.queue.stop();
        self.0.stopped.cancel();
    }

    /// Waits for the thread to end after [`Embedder::stop`]: one batch, or the end of a load. Returns false if it still runs after
    /// `limit`. Blocks.
    #[must_use]
    pub fn join_within(&self, limit: Duration) -> bool {
        self.0.thread.join_within(limit)
    }
}

fn to_encoding(EncodedText { model, chunks, .. }: EncodedText) -> ModelEncoding {
    let (vectors, words): (Vec<_>, Vec<_>) =
        chunks.into_iter().map(|chunk| (chunk.vector, chunk.words)).unzip();
    let words = Some(words.into_iter().flatten().map(|word| word.code).collect());
    ModelEncoding { model, encoding: DocumentEncoding { vectors, words } }
}
