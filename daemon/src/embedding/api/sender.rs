//! The threads that send texts: one for queries, which nobody delays, and one for texts to store.
//!
//! Each has a `locid embed` of its own, started when there is something to send. After a failure no text is accepted for a while, so that
//! no caller waits for a provider that does not answer. Not here: callers and their deadlines (`embedder`).

use crate::embedding::api::ApiConfig;
use crate::embedding::api::backoff::Backoff;
use crate::embedding::api::http::{DOCUMENT_TIMEOUT, QUERY_TIMEOUT};
use crate::embedding::api::messages::{ApiFailure, FailureKind, Reply, Request};
use crate::embedding::api::outgoing::{self, estimate_tokens};
use crate::embedding::api::process::{ApiProcess, WaitLimit};
use crate::embedding::api::provider::to_embedding;
use crate::embedding::api::usage::{Outcome, Usage, today};
use crate::embedding::chunk::{EncodedChunk, TextKind};
use crate::embedding::queue::gather::{Gather, Woken};
use crate::embedding::queue::{EmbeddingQueue, EncodedText, Job, Priority};
use crate::embedding::state::{EmbedError, ModelState};
use crate::embedding::worker::EndGuard;
use loci_engine::model::encoding::Embedding;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Maximum time for which a recall or a store waits for a vector.
pub const CALLER_WAIT: Duration = Duration::from_millis(800);
/// The same for background work, which comes back later.
pub const BULK_WAIT: Duration = Duration::from_secs(2);
/// Time without a text after which `locid embed` is ended.
const IDLE: Duration = Duration::from_mins(1);
/// Time beyond that of a call until `locid embed` counts as broken.
const GRACE: Duration = Duration::from_secs(5);
/// Time between two looks whether the day of a reached limit is over.
const LOOK_AT_THE_DAY: Duration = Duration::from_mins(1);
/// Number of vectors that are kept for callers that did not wait for them, about 2 KB each.
const KEPT_VECTORS: NonZeroUsize = NonZeroUsize::new(1024).expect("the number is not zero");

/// A model behind an API, and what was sent to it.
#[derive(Debug)]
pub struct Api {
    /// The configuration.
    pub config: ApiConfig,
    /// The counters.
    pub usage: Usage,
    id: Arc<str>,
    backoff: Backoff,
    /// Vectors that arrived late, by the text that was sent.
    late: Mutex<LruCache<String, Embedding>>,
}

/// A text with chunks that have no vector yet.
struct OpenText {
    job: Job,
    chunks: Vec<String>,
    vectors: Vec<Option<Embedding>>,
}

/// A failure, and the texts that have no vectors because of it.
struct Interrupted {
    failure: ApiFailure,
    texts: Vec<OpenText>,
}

struct Sender<'a> {
    queue: &'a EmbeddingQueue,
    api: &'a Api,
    gather: Gather,
    is_query: bool,
    process: Option<ApiProcess>,
}

impl Api {
    /// Reads the counters.
    #[must_use]
    pub fn new(config: ApiConfig) -> Self {
        Self {
            usage: Usage::open(&config.usage_file, config.daily_tokens),
            id: config.target.id().into(),
            backoff: Backoff::default(),
            late: Mutex::new(LruCache::new(KEPT_VECTORS)),
            config,
        }
    }

    /// Returns the id of the model.
    #[must_use]
    pub fn id(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    fn late(&self) -> MutexGuard<'_, LruCache<String, Embedding>> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Runs both threads until [`EmbeddingQueue::stop`].
pub(crate) fn run(queue: &EmbeddingQueue, api: &Api) {
    let _end = EndGuard(queue);
    let sender = |is_query, wait, priorities| Sender {
        queue,
        api,
        gather: Gather { priorities, enough: api.config.batch, wait, idle: IDLE },
        is_query,
        process: None,
    };
    std::thread::scope(|scope| {
        let mut queries = sender(true, Duration::ZERO, &[Priority::Query]);
        scope.spawn(move || queries.run());
        let mut documents =
            sender(false, api.config.flush, &[Priority::Interactive, Priority::Bulk]);
        if documents.load() {
            documents.run();
        }
    });
}

impl Sender<'_> {
    /// Starts a `locid embed` to see that there is a key; connects to nothing. Returns false if the thread must end.
    fn load(&mut self) -> bool {
        let started = self.start();
        match started {
            Ok(()) => {
                self.open();
                true
            }
            Err(failure) => self.pause(Interrupted { failure, texts: Vec::new() }),
        }
    }

    fn run(&mut self) {
        loop {
            // Without a process there is nothing to end.
            let idle = if self.process.is_some() { IDLE } else { Duration::MAX };
            let gather = Gather { idle, ..self.gather };
            let Some(jobs) = self.queue.gather(&gather) else { return };
            if jobs.is_empty() {
                self.process = None;
                continue;
            }
            if let Err(interrupted) = self.send(jobs)
                && !self.pause(interrupted)
            {
                return;
            }
        }
    }

    fn open(&self) {
        let ready = ModelState::Ready { sha256: String::new() };
        self.queue.open(ready, Some(self.api.id()), Vec::new());
    }

    /// Starts a process if there is none: that may be what failed.
    fn start_if_missing(&mut self) -> Result<(), ApiFailure> {
        if self.process.is_some() { Ok(()) } else { self.start() }
    }

    fn start(&mut self) -> Result<(), ApiFailure> {
        let is_stopping = || self.queue.is_stopping();
        self.process = Some(ApiProcess::start(&self.api.config.settings(), &is_stopping)?);
        Ok(())
    }

    /// Accepts no text until the pause is over; returns false if the thread must end.
    fn pause(&mut self, Interrupted { failure, texts }: Interrupted) -> bool {
        let mut until = self.api.backoff.count(&failure, Instant::now());
        tracing::warn!(
            reason = failure.message,
            "no embeddings by the API; searching by keywords only"
        );
        let hint = failure.hint().to_owned();
        self.queue.close(ModelState::Failed { reason: failure.message, hint });
        let unavailable = self.queue.unavailable();
        for text in texts {
            text.job.reply(Err(unavailable.clone()));
        }
        loop {
            match self.queue.wait_while_closed(until) {
                Woken::Stopped => return false,
                Woken::Opened => return true,
                // The limit is not a matter of time, but of the day.
                Woken::Due | Woken::Requested if self.api.usage.is_limited(today()) => {
                    until = Instant::now() + LOOK_AT_THE_DAY;
                }
                woken => {
                    if woken == Woken::Requested {
                        self.api.backoff.reset();
                    }
                    let Err(again) = self.start_if_missing() else { break };
                    until = self.api.backoff.count(&again, Instant::now());
                }
            }
            self.queue.skip_reload();
        }
        self.open();
        true
    }

    /// Sends the texts in requests of at most `embedding.batch` chunks.
    fn send(&mut self, jobs: Vec<Job>) -> Result<(), Interrupted> {
        let mut texts = self.prepare(jobs);
        while let Some(batch) = self.next_batch(&mut texts) {
            let started = Instant::now();
            match self.call(&batch) {
                Ok(vectors) => self.distribute(&mut texts, batch, vectors),
                Err(failure) => return Err(Interrupted { failure, texts }),
            }
            if self.is_query && started.elapsed() > CALLER_WAIT {
                let took = started.elapsed().as_millis();
                let message = format!("{} took {took} ms for a query", self.api.config.target.host);
                let failure = ApiFailure::new(FailureKind::Unavailable, message);
                return Err(Interrupted { failure, texts });
            }
            self.api.backoff.reset();
        }
        Ok(())
    }

    fn prepare(&self, jobs: Vec<Job>) -> Vec<OpenText> {
        let policy = self.api.config.policy.get();
        let mut late = self.api.late();
        let jobs = jobs.into_iter().filter(|job| !job.is_abandoned());
        let open = jobs.map(|job| {
            let chunks = outgoing::chunks(&policy, &job.text, job.kind);
            let known = |chunk: &String| match job.kind {
                TextKind::Document => late.pop(chunk),
                TextKind::Query => None,
            };
            let vectors = chunks.iter().map(known).collect();
            OpenText { job, chunks, vectors }
        });
        let mut open: Vec<OpenText> = open.collect();
        drop(late);
        self.reply(&mut open);
        open
    }

    /// Returns the next chunks to send, by text and chunk; `None` if every text has its vectors or no caller.
    fn next_batch(&self, texts: &mut Vec<OpenText>) -> Option<Batch> {
        texts.retain(|text| !text.job.is_abandoned());
        let left = self.api.usage.left(today()).unwrap_or(0);
        let mut batch = Batch::default();
        let missing = texts.iter().enumerate().flat_map(|(number, text)| {
            let of_text = text.chunks.iter().zip(&text.vectors).enumerate();
            of_text
                .filter(|(_, (_, vector))| vector.is_none())
                .map(move |(chunk, (sent, _))| (number, chunk, sent))
        });
        for (number, chunk, sent) in missing.take(self.api.config.batch) {
            let tokens = batch.tokens + estimate_tokens(sent);
            // The first is always tried, so that the limit is noticed.
            if !batch.sent.is_empty() && tokens > left {
                break;
            }
            batch.tokens = tokens;
            batch.places.push((number, chunk));
            batch.sent.push(sent.clone());
        }
        (!batch.sent.is_empty()).then_some(batch)
    }

    /// Makes one call, which is counted before it is made.
    fn call(&mut self, batch: &Batch) -> Result<Vec<Embedding>, ApiFailure> {
        self.start_if_missing()?;
        let usage = &self.api.usage;
        let counted = usage.count(today(), batch.sent.len(), batch.tokens)?;
        let timeout = if self.is_query { QUERY_TIMEOUT } else { DOCUMENT_TIMEOUT };
        let is_stopping = || self.queue.is_stopping();
        let limit =
            WaitLimit { until: Instant::now() + timeout + GRACE, is_stopping: &is_stopping };
        let request = Request { is_query: self.is_query, texts: batch.sent.clone() };
        let Some(process) = &mut self.process else { return Err(broken("is not running")) };
        let answer = match process.call(&request, limit) {
            Ok(Reply::Done { vectors, tokens }) => Ok((vectors, tokens)),
            Ok(Reply::Failed(failure)) => Err(failure),
            Err(failure) => {
                self.process = None;
                Err(failure)
            }
        };
        let outcome = match &answer {
            Ok((_, tokens)) => Outcome::Done(*tokens),
            Err(failure) if failure.may_be_counted => Outcome::Lost,
            Err(_) => Outcome::Refused,
        };
        usage.complete(counted, outcome)?;
        let (vectors, _) = answer?;
        if vectors.len() != batch.sent.len() {
            return Err(broken("returned another number of vectors"));
        }
        let vectors: Result<Vec<Embedding>, String> =
            vectors.into_iter().map(to_embedding).collect();
        vectors.map_err(|reason| {
            let host = &self.api.config.target.host;
            let message = format!("the reply of {host} cannot be used: {reason}");
            ApiFailure::new(FailureKind::Unavailable, message)
        })
    }

    fn distribute(&self, texts: &mut Vec<OpenText>, batch: Batch, vectors: Vec<Embedding>) {
        for (((number, chunk), sent), vector) in
            batch.places.into_iter().zip(batch.sent).zip(vectors)
        {
            if texts[number].job.is_abandoned() {
                self.api.late().put(sent, vector);
            } else {
                texts[number].vectors[chunk] = Some(vector);
            }
        }
        self.reply(texts);
    }

    /// Answers the texts that have all vectors.
    fn reply(&self, texts: &mut Vec<OpenText>) {
        for text in texts.extract_if(.., |text| text.vectors.iter().all(Option::is_some)) {
            let chunk = |vector| EncodedChunk { vector, words: Vec::new() };
            let chunks = text.vectors.into_iter().flatten().map(chunk).collect();
            let encoded = EncodedText { model: self.api.id(), chunks, has_sign_codes: false };
            text.job.reply(Ok(encoded));
        }
    }
}

/// The chunks of one request.
#[derive(Default)]
struct Batch {
    /// The text and the chunk of each.
    places: Vec<(usize, usize)>,
    sent: Vec<String>,
    /// Their tokens, estimated.
    tokens: u64,
}

fn broken(reason: &str) -> ApiFailure {
    ApiFailure::new(FailureKind::Unavailable, format!("the process locid embed {reason}"))
}

/// Returns the error for a caller that does not wait any longer.
pub(crate) fn late_error(host: &str, is_query: bool) -> EmbedError {
    let text = format!("{host} did not answer in time");
    if is_query { EmbedError::Failed(text) } else { EmbedError::Unavailable { hint: text } }
}
