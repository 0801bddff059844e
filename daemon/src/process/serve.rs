//! From start to end: lock, sockets, store, model, and the good order in which they stop.

use crate::config::effective::Settled;
use crate::config::options;
use crate::config::options::Options;
use crate::embedding::Embedder;
use crate::embedding::auto_fetch::AutoFetch;
use crate::interface::agents::listen::Host;
use crate::process::sockets;
use crate::process::sockets::Sockets;
use crate::process::startup;
use crate::process::startup::{End, Lock};
use crate::process::{activation, telemetry};
use crate::service::housekeeping;
use crate::service::index_warmup;
use crate::service::pools::Pool;
use crate::service::{Pools, Service, Store};
use loci_engine::error::Error;
use loci_engine::{Reader, Settings, Writer, open_cold};
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::paths;
use loci_proto::paths::Paths;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Threads that answer recalls; the machine's cores are shared with the model.
const READERS: usize = 2;
/// A store of this many memories is loaded before it is served: some 50 ms.
const LOADED_AT_ONCE: usize = 5_000;
/// How long sessions may take to end what they have in flight.
const DRAIN: Duration = Duration::from_secs(3);

/// The threads of the store, to be waited for at the end.
struct Threads {
    writer: Vec<JoinHandle<Writer>>,
    readers: Vec<JoinHandle<Reader>>,
}

/// Serves until stopped.
///
/// # Errors
/// The exit code and the reason when the daemon cannot start, or when the store failed.
pub fn run(options: &Options, paths: &Paths) -> Result<(), End> {
    startup::go_private();
    activation::named(options.socket.as_deref(), &paths.socket)
        .map_err(|f| End::new(Exit::Config, f))?;
    let inherited = activation::inherited(&paths.socket).map_err(|f| End::new(Exit::Config, f))?;
    let settled = Settled::read(paths).map_err(|f| End::new(Exit::Config, f))?;
    telemetry::start(
        &options::log_level(&settled.config()).map_err(|f| End::new(Exit::Config, f))?,
    );
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| {
        End::new(Exit::Storage, Failure::new(Code::Internal, format!("no runtime: {e}")))
    })?;
    let end = runtime.block_on(serve(options, paths, settled, inherited));
    runtime.shutdown_timeout(Duration::from_millis(200));
    end
}

async fn serve(
    options: &Options,
    paths: &Paths,
    settled: Settled,
    inherited: Option<UnixListener>,
) -> Result<(), End> {
    let config = settled.config();
    let of_config = |f| End::new(Exit::Config, f);
    let of_storage = |f| End::new(Exit::Storage, f);
    let db = options::database(paths, &config).map_err(of_config)?;
    let default_group = config.default_group().map_err(of_config)?;
    let model = options::model_config(paths, &config).map_err(of_config)?;
    startup::folders(paths, &db).map_err(of_storage)?;
    let _locks = locks(paths, &db).await?;
    let bound = sockets::bind(paths, inherited).await?;

    let embedder = Embedder::start(model);
    let auto_fetch = AutoFetch::new(config.embedding.download);
    let (store, opened) = watch::channel(Store::Opening);
    let schedule = config.schedule();
    let service = Arc::new(
        Service::new(embedder.clone(), auto_fetch, opened, settled, db.display().to_string())
            .at(paths),
    );
    service.runs.set_schedule(schedule);
    let draining = CancellationToken::new();
    let opening = tokio::task::spawn_blocking({
        let (db, settings, service) = (db.clone(), config.settings(), Arc::clone(&service));
        move || open_store(&db, settings, &service)
    });
    let tasks = TaskTracker::new();
    let host = Host {
        service: Arc::clone(&service),
        default_group,
        boot: uuid::Uuid::now_v7().simple().to_string().into(),
        draining: draining.clone(),
        tasks: tasks.clone(),
        open: Arc::new(Semaphore::new(startup::connections())),
        places: Arc::new(Semaphore::new(startup::places())),
        patience: options.patience(),
    };
    let mut sockets = Sockets::serve(bound, paths, host);
    tracing::info!(pid = std::process::id(), version = loci_proto::VERSION, "serving");

    let (threads, end) = settle(opening, &store).await;
    let load = tokio::spawn(index_warmup::load(Arc::clone(&service), draining.clone()));
    let upkeep = tokio::spawn(housekeeping::run(
        Arc::clone(&service),
        options.idle_limit(),
        draining.clone(),
    ));
    let reloads = tokio::spawn(reload_when_told(Arc::clone(&service)));
    if end.is_ok() {
        activation::ready();
        tokio::select! {
            () = until_stopped(&draining) => {}
            () = sockets.watch() => {}
            () = activation::stay_alive() => {}
        }
    }
    reloads.abort();
    tracing::info!("draining");
    activation::stopping();
    sockets.remove();
    draining.cancel();
    if let Store::Open(pools) = &*store.borrow() {
        pools.loading.stop();
    }
    tasks.close();
    let _ = tokio::time::timeout(DRAIN, tasks.wait()).await;
    let _ = tokio::time::timeout(DRAIN, upkeep).await;
    let _ = tokio::time::timeout(DRAIN, load).await;
    let _ = tokio::time::timeout(Duration::from_millis(500), sockets.served()).await;
    embedder.stop();
    let end = service.damage().map_or(end, |failure| Err(End::new(Exit::Storage, failure)));
    drop(service);
    // The last holder of the pools: its end lets the threads go, and the writer close the database.
    store.send_replace(Store::Opening);
    drop(store);
    close(threads).await;
    embedder.join();
    end
}

/// One lock for the sockets, one for the database: two folders of sockets may lead to one database.
async fn locks(paths: &Paths, db: &Path) -> Result<(Lock, Lock), End> {
    let sockets = startup::lock(&paths.lock).await?;
    let database = startup::lock(&startup::database_lock(&paths::canonical(db))).await?;
    Ok((sockets, database))
}

fn open_store(db: &Path, settings: Settings, service: &Service) -> Result<(Pools, Threads), Error> {
    let mut writer = open_cold(db, settings, service.now())?;
    if writer.warmup().counts().1 <= LOADED_AT_ONCE {
        writer.load()?;
    }
    service.clock.has_seen(writer.last_seen()?, writer.suspected()?);
    let (wants_check, group_redirects, loading) =
        (writer.wants_check(), writer.group_redirects(), writer.warmup());
    let readers = (0..READERS).map(|_| writer.reader()).collect::<Result<Vec<_>, _>>()?;
    let (writer, writer_threads) = Pool::start("writer", vec![writer]);
    let (readers, reader_threads) = Pool::start("reader", readers);
    Ok((
        Pools { writer, readers, group_redirects, loading, wants_check },
        Threads { writer: writer_threads, readers: reader_threads },
    ))
}

/// Waits for the store and tells everybody how it is.
async fn settle(
    opening: tokio::task::JoinHandle<Result<(Pools, Threads), Error>>,
    store: &watch::Sender<Store>,
) -> (Option<Threads>, Result<(), End>) {
    let opened = opening.await.unwrap_or_else(|e| {
        Err(Failure::new(Code::Internal, format!("opening the store failed: {e}")).into())
    });
    match opened {
        Ok((pools, threads)) => {
            store.send_replace(Store::Open(Arc::new(pools)));
            (Some(threads), Ok(()))
        }
        Err(error) => {
            let exit = if matches!(error, Error::NewerDatabase { .. } | Error::NotOurs { .. }) {
                Exit::Config
            } else {
                Exit::Storage
            };
            let failure = Failure::from(error);
            tracing::error!(%failure, "the store cannot be opened");
            store.send_replace(Store::Failed(failure.clone()));
            (None, Err(End::new(exit, failure)))
        }
    }
}

async fn until_stopped(draining: &CancellationToken) {
    let (term, int) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    let (Ok(mut term), Ok(mut int)) = (term, int) else { return draining.cancelled().await };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
        () = draining.cancelled() => {}
    }
}

/// Reads the configuration again at each SIGHUP. SIGUSR1, which would end the process, means nothing.
async fn reload_when_told(service: Arc<Service>) {
    let (Ok(mut hangup), Ok(mut user)) =
        (signal(SignalKind::hangup()), signal(SignalKind::user_defined1()))
    else {
        return;
    };
    loop {
        tokio::select! {
            _ = user.recv() => continue,
            _ = hangup.recv() => {}
        }
        match service.reload().await {
            Ok(reply) => {
                tracing::info!(changed = reply.changed.len(), "the configuration was read again")
            }
            Err(failure) => {
                tracing::error!(%failure, "the configuration was read again and is not used")
            }
        }
    }
}

async fn close(threads: Option<Threads>) {
    let Some(threads) = threads else { return };
    let closed = tokio::task::spawn_blocking(move || {
        threads.readers.into_iter().for_each(|thread| drop(thread.join()));
        for writer in threads.writer.into_iter().filter_map(|thread| thread.join().ok()) {
            if let Err(error) = writer.close() {
                tracing::error!(%error, "the store was not closed in good order; nothing is lost");
            }
        }
    });
    if tokio::time::timeout(Duration::from_secs(5), closed).await.is_err() {
        tracing::error!(
            "the store's threads did not end in time; nothing that was answered is lost"
        );
    }
}
