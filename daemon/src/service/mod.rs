//! The state that all verbs share: the store's thread pools, the embedder, the configuration, the clock, the limiter and the sessions.
//!
//! The store opens in the background; until it is open, calls wait in [`Service::pools`]. Not here: the verbs (`handlers`, and below them
//! the engine), protocols (`interface`).

pub mod api_use;
pub mod backup_state;
pub mod backups;
pub mod bridge;
pub mod disk;
pub mod encoding;
#[cfg(feature = "encrypted")]
pub mod encryption;
pub mod file_modes;
pub mod findings;
pub mod full_check;
pub mod hooks;
pub mod housekeeping;
pub mod http_state;
pub mod index_warmup;
pub mod latencies;
pub mod maintenance_run;
pub mod models;
pub mod open_sockets;
pub mod pools;
pub mod project;
pub mod project_files;
pub mod reembedding;
pub mod repeat_limiter;
pub mod scheduler;
pub mod status;
pub mod storage_health;
pub mod store_state;
pub mod switches;
#[cfg(test)]
pub(crate) mod test_fixture;
pub mod usage;
pub mod usage_buffer;
pub mod viewers;

use crate::config;
use crate::config::effective::EffectiveConfig;
use crate::embedding::Embedder;
use crate::embedding::auto_fetch::AutoFetch;
use crate::embedding::model_thread::END_DEADLINE;
use crate::interface::agents::session::{Session, Sessions};
use crate::process::clock::Clock;
use crate::reranking::Reranker;
use backup_state::Backups;
use disk::Reserve;
use http_state::HttpState;
use loci_engine::model::time::{ClockReading, Timestamp};
use loci_engine::transaction::change::CallContext;
use loci_engine::{Reader, Writer};
use loci_proto::error::{Code, Failure, StorageFault};
use loci_proto::group::Group;
use loci_proto::hello::Checkout;
use loci_proto::paths;
use loci_proto::requests::config::ReloadReply;
use loci_proto::sanitize;
use models::Models;
use repeat_limiter::RepeatLimiter;
use scheduler::MaintenanceScheduler;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use storage_health::StorageHealth;
use store_state::{StorePools, StoreState};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use usage_buffer::UsageBuffer;
use viewers::Viewers;

/// Maximum bytes of a branch or a commit.
const MAX_CHECKOUT_BYTES: usize = 800;
/// Maximum time for which a call waits until the store is open.
const OPENING_DEADLINE: Duration = Duration::from_secs(10);

/// The caller of a verb, and the idempotency key of the call.
#[derive(Debug, Clone)]
pub struct Caller<'a> {
    /// The session that calls.
    pub session: &'a Session,
    /// The idempotency key, if the shim added one.
    pub key: Option<String>,
}

/// The state that all verbs share.
pub struct Service {
    /// The configured model, and others whose vectors the store uses.
    pub models: Models,
    /// Orders the best results of recalls, if the user has such a model.
    pub reranker: Option<Reranker>,
    /// The connected agents.
    pub sessions: Arc<Sessions>,
    /// The daemon's clock.
    pub clock: Clock,
    /// When maintenance runs, and the run in progress.
    pub scheduler: MaintenanceScheduler,
    /// The configuration in force.
    pub config: EffectiveConfig,
    /// Limits how often the same text is stored.
    pub repeat_limiter: RepeatLimiter,
    /// Accesses and click feedback that are not written to the database yet.
    pub usage: UsageBuffer,
    /// The hooks of clients.
    pub hooks: hooks::Hooks,
    /// The watcher of clients' own memory files.
    pub bridge: bridge::state::Bridge,
    /// Reads the files of projects that memories name.
    pub file_thread: Arc<project_files::FileThread>,
    /// How long calls take.
    pub latencies: latencies::Latencies,
    /// The current warnings about storage.
    pub health: StorageHealth,
    /// Makes and tests the backups.
    pub backups: Backups,
    /// Space for forgetting on a full disk.
    pub reserve: Reserve,
    /// Whether HTTP clients are served.
    pub http: HttpState,
    /// The open viewers.
    pub viewers: Viewers,
    auto_fetch: AutoFetch,
    store: watch::Receiver<StoreState>,
    database: PathBuf,
    started: Instant,
    vectors_missing: AtomicBool,
    checkpoint_due: AtomicBool,
    /// True once this run has recorded the time in the store.
    moment_recorded: Arc<AtomicBool>,
    damage: OnceLock<Failure>,
    /// The state of the damaged rows that the warning shows.
    damaged_rows_shown: AtomicU64,
}

/// The time of a write, which the first write of a run records in the store.
pub struct FirstMoment {
    reading: ClockReading,
    recorded: Arc<AtomicBool>,
}

impl FirstMoment {
    /// Records the moment, unless this run has recorded one. If that fails, the next write tries again: the write itself must not fail
    /// because of it.
    pub fn record(&self, writer: &mut Writer) {
        if self.recorded.load(Ordering::Relaxed) {
            return;
        }
        match writer.briefly(|writer| writer.record_time(self.reading)) {
            Ok(()) => self.recorded.store(true, Ordering::Relaxed),
            Err(error) => tracing::warn!(%error, "the time of the first write was not recorded"),
        }
    }
}

impl Service {
    /// Creates a service over a store that may still be opening. `database` is its file.
    #[must_use]
    pub fn new(
        models: Models,
        auto_fetch: AutoFetch,
        store: watch::Receiver<StoreState>,
        config: EffectiveConfig,
        database: PathBuf,
    ) -> Self {
        Self {
            models,
            reranker: None,
            sessions: Arc::default(),
            clock: Clock::default(),
            scheduler: MaintenanceScheduler::default(),
            config,
            repeat_limiter: RepeatLimiter::default(),
            usage: UsageBuffer::default(),
            hooks: hooks::Hooks::default(),
            bridge: bridge::state::Bridge::default(),
            file_thread: Arc::default(),
            latencies: latencies::Latencies::default(),
            health: StorageHealth::default(),
            backups: Backups::default(),
            http: HttpState::default(),
            viewers: Viewers::default(),
            reserve: Reserve::of(&paths::canonical(&database)),
            auto_fetch,
            store,
            database,
            started: Instant::now(),
            vectors_missing: AtomicBool::new(true),
            checkpoint_due: AtomicBool::new(false),
            moment_recorded: Arc::default(),
            damage: OnceLock::new(),
            damaged_rows_shown: AtomicU64::new(0),
        }
    }

    /// Has a cross-encoder order the best results of recalls.
    #[must_use]
    pub fn with_reranker(self, reranker: Option<Reranker>) -> Self {
        Self { reranker, ..self }
    }

    /// Asks the threads of all models to end; returns at once.
    pub fn stop_models(&self) {
        self.models.stop();
        if let Some(reranker) = &self.reranker {
            reranker.encoder.stop();
        }
    }

    /// Waits a limited time for the threads of all models to end, after [`Service::stop_models`].
    pub fn join_models(&self) {
        let until = Instant::now() + END_DEADLINE;
        let mut have_ended = self.models.join_within(END_DEADLINE);
        if let Some(reranker) = &self.reranker {
            let left = until.saturating_duration_since(Instant::now());
            have_ended &= reranker.encoder.join_within(left);
        }
        if !have_ended {
            tracing::warn!("a model did not end within 2 s");
        }
    }

    /// Returns the data folder, which has the backups and the spool of an import.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.config.paths().home
    }

    /// Returns the folder of the backups.
    #[must_use]
    pub fn backup_folder(&self) -> PathBuf {
        self.home().join(config::BACKUP_FOLDER)
    }

    /// Returns the current time of the daemon's clock, trusted or not.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.clock.read().now
    }

    /// Returns the store's thread pools; waits at most 10 s until the store is open.
    ///
    /// # Errors
    /// The reason why the store cannot be opened; `busy` if it takes too long; `internal` if the daemon is shutting down.
    pub async fn pools(&self) -> Result<Arc<StorePools>, Failure> {
        let mut store = self.store.clone();
        let opened = store.wait_for(|store| !matches!(store, StoreState::Opening));
        let opened = tokio::time::timeout(OPENING_DEADLINE, opened)
            .await
            .map(|opened| opened.map(|store| store.clone()));
        match opened {
            Ok(Ok(StoreState::Open(pools))) => Ok(pools),
            Ok(Ok(StoreState::Failed(failure))) => Err(failure),
            Ok(Ok(StoreState::Opening) | Err(_)) => {
                Err(Failure::new(Code::Internal, "the daemon is shutting down").hint("Call again"))
            }
            Err(_) => Err(Failure::new(Code::Busy, "the store is still being opened")
                .hint("Call again in a moment")),
        }
    }

    /// Runs `work` on a reader.
    ///
    /// # Errors
    /// The errors of the engine; `busy`.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader) -> loci_engine::error::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let pools = self.pools().await?;
        let answer = pools.readers.run(move |reader| work(reader)).await?.map_err(Failure::from);
        if let Err(failure) = &answer {
            self.health.record_failure(failure, self.now());
        }
        self.show_damaged_rows(&pools);
        answer
    }

    /// Runs `work` on the writer, in one transaction.
    ///
    /// # Errors
    /// The errors of the engine; `busy`.
    pub async fn write<T: Send + 'static>(
        &self,
        caller: Caller<'_>,
        work: impl FnOnce(&mut Writer, &CallContext) -> loci_engine::error::Result<T> + Send + 'static,
    ) -> Result<T, Failure> {
        let pools = self.pools().await?;
        let call = self.call_context(caller);
        let moment = self.first_moment();
        let written = match pools.writer() {
            Ok(writer) => {
                writer
                    .run(move |writer| {
                        moment.record(writer);
                        work(writer, &call)
                    })
                    .await
            }
            Err(failure) => Err(failure),
        };
        let written = written.and_then(|done| done.map_err(Failure::from));
        self.health.record_write(&written, self.now());
        self.show_damaged_rows(&pools);
        self.request_checkpoint();
        written
    }

    /// Updates the warning about damaged rows if reads have found some, so that the answer says so.
    pub fn show_damaged_rows(&self, pools: &StorePools) {
        let changes = pools.damaged_rows.changes();
        if self.damaged_rows_shown.swap(changes, Ordering::Relaxed) != changes {
            self.health.set_damaged_rows(&pools.damaged_rows.all(), self.now());
        }
    }

    /// Like [`Service::write`], for a change that a person must be able to make on a full disk: it may use the reserve.
    ///
    /// # Errors
    /// As [`Service::write`].
    pub async fn write_with_reserve<T: Send + 'static>(
        &self,
        caller: Caller<'_>,
        work: impl Fn(&mut Writer, &CallContext) -> loci_engine::error::Result<T>
        + Send
        + Sync
        + 'static,
    ) -> Result<T, Failure> {
        let work = Arc::new(work);
        let again = Arc::clone(&work);
        let written = self.write(caller.clone(), move |writer, call| work(writer, call)).await;
        let is_full = |failure: &Failure| failure.fault == Some(StorageFault::Full);
        if !written.as_ref().is_err_and(is_full) || !self.reserve.release() {
            return written;
        }
        tracing::info!("the disk is full; the reserve is used");
        let written = self.write(caller, move |writer, call| again(writer, call)).await;
        // The database takes the pages out of the log, which the next forgetting then uses again.
        let (pools, reading) = (self.pools().await?, self.clock.read());
        let moved = pools.writer()?.run(move |writer| writer.checkpoint(reading)).await;
        if let Err(failure) = moved.and_then(|moved| moved.map_err(Failure::from)) {
            self.health.record_checkpoint(Err(&failure), self.now());
        }
        self.reserve.refill();
        written
    }

    /// Returns false while the store is open without a writer.
    #[must_use]
    pub fn is_writable(&self) -> bool {
        !matches!(&*self.store.borrow(), StoreState::Open(pools) if pools.writer().is_err())
    }

    /// Returns the path of the database.
    #[must_use]
    pub fn database(&self) -> &Path {
        &self.database
    }

    /// Returns the store's thread pools once the store is open for writing; `None` if the daemon drains before.
    pub async fn writable_pools(&self, draining: &CancellationToken) -> Option<Arc<StorePools>> {
        let mut store = self.store.clone();
        let is_writable =
            |store: &StoreState| matches!(store, StoreState::Open(pools) if pools.writer().is_ok());
        let opened = tokio::select! {
            () = draining.cancelled() => None,
            opened = store.wait_for(is_writable) => opened.ok().map(|store| store.clone()),
        };
        match opened {
            Some(StoreState::Open(pools)) => Some(pools),
            _ => None,
        }
    }

    /// Returns the moment that a write has to record if it is the first of this run: a run may end before housekeeping records one.
    #[must_use]
    pub fn first_moment(&self) -> FirstMoment {
        FirstMoment { reading: self.clock.read(), recorded: Arc::clone(&self.moment_recorded) }
    }

    /// Returns the context of a call for the engine: time, actor and idempotency key.
    #[must_use]
    pub fn call_context(&self, caller: Caller<'_>) -> CallContext {
        let mut actor = caller.session.actor();
        // The log names the client, which chose its name itself.
        let policy = self.config.policy().redacting();
        for name in [&mut actor.client, &mut actor.session].into_iter().flatten() {
            if let Ok(screened) = policy.screen(name) {
                *name = screened.text;
            }
        }
        actor.checkout = actor.checkout.map(|checkout| self.screened(checkout));
        let shown = caller.session.hello.shown.clone();
        CallContext { now: self.now(), actor, key: caller.key, shown }
    }

    /// Returns a checkout without secrets, and without what no repository has: it is stored and shown.
    fn screened(&self, checkout: Checkout) -> Checkout {
        let policy = self.config.policy().redacting();
        let branch = checkout.branch.and_then(|branch| {
            let is_short = branch.len() <= MAX_CHECKOUT_BYTES;
            let screened = is_short.then(|| policy.screen(&sanitize::text(&branch)).ok())??;
            Some(screened.text).filter(|branch| !branch.is_empty())
        });
        let commit = checkout.commit.filter(|commit| {
            commit.len() <= MAX_CHECKOUT_BYTES && commit.bytes().all(|c| c.is_ascii_hexdigit())
        });
        Checkout { branch, commit, ..checkout }
    }

    /// Returns the group into which `group` was merged; `None` if it was not merged.
    pub async fn resolve_group(&self, group: &Group) -> Option<Group> {
        self.pools().await.ok().and_then(|pools| pools.group_redirects.resolve(group))
    }

    /// Returns whether a project is isolated.
    pub async fn is_isolated(&self, group: &Group) -> bool {
        self.pools().await.is_ok_and(|pools| pools.isolated.contains(&group.id))
    }

    /// Returns whether any project is isolated.
    pub async fn has_isolated_groups(&self) -> bool {
        self.pools().await.is_ok_and(|pools| !pools.isolated.is_empty())
    }

    /// Reads the configuration file again (`POST /reload`, SIGHUP).
    ///
    /// # Errors
    /// The fault of the file, which then changes nothing; `busy`.
    pub async fn reload(&self) -> Result<ReloadReply, Failure> {
        let pools = self.pools().await?;
        let (settings, reply) = self.config.reload()?;
        pools.writer()?.run(move |writer| writer.set_settings(settings)).await?;
        self.scheduler.set_schedule(self.config.config().schedule());
        Ok(reply)
    }

    /// Records that the store is damaged. The caller must also shut the daemon down.
    pub fn record_damage(&self, failure: Failure) {
        // Fails if damage is recorded already; the first failure stays.
        let _ = self.damage.set(failure);
    }

    /// Returns the damage that was found, if any.
    #[must_use]
    pub fn damage(&self) -> Option<Failure> {
        self.damage.get().cloned()
    }

    /// Requests a checkpoint: something was written, or a checkpoint was incomplete.
    pub fn request_checkpoint(&self) {
        self.checkpoint_due.store(true, Ordering::Relaxed);
    }

    /// Returns true if a checkpoint was requested since the last call, and clears the request.
    #[must_use]
    pub fn take_checkpoint_request(&self) -> bool {
        self.checkpoint_due.swap(false, Ordering::Relaxed)
    }

    /// Returns the embedder of the vectors that are searched, if memories may lack vectors and it is ready.
    #[must_use]
    pub fn embedder_to_fill(&self) -> Option<Embedder> {
        let is_due = self.vectors_missing.load(Ordering::Relaxed);
        let active = &self.vector_sets().active;
        let embedder = is_due.then(|| self.models.of_now(active)).flatten()?;
        embedder.is_ready_as(&active.model).then_some(embedder)
    }

    /// Records whether memories may lack vectors.
    pub fn set_vectors_missing(&self, missing: bool) {
        self.vectors_missing.store(missing, Ordering::Relaxed);
    }
}
