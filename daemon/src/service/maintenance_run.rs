//! Executes a maintenance run: plans its steps once, then executes them one after another, for a caller or in the background loop.
//!
//! A step processes one cluster: it encodes the sentences at the lowest priority and writes one transaction. An interrupted run loses
//! nothing: finished steps stay, and the next plan has the others. Not here: the plan and the writes of a step (the engine).

use crate::embedding::{Embedder, ModelState, Priority};
use crate::service::Service;
use crate::service::scheduler::{RunInProgress, due_at};
use crate::service::store_state::StorePools;
use loci_engine::backups::manifest::Reason;
use loci_engine::maintain::{self, Cluster, Step};
use loci_engine::model::encoding::{Embedding, TextEncodings};
use loci_engine::model::time::Timestamp;
use loci_engine::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::maintenance::StepReport;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Interval at which the background loop checks whether a step is due; also the pause between two steps.
const TICK: Duration = Duration::from_millis(500);
/// A run without a step for this time is discarded, and a new one is planned. Also the pause after a failed step.
const STALE_AFTER: Duration = Duration::from_mins(10);
/// Maximum number of sentences that are queued for the model at once; a recall may have to wait for them.
const SENTENCES_AT_ONCE: usize = 4;

/// The outcome of one call that advances a run.
#[derive(Debug)]
pub struct StepDone {
    /// The executed step; `None` if nothing was due or the cluster has changed.
    pub done: Option<StepReport>,
    /// Number of steps that are left.
    pub left: usize,
}

/// Returns the current time if the clock is trusted; with a wrong clock memories would be aged and removed.
///
/// # Errors
/// `conflict` while the clock is not trusted.
pub fn trusted_now(service: &Service) -> Result<Timestamp, Failure> {
    let reading = service.clock.read();
    if reading.is_trusted {
        return Ok(reading.now);
    }
    let message = format!(
        "the clock says {}, far ahead of the store's latest entry, and is not trusted yet",
        reading.now.iso()
    );
    Err(Failure::new(Code::Conflict, message).hint(
        "Set the clock right. If it is right, store something and try again in 24 hours: a clock that still says so then is trusted, also if loci was restarted meanwhile",
    ))
}

/// Executes the next step of the run in progress. Plans a new run if there is none, if it is stale, or if `restart` is set.
///
/// # Errors
/// `conflict` while maintenance is paused or the clock is not trusted; `busy`, `storage_failed`.
pub async fn do_step(
    service: &Service,
    pools: &StorePools,
    restart: bool,
) -> Result<StepDone, Failure> {
    let now = trusted_now(service)?;
    if pools.readers.run(|reader| reader.maintenance_state()).await??.paused {
        return Err(Failure::new(Code::Conflict, "maintenance is paused")
            .hint("Run loci ctl maintenance resume"));
    }
    let mut in_progress = service.scheduler.run.lock().await;
    let current =
        in_progress.take().filter(|run| !restart && run.last_step.elapsed() < STALE_AFTER);
    let mut run = if let Some(run) = current {
        run
    } else {
        let plan = pools.readers.run(move |reader| reader.plan(now)).await??;
        tracing::info!(steps = plan.steps.len(), "maintenance run started");
        RunInProgress { steps: plan.steps.into(), last_step: Instant::now(), is_backed_up: false }
    };
    let next = run.steps.pop_front();
    let is_undoable = matches!(next, Some(Step::Compact(_) | Step::Promote(_)));
    if is_undoable && !std::mem::replace(&mut run.is_backed_up, true) {
        service.back_up_before(Reason::Maintenance).await;
    }
    let left = run.steps.len();
    run.last_step = Instant::now();
    if left > 0 {
        *in_progress = Some(run);
    }
    let done = match next {
        Some(Step::Compact(cluster)) => compact(service, pools, cluster, now).await?,
        Some(Step::Promote(promotion)) => {
            let call = CallContext {
                now,
                actor: maintain::actor(&promotion.group),
                key: None,
                shown: None,
            };
            Some(pools.writer()?.run(move |writer| writer.promote(&call, &promotion)).await??)
        }
        Some(Step::Purge(purge)) => {
            let call =
                CallContext { now, actor: maintain::actor(&purge.group), key: None, shown: None };
            Some(pools.writer()?.run(move |writer| writer.purge_forgotten(&call, &purge)).await??)
        }
        None => None,
    };
    if left == 0 {
        pools.writer()?.run(move |writer| writer.run_ended(now)).await??;
        service.scheduler.record_run_end();
        tracing::info!("maintenance run finished");
    }
    service.request_checkpoint();
    Ok(StepDone { done, left })
}

/// Compacts a cluster; `None` if it has changed since it was planned.
async fn compact(
    service: &Service,
    pools: &StorePools,
    cluster: Cluster,
    now: Timestamp,
) -> Result<Option<StepReport>, Failure> {
    let drafted = cluster.clone();
    let Some(mut draft) = pools.readers.run(move |reader| reader.draft(&drafted)).await?? else {
        return Ok(None);
    };
    // One model for all sentences, so that their vectors can be compared.
    let embedder = service.active_embedder();
    for sentences in draft.sentences.chunks_mut(SENTENCES_AT_ONCE) {
        let missing: Vec<_> =
            sentences.iter_mut().filter(|sentence| sentence.vector.is_none()).collect();
        let texts: Vec<String> = missing.iter().map(|sentence| sentence.text.clone()).collect();
        let started = Instant::now();
        for (sentence, vector) in
            missing.into_iter().zip(encode_sentences(embedder.as_ref(), texts).await)
        {
            sentence.vector = vector;
        }
        service.scheduler.pause_after_work(started).await;
    }
    let started = Instant::now();
    // A summary without a vector is found by keywords only, until the model is ready again.
    let encoded = match &embedder {
        Some(embedder) => embedder.document(draft.text(), Priority::Bulk).await.ok(),
        None => None,
    };
    let encodings: Arc<TextEncodings> = Arc::new(encoded.into_iter().collect());
    let stored = Arc::clone(&encodings);
    service.scheduler.pause_after_work(started).await;
    let call = CallContext { now, actor: maintain::actor(&cluster.group), key: None, shown: None };
    let done = pools
        .writer()?
        .run(move |writer| writer.compact(&call, &cluster, &draft, &stored))
        .await??;
    service.note_encoded(&encodings);
    Ok(Some(done))
}

/// Returns the vector of each sentence; `None` where the model returns none.
async fn encode_sentences(
    embedder: Option<&Embedder>,
    texts: Vec<String>,
) -> Vec<Option<Embedding>> {
    let spawn = |text| {
        let embedder = embedder.cloned();
        tokio::spawn(async move {
            let encoded = embedder?.document(text, Priority::Bulk).await.ok()?;
            encoded.encoding.vectors.into_iter().next()
        })
    };
    let mut vectors = Vec::new();
    for task in texts.into_iter().map(spawn).collect::<Vec<_>>() {
        vectors.push(task.await.ok().flatten());
    }
    vectors
}

/// Executes maintenance steps in the background when they are due and no call has arrived for a while, until the daemon drains.
pub async fn run_in_background(service: &Service, draining: CancellationToken) {
    let Ok(pools) = service.pools().await else { return };
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let next_step = async {
            tick.tick().await;
            if is_due(service, &pools).await
                && let Err(failure) = do_step(service, &pools, false).await
            {
                tracing::warn!(%failure, "maintenance step failed");
                tokio::time::sleep(STALE_AFTER).await;
            }
        };
        tokio::select! {
            () = next_step => {}
            () = draining.cancelled() => return,
        }
    }
}

async fn is_due(service: &Service, pools: &StorePools) -> bool {
    let Some(schedule) = service.scheduler.schedule() else { return false };
    let is_idle_long = service.scheduler.is_idle_run_due();
    if !schedule.enabled && !is_idle_long {
        return false;
    }
    let can_run = service.scheduler.is_quiet()
        && service.clock.read().is_trusted
        && service
            .active_embedder()
            .is_some_and(|model| matches!(model.state(), ModelState::Ready { .. }));
    if !can_run || pools.warmup.progress().is_some() {
        return false;
    }
    let Ok(Ok(state)) = pools.readers.run(|reader| reader.maintenance_state()).await else {
        return false;
    };
    let is_in_progress = service.scheduler.run.lock().await.is_some();
    let is_due = schedule.enabled && service.now() >= due_at(schedule, state.last_run);
    !state.paused && (is_in_progress || is_idle_long || is_due)
}
