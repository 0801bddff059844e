//! Runs of the lifecycle: a plan is made once, then done one step after another, by a person who asks or by the loop when all is quiet.
//!
//! A step is one cluster: its sentences are embedded behind everything that somebody waits for, then one transaction is written. A run
//! that is broken off loses nothing: what is done is done, and the next plan has the rest. Not here: what is due (the engine).

use crate::embedding::{ModelState, Priority};
use crate::interface::agents::session::Session;
use crate::service::{Pools, Service};
use loci_engine::maintain;
use loci_engine::maintain::{Cluster, Step};
use loci_engine::model::encoding::Embedding;
use loci_engine::model::time::{Timestamp, days};
use loci_engine::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::cleanup::{CleanupReply, CleanupRequest};
use loci_proto::requests::compact::{CompactReply, CompactRequest};
use loci_proto::requests::maintenance::{
    MaintenanceAction, MaintenanceReply, MaintenanceRequest, StepReport,
};
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long nobody may have called before the loop does a step.
const QUIET: Duration = Duration::from_secs(5);
/// How often the loop looks whether a step is due, and how long it rests between two.
const REST: Duration = Duration::from_millis(500);
/// After this time a run that nobody goes on with is planned anew.
const STALE: Duration = Duration::from_mins(10);
/// Sentences that are given to the model at once: a recall waits for them.
const AT_ONCE: usize = 4;
/// For so long after a call a run goes slowly.
const COMPANY: Duration = Duration::from_secs(1);
/// In company a run rests this many times as long as it has worked: most recalls then meet an idle model.
const COURTESY: u32 = 5;

/// When maintenance runs by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// `maintenance.enabled`
    pub enabled: bool,
    /// `maintenance.interval_days`
    pub interval_days: f64,
}

/// What is known of runs.
#[derive(Debug, Default)]
pub struct Runs {
    schedule: Mutex<Option<Schedule>>,
    called: Mutex<Option<Instant>>,
    under_way: tokio::sync::Mutex<Option<UnderWay>>,
}

#[derive(Debug)]
struct UnderWay {
    steps: VecDeque<Step>,
    touched: Instant,
}

impl Runs {
    /// Sets when maintenance runs by itself.
    pub fn set_schedule(&self, schedule: Schedule) {
        *self.schedule.lock().unwrap_or_else(PoisonError::into_inner) = Some(schedule);
    }

    fn schedule(&self) -> Option<Schedule> {
        self.schedule
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .filter(|schedule| schedule.enabled)
    }

    /// Somebody has called: the loop stands back for a while.
    pub fn somebody_calls(&self) {
        *self.called.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    fn is_quiet(&self) -> bool {
        self.quiet_for(QUIET)
    }

    fn quiet_for(&self, time: Duration) -> bool {
        self.called
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_none_or(|at| at.elapsed() >= time)
    }

    /// Rests after a piece of work that began at `since`, as long as somebody is about.
    async fn rest(&self, since: Instant) {
        let rested = since.elapsed() * COURTESY;
        if self.has_company() {
            tokio::time::sleep(rested).await;
        }
    }

    /// True for a moment after each call: what can wait goes slowly then.
    pub fn has_company(&self) -> bool {
        !self.quiet_for(COMPANY)
    }
}

/// The verb `maintenance`.
///
/// # Errors
/// `conflict` for a run while maintenance is paused or the clock is not to be believed; `busy`, `storage_failed`.
pub async fn maintenance(
    service: &Service,
    request: MaintenanceRequest,
) -> Result<MaintenanceReply, Failure> {
    let whole = matches!(request.action, MaintenanceAction::Plan | MaintenanceAction::Run);
    let pools = if whole { service.warm_pools().await? } else { service.pools().await? };
    match request.action {
        MaintenanceAction::Status => standing(service, &pools).await,
        MaintenanceAction::Plan => {
            let now = service.now();
            let plan = pools.readers.run(move |reader| reader.plan(now)).await??;
            Ok(MaintenanceReply { plan: Some(plan.to_reply()), ..standing(service, &pools).await? })
        }
        MaintenanceAction::Pause | MaintenanceAction::Resume => {
            let paused = request.action == MaintenanceAction::Pause;
            pools.writer.run(move |writer| writer.set_paused(paused)).await??;
            standing(service, &pools).await
        }
        MaintenanceAction::Run => {
            let (done, left) = step(service, &pools, request.anew).await?;
            Ok(MaintenanceReply { done, left: Some(left), ..standing(service, &pools).await? })
        }
    }
}

async fn standing(service: &Service, pools: &Pools) -> Result<MaintenanceReply, Failure> {
    let standing = pools.readers.run(|reader| reader.maintenance_state()).await??;
    let schedule = service.runs.schedule();
    let next = schedule
        .filter(|_| !standing.paused)
        .map(|schedule| due_at(schedule, standing.last_run).max(service.now()));
    Ok(MaintenanceReply {
        enabled: schedule.is_some(),
        paused: standing.paused,
        last_run_at: standing.last_run.map(Timestamp::iso),
        next_run_at: next.map(Timestamp::iso),
        ..MaintenanceReply::default()
    })
}

fn due_at(schedule: Schedule, last_run: Option<Timestamp>) -> Timestamp {
    last_run.map_or(Timestamp(0), |at| at.plus(days(schedule.interval_days)))
}

/// Refuses what a wrong clock could do harm with.
fn sure_of_the_time(service: &Service) -> Result<Timestamp, Failure> {
    let reading = service.clock.read();
    if reading.believed {
        return Ok(reading.now);
    }
    let message = format!(
        "the clock says {}, far ahead of what the store has seen, and is not believed yet",
        reading.now.iso()
    );
    Err(Failure::new(Code::Conflict, message)
        .hint("Set the clock right; if it is, this works after the daemon has run for 24 hours"))
}

/// Does the next step of a run, or begins one; what it did, and how many steps are left.
async fn step(
    service: &Service,
    pools: &Pools,
    anew: bool,
) -> Result<(Option<StepReport>, usize), Failure> {
    let now = sure_of_the_time(service)?;
    if pools.readers.run(|reader| reader.maintenance_state()).await??.paused {
        return Err(Failure::new(Code::Conflict, "maintenance is paused")
            .hint("Run loci ctl maintenance resume"));
    }
    let mut under_way = service.runs.under_way.lock().await;
    let going_on = under_way.take().filter(|run| !anew && run.touched.elapsed() < STALE);
    let mut run = if let Some(run) = going_on {
        run
    } else {
        let plan = pools.readers.run(move |reader| reader.plan(now)).await??;
        tracing::info!(steps = plan.steps.len(), "a run of maintenance begins");
        UnderWay { steps: plan.steps.into(), touched: Instant::now() }
    };
    let next = run.steps.pop_front();
    let left = run.steps.len();
    run.touched = Instant::now();
    if left > 0 {
        *under_way = Some(run);
    }
    let done = match next {
        Some(Step::Compact(cluster)) => compact(service, pools, cluster, now).await?,
        Some(Step::Promote(promotion)) => {
            let call = CallContext { now, actor: maintain::actor(&promotion.group), key: None };
            Some(pools.writer.run(move |writer| writer.promote(&call, &promotion)).await??)
        }
        None => None,
    };
    if left == 0 {
        pools.writer.run(move |writer| writer.run_ended(now)).await??;
        tracing::info!("the run of maintenance has ended");
    }
    service.wants_checkpoint();
    Ok((done, left))
}

async fn compact(
    service: &Service,
    pools: &Pools,
    cluster: Cluster,
    now: Timestamp,
) -> Result<Option<StepReport>, Failure> {
    let read = cluster.clone();
    let Some(mut draft) = pools.readers.run(move |reader| reader.draft(&read)).await?? else {
        return Ok(None);
    };
    for sentences in draft.sentences.chunks_mut(AT_ONCE) {
        let missing: Vec<_> =
            sentences.iter_mut().filter(|sentence| sentence.vector.is_none()).collect();
        let texts: Vec<String> = missing.iter().map(|sentence| sentence.text.clone()).collect();
        let begun = Instant::now();
        for (sentence, vector) in missing.into_iter().zip(vectors(service, texts).await) {
            sentence.vector = vector;
        }
        service.runs.rest(begun).await;
    }
    let begun = Instant::now();
    // Without a vector of its own it would be found by its words alone until the model is there again.
    let text = service.embedder.document(draft.text(), Priority::Bulk).await.unwrap_or_default();
    if text.pieces.is_empty() {
        service.vectors_may_be_missing();
    }
    service.runs.rest(begun).await;
    let call = CallContext { now, actor: maintain::actor(&cluster.group), key: None };
    Ok(Some(pools.writer.run(move |writer| writer.compact(&call, &cluster, &draft, &text)).await??))
}

/// The vectors of sentences; none where the model gives none.
async fn vectors(service: &Service, texts: Vec<String>) -> Vec<Option<Embedding>> {
    let made = texts.into_iter().map(|text| {
        let embedder = service.embedder.clone();
        tokio::spawn(async move {
            embedder
                .document(text, Priority::Bulk)
                .await
                .ok()
                .and_then(|text| text.pieces.into_iter().next())
        })
    });
    let mut vectors = Vec::new();
    for task in made.collect::<Vec<_>>() {
        vectors.push(task.await.ok().flatten());
    }
    vectors
}

/// Runs maintenance when it is due and nobody calls, until the daemon drains.
pub async fn by_itself(service: &Service, draining: CancellationToken) {
    let Ok(pools) = service.pools().await else { return };
    let mut rest = tokio::time::interval(REST);
    rest.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let one = async {
            rest.tick().await;
            if is_due(service, &pools).await
                && let Err(failure) = step(service, &pools, false).await
            {
                tracing::warn!(%failure, "a step of a run of maintenance failed");
                tokio::time::sleep(STALE).await;
            }
        };
        tokio::select! {
            () = one => {}
            () = draining.cancelled() => return,
        }
    }
}

async fn is_due(service: &Service, pools: &Pools) -> bool {
    let Some(schedule) = service.runs.schedule() else { return false };
    let able = service.runs.is_quiet()
        && service.clock.read().believed
        && matches!(service.embedder.state(), ModelState::Ready { .. });
    if !able || pools.loading.progress().is_some() {
        return false;
    }
    let Ok(Ok(standing)) = pools.readers.run(|reader| reader.maintenance_state()).await else {
        return false;
    };
    let begun = service.runs.under_way.lock().await.is_some();
    !standing.paused && (begun || service.now() >= due_at(schedule, standing.last_run))
}

/// The verb `cleanup`.
///
/// # Errors
/// `conflict` while the clock is not to be believed; `busy`, `storage_failed`.
pub async fn cleanup(
    service: &Service,
    session: &Session,
    request: CleanupRequest,
) -> Result<CleanupReply, Failure> {
    service.flush_accesses().await?;
    let pools = service.pools().await?;
    let now = sure_of_the_time(service)?;
    if request.dry_run {
        return Ok(pools.readers.run(move |reader| reader.faded(now)).await??);
    }
    let call = CallContext { now, actor: session.actor(), key: None };
    let done = pools.writer.run(move |writer| writer.cleanup(&call, &request)).await??;
    service.wants_checkpoint();
    Ok(done)
}

/// The tool `compact_memories`.
///
/// # Errors
/// What the engine refuses; `conflict` while the clock is not to be believed; `busy`, `embed_failed`.
pub async fn store_agent_summary(
    service: &Service,
    session: &Session,
    request: CompactRequest,
    key: Option<String>,
) -> Result<CompactReply, Failure> {
    let pools = service.warm_pools().await?;
    let now = sure_of_the_time(service)?;
    let Some(text) = maintain::summary_text(&request)? else {
        let group = session.group.clone();
        return Ok(pools.readers.run(move |reader| reader.compactable(&group, now)).await??);
    };
    let pieces = service.vectors(text).await?;
    if pieces.is_none() {
        service.vectors_may_be_missing();
    }
    let call = CallContext { now, actor: session.actor(), key };
    let done = pools
        .writer
        .run(move |writer| writer.store_agent_summary(&call, &request, &pieces.unwrap_or_default()))
        .await??;
    service.wants_checkpoint();
    Ok(done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::effective::Settled;
    use crate::embedding::Embedder;
    use crate::embedding::auto_fetch::AutoFetch;
    use crate::handlers;
    use crate::handlers::Asked;
    use crate::service::Store;
    use crate::service::pools::Pool;
    use loci_engine::Settings;
    use loci_proto::hello;
    use loci_proto::paths::{Paths, Variables};
    use serde_json::{Value, json};
    use std::sync::Arc;
    use tokio::sync::watch;

    /// A service over an empty store that has seen nothing later than this moment, with made-up vectors.
    struct Scene {
        service: Service,
        session: Session,
        _folder: tempfile::TempDir,
        _store: watch::Sender<Store>,
    }

    fn scene(seen: Timestamp) -> Scene {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = loci_engine::open(
            &folder.path().join("memory.db"),
            Settings::for_model("m"),
            Timestamp(0),
        )
        .expect("opens");
        let (readers, _) = Pool::start("reader", vec![writer.reader().expect("opens")]);
        let (group_redirects, loading) = (writer.group_redirects(), writer.warmup());
        let (writer, _) = Pool::start("writer", vec![writer]);
        let pools = Pools { writer, readers, group_redirects, loading, wants_check: false };
        let (store, opened) = watch::channel(Store::Open(Arc::new(pools)));
        let embedder = Embedder::with_hash_vectors();
        let variables =
            Variables { home: Some(folder.path().to_path_buf()), ..Variables::default() };
        let settled =
            Settled::read(&Paths::resolve(&variables).expect("resolves")).expect("has no file");
        let service = Service::new(embedder, AutoFetch::new(false), opened, settled, String::new());
        service.clock.has_seen(seen, None);
        let session = Session::new(
            hello::Session::default(),
            &"group".parse().expect("is a name"),
            Timestamp(0),
        );
        Scene { service, session, _folder: folder, _store: store }
    }

    async fn call(scene: &Scene, name: &str, arguments: Value) -> Result<Value, Failure> {
        let given = serde_json::from_value(arguments).expect("is an object");
        handlers::call(&scene.service, Asked { session: &scene.session, name, given, key: None })
            .await
    }

    #[test]
    fn interval_days_says_when_the_next_run_is_due() {
        let due = |interval_days| {
            due_at(Schedule { enabled: true, interval_days }, Some(Timestamp(1000)))
        };
        assert_eq!(
            [due(7.0), due(0.5)],
            [Timestamp(1000 + 7 * 86_400_000), Timestamp(1000 + 43_200_000)]
        );
        assert_eq!(
            due_at(Schedule { enabled: true, interval_days: 7.0 }, None),
            Timestamp(0),
            "the first run is due at once"
        );
    }

    #[tokio::test]
    async fn a_clock_far_ahead_compacts_and_cleans_up_nothing_and_says_why() {
        let scene = scene(Timestamp(1_700_000_000_000));
        for (name, arguments) in [
            ("maintenance", json!({"action": "run"})),
            ("cleanup", json!({"dry_run": true})),
            ("cleanup", json!({})),
            ("compact_memories", json!({})),
        ] {
            let said = call(&scene, name, arguments).await.expect_err("is refused");
            assert!(
                said.code == Code::Conflict && said.to_string().contains("not believed"),
                "{name}: {said}"
            );
        }
        assert!(
            call(&scene, "maintenance", json!({"action": "plan"})).await.is_ok(),
            "looking does no harm"
        );
    }

    #[tokio::test]
    async fn an_agent_lists_a_cluster_and_sums_it_up() {
        let scene = scene(Timestamp(0));
        for i in 0..5 {
            let arguments = json!({"content": format!("Old thing {i}"), "type": "episodic", "metadata": {"event_date": "2025-03-05"}});
            call(&scene, "store_memory", arguments).await.expect("is stored");
        }
        let listed = call(&scene, "compact_memories", json!({})).await.expect("is listed");
        assert_eq!(listed["memories"].as_array().map(Vec::len), Some(5));
        let arguments = json!({"cluster": listed["cluster"], "summary": "Five old things happened in March 2025."});
        assert_eq!(
            call(&scene, "compact_memories", arguments).await.expect("is stored")["compacted"],
            5
        );
        let found = call(&scene, "recall_memory", json!({"query": "old things"}))
            .await
            .expect("is answered");
        assert_eq!(found["results"][0]["content"], "Five old things happened in March 2025.");
        assert_eq!(
            call(&scene, "compact_memories", json!({})).await.expect("is answered")["note"],
            "Nothing is due"
        );
    }

    #[tokio::test]
    async fn a_run_goes_step_by_step_and_stops_where_it_is_paused() {
        let scene = scene(Timestamp(0));
        for date in ["2025-03-05", "2025-03-12"] {
            for i in 0..5 {
                let arguments = json!({"content": format!("{date} thing {i}"), "type": "episodic", "metadata": {"event_date": date}});
                call(&scene, "store_memory", arguments).await.expect("is stored");
            }
        }
        let first = call(&scene, "maintenance", json!({"action": "run", "anew": true}))
            .await
            .expect("is done");
        assert_eq!((&first["left"], &first["last_run_at"]), (&json!(1), &Value::Null));
        call(&scene, "maintenance", json!({"action": "pause"})).await.expect("is paused");
        assert!(call(&scene, "maintenance", json!({"action": "run"})).await.is_err());
        call(&scene, "maintenance", json!({"action": "resume"})).await.expect("goes on");
        let last = call(&scene, "maintenance", json!({"action": "run"})).await.expect("is done");
        assert!(last["left"] == 0 && last["last_run_at"].is_string(), "{last}");
        assert_eq!(call(&scene, "memory_stats", json!({})).await.expect("counts")["compacted"], 10);
    }
}
