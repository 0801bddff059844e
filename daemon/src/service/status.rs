//! `GET /status`: the daemon's state in one reply, for `loci ctl status`.

use crate::config::options;
use crate::embedding::ModelState;
use crate::reranking::Reranker;
use crate::service::Service;
use crate::service::disk;
use crate::service::file_modes;
use crate::service::pools::Pool;
use crate::service::storage_health::StorageHealth;
use crate::service::store_state::{StorePools, StoreState};
use loci_engine::model::time::Timestamp;
use loci_engine::operations::reembed::FillProgress;
use loci_engine::{LoadCount, WarmupProgress};
use loci_proto::admin::{
    BackupStatus, HookStatus, IndexStatus, ModelStatus, QueueLengths, ReembeddingStatus, Status,
    StorageWarning, SwitchStatus, WarningKind,
};
use loci_proto::error::Failure;
use loci_proto::paths::Paths;
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout_at;

/// Maximum time for which a status waits for a reader.
const COUNT_DEADLINE: Duration = Duration::from_secs(2);
/// Free bytes below which the disk counts as full.
const FULL_BELOW: u64 = 256 << 10;
/// Free bytes from which it no longer does.
const NOT_FULL_FROM: u64 = 1 << 20;
/// Free bytes below which little space is left; as the failure of `loci doctor`.
const LOW_BELOW: u64 = 32 << 20;
/// Free bytes from which enough space is left again.
const NOT_LOW_FROM: u64 = 64 << 20;

/// Warning while a reader keeps the write-ahead log from being emptied after a hard delete.
const ERASE_PENDING: &str = "Pending: the text of hard-deleted memories is still in the write-ahead log, which is emptied as soon as the export or other reader that uses it ends";

/// Sets and clears the warnings about free space and open modes.
pub fn check_disk(
    health: &StorageHealth,
    paths: &Paths,
    database: &Path,
    is_writable: bool,
    now: Timestamp,
) {
    if let Some(free) = disk::free_bytes(database) {
        if free < FULL_BELOW {
            health.set_full(now);
        } else if free >= NOT_FULL_FROM && is_writable {
            health.clear(WarningKind::DiskFull);
        }
        if free < LOW_BELOW {
            let text = "Less than 32 MiB are free on the disk of the database";
            health.set(WarningKind::LowSpace, text, "Free some space", now);
        } else if free >= NOT_LOW_FROM {
            health.clear(WarningKind::LowSpace);
        }
    }
    let open = file_modes::open_to_others(&paths.home, &paths.runtime, database);
    match open.first() {
        Some(first) => {
            let text = format!("Other users can open {}", first.path.display());
            health.set(WarningKind::OpenToOthers, &text, &first.remedy, now);
        }
        None => health.clear(WarningKind::OpenToOthers),
    }
}

impl Service {
    /// Sets and clears the warnings about free space and open modes. Takes microseconds.
    pub fn check_disk(&self) {
        let (paths, now) = (self.config.paths(), self.now());
        check_disk(&self.health, paths, self.database(), self.is_writable(), now);
    }

    /// Returns the daemon's state. Never waits for the store or the model.
    pub async fn status(&self) -> Status {
        let (sessions, mut warnings) = self.sessions.list();
        warnings.extend(self.models.configured().warnings());
        warnings.extend(options::ignored_variables(&self.config.config()));
        let mut status = Status {
            version: loci_proto::VERSION.to_owned(),
            pid: std::process::id(),
            uptime_s: self.started.elapsed().as_secs(),
            database: self.database.display().to_string(),
            model: self.model_status(),
            re_embedding: None,
            memories: 0,
            index: None,
            sessions,
            queues: QueueLengths { writer: 0, readers: 0, embedding: self.models.pending() },
            degraded: self.degraded().parts,
            last_full_check: None,
            warnings,
            storage: Vec::new(),
            backups: BackupStatus::default(),
            switches: SwitchStatus::default(),
            hooks: HookStatus::default(),
            latencies: self.latencies.list(),
            http: self.http.status(),
            viewers: self.viewers.addresses().iter().map(|at| format!("http://{at}/")).collect(),
        };
        status.warnings.extend(self.http.warning());
        #[cfg(feature = "encrypted")]
        status.warnings.extend(crate::service::encryption::warning());
        status.warnings.extend(self.api_waits());
        status.warnings.extend(self.api_alerts());
        status.warnings.extend(self.unusable_model());
        if let Some(reason) = self.reranker.as_ref().and_then(Reranker::fault) {
            status.degraded.push("rerank".to_owned());
            status.warnings.push(reason);
        }
        self.check_disk();
        status.storage = self.health.warnings();
        let sentences = status.storage.iter().map(StorageWarning::sentence);
        status.warnings.extend(sentences);
        let store = self.store.borrow().clone();
        match store {
            StoreState::Opening => status.degraded.push("store".to_owned()),
            // `loci ctl start` goes on waiting, and then finds why the daemon has ended.
            StoreState::Failed(failure) => {
                status.degraded.push("store".to_owned());
                status.warnings.push(failure.to_string());
            }
            StoreState::Open(pools) => {
                // One deadline for all parts, so that the caller gets an answer within seconds.
                let end = tokio::time::Instant::now() + COUNT_DEADLINE;
                add_store(&mut status, &pools).await;
                let progress = timeout_at(end, self.re_embedding(&pools)).await;
                status.re_embedding = progress.ok().and_then(Result::ok).flatten();
                self.add_backups(&mut status).await;
                let switches = timeout_at(end, self.switch_status(&mut status.sessions)).await;
                status.switches = switches.unwrap_or_default();
                let hooks = timeout_at(end, self.hook_status()).await;
                status.hooks = hooks.ok().and_then(Result::ok).unwrap_or_default();
            }
        }
        status
    }

    /// Returns why the configured model cannot be used, while the vectors of an earlier one serve.
    fn unusable_model(&self) -> Option<String> {
        if self.auto_fetch.is_fetching() || !self.degraded().parts.is_empty() {
            return None;
        }
        let state = self.models.configured().state();
        let hint = state.hint()?;
        let reason = state.reason().unwrap_or("its files are missing");
        Some(format!("the configured model cannot be used: {reason}; {hint}"))
    }

    /// Returns the model whose vectors are searched.
    fn model_status(&self) -> ModelStatus {
        let active = &self.vector_sets().active;
        let state = self.active_embedder().map(|embedder| embedder.state());
        let configured = || self.models.configured().id().as_deref().map(str::to_owned);
        let id = Some(active.model.clone()).filter(|id| !id.is_empty()).or_else(configured);
        let shown = match &state {
            None => "missing",
            // Loaded, but not in use for a moment.
            Some(ModelState::Ready { .. }) if active.model.is_empty() => "loading",
            Some(state) => state.as_str(),
        };
        ModelStatus {
            id: id.unwrap_or_else(|| self.config.config().embedding.model),
            sha256: state.as_ref().map(sha256).unwrap_or_default(),
            state: shown.to_owned(),
        }
    }

    /// Returns the progress of the re-embedding; `None` if there is none.
    ///
    /// # Errors
    /// `busy`, `storage_failed`.
    pub async fn re_embedding(
        &self,
        pools: &StorePools,
    ) -> Result<Option<ReembeddingStatus>, Failure> {
        let sets = self.vector_sets();
        let Some(filling) = &sets.filling else { return Ok(None) };
        let embedder = self.models.of_now(filling);
        let withheld = embedder.map(|embedder| self.withheld_from(&embedder, pools));
        let withheld = withheld.unwrap_or_default();
        let progress = pools.readers.run(move |reader| reader.fill_progress(&withheld)).await??;
        Ok(progress.map(|FillProgress { set, done, total }| {
            let embedder = self.models.of_now(&set);
            let state = match embedder {
                Some(embedder) if embedder.is_ready_as(&set.model) => "running",
                Some(embedder) if embedder.state() == ModelState::Loading => "loading",
                _ => "waiting",
            };
            let (from, state) = (sets.active.model.clone(), state.to_owned());
            ReembeddingStatus { from, to: set.model, done, total, state }
        }))
    }

    async fn add_backups(&self, status: &mut Status) {
        status.backups = self.backup_status().await;
        let faults = status.backups.faults.iter();
        let warning = |fault: &String| format!("{fault}. Make a new one with loci backup create.");
        let warnings: Vec<String> = faults.map(warning).collect();
        status.warnings.extend(warnings);
    }
}

/// Adds the parts of the status that come from an open store.
async fn add_store(status: &mut Status, pools: &StorePools) {
    status.degraded.extend(pools.warmup.progress().map(|_| "index".to_owned()));
    status.index = Some(index_status(&pools.warmup));
    status.queues.writer = pools.writer().map_or(0, Pool::pending);
    status.queues.readers = pools.readers.pending();
    status.degraded.extend(pools.writer().is_err().then(|| "writing".to_owned()));
    let counts = async {
        let active = pools.readers.run(|reader| reader.active()).await;
        (active, pools.readers.run(|reader| reader.maintenance_state()).await)
    };
    let Ok((active, maintenance)) = tokio::time::timeout(COUNT_DEADLINE, counts).await else {
        status.warnings.push("The memories were not counted: every reader is busy".to_owned());
        return;
    };
    if let Ok(Ok(active)) = active {
        status.memories = active;
    }
    if let Ok(Ok(state)) = maintenance
        && state.paused
    {
        status
            .warnings
            .push("Maintenance is paused; resume it with loci ctl maintenance resume".to_owned());
    }
    if let Ok(Ok(at)) = pools.readers.run(|reader| reader.last_full_check()).await {
        status.last_full_check = at.map(Timestamp::iso);
    }
    if let Ok(true) = pools.readers.run(|reader| reader.is_erase_pending()).await {
        status.warnings.push(ERASE_PENDING.to_owned());
    }
}

fn index_status(warmup: &WarmupProgress) -> IndexStatus {
    let LoadCount { loaded: read, total: of } = warmup.counts();
    let state = if warmup.progress().is_some() { "loading" } else { "ready" };
    IndexStatus { state: state.to_owned(), read, of, from: warmup.origin().map(str::to_owned) }
}

fn sha256(state: &ModelState) -> String {
    match state {
        ModelState::Ready { sha256 } => sha256.clone(),
        _ => String::new(),
    }
}
