//! The clock's work: writing down accesses, filling in vectors, checkpoints, forgetting old answers, and going home.
//!
//! One loop, one step after another, each bounded. Beside it the lifecycle runs by itself (`runs`). Not here: what a step does to the
//! database (the engine).

use crate::embedding::{EmbedError, Lane};
use crate::runs;
use crate::service::{Pools, Service};
use loci_engine::change::Call;
use loci_engine::maintain;
use loci_engine::time::{DAY, HOUR, Timestamp};
use loci_proto::error::Failure;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How often the loop looks for work. Accesses are visible to others after at most this.
const TICK: Duration = Duration::from_millis(500);
/// Memories that get their vectors at once while nobody calls: enough for full runs of the model.
const BATCH: usize = 128;
/// The same for a moment after each call, at every tick: the model then rests most of the time.
const BATCH_IN_COMPANY: usize = 16;
/// How long the answer to a call is kept for a call that is sent again.
const ANSWERS_KEPT: i64 = DAY;

/// How often memories that were cleaned up 30 days ago are removed for good, and how many at once: each means a look through the journal.
const PURGE_EVERY: i64 = HOUR / 60;
const PURGED_AT_ONCE: usize = 8;

/// When the steps that are not done at every tick were done last, and how far one of them has come.
struct DoneAt {
    answers: Timestamp,
    purge: Timestamp,
    /// The memory up to which vectors were filled in; 0 before the oldest.
    filled: i64,
}

/// Works until the daemon drains, then once more for what is left.
pub async fn run(service: Arc<Service>, idle_limit: Option<Duration>, draining: CancellationToken) {
    let Ok(pools) = service.pools().await else { return };
    if pools.wants_check {
        tokio::spawn(check(Arc::clone(&service), Arc::clone(&pools), draining.clone()));
    }
    let of_itself = tokio::spawn({
        let (service, draining) = (Arc::clone(&service), draining.clone());
        async move { runs::by_itself(&service, draining).await }
    });
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut done_at = DoneAt { answers: Timestamp(0), purge: Timestamp(0), filled: 0 };
    while !draining.is_cancelled() {
        tokio::select! {
            _ = tick.tick() => {}
            () = draining.cancelled() => break,
        }
        let now = service.now();
        if let Err(failure) = step(&service, &pools, &mut done_at, now).await
            && !draining.is_cancelled()
        {
            tracing::warn!(%failure, "a step of maintenance failed");
        }
        if idle_limit.is_some_and(|limit| {
            service.sessions.empty_since().is_some_and(|since| since.elapsed() >= limit)
        }) {
            tracing::info!("nobody has been here for a while");
            draining.cancel();
        }
    }
    // It ends by itself when the daemon drains.
    let _ = of_itself.await;
    if let Err(failure) = service.flush_accesses().await {
        tracing::warn!(%failure, "the last accesses were not counted");
    }
}

/// Checks a store that the last daemon did not close, beside serving. A damaged one ends the daemon, and the next start refuses.
async fn check(service: Arc<Service>, pools: Arc<Pools>, draining: CancellationToken) {
    let Ok(Err(error)) = pools.readers.run(|reader| reader.check()).await else { return };
    let failure = Failure::from(error);
    tracing::error!(%failure, "the store is damaged");
    let what = failure.to_string();
    if let Ok(Err(error)) = pools.writer.run(move |writer| writer.note_damage(&what)).await {
        tracing::error!(%error, "the damage could not be noted");
    }
    service.is_damaged(failure);
    draining.cancel();
}

async fn step(
    service: &Service,
    pools: &Arc<Pools>,
    done_at: &mut DoneAt,
    now: Timestamp,
) -> Result<(), Failure> {
    service.flush_accesses().await?;
    if service.wants_vectors() {
        fill_vectors(service, pools, &mut done_at.filled).await?;
    }
    checkpoint(service, pools).await?;
    if now.since(done_at.purge) >= PURGE_EVERY && service.clock.read().believed {
        done_at.purge = now;
        let call = Call { now, actor: maintain::actor(""), key: None };
        let gone = pools.writer.run(move |writer| writer.purge(&call, PURGED_AT_ONCE)).await??;
        if gone > 0 {
            tracing::info!(gone, "what was cleaned up 30 days ago was removed for good");
            service.wants_checkpoint();
        }
    }
    if now.since(done_at.answers) >= HOUR {
        done_at.answers = now;
        pools.writer.run(move |writer| writer.expire_answers(now.plus(-ANSWERS_KEPT))).await??;
    }
    Ok(())
}

/// Moves what was written into the database, and keeps the time by the way. What a reader was in the way of is tried again.
async fn checkpoint(service: &Service, pools: &Pools) -> Result<(), Failure> {
    if !service.take_unflushed() {
        return Ok(());
    }
    let reading = service.clock.read();
    let left = pools.writer.run(move |writer| {
        if reading.believed {
            writer.remember_moment(reading.now)?;
        } else {
            writer.suspect(reading.now)?;
        }
        writer.checkpoint()
    });
    let left = left.await.and_then(|left| left.map_err(Failure::from));
    if !matches!(left, Ok(0)) {
        service.wants_checkpoint();
    }
    left.map(drop)
}

/// Gives vectors to memories that have none: in company one batch a tick, by itself batch after batch up to the next tick.
async fn fill_vectors(
    service: &Service,
    pools: &Arc<Pools>,
    filled: &mut i64,
) -> Result<(), Failure> {
    let begun = Instant::now();
    while begun.elapsed() < TICK {
        let batch = if service.runs.has_company() { BATCH_IN_COMPANY } else { BATCH };
        if !fill_batch(service, pools, (filled, batch)).await? || batch == BATCH_IN_COMPANY {
            break;
        }
    }
    Ok(())
}

/// One batch, read in runs of similar length and written with one wait for the disk; false when nothing is left that can be done now.
async fn fill_batch(
    service: &Service,
    pools: &Arc<Pools>,
    (filled, batch): (&mut i64, usize),
) -> Result<bool, Failure> {
    let after = *filled;
    let waiting =
        pools.readers.run(move |reader| reader.without_vector_after(after, batch)).await??;
    let Some(last) = waiting.last().map(|(seq, _)| *seq) else {
        // Some may have lost theirs behind us.
        *filled = 0;
        if after > 0 {
            return Ok(true);
        }
        service.vectors_are_complete();
        return Ok(false);
    };
    let made = waiting.into_iter().map(|(seq, text)| {
        let embedder = service.embedder.clone();
        tokio::spawn(async move { (seq, embedder.document(text, Lane::Bulk).await) })
    });
    let (mut filling, mut more) = (Vec::new(), true);
    for task in made.collect::<Vec<_>>() {
        let Ok((seq, made)) = task.await else { continue };
        match made {
            Ok(text) => {
                let pools = Arc::clone(pools);
                filling.push(tokio::spawn(async move {
                    pools.writer.run_grouped(move |writer| writer.fill(seq, &text)).await
                }));
            }
            Err(EmbedError::Unavailable { .. } | EmbedError::Busy) => more = false,
            Err(error) => {
                // It would fail again at every step: it is left to its words until the next start.
                tracing::warn!(%error, seq, "a memory got no vector");
                service.vectors_are_complete();
                more = false;
            }
        }
    }
    for written in filling {
        let Ok(written) = written.await else { continue };
        written??;
        service.wants_checkpoint();
    }
    if more {
        *filled = last;
    }
    Ok(more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::Embedder;
    use crate::embedding::first_use::FirstUse;
    use crate::service::Store;
    use crate::session::Session;
    use crate::settled::Settled;
    use crate::verbs;
    use crate::workers::Pool;
    use loci_proto::hello;
    use loci_proto::paths::{Paths, Variables};
    use serde_json::json;
    use tokio::sync::watch;

    #[tokio::test]
    async fn a_step_forgets_answers_after_24_hours_and_not_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = loci_engine::Settings::for_model("m");
        let writer = loci_engine::open(&folder.path().join("memory.db"), settings, Timestamp(0))
            .expect("opens");
        let (readers, _) = Pool::start("reader", vec![writer.reader().expect("opens")]);
        let (signposts, loading) = (writer.signposts(), writer.loading());
        let (writer, _) = Pool::start("writer", vec![writer]);
        let pools = Arc::new(Pools { writer, readers, signposts, loading, wants_check: false });
        let (_store, opened) = watch::channel(Store::Open(Arc::clone(&pools)));
        let variables =
            Variables { home: Some(folder.path().to_path_buf()), ..Variables::default() };
        let settled =
            Settled::read(&Paths::resolve(&variables).expect("resolves")).expect("has no file");
        let service = Service::new(
            Embedder::of_words(),
            FirstUse::new(false),
            opened,
            settled,
            String::new(),
        );
        let session = Session::new(
            hello::Session::default(),
            &"group".parse().expect("is a name"),
            Timestamp(0),
        );
        let given = json!({"content": "Tea at four", "type": "semantic"});
        let asked = verbs::Asked {
            session: &session,
            name: "store_memory",
            given: given.as_object().cloned().expect("is an object"),
            key: Some("s:1".to_owned()),
        };
        let before = service.now();
        verbs::call(&service, asked).await.expect("is stored");
        let after = service.now();
        let is_kept_at = async |now: Timestamp| {
            let mut done_at = DoneAt { answers: Timestamp(0), purge: now, filled: 0 };
            step(&service, &pools, &mut done_at, now).await.expect("works");
            let answer =
                pools.readers.run(|reader| reader.answered::<loci_proto::store::StoreReply>("s:1"));
            answer.await.expect("runs").expect("is read").is_some()
        };
        assert!(is_kept_at(before.plus(24 * HOUR)).await);
        assert!(!is_kept_at(after.plus(24 * HOUR + 1)).await);
    }
}
