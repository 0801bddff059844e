//! The housekeeping loop: writes usage to the database, fills in missing vectors, checkpoints, removes expired data, and shuts an
//! idle daemon down.
//!
//! One loop, one step after another, each bounded. It also starts the background loop of `maintenance_run`. Not here: what a step does to
//! the database (the engine).

use crate::embedding::{EmbedError, Priority};
use crate::service::Service;
use crate::service::maintenance_run;
use crate::service::store_state::StorePools;
use loci_engine::maintain;
use loci_engine::model::time::{DAY, HOUR, Timestamp};
use loci_engine::transaction::change::CallContext;
use loci_proto::error::Failure;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often the loop checks for work. The longest time until others see an access.
const TICK: Duration = Duration::from_millis(500);
/// Memories that get vectors in one batch while no call arrives: enough for full batches of the model.
const IDLE_BATCH: usize = 128;
/// The same shortly after a call, once a tick: the model is then idle most of the time.
const BUSY_BATCH: usize = 16;
/// How long the answer of a call is kept for a retry of that call, in milliseconds.
const ANSWER_RETENTION: i64 = DAY;

/// How often memories that were cleaned up 30 days ago are deleted permanently, in milliseconds.
const PURGE_INTERVAL: i64 = HOUR / 60;
/// How many of them are deleted at once: each requires a search of the journal.
const PURGE_BATCH: usize = 8;

/// Progress of the steps that are not done at every tick.
struct Progress {
    /// When old answers were last removed.
    answers_expired: Timestamp,
    /// When cleaned-up memories were last purged.
    purged: Timestamp,
    /// The row up to which vectors were filled in; 0 before the oldest.
    filled_up_to: i64,
}

/// Runs until the daemon drains, then flushes the remaining usage.
pub async fn run(service: Arc<Service>, idle_limit: Option<Duration>, draining: CancellationToken) {
    let Ok(pools) = service.pools().await else { return };
    if pools.needs_check {
        tokio::spawn(check(Arc::clone(&service), Arc::clone(&pools), draining.clone()));
    }
    let maintenance = tokio::spawn({
        let (service, draining) = (Arc::clone(&service), draining.clone());
        async move { maintenance_run::run_in_background(&service, draining).await }
    });
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut progress =
        Progress { answers_expired: Timestamp(0), purged: Timestamp(0), filled_up_to: 0 };
    while !draining.is_cancelled() {
        tokio::select! {
            _ = tick.tick() => {}
            () = draining.cancelled() => break,
        }
        let now = service.now();
        if let Err(failure) = step(&service, &pools, &mut progress, now).await
            && !draining.is_cancelled()
        {
            tracing::warn!(%failure, "housekeeping step failed");
        }
        if idle_limit.is_some_and(|limit| {
            service.sessions.idle_since().is_some_and(|since| since.elapsed() >= limit)
        }) {
            tracing::info!("idle timeout reached; shutting down");
            draining.cancel();
        }
    }
    // It returns when the daemon drains.
    let _ = maintenance.await;
    if let Err(failure) = service.flush_usage().await {
        tracing::warn!(%failure, "the last accesses were not written");
    }
}

/// Checks a store that the last daemon did not close, while serving. Damage shuts the daemon down, and the next start refuses.
async fn check(service: Arc<Service>, pools: Arc<StorePools>, draining: CancellationToken) {
    let Ok(Err(error)) = pools.readers.run(|reader| reader.check()).await else { return };
    let failure = Failure::from(error);
    tracing::error!(%failure, "the store is damaged; shutting down");
    let reason = failure.to_string();
    if let Ok(Err(error)) = pools.writer.run(move |writer| writer.note_damage(&reason)).await {
        tracing::error!(%error, "the damage could not be recorded in the database");
    }
    service.record_damage(failure);
    draining.cancel();
}

async fn step(
    service: &Service,
    pools: &Arc<StorePools>,
    progress: &mut Progress,
    now: Timestamp,
) -> Result<(), Failure> {
    service.flush_usage().await?;
    if service.can_fill_vectors() {
        fill_vectors(service, pools, &mut progress.filled_up_to).await?;
    }
    checkpoint(service, pools).await?;
    if now.since(progress.purged) >= PURGE_INTERVAL && service.clock.read().is_trusted {
        progress.purged = now;
        let call = CallContext { now, actor: maintain::actor(""), key: None };
        let purged = pools.writer.run(move |writer| writer.purge(&call, PURGE_BATCH)).await??;
        if purged > 0 {
            tracing::info!(purged, "memories cleaned up 30 days ago were deleted permanently");
            service.request_checkpoint();
        }
    }
    if now.since(progress.answers_expired) >= HOUR {
        progress.answers_expired = now;
        pools
            .writer
            .run(move |writer| writer.expire_answers(now.plus(-ANSWER_RETENTION)))
            .await??;
    }
    Ok(())
}

/// Checkpoints the write-ahead log and records the time. A checkpoint that a reader kept incomplete is requested again.
async fn checkpoint(service: &Service, pools: &StorePools) -> Result<(), Failure> {
    if !service.take_checkpoint_request() {
        return Ok(());
    }
    let reading = service.clock.read();
    let left = pools.writer.run(move |writer| {
        if reading.is_trusted {
            writer.remember_moment(reading.now)?;
        } else {
            writer.suspect(reading.now)?;
        }
        writer.checkpoint()
    });
    let left = left.await.and_then(|left| left.map_err(Failure::from));
    if !matches!(left, Ok(0)) {
        service.request_checkpoint();
    }
    left.map(drop)
}

/// Gives vectors to memories that have none: one small batch a tick after recent calls, else batch after batch up to the next tick.
async fn fill_vectors(
    service: &Service,
    pools: &Arc<StorePools>,
    filled_up_to: &mut i64,
) -> Result<(), Failure> {
    let begun = Instant::now();
    while begun.elapsed() < TICK {
        let is_busy = service.scheduler.has_recent_call();
        let batch = if is_busy { BUSY_BATCH } else { IDLE_BATCH };
        if !fill_batch(service, pools, filled_up_to, batch).await? || is_busy {
            break;
        }
    }
    Ok(())
}

/// Encodes one batch and writes it with one commit; returns false if nothing more can be done now.
async fn fill_batch(
    service: &Service,
    pools: &Arc<StorePools>,
    filled_up_to: &mut i64,
    batch: usize,
) -> Result<bool, Failure> {
    let after = *filled_up_to;
    let unencoded =
        pools.readers.run(move |reader| reader.without_vector_after(after, batch)).await??;
    let Some(last) = unencoded.last().map(|(seq, _)| *seq) else {
        // Older memories may have lost their vectors since: start over once.
        *filled_up_to = 0;
        if after > 0 {
            return Ok(true);
        }
        service.set_vectors_missing(false);
        return Ok(false);
    };
    let tasks = unencoded.into_iter().map(|(seq, text)| {
        let embedder = service.embedder.clone();
        tokio::spawn(async move { (seq, embedder.document(text, Priority::Bulk).await) })
    });
    let (mut writes, mut more) = (Vec::new(), true);
    for task in tasks.collect::<Vec<_>>() {
        let Ok((seq, encoded)) = task.await else { continue };
        match encoded {
            Ok(text) => {
                let pools = Arc::clone(pools);
                writes.push(tokio::spawn(async move {
                    pools.writer.run_grouped(move |writer| writer.fill(seq, &text)).await
                }));
            }
            Err(EmbedError::Unavailable { .. } | EmbedError::Busy) => more = false,
            Err(error) => {
                // It would fail again at every step: the memory is found by keywords only until the next start.
                tracing::warn!(%error, seq, "a memory could not be encoded");
                service.set_vectors_missing(false);
                more = false;
            }
        }
    }
    for written in writes {
        let Ok(written) = written.await else { continue };
        written??;
        service.request_checkpoint();
    }
    if more {
        *filled_up_to = last;
    }
    Ok(more)
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
    async fn a_step_removes_answers_after_24_hours_and_not_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let fixture = ServiceFixture::warm(&folder, Embedder::with_hash_vectors());
        let service = &fixture.service;
        let arguments = json!({"content": "Tea at four", "type": "semantic"});
        let arguments = arguments.as_object().cloned().expect("is an object");
        let request = Request::parse("store_memory", arguments).expect("is valid");
        let caller = Caller { session: &fixture.session, key: Some("s:1".to_owned()) };
        let before = service.now();
        handlers::handle(service, caller, request).await.expect("is stored");
        let after = service.now();
        let pools = service.pools().await.expect("is open");
        let is_kept_at = async |now: Timestamp| {
            let mut progress =
                Progress { answers_expired: Timestamp(0), purged: now, filled_up_to: 0 };
            step(service, &pools, &mut progress, now).await.expect("works");
            let answer = pools.readers.run(|reader| reader.answered::<StoreReply>("s:1"));
            answer.await.expect("runs").expect("is read").is_some()
        };
        assert!(is_kept_at(before.plus(24 * HOUR)).await);
        assert!(!is_kept_at(after.plus(24 * HOUR + 1)).await);
        drop(pools);
        fixture.close();
    }
}
