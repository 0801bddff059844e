//! A [`Service`] over a database in a temporary folder, with the vectors of a fake encoder, for the tests of this crate.

use crate::config::effective::EffectiveConfig;
use crate::embedding::auto_fetch::AutoFetch;
use crate::embedding::{Embedder, MODEL_ID, ModelConfig};
use crate::handlers;
use crate::interface::agents::session::{Session, SessionKind};
use crate::service::models::Models;
use crate::service::pools::Pool;
use crate::service::store_state::{StorePools, StoreState, StoreViews};
use crate::service::{Caller, Service};
use loci_engine::model::time::Timestamp;
use loci_engine::{Settings, Writer, open_cold};
use loci_proto::error::Failure;
use loci_proto::hello;
use loci_proto::paths::{Paths, Variables};
use loci_proto::requests::Request;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use tokio::sync::watch;

/// A service and one session of it.
pub(crate) struct ServiceFixture {
    pub(crate) service: Arc<Service>,
    pub(crate) session: Session,
    store: watch::Sender<StoreState>,
    writer: Vec<JoinHandle<Writer>>,
}

impl ServiceFixture {
    /// Opens the database of a folder without loading its index.
    pub(crate) fn cold(folder: &tempfile::TempDir) -> Self {
        let path = folder.path().join("memory.db");
        let writer =
            open_cold(&path, Settings::for_model(MODEL_ID), Timestamp(0)).expect("the store opens");
        Self::new(writer, folder, Embedder::with_hash_vectors())
    }

    /// Opens the database of a folder and loads its index.
    pub(crate) fn warm(folder: &tempfile::TempDir, embedder: Embedder) -> Self {
        let path = folder.path().join("memory.db");
        let writer = loci_engine::open(&path, Settings::for_model(MODEL_ID), Timestamp(0))
            .expect("the store opens");
        Self::new(writer, folder, embedder)
    }

    fn new(writer: Writer, folder: &tempfile::TempDir, embedder: Embedder) -> Self {
        let (readers, _) = Pool::start("reader", vec![writer.reader().expect("a reader opens")]);
        let views = StoreViews {
            group_redirects: writer.group_redirects(),
            isolated: writer.isolated_groups(),
            switches: writer.switches(),
            sets: writer.active_sets(),
            warmup: writer.warmup(),
        };
        let damaged_rows = writer.damaged_rows();
        let (writer, writer_threads) = Pool::start("writer", vec![writer]);
        let pools =
            StorePools::new(Ok(writer), readers, views, false).with_damaged_rows(damaged_rows);
        let (store, opened) = watch::channel(StoreState::Open(Arc::new(pools)));
        let variables =
            Variables { home: Some(folder.path().to_path_buf()), ..Variables::default() };
        let config =
            EffectiveConfig::read(&Paths::resolve(&variables).expect("the paths are resolved"))
                .expect("the defaults are valid");
        let source = ModelConfig { models: PathBuf::new(), ort_lib: None };
        let models = Models::with_embedder(embedder, source.into());
        let service = Service::new(models, AutoFetch::new(false), opened, config, PathBuf::new());
        let session = Session::new(
            hello::Session::default(),
            SessionKind::Agent,
            &"group".parse().expect("the name is valid"),
            Timestamp(0),
        );
        Self { service: Arc::new(service), session, store, writer: writer_threads }
    }

    /// Makes the calls those of a person.
    pub(crate) fn by_person(self) -> Self {
        let hello = hello::Session { speaker: hello::Speaker::Person, ..self.session.hello };
        let group = "group".parse().expect("the name is valid");
        let session = Session::new(hello, SessionKind::CommandLine, &group, Timestamp(0));
        Self { session, ..self }
    }

    /// Calls a verb by its name.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> Result<Value, Failure> {
        let arguments = serde_json::from_value(arguments).expect("the arguments are an object");
        let request = Request::parse(name, arguments)?;
        let caller = Caller { session: &self.session, key: None };
        handlers::handle(&self.service, caller, request).await
    }

    /// Drops the service and closes the database.
    pub(crate) fn close(self) {
        self.store.send_replace(StoreState::Opening);
        drop((self.service, self.store));
        self.writer.into_iter().for_each(|thread| {
            thread
                .join()
                .expect("the writer's thread ends")
                .close()
                .expect("the database is closed");
        });
    }
}
