//! The housekeeping loop: writes usage to the database, fills in missing vectors, checkpoints, removes expired data, and shuts an
//! idle daemon down.
//!
//! The steps run one after another, and each takes a bounded time. [`run`] also starts the background loop of `maintenance_run`. Not here:
//! the changes that a step makes in the database (the engine).

use crate::embedding::{EmbedError, Embedder, Priority};
use crate::service::Service;
use crate::service::backups;
use crate::service::bridge;
use crate::service::disk;
use crate::service::full_check;
use crate::service::maintenance_run;
use crate::service::reembedding::{self, RefillState};
use crate::service::store_state::StorePools;
use loci_engine::model::time::{DAY, HOUR, Timestamp};
use loci_engine::transaction::backfill::EncodedLater;
use loci_engine::transaction::change::CallContext;
use loci_engine::{Reader, Writer, maintain};
use loci_proto::error::Failure;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Interval at which the loop checks for work; also the maximum delay until an access is written.
const TICK: Duration = Duration::from_millis(500);
/// Number of memories that [`fill_batch`] encodes while no call arrives: enough for full batches of the model.
const IDLE_BATCH: usize = 128;
/// The same shortly after a call. With one such batch per tick the model is idle most of the time.
const BUSY_BATCH: usize = 16;
/// Time until a failed checkpoint is tried again.
const CHECKPOINT_RETRY: Duration = Duration::from_secs(2);
/// Time for which the answer of a call is kept for a retry of that call, in milliseconds.
const ANSWER_RETENTION: i64 = DAY;

/// Interval at which memories that were cleaned up 30 days ago are deleted permanently, in milliseconds.
const PURGE_INTERVAL: i64 = HOUR / 60;
/// Maximum number of memories that are deleted per interval: each requires a search of the journal.
const PURGE_BATCH: usize = 8;

/// Progress of the work that is not done at every tick.
struct Progress {
    /// When old answers were last removed.
    last_expiry: Timestamp,
    /// When cleaned-up memories were last deleted permanently.
    last_purge: Timestamp,
    /// The latest failure that was logged; empty if the latest step succeeded.
    last_failure: String,
    /// When the next checkpoint may run; after a failure not at once.
    next_checkpoint: Instant,
    /// The state of the damaged rows that the database has.
    recorded_rows: u64,
    /// The warning about damage that the database has.
    recorded_fault: Option<String>,
    /// Row number of the last memory that was checked for a missing vector; 0 at the start of a pass.
    filled_up_to: i64,
    /// What was done to encode all memories again.
    refill: RefillState,
}

impl Progress {
    fn new(last_purge: Timestamp) -> Self {
        Self {
            last_expiry: Timestamp(0),
            last_purge,
            last_failure: String::new(),
            next_checkpoint: Instant::now(),
            recorded_rows: 0,
            recorded_fault: None,
            filled_up_to: 0,
            refill: RefillState::default(),
        }
    }
}

/// Updates the warnings about the disk, and completes the reserve.
async fn check_disk(service: &Arc<Service>) {
    let service = Arc::clone(service);
    let check = move || {
        service.check_disk();
        service.reserve.fill(disk::KEPT_FREE);
    };
    // Fails only if the runtime is shutting down.
    let _ = tokio::task::spawn_blocking(check).await;
}

/// Records a failed step; logs it once, until a step succeeds or fails for another reason.
fn report(service: &Service, failure: &Failure, progress: &mut Progress) {
    service.health.record_failure(failure, service.now());
    let text = failure.to_string();
    if progress.last_failure != text {
        tracing::warn!(%failure, "housekeeping step failed");
        progress.last_failure = text;
    }
}

/// Runs until the daemon drains, then flushes the remaining usage.
pub async fn run(service: Arc<Service>, idle_limit: Option<Duration>, draining: CancellationToken) {
    let Some(pools) = service.writable_pools(&draining).await else { return };
    tokio::spawn(full_check::run_in_background(
        Arc::clone(&service),
        Arc::clone(&pools),
        draining.clone(),
    ));
    let maintenance = tokio::spawn({
        let (service, draining) = (Arc::clone(&service), draining.clone());
        async move { maintenance_run::run_in_background(&service, draining).await }
    });
    let bridge = tokio::spawn({
        let (service, draining) = (Arc::clone(&service), draining.clone());
        async move { bridge::run_in_background(&service, draining).await }
    });
    let backups = tokio::spawn({
        let (service, pools, draining) =
            (Arc::clone(&service), Arc::clone(&pools), draining.clone());
        async move { backups::run(&service, &pools, draining).await }
    });
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut progress = Progress::new(Timestamp(0));
    while !draining.is_cancelled() {
        tokio::select! {
            _ = tick.tick() => {}
            () = draining.cancelled() => break,
        }
        check_files(&service, &pools, &draining).await;
        let now = service.now();
        check_disk(&service).await;
        if let Err(failure) = run_step(&service, &pools, &mut progress, now).await
            && !draining.is_cancelled()
        {
            report(&service, &failure, &mut progress);
        } else {
            progress.last_failure.clear();
        }
        if idle_limit.is_some_and(|limit| {
            // HTTP clients and pages cannot start the daemon.
            let is_reachable_anew =
                !service.http.is_open() && service.viewers.addresses().is_empty();
            is_reachable_anew
                && service.sessions.idle_since().is_some_and(|since| since.elapsed() >= limit)
        }) {
            tracing::info!("idle timeout reached; shutting down");
            draining.cancel();
        }
    }
    // These also end when the daemon drains.
    let _ = maintenance.await;
    let _ = bridge.await;
    let _ = backups.await;
    if let Err(failure) = service.flush_usage().await {
        tracing::warn!(%failure, "the last accesses were not written");
    }
    if let Err(failure) = service.flush_receipts().await {
        tracing::warn!(%failure, "the last receipts were not written");
    }
}

/// Checks that the files of the store are in place. If the store cannot be trusted any more, the daemon shuts down; the next start judges
/// the files.
async fn check_files(service: &Service, pools: &StorePools, draining: &CancellationToken) {
    let Ok(writer) = pools.writer() else { return };
    let failure = writer.run(|writer| match writer.check_files() {
        Ok(()) => writer.failure(),
        Err(error) => Some(error.into()),
    });
    if let Ok(Some(failure)) = failure.await {
        tracing::error!(%failure, "the store cannot be trusted; shutting down");
        service.record_damage(failure);
        draining.cancel();
    }
}

/// Runs all steps that are due, in order, up to the first that fails. None is run while another program locks the database: a call that waits
/// for the writer would have to wait for the step too.
async fn run_step(
    service: &Service,
    pools: &Arc<StorePools>,
    progress: &mut Progress,
    now: Timestamp,
) -> Result<(), Failure> {
    if pools.writer()?.run(Writer::is_locked_by_another).await?? {
        return Ok(());
    }
    service.flush_or_drop_usage().await?;
    // On a full disk receipts are dropped, as usage is.
    if let Err(failure) = service.flush_receipts().await
        && failure.fault.is_none()
    {
        return Err(failure);
    }
    record_damage(service, pools, progress).await?;
    if let Some(embedder) = service.embedder_to_fill() {
        fill_vectors(service, pools, &embedder, &mut progress.filled_up_to).await?;
    }
    reembedding::step(service, pools, &mut progress.refill, TICK).await?;
    if Instant::now() >= progress.next_checkpoint {
        let moved = checkpoint(service, pools).await;
        service.health.record_checkpoint(moved.as_ref().copied(), now);
        if moved.is_err() {
            progress.next_checkpoint = Instant::now() + CHECKPOINT_RETRY;
        }
    }
    if now.since(progress.last_purge) >= PURGE_INTERVAL && service.clock.read().is_trusted {
        progress.last_purge = now;
        let call = CallContext { now, actor: maintain::actor(""), key: None, shown: None };
        let purged = pools.run_briefly(move |writer| writer.purge(&call, PURGE_BATCH)).await?;
        if purged > 0 {
            tracing::info!(purged, "memories cleaned up 30 days ago were deleted permanently");
            service.request_checkpoint();
        }
    }
    if now.since(progress.last_expiry) >= HOUR {
        progress.last_expiry = now;
        let until = now.plus(-ANSWER_RETENTION);
        pools.run_briefly(move |writer| writer.expire_answers(until)).await?;
    }
    Ok(())
}

/// Keeps what was found damaged for the next start, and has vectors that cannot be used computed again.
async fn record_damage(
    service: &Service,
    pools: &StorePools,
    progress: &mut Progress,
) -> Result<(), Failure> {
    let changes = pools.damaged_rows.changes();
    if progress.recorded_rows != changes {
        let dropped = pools.run_briefly(|writer| {
            writer.record_damaged_rows()?;
            writer.drop_damaged_vectors()
        });
        let dropped = dropped.await?;
        if dropped > 0 {
            tracing::warn!(dropped, "vectors that could not be used are computed again");
            service.set_vectors_missing(true);
        }
        progress.recorded_rows = pools.damaged_rows.changes();
        service.show_damaged_rows(pools);
        service.request_checkpoint();
    }
    let fault = service.health.damage();
    if let Some(text) = fault.clone().filter(|_| fault != progress.recorded_fault) {
        pools.run_briefly(move |writer| writer.note_damage(&text)).await?;
        service.request_checkpoint();
    }
    progress.recorded_fault = fault;
    Ok(())
}

/// Checkpoints the write-ahead log if that was requested, and records the time. A checkpoint that a reader kept incomplete is requested
/// again.
async fn checkpoint(service: &Service, pools: &StorePools) -> Result<(), Failure> {
    if !service.take_checkpoint_request() {
        return Ok(());
    }
    let reading = service.clock.read();
    let frames_left = pools.run_briefly(move |writer| writer.checkpoint(reading)).await;
    if !matches!(frames_left, Ok(0)) {
        service.request_checkpoint();
    }
    frames_left.map(drop)
}

/// Encodes memories that have no vector: one small batch per tick shortly after a call, otherwise batch after batch until the next tick.
async fn fill_vectors(
    service: &Service,
    pools: &Arc<StorePools>,
    embedder: &Embedder,
    filled_up_to: &mut i64,
) -> Result<(), Failure> {
    let started = Instant::now();
    while started.elapsed() < TICK {
        let is_busy = service.scheduler.has_recent_call();
        let batch = if is_busy { BUSY_BATCH } else { IDLE_BATCH };
        let batch = fill_batch(service, pools, embedder, Batch { filled_up_to, size: batch });
        if !batch.await? || is_busy {
            break;
        }
    }
    Ok(())
}

/// The next batch of memories without vectors.
struct Batch<'a> {
    /// The last memory that was checked.
    filled_up_to: &'a mut i64,
    /// Maximum number of memories.
    size: usize,
}

/// Encodes one batch of memories and writes the vectors with group commits; returns false if no further batch can be done now.
async fn fill_batch(
    service: &Service,
    pools: &Arc<StorePools>,
    embedder: &Embedder,
    Batch { filled_up_to, size }: Batch<'_>,
) -> Result<bool, Failure> {
    let after = *filled_up_to;
    let withheld = service.withheld_from(embedder, pools);
    let next_batch = move |reader: &mut Reader| reader.without_vector_after(after, size, &withheld);
    // Cleared before the look: what a call records meanwhile is looked for again.
    service.set_vectors_missing(false);
    let unencoded = pools.readers.run(next_batch).await;
    let unencoded = unencoded.and_then(|found| found.map_err(Failure::from));
    if after > 0 || !unencoded.as_ref().is_ok_and(Vec::is_empty) {
        service.set_vectors_missing(true);
    }
    let unencoded = unencoded?;
    let Some(last) = unencoded.last().map(|(seq, _)| *seq) else {
        // The pass is complete. Memories that it has already visited may lack vectors again, so one more pass begins at row 0.
        *filled_up_to = 0;
        return Ok(after > 0);
    };
    let tasks = unencoded.into_iter().map(|(seq, document)| {
        let embedder = embedder.clone();
        tokio::spawn(async move {
            let encoded = embedder.document(document.clone(), Priority::Bulk).await;
            (seq, document, encoded)
        })
    });
    let (mut writes, mut can_continue) = (Vec::new(), true);
    for task in tasks.collect::<Vec<_>>() {
        let Ok((seq, document, encoded)) = task.await else { continue };
        match encoded {
            Ok(encoded) => {
                let memory = EncodedLater { seq, document, encoded };
                let pools = Arc::clone(pools);
                writes.push(tokio::spawn(async move {
                    pools.writer()?.run_grouped(move |writer| writer.fill(&memory)).await
                }));
            }
            Err(EmbedError::Unavailable { .. } | EmbedError::Busy) => can_continue = false,
            Err(error) => {
                // Encoding would fail again at every step, so stop until the next start; keyword search finds the memory until then.
                tracing::warn!(%error, seq, "a memory could not be encoded");
                service.set_vectors_missing(false);
                can_continue = false;
            }
        }
    }
    for written in writes {
        let Ok(written) = written.await else { continue };
        written??;
        service.request_checkpoint();
    }
    if can_continue {
        *filled_up_to = last;
    }
    Ok(can_continue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::Embedder;
    use crate::handlers;
    use crate::service::Caller;
    use crate::service::test_fixture::ServiceFixture;
    use loci_proto::requests::Request;
    use loci_proto::requests::store::StoreReply;
    use serde_json::json;

    #[tokio::test]
    async fn what_a_call_records_during_the_look_for_missing_vectors_is_kept() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let fixture = ServiceFixture::warm(&folder, Embedder::with_hash_vectors());
        let service = &fixture.service;
        let pools = service.pools().await.expect("the store is open");
        let embedder = Embedder::with_hash_vectors();
        let mut filled_up_to = 0;
        let batch = Batch { filled_up_to: &mut filled_up_to, size: 1 };
        let record = async { service.set_vectors_missing(true) };
        let (filled, ()) = tokio::join!(fill_batch(service, &pools, &embedder, batch), record);
        assert!(!filled.expect("the store is read"), "nothing lacks a vector");
        assert!(service.embedder_to_fill().is_some(), "it is looked for again");
    }

    #[tokio::test]
    async fn stored_answers_are_removed_after_24_hours_and_not_before() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let fixture = ServiceFixture::warm(&folder, Embedder::with_hash_vectors());
        let service = &fixture.service;
        let arguments = json!({"content": "Tea at four", "type": "semantic"});
        let arguments = arguments.as_object().cloned().expect("the arguments are an object");
        let request = Request::parse("store_memory", arguments).expect("the request is valid");
        let caller = Caller { session: &fixture.session, key: Some("s:1".to_owned()) };
        let before = service.now();
        handlers::handle(service, caller, request).await.expect("the memory is stored");
        let after = service.now();
        let pools = service.pools().await.expect("the store is open");
        let is_kept_at = async |now: Timestamp| {
            let mut progress = Progress::new(now);
            run_step(service, &pools, &mut progress, now).await.expect("the step succeeds");
            let answer = pools.readers.run(|reader| reader.answered::<StoreReply>("s:1"));
            answer.await.expect("the reader runs the job").expect("the answer is read").is_some()
        };
        assert!(is_kept_at(before.plus(24 * HOUR)).await);
        assert!(!is_kept_at(after.plus(24 * HOUR + 1)).await);
        drop(pools);
        fixture.close();
    }
}
