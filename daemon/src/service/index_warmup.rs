//! Index warm-up: loads the search index in the background while the daemon already serves.
//!
//! The writer loads the index before any other job. Meanwhile calls that write wait in the writer's queue, and so do calls that need the
//! whole index (`doctor`, `eval`, `maintenance plan` and `run`, `compact_memories`; see [`pools_with_index`]). `list`, `memory_stats`,
//! `memory_inspect` and recalls by id are served from the database; a recall by query uses keywords only and reports that
//! (`degraded: ["index"]`). Not here: the results of such a recall, loading the index (the engine).

use crate::service::Service;
use crate::service::store_state::StorePools;
use loci_engine::Writer;
use loci_proto::error::{Code, Failure};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Loads the index. A store that cannot be read shuts the daemon down.
pub async fn run(service: Arc<Service>, draining: CancellationToken) {
    let Some(pools) = service.writable_pools(&draining).await else { return };
    let started = Instant::now();
    let loaded = match pools.writer() {
        Ok(writer) => writer.run(Writer::load).await,
        Err(failure) => Err(failure),
    };
    let loaded = loaded.and_then(|loaded| loaded.map_err(Failure::from));
    match loaded {
        Ok(()) => {
            let (memories, from, elapsed) =
                (pools.warmup.counts().total, pools.warmup.origin(), started.elapsed());
            tracing::info!(memories, from, took = ?elapsed, "the index is loaded");
        }
        Err(_) if draining.is_cancelled() => {}
        // The queue was full of earlier calls; the first of them that writes loads the index.
        Err(failure) if failure.code == Code::Busy => {
            tracing::info!("the writer's queue is full; the first queued write loads the index");
        }
        Err(failure) => {
            tracing::error!(%failure, "the index cannot be loaded; shutting down");
            service.record_damage(failure);
            draining.cancel();
        }
    }
}

/// Returns the store's thread pools once the index is loaded.
///
/// # Errors
/// As [`Service::pools`]; the reason why the index cannot be loaded.
pub async fn pools_with_index(service: &Service) -> Result<Arc<StorePools>, Failure> {
    let pools = service.pools().await?;
    if pools.warmup.progress().is_some() {
        pools.writer()?.run(Writer::load).await??;
    }
    Ok(pools)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::test_fixture::ServiceFixture;
    use serde_json::json;
    use std::pin::{Pin, pin};
    use std::task::Poll;

    /// Polls once; returns true if the future is not ready.
    async fn is_waiting(mut future: Pin<&mut impl Future>) -> bool {
        std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
    }

    async fn index_state(fixture: &ServiceFixture) -> (String, Vec<String>) {
        let status = fixture.service.status().await;
        (status.index.expect("the store is open").state, status.degraded)
    }

    #[tokio::test]
    async fn a_flush_waits_for_usage_that_another_flush_is_writing() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let fixture = ServiceFixture::cold(&folder);
        let kettle = json!({"content": "The kettle is on the stove", "type": "semantic"});
        let id =
            fixture.call("store_memory", kettle).await.expect("the memory is stored")["id"].clone();
        fixture.call("recall_memory", json!({"ids": [id]})).await.expect("the call is answered");
        let service = &fixture.service;
        let pools = service.pools().await.expect("the store is open");
        let (release, gate) = std::sync::mpsc::channel::<()>();
        let mut blocker =
            pin!(pools.writer().expect("the store is writable").run(move |_| gate.recv()));
        let (mut first, mut second) = (pin!(service.flush_usage()), pin!(service.flush_usage()));
        assert!(
            is_waiting(blocker.as_mut()).await && is_waiting(first.as_mut()).await,
            "the writer is blocked"
        );
        assert!(
            is_waiting(second.as_mut()).await,
            "the second flush waits, though the buffer is empty"
        );
        release.send(()).expect("the writer waits");
        blocker.await.expect("the job runs").expect("the job is released");
        second.await.expect("the usage is written");
        let inspected = fixture
            .call("memory_inspect", json!({"memory_id": id}))
            .await
            .expect("the call is answered");
        assert_eq!(inspected["memory"]["access_count"], 1);
        first.await.expect("the usage is written");
    }

    /// In this test only a call that waits for the index loads it, so the index is still loading after calls that do not wait.
    #[tokio::test]
    async fn readers_answer_without_the_index_and_a_store_waits_for_it() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let kettle = json!({"content": "The kettle is on the stove", "type": "semantic"});
        let first = ServiceFixture::cold(&folder);
        let id =
            first.call("store_memory", kettle.clone()).await.expect("the memory is stored")["id"]
                .clone();
        first.close();

        let cold = ServiceFixture::cold(&folder);
        for (name, arguments) in [
            ("memory_stats", json!({})),
            ("list", json!({})),
            ("recall_memory", json!({"ids": [id]})),
            ("memory_inspect", json!({"memory_id": id})),
            ("maintenance", json!({"action": "status"})),
        ] {
            let answer = cold.call(name, arguments).await.expect("the call is answered");
            assert!(answer.get("degraded").is_none(), "{name}: {answer}");
        }
        let query = json!({"query": "kettles"});
        let answer = cold.call("recall_memory", query.clone()).await.expect("the call is answered");
        assert_eq!(
            (&answer["degraded"], &answer["results"][0]["id"]),
            (&json!(["index"]), &id),
            "{answer}"
        );
        assert_eq!(index_state(&cold).await, ("loading".to_owned(), vec!["index".to_owned()]));
        let again = cold.call("store_memory", kettle).await.expect("the memory is stored");
        assert_eq!((&again["deduplicated"], &again["id"]), (&json!(true), &id), "{again}");
        assert_eq!(index_state(&cold).await, ("ready".to_owned(), Vec::new()));
        let answer = cold.call("recall_memory", query).await.expect("the call is answered");
        assert!(answer.get("degraded").is_none(), "{answer}");
        cold.close();
    }

    #[tokio::test]
    async fn calls_that_need_the_whole_index_wait_for_it() {
        for (name, arguments) in
            [("doctor", json!({})), ("eval", json!({})), ("maintenance", json!({"action": "plan"}))]
        {
            let folder = tempfile::tempdir().expect("a temporary folder is created");
            let cold = ServiceFixture::cold(&folder);
            cold.call(name, arguments).await.expect("the call is answered");
            assert_eq!(index_state(&cold).await.0, "ready", "{name}");
            cold.close();
        }
    }

    #[tokio::test]
    async fn a_daemon_that_shuts_down_does_not_wait_for_the_index() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let cold = ServiceFixture::cold(&folder);
        let draining = CancellationToken::new();
        draining.cancel();
        cold.service.pools().await.expect("the store is open").warmup.stop();
        run(Arc::clone(&cold.service), draining).await;
        assert!(index_state(&cold).await.0 == "loading" && cold.service.damage().is_none());
        cold.close();
    }
}
