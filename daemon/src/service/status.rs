//! `GET /status`: the daemon's state in one reply, for `loci ctl status`.

use crate::config::options;
use crate::embedding::{MODEL_ID, ModelState};
use crate::service::Service;
use crate::service::store_state::{StorePools, StoreState};
use loci_engine::{LoadCount, WarmupProgress};
use loci_proto::admin::{IndexStatus, ModelStatus, QueueLengths, Status};

/// Warning while a reader keeps the write-ahead log from being emptied after a hard delete.
const ERASE_PENDING: &str = "Pending: the text of hard-deleted memories is still in the write-ahead log, which is emptied as soon as the export or other reader that uses it ends";

impl Service {
    /// Returns the daemon's state. Never waits for the store or the model.
    pub async fn status(&self) -> Status {
        let state = self.embedder.state();
        let (sessions, mut warnings) = self.sessions.list();
        warnings.extend(self.embedder.warnings());
        warnings.extend(options::ignored_variables());
        let mut status = Status {
            version: loci_proto::VERSION.to_owned(),
            pid: std::process::id(),
            uptime_s: self.started.elapsed().as_secs(),
            database: self.database.display().to_string(),
            model: ModelStatus {
                id: MODEL_ID.to_owned(),
                sha256: sha256(&state),
                state: state.as_str().to_owned(),
            },
            memories: 0,
            index: None,
            sessions,
            queues: QueueLengths { writer: 0, readers: 0, embedding: self.embedder.pending() },
            degraded: self.degraded().parts,
            warnings,
        };
        let store = self.store.borrow().clone();
        match store {
            StoreState::Opening => status.degraded.push("store".to_owned()),
            StoreState::Failed(failure) => status.warnings.push(failure.to_string()),
            StoreState::Open(pools) => add_store(&mut status, &pools).await,
        }
        status
    }
}

/// Adds the parts of the status that come from an open store.
async fn add_store(status: &mut Status, pools: &StorePools) {
    status.degraded.extend(pools.warmup.progress().map(|_| "index".to_owned()));
    status.index = Some(index_status(&pools.warmup));
    status.warnings.extend(pools.findings.iter().cloned());
    status.queues.writer = pools.writer.pending();
    status.queues.readers = pools.readers.pending();
    if let Ok(Ok(active)) = pools.readers.run(|reader| reader.active()).await {
        status.memories = active;
    }
    if let Ok(Ok(state)) = pools.readers.run(|reader| reader.maintenance_state()).await
        && state.paused
    {
        status
            .warnings
            .push("Maintenance is paused; resume it with loci ctl maintenance resume".to_owned());
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
