//! While the index is being loaded: what does not wait for it, what does, and how it is told.
//!
//! The writer loads it before it does anything else, so whatever writes waits in its queue, and what needs the whole index waits for the
//! writer. Readers answer meanwhile. Not here: what a recall answers then, and how it is loaded (the engine).

use crate::service::{Pools, Service};
use loci_engine::{WarmupProgress, Writer};
use loci_proto::admin::IndexStatus;
use loci_proto::error::{Code, Failure};
use std::sync::Arc;
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// Has the index loaded. A store that cannot be read ends the daemon.
pub async fn load(service: Arc<Service>, draining: CancellationToken) {
    let Ok(pools) = service.pools().await else { return };
    let begun = Instant::now();
    let loaded =
        pools.writer.run(Writer::load).await.and_then(|loaded| loaded.map_err(Failure::from));
    match loaded {
        Ok(()) => {
            let (memories, from, took) =
                (pools.loading.counts().1, pools.loading.origin(), begun.elapsed());
            tracing::info!(memories, from, ?took, "the index is loaded");
        }
        Err(_) if draining.is_cancelled() => {}
        // The queue is full of calls that came before it: the first of them to write has it loaded.
        Err(failure) if failure.code == Code::Busy => {
            tracing::info!("the index is loaded by the first call that writes")
        }
        Err(failure) => {
            tracing::error!(%failure, "the index cannot be loaded");
            service.is_damaged(failure);
            draining.cancel();
        }
    }
}

impl Service {
    /// The store's threads, once the index stands: for what needs the whole of it.
    ///
    /// # Errors
    /// As [`Service::pools`]; why the index cannot be loaded.
    pub async fn warm_pools(&self) -> Result<Arc<Pools>, Failure> {
        let pools = self.pools().await?;
        if pools.loading.progress().is_some() {
            pools.writer.run(Writer::load).await??;
        }
        Ok(pools)
    }

    /// Writes down the accesses of answers that were given before, unless that had to wait for the index.
    ///
    /// # Errors
    /// `storage_failed`, `busy`.
    pub async fn flush_accesses_at_once(&self) -> Result<(), Failure> {
        match self.pools().await?.loading.progress() {
            Some(_) => Ok(()),
            None => self.flush_accesses().await,
        }
    }
}

/// How far it has come, for `loci ctl status`.
pub fn told(loading: &WarmupProgress) -> IndexStatus {
    let (read, of) = loading.counts();
    let state = if loading.progress().is_some() { "loading" } else { "ready" };
    IndexStatus { state: state.to_owned(), read, of, from: loading.origin().map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::effective::Settled;
    use crate::embedding::Embedder;
    use crate::embedding::auto_fetch::AutoFetch;
    use crate::handlers;
    use crate::handlers::Asked;
    use crate::interface::agents::session::Session;
    use crate::service::Store;
    use crate::service::pools::Pool;
    use loci_engine::model::time::Timestamp;
    use loci_engine::{Settings, open_cold};
    use loci_proto::hello;
    use loci_proto::paths::{Paths, Variables};
    use serde_json::{Value, json};
    use std::pin::{Pin, pin};
    use std::task::Poll;
    use tokio::sync::watch;

    /// A service over the store of a folder, without its index.
    struct Cold {
        service: Arc<Service>,
        session: Session,
        store: watch::Sender<Store>,
        writer: Vec<std::thread::JoinHandle<Writer>>,
    }

    impl Cold {
        fn over(folder: &tempfile::TempDir) -> Self {
            let writer =
                open_cold(&folder.path().join("memory.db"), Settings::for_model("m"), Timestamp(0))
                    .expect("opens");
            let (readers, _) = Pool::start("reader", vec![writer.reader().expect("opens")]);
            let (group_redirects, loading) = (writer.group_redirects(), writer.warmup());
            let (writer, threads) = Pool::start("writer", vec![writer]);
            let pools = Pools { writer, readers, group_redirects, loading, wants_check: false };
            let (store, opened) = watch::channel(Store::Open(Arc::new(pools)));
            let variables =
                Variables { home: Some(folder.path().to_path_buf()), ..Variables::default() };
            let settled =
                Settled::read(&Paths::resolve(&variables).expect("resolves")).expect("has no file");
            let service = Arc::new(Service::new(
                Embedder::with_hash_vectors(),
                AutoFetch::new(false),
                opened,
                settled,
                String::new(),
            ));
            let session = Session::new(
                hello::Session::default(),
                &"group".parse().expect("is a name"),
                Timestamp(0),
            );
            Self { service, session, store, writer: threads }
        }

        async fn call(&self, name: &str, arguments: Value) -> Value {
            let given = serde_json::from_value(arguments).expect("is an object");
            let asked = Asked { session: &self.session, name, given, key: None };
            handlers::call(&self.service, asked).await.expect("is answered")
        }

        async fn state(&self) -> (String, Vec<String>) {
            let status = self.service.status().await;
            (status.index.expect("is open").state, status.degraded)
        }

        fn end(self) {
            self.store.send_replace(Store::Opening);
            drop((self.service, self.store));
            self.writer
                .into_iter()
                .for_each(|thread| thread.join().expect("ends").close().expect("closes"));
        }
    }

    /// Lets something go on as far as it can; whether it is not done then.
    async fn is_waiting(mut future: Pin<&mut impl Future>) -> bool {
        std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test]
    async fn who_wants_accesses_written_waits_for_those_that_another_is_writing() {
        let folder = tempfile::tempdir().expect("a folder");
        let cold = Cold::over(&folder);
        let id = cold
            .call(
                "store_memory",
                json!({"content": "The kettle is on the stove", "type": "semantic"}),
            )
            .await["id"]
            .clone();
        cold.call("recall_memory", json!({"ids": [id]})).await;
        let pools = cold.service.pools().await.expect("is open");
        let (go, held) = std::sync::mpsc::channel::<()>();
        let mut busy = pin!(pools.writer.run(move |_| held.recv()));
        let (mut first, mut second) =
            (pin!(cold.service.flush_accesses()), pin!(cold.service.flush_accesses()));
        assert!(
            is_waiting(busy.as_mut()).await && is_waiting(first.as_mut()).await,
            "the writer is busy"
        );
        assert!(
            is_waiting(second.as_mut()).await,
            "nothing is left to be taken, and nothing is written yet"
        );
        go.send(()).expect("is waited for");
        busy.await.expect("is done").expect("was told to go on");
        second.await.expect("is written");
        assert_eq!(
            cold.call("memory_inspect", json!({"memory_id": id})).await["memory"]["access_count"],
            1
        );
        first.await.expect("is written");
    }

    /// Nothing here loads the index but what waits for it: an answer that waited would come from the whole index.
    #[tokio::test]
    async fn readers_answer_without_the_index_and_a_store_waits_for_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let kettle = json!({"content": "The kettle is on the stove", "type": "semantic"});
        let first = Cold::over(&folder);
        let id = first.call("store_memory", kettle.clone()).await["id"].clone();
        first.end();

        let cold = Cold::over(&folder);
        for (name, arguments) in [
            ("memory_stats", json!({})),
            ("list", json!({})),
            ("recall_memory", json!({"ids": [id]})),
            ("memory_inspect", json!({"memory_id": id})),
            ("maintenance", json!({"action": "status"})),
        ] {
            let answer = cold.call(name, arguments).await;
            assert!(answer.get("degraded").is_none(), "{name}: {answer}");
        }
        let answer = cold.call("recall_memory", json!({"query": "kettles"})).await;
        assert_eq!(
            (&answer["degraded"], &answer["results"][0]["id"]),
            (&json!(["index"]), &id),
            "{answer}"
        );
        assert_eq!(cold.state().await, ("loading".to_owned(), vec!["index".to_owned()]));
        let again = cold.call("store_memory", kettle).await;
        assert_eq!((&again["deduplicated"], &again["id"]), (&json!(true), &id), "{again}");
        assert_eq!(cold.state().await, ("ready".to_owned(), Vec::new()));
        assert!(
            cold.call("recall_memory", json!({"query": "kettles"})).await.get("degraded").is_none()
        );
        cold.end();
    }

    #[tokio::test]
    async fn what_needs_the_whole_index_waits_for_it() {
        for (name, arguments) in
            [("doctor", json!({})), ("eval", json!({})), ("maintenance", json!({"action": "plan"}))]
        {
            let folder = tempfile::tempdir().expect("a folder");
            let cold = Cold::over(&folder);
            cold.call(name, arguments).await;
            assert_eq!(cold.state().await.0, "ready", "{name}");
            cold.end();
        }
    }

    #[tokio::test]
    async fn a_daemon_that_ends_does_not_wait_for_the_index() {
        let folder = tempfile::tempdir().expect("a folder");
        let cold = Cold::over(&folder);
        let draining = CancellationToken::new();
        draining.cancel();
        cold.service.pools().await.expect("is open").loading.stop();
        load(Arc::clone(&cold.service), draining).await;
        assert!(cold.state().await.0 == "loading" && cold.service.damage().is_none());
        cold.end();
    }
}
