//! One method a verb: what the doors (MCP, and the admin HTTP) call.
//!
//! A verb checks its request, has the text embedded where one is needed, picks the writer or a reader, and answers. The store opens in
//! the background; until it has, calls wait here. Not here: protocols, what a verb means (the engine).

pub mod housekeeping;
pub(crate) mod index_warmup;
pub mod pools;
pub mod repeat_limiter;
pub mod scheduler;

use crate::config::effective::Settled;
use crate::config::options;
use crate::embedding::auto_fetch::FirstUse;
use crate::embedding::{EmbedError, Embedder, Lane, State};
use crate::interface::agents::session::{Session, Sessions};
use crate::process::clock::Clock;
use loci_engine::model::encoding::{DocumentEncoding, QueryEncoding};
use loci_engine::model::time::Timestamp;
use loci_engine::operations::eval::ClickFeedback;
use loci_engine::operations::groups::GroupRedirects;
use loci_engine::operations::recall::{Answer, RecallContext, prepare};
use loci_engine::operations::store::Draft;
use loci_engine::transaction::access::Boosting;
use loci_engine::transaction::change::CallContext;
use loci_engine::{Reader, WarmupProgress, Writer};
use loci_proto::admin::{Model, Queues, Status};
use loci_proto::error::{Code, Failure};
use loci_proto::group::Group;
use loci_proto::paths::Paths;
use loci_proto::requests::config::ReloadReply;
use loci_proto::requests::recall::{Degraded, RecallReply, RecallRequest, Recalled};
use loci_proto::requests::stats::{StatsReply, StatsRequest};
use loci_proto::requests::store::{StoreReply, StoreRequest};
use pools::Pool;
use repeat_limiter::Brake;
use scheduler::Runs;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How long a call waits for the store to open.
const OPENING_DEADLINE: Duration = Duration::from_secs(10);

/// The store, as far as it has come.
#[derive(Debug, Clone)]
pub enum Store {
    /// Being opened, migrated, loaded.
    Opening,
    /// Serving.
    Open(Arc<Pools>),
    /// It cannot be opened; the daemon ends after having said so.
    Failed(Failure),
}

/// The threads that own the store's connections.
#[derive(Debug)]
pub struct Pools {
    /// The one that writes.
    pub writer: Pool<Writer>,
    /// Those that read.
    pub readers: Pool<Reader>,
    /// Where groups lead that were merged into others.
    pub group_redirects: GroupRedirects,
    /// How far the warm index has come.
    pub loading: Arc<WarmupProgress>,
    /// The last daemon did not close the store, and it has not been checked yet.
    pub wants_check: bool,
}

/// Everything that the verbs need.
pub struct Service {
    /// The model.
    pub embedder: Embedder,
    /// Who is connected.
    pub sessions: Arc<Sessions>,
    /// What time it is.
    pub clock: Clock,
    /// Runs of the lifecycle.
    pub runs: Runs,
    /// The configuration.
    pub settled: Settled,
    store: watch::Receiver<Store>,
    database: String,
    home: PathBuf,
    config_file: PathBuf,
    started: Instant,
    /// How often each memory was given in full since this was last written down.
    accesses: Mutex<HashMap<i64, u32>>,
    /// Answers that were chosen since they were last written down.
    chosen: Mutex<Vec<ClickFeedback>>,
    /// Held while either is written down.
    flushing: Arc<tokio::sync::Mutex<()>>,
    first_use: FirstUse,
    brake: Brake,
    wants_vectors: AtomicBool,
    unflushed: AtomicBool,
    damage: OnceLock<Failure>,
}

impl Service {
    /// A service over a store that is still opening.
    #[must_use]
    pub fn new(
        embedder: Embedder,
        first_use: FirstUse,
        store: watch::Receiver<Store>,
        settled: Settled,
        database: String,
    ) -> Self {
        Self {
            embedder,
            first_use,
            brake: Brake::default(),
            sessions: Arc::default(),
            settled,
            store,
            database,
            home: PathBuf::new(),
            config_file: PathBuf::new(),
            started: Instant::now(),
            clock: Clock::default(),
            runs: Runs::default(),
            accesses: Mutex::default(),
            chosen: Mutex::default(),
            flushing: Arc::default(),
            wants_vectors: AtomicBool::new(true),
            unflushed: AtomicBool::new(false),
            damage: OnceLock::new(),
        }
    }

    /// The same service with a data folder (where backups lie, and files on their way) and a configuration.
    #[must_use]
    pub fn at(self, paths: &Paths) -> Self {
        Self { home: paths.home.clone(), config_file: paths.config.clone(), ..self }
    }

    /// The configuration file.
    #[must_use]
    pub fn config_file(&self) -> &Path {
        &self.config_file
    }

    /// The group that a group was merged into, if it was.
    pub async fn lead(&self, group: &Group) -> Option<Group> {
        self.pools().await.ok().and_then(|pools| pools.group_redirects.lead(group))
    }

    /// The data folder.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// `store_memory`
    ///
    /// # Errors
    /// What the engine refuses; `embed_failed` when the model gave no usable vector; `busy`. Nothing is stored then.
    pub async fn store(
        &self,
        session: &Session,
        request: StoreRequest,
        key: Option<String>,
    ) -> Result<StoreReply, Failure> {
        let draft = Draft::new(request)?;
        let pools = self.pools().await?;
        if let Some(answer) = answered_before(&pools, key.clone()).await? {
            return Ok(answer);
        }
        self.brake.count(&session.group.id, draft.content(), Instant::now())?;
        let pieces = self.vectors(draft.content()).await?;
        if pieces.is_none() {
            self.wants_vectors.store(true, Ordering::Relaxed);
        }
        let call = CallContext { now: self.now(), actor: session.actor(), key };
        let stored = pools
            .writer
            .run_grouped(move |writer| writer.store(&call, &draft, &pieces.unwrap_or_default()))
            .await?;
        self.unflushed.store(true, Ordering::Relaxed);
        Ok(StoreReply { degraded: self.degraded(), ..stored? })
    }

    /// `recall_memory`
    ///
    /// # Errors
    /// What the engine refuses; `busy`.
    pub async fn recall(
        &self,
        session: &Session,
        request: RecallRequest,
    ) -> Result<RecallReply, Failure> {
        let prepared = prepare(request)?;
        let text = prepared.text_to_embed().map(str::to_owned);
        let pools = self.pools().await?;
        let (asked, degraded) = match text {
            Some(text) => self.read_query(text).await?,
            None => (None, self.degraded()),
        };
        let (group, now) = (session.group.clone(), self.now());
        let previews = prepared.preview_query().map(str::to_owned);
        let answer = pools
            .readers
            .run(move |reader| {
                let context = RecallContext {
                    group: &group,
                    encoding: asked.as_ref(),
                    now,
                    degraded: &degraded,
                    fusion: None,
                };
                reader.recall(&prepared, context)
            })
            .await??;
        self.note_accesses(&answer.given);
        self.note_choices(session, previews, &answer);
        Ok(answer.reply)
    }

    /// `memory_stats`
    ///
    /// # Errors
    /// `storage_failed`, `busy`.
    pub async fn stats(
        &self,
        session: &Session,
        request: StatsRequest,
    ) -> Result<StatsReply, Failure> {
        let (own, now) = (session.group.clone(), self.now());
        let pools = self.pools().await?;
        let counted = pools.readers.run(move |reader| reader.stats(&request, &own, now)).await??;
        Ok(StatsReply { degraded: self.degraded(), ..counted })
    }

    /// `POST /reload`: the configuration is read again.
    ///
    /// # Errors
    /// What is wrong with the file, which then changes nothing; `busy`.
    pub async fn reload(&self) -> Result<ReloadReply, Failure> {
        let pools = self.pools().await?;
        let (settings, reply) = self.settled.reload()?;
        pools.writer.run(move |writer| writer.set_settings(settings)).await?;
        self.runs.set_schedule(self.settled.config().schedule());
        Ok(reply)
    }

    /// `GET /status`: never waits for the store or the model.
    pub async fn status(&self) -> Status {
        let state = self.embedder.state();
        let (sessions, mut warnings) = self.sessions.list();
        warnings.extend(self.embedder.warnings());
        warnings.extend(options::ignored_variables());
        let mut status = Status {
            version: loci_proto::VERSION.to_owned(),
            pid: std::process::id(),
            uptime_s: self.started.elapsed().as_secs(),
            database: self.database.clone(),
            model: Model {
                id: crate::embedding::MODEL_ID.to_owned(),
                sha256: sha256(&state),
                state: state.as_str().to_owned(),
            },
            memories: 0,
            index: None,
            sessions,
            queues: Queues { writer: 0, readers: 0, embedding: self.embedder.waiting() },
            degraded: self.degraded().parts,
            warnings,
        };
        let store = self.store.borrow().clone();
        match store {
            Store::Opening => status.degraded.push("store".to_owned()),
            Store::Failed(failure) => status.warnings.push(failure.to_string()),
            Store::Open(pools) => {
                status.degraded.extend(pools.loading.standing().map(|_| "index".to_owned()));
                status.index = Some(index_warmup::told(&pools.loading));
                status.queues.writer = pools.writer.waiting();
                status.queues.readers = pools.readers.waiting();
                if let Ok(Ok(active)) = pools.readers.run(|reader| reader.active()).await {
                    status.memories = active;
                }
                if let Ok(Ok(standing)) = pools.readers.run(|reader| reader.standing()).await
                    && standing.paused
                {
                    status.warnings.push(
                        "Maintenance is paused; loci ctl maintenance resume lets it go on"
                            .to_owned(),
                    );
                }
            }
        }
        status
    }

    /// The store's threads, once it is open.
    ///
    /// # Errors
    /// Why it cannot be opened; `busy` when it takes too long.
    pub async fn pools(&self) -> Result<Arc<Pools>, Failure> {
        let mut store = self.store.clone();
        let settled = store.wait_for(|store| !matches!(store, Store::Opening));
        let settled = tokio::time::timeout(OPENING_DEADLINE, settled)
            .await
            .map(|seen| seen.map(|store| store.clone()));
        match settled {
            Ok(Ok(Store::Open(pools))) => Ok(pools),
            Ok(Ok(Store::Failed(failure))) => Err(failure),
            Ok(Ok(Store::Opening) | Err(_)) => {
                Err(Failure::new(Code::Internal, "the daemon is ending").hint("CallContext again"))
            }
            Err(_) => Err(Failure::new(Code::Busy, "the store is still being opened")
                .hint("CallContext again in a moment")),
        }
    }

    /// The moment of a call.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.read().now
    }

    /// The accesses since the last time, to be written down.
    #[must_use]
    pub fn take_accesses(&self) -> HashMap<i64, u32> {
        std::mem::take(&mut *self.accesses.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The store was found damaged while it was served: the daemon has to end.
    pub fn is_damaged(&self, failure: Failure) {
        let _ = self.damage.set(failure);
    }

    /// What was found damaged, if anything was.
    #[must_use]
    pub fn damage(&self) -> Option<Failure> {
        self.damage.get().cloned()
    }

    /// Something was written, or a checkpoint did not get through: one is due.
    pub fn wants_checkpoint(&self) {
        self.unflushed.store(true, Ordering::Relaxed);
    }

    /// True when something was written since the last time, so that a checkpoint is due.
    #[must_use]
    pub fn take_unflushed(&self) -> bool {
        self.unflushed.swap(false, Ordering::Relaxed)
    }

    /// True while memories may be waiting for vectors that a ready model could give them.
    #[must_use]
    pub fn wants_vectors(&self) -> bool {
        self.wants_vectors.load(Ordering::Relaxed)
            && matches!(self.embedder.state(), State::Ready { .. })
    }

    /// Memories may be waiting for vectors.
    pub fn vectors_may_be_missing(&self) {
        self.wants_vectors.store(true, Ordering::Relaxed);
    }

    /// Writes down the accesses of answers that were given before, so that what is read next knows of them.
    ///
    /// # Errors
    /// `storage_failed`, `busy`.
    pub async fn flush_accesses(&self) -> Result<(), Failure> {
        // What another has taken and is still writing was given before, too.
        let turn = Arc::clone(&self.flushing).lock_owned().await;
        let chosen =
            std::mem::take(&mut *self.chosen.lock().unwrap_or_else(PoisonError::into_inner));
        let accesses = self.take_accesses();
        if accesses.is_empty() && chosen.is_empty() {
            return Ok(());
        }
        let reading = self.clock.read();
        let boosting = if reading.believed { Boosting::On } else { Boosting::Off };
        let pools = self.pools().await?;
        let written = move |writer: &mut Writer| {
            // It goes on when the caller has gone, and so does its turn.
            let _turn = turn;
            writer.touch(&accesses, reading.now, boosting)?;
            if chosen.is_empty() { Ok(()) } else { writer.keep_answers(&chosen) }
        };
        pools.writer.run(written).await??;
        self.wants_checkpoint();
        Ok(())
    }

    /// Every memory has its vectors, as far as is known.
    pub fn vectors_are_complete(&self) {
        self.wants_vectors.store(false, Ordering::Relaxed);
    }

    /// A memory that is asked for by its id, after a question has shown its preview, is an answer to that question.
    fn note_choices(&self, session: &Session, previews: Option<String>, answer: &Answer) {
        let results = &answer.reply.results;
        if let Some(query) =
            previews.filter(|_| results.iter().any(|result| result.score.is_some()))
        {
            session.has_seen(
                query,
                results.iter().map(|result| result.id.clone()).collect(),
                session.group.clone(),
            );
            return;
        }
        let by_id = answer.given.iter().zip(results).filter(|(_, result)| result.score.is_none());
        let why = |(seq, result): (&i64, &Recalled)| {
            let (query, group) = session.why_wanted(&result.id)?;
            Some(ClickFeedback { query, seq: *seq, group })
        };
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner).extend(by_id.filter_map(why));
    }

    fn note_accesses(&self, given: &[i64]) {
        if given.is_empty() {
            return;
        }
        let mut accesses = self.accesses.lock().unwrap_or_else(PoisonError::into_inner);
        for seq in given {
            *accesses.entry(*seq).or_default() += 1;
        }
    }

    /// What does not work at the moment, and what to do about it.
    #[must_use]
    pub fn degraded(&self) -> Degraded {
        let state = self.embedder.state();
        match state.hint() {
            Some(_) if self.first_use.is_under_way() => {
                words_alone("the model is being fetched; loci model download waits for it")
            }
            Some(hint) => words_alone(hint),
            None => Degraded::default(),
        }
    }

    /// What the model reads in a text to store; nothing while there is no model.
    ///
    /// # Errors
    /// `embed_failed`, `busy`.
    pub async fn vectors(&self, text: &str) -> Result<Option<DocumentEncoding>, Failure> {
        self.embedder.look_again_if_due().await;
        match self.embedder.document(text.to_owned(), Lane::Interactive).await {
            Ok(pieces) => Ok(Some(pieces)),
            Err(EmbedError::Unavailable { .. } | EmbedError::Failed(_)) => {
                self.first_use.send_for(&self.embedder);
                Ok(None)
            }
            Err(error @ EmbedError::Busy) => Err(busy(&error)),
            Err(error @ EmbedError::Flawed(_)) => {
                Err(Failure::new(Code::EmbedFailed, error.to_string())
                    .hint("Nothing was stored; run loci model download to check the model"))
            }
        }
    }

    /// What the model reads in a query, or what the answer has to say about its not being read.
    ///
    /// # Errors
    /// `busy`.
    pub async fn read_query(
        &self,
        text: String,
    ) -> Result<(Option<QueryEncoding>, Degraded), Failure> {
        self.embedder.look_again_if_due().await;
        match self.embedder.query(text).await {
            Ok(asked) => Ok((Some(asked), self.degraded())),
            Err(EmbedError::Unavailable { .. }) => {
                self.first_use.send_for(&self.embedder);
                Ok((None, self.degraded()))
            }
            Err(error @ EmbedError::Busy) => Err(busy(&error)),
            Err(error @ (EmbedError::Failed(_) | EmbedError::Flawed(_))) => {
                Ok((None, words_alone(&error.to_string())))
            }
        }
    }
}

/// The answer to a call that is sent again because the daemon that gave it died: nothing is embedded or queued for it.
async fn answered_before(
    pools: &Pools,
    key: Option<String>,
) -> Result<Option<StoreReply>, Failure> {
    match key {
        Some(key) => Ok(pools.readers.run(move |reader| reader.answered(&key)).await??),
        None => Ok(None),
    }
}

fn busy(error: &EmbedError) -> Failure {
    Failure::new(Code::Busy, error.to_string()).hint("CallContext again in a moment")
}

fn words_alone(why: &str) -> Degraded {
    Degraded {
        parts: vec!["embedding".to_owned()],
        hint: Some(format!("Searching by words alone: {why}")),
    }
}

fn sha256(state: &State) -> String {
    match state {
        State::Ready { sha256 } => sha256.clone(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::hello;
    use loci_proto::paths::{Paths, Variables};
    use serde_json::{Value, json};

    fn parsed<T: serde::de::DeserializeOwned + schemars::JsonSchema + 'static>(
        arguments: Value,
    ) -> T {
        loci_proto::mcp::arguments::parse(serde_json::from_value(arguments).expect("is an object"))
            .expect("are arguments")
    }

    #[tokio::test]
    async fn a_vector_of_nan_is_refused_and_nothing_is_stored() {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = loci_engine::open(
            &folder.path().join("memory.db"),
            loci_engine::Settings::for_model("m"),
            Timestamp(0),
        )
        .expect("opens");
        let (group_redirects, loading) = (writer.group_redirects(), writer.loading());
        let (readers, _r) = Pool::start("reader", vec![writer.reader().expect("opens")]);
        let (writer, _w) = Pool::start("writer", vec![writer]);
        let pools = Pools { writer, readers, group_redirects, loading, wants_check: false };
        let (_store, opened) = watch::channel(Store::Open(Arc::new(pools)));
        let paths = Variables { home: Some(folder.path().to_path_buf()), ..Variables::default() };
        let settled =
            Settled::read(&Paths::resolve(&paths).expect("resolves")).expect("has no file");
        let service =
            Service::new(Embedder::of_nan(), FirstUse::new(false), opened, settled, String::new());
        let session = Session::new(
            hello::Session::default(),
            &"group".parse().expect("is a name"),
            Timestamp(0),
        );

        let refused = service
            .store(&session, parsed(json!({"content": "x", "type": "semantic"})), None)
            .await
            .expect_err("is refused");
        assert_eq!(refused.code, Code::EmbedFailed, "{refused}");
        assert_eq!(
            service.stats(&session, parsed(json!({}))).await.expect("counts").total_memories,
            0
        );
        let answer = service
            .recall(&session, parsed(json!({"query": "x"})))
            .await
            .expect("goes on by words");
        assert_eq!(answer.degraded.parts, ["embedding"]);
    }
}
