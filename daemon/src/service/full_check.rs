//! Runs the full check of the store: for `loci doctor`, after an unclean stop, after a fault, and once a week while no call arrives.
//!
//! Not here: what is checked (the engine's `operations::full_check`).

use crate::service::Service;
use crate::service::store_state::StorePools;
use loci_engine::model::time::{DAY, Timestamp};
use loci_engine::operations::full_check::FullCheck;
use loci_proto::admin::WarningKind;
use loci_proto::error::{Code, Failure, StorageFault};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Time between two full checks, in milliseconds.
const INTERVAL: i64 = 7 * DAY;
/// Interval at which the loop looks whether a check is due; the first time after one interval.
const TICK: Duration = Duration::from_mins(1);

/// Runs the full check, and sets or clears the warnings about damage.
///
/// # Errors
/// `storage_failed`, `busy`.
pub async fn run(service: &Service, pools: &StorePools) -> Result<FullCheck, Failure> {
    // On a connection of its own, so that the readers stay free for calls.
    let reader = pools.readers.run(|reader| reader.try_clone()).await??;
    let checked = tokio::task::spawn_blocking(move || {
        let check = reader.full_check();
        (reader, check)
    });
    let (reader, check) = checked.await.map_err(|fault| {
        Failure::new(Code::Internal, format!("the check of the database failed: {fault}"))
    })?;
    let (mut check, now) = (check?, service.now());
    let check = if let Ok(writer) = pools.writer() {
        let finish = move |writer: &mut loci_engine::Writer| {
            writer.finish_full_check(&mut check, now).map(|()| check)
        };
        writer.run(finish).await??
    } else {
        reader.finish_full_check(&mut check)?;
        check
    };
    match check.fault() {
        Some(fault) => service.health.set_damaged(fault, now),
        None => service.health.clear(WarningKind::Damaged),
    }
    service.show_damaged_rows(pools);
    service.request_checkpoint();
    Ok(check)
}

/// Returns whether a check is due: a week after the last one, or at once if there was none.
#[must_use]
pub fn is_due(last: Option<Timestamp>, now: Timestamp) -> bool {
    last.is_none_or(|last| now.since(last) >= INTERVAL)
}

/// Checks at once if the start has found a reason, then once a week, until the daemon drains.
pub async fn run_in_background(
    service: Arc<Service>,
    pools: Arc<StorePools>,
    draining: CancellationToken,
) {
    if pools.needs_check {
        check_after_start(&service, &pools, &draining).await;
    }
    while !draining.is_cancelled() {
        tokio::select! {
            () = draining.cancelled() => return,
            () = tokio::time::sleep(TICK) => {}
        }
        if let Err(failure) = run_if_due(&service, &pools).await {
            tracing::warn!(%failure, "the weekly check of the store failed");
        }
    }
}

/// Runs a check if one is due and no call has arrived recently; returns whether it did.
///
/// # Errors
/// As [`run`].
pub async fn run_if_due(service: &Service, pools: &StorePools) -> Result<bool, Failure> {
    let last = pools.readers.run(|reader| reader.last_full_check()).await??;
    let may_run = service.scheduler.is_quiet() && is_due(last, service.now());
    if may_run {
        run(service, pools).await?;
        tracing::info!("the whole store was checked");
    }
    Ok(may_run)
}

/// Checks a store that was not closed, or of which a fault is known, while calls are served. If a page or a table cannot be read, the daemon
/// shuts down, and the next start is refused.
async fn check_after_start(service: &Service, pools: &StorePools, draining: &CancellationToken) {
    let fault = match run(service, pools).await {
        Ok(check) if check.is_structural() => check.fault().unwrap_or_default().to_owned(),
        Ok(_) => return,
        Err(failure) if failure.fault == Some(StorageFault::Damaged) => failure.message,
        Err(failure) => return tracing::warn!(%failure, "the store was not checked"),
    };
    tracing::error!(fault, "the store is damaged; shutting down");
    let message = format!("{} is damaged: {fault}", service.database().display());
    service.record_damage(
        Failure::new(Code::StorageFailed, message)
            .hint("Run loci doctor")
            .caused_by(StorageFault::Damaged),
    );
    draining.cancel();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::Embedder;
    use crate::service::test_fixture::ServiceFixture;

    #[tokio::test]
    async fn the_store_is_checked_once_a_week_while_no_call_arrives() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let fixture = ServiceFixture::warm(&folder, Embedder::with_hash_vectors());
        let service = &fixture.service;
        let pools = service.pools().await.expect("the store is open");
        service.scheduler.record_call();
        assert!(!run_if_due(service, &pools).await.expect("a call has just arrived"));
        let week = INTERVAL;
        assert!(is_due(None, Timestamp(0)) && !is_due(Some(Timestamp(1)), Timestamp(week)));
        assert!(is_due(Some(Timestamp(1)), Timestamp(week + 1)));
        let check = run(service, &pools).await.expect("the store is checked");
        assert_eq!((check.fault(), check.is_structural()), (None, false));
        let last = pools.readers.run(|reader| reader.last_full_check()).await;
        let last = last.expect("the reader runs").expect("the time is read");
        assert!(last.is_some_and(|last| !is_due(Some(last), service.now())));
        assert_eq!(service.status().await.last_full_check, last.map(Timestamp::iso));
        drop(pools);
        fixture.close();
    }
}
