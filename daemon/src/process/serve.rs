//! Runs the daemon: starts the locks, sockets, store and model in order, serves, and stops them in order.

use crate::config::effective::EffectiveConfig;
use crate::config::options;
use crate::config::options::Options;
use crate::embedding::Embedder;
use crate::embedding::auto_fetch::AutoFetch;
use crate::interface::agents::listen::ListenerContext;
use crate::process::sockets;
use crate::process::sockets::Sockets;
use crate::process::startup;
use crate::process::startup::{Lock, StartupError};
use crate::process::{activation, telemetry};
use crate::service::Service;
use crate::service::housekeeping;
use crate::service::index_warmup;
use crate::service::pools::Pool;
use crate::service::store_state::{StorePools, StoreState};
use loci_engine::error::Error;
use loci_engine::model::time::ClockReading;
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

/// Reader threads; they share the cores with the model.
const READERS: usize = 2;
/// The index of a store of at most this many memories is loaded before the store serves calls, in about 50 ms.
const LOAD_BEFORE_SERVING: usize = 5_000;
/// Maximum time for sessions to finish their calls in flight.
const DRAIN_DEADLINE: Duration = Duration::from_secs(3);

/// The threads of the store, joined at shutdown.
struct Threads {
    writer: Vec<JoinHandle<Writer>>,
    readers: Vec<JoinHandle<Reader>>,
}

/// Serves until stopped.
///
/// # Errors
/// The exit code and the reason if the daemon cannot start, or if the store failed.
pub fn run(options: &Options, paths: &Paths) -> Result<(), StartupError> {
    let config_error = |failure| StartupError::new(Exit::Config, failure);
    startup::make_private();
    activation::check_socket_option(options.socket.as_deref(), &paths.socket)
        .map_err(config_error)?;
    let inherited = activation::take_inherited_socket(&paths.socket).map_err(config_error)?;
    let config = EffectiveConfig::read(paths).map_err(config_error)?;
    telemetry::start(&options::log_level(&config.config()).map_err(config_error)?);
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(|e| {
        StartupError::new(
            Exit::Storage,
            Failure::new(Code::Internal, format!("the async runtime cannot start: {e}")),
        )
    })?;
    let outcome = runtime.block_on(serve(options, paths, config, inherited));
    runtime.shutdown_timeout(Duration::from_millis(200));
    outcome
}

async fn serve(
    options: &Options,
    paths: &Paths,
    effective: EffectiveConfig,
    inherited: Option<UnixListener>,
) -> Result<(), StartupError> {
    let config = effective.config();
    let config_error = |failure| StartupError::new(Exit::Config, failure);
    let db = options::database(paths, &config).map_err(config_error)?;
    let default_group = config.default_group().map_err(config_error)?;
    let model = options::model_config(paths, &config).map_err(config_error)?;
    startup::prepare_folders(paths, &db).map_err(|f| StartupError::new(Exit::Storage, f))?;
    let _locks = take_locks(paths, &db).await?;
    let bound = sockets::bind(paths, inherited).await?;

    let embedder = Embedder::start(model);
    let auto_fetch = AutoFetch::new(config.embedding.download);
    let (store, opened) = watch::channel(StoreState::Opening);
    let service =
        Arc::new(Service::new(embedder.clone(), auto_fetch, opened, effective, db.clone()));
    service.scheduler.set_schedule(config.schedule());
    let draining = CancellationToken::new();
    let opening = tokio::task::spawn_blocking({
        let (settings, service) = (config.settings(), Arc::clone(&service));
        move || open_store(&db, settings, &service)
    });
    let tasks = TaskTracker::new();
    let context = ListenerContext {
        service: Arc::clone(&service),
        default_group,
        boot_id: uuid::Uuid::now_v7().simple().to_string().into(),
        draining: draining.clone(),
        tasks: tasks.clone(),
        connection_permits: Arc::new(Semaphore::new(startup::max_connections())),
        session_permits: Arc::new(Semaphore::new(startup::max_sessions())),
        peer_timeout: options.peer_timeout(),
    };
    let sockets = Sockets::serve(bound, paths, context);
    tracing::info!(pid = std::process::id(), version = loci_proto::VERSION, "serving");

    let (threads, opened) = publish_store(opening, &store).await;
    let is_open = opened.is_ok();
    let background = Background::spawn(&service, options.idle_limit(), &draining);
    let sockets = serve_until_stopped(sockets, is_open, &draining).await;
    background.reload.abort();
    tracing::info!("draining");
    activation::notify_stopping();
    sockets.remove();
    draining.cancel();
    if let StoreState::Open(pools) = &*store.borrow() {
        pools.warmup.stop();
    }
    tasks.close();
    let _ = tokio::time::timeout(DRAIN_DEADLINE, tasks.wait()).await;
    background.join().await;
    let _ = tokio::time::timeout(Duration::from_millis(500), sockets.finish_admin()).await;
    embedder.stop();
    let outcome = service.damage().map_or(opened, |f| Err(StartupError::new(Exit::Storage, f)));
    let closed_at = service.clock.read();
    drop(service);
    // Drops the last reference to the pools, so that their threads end.
    store.send_replace(StoreState::Opening);
    drop(store);
    close_store(threads, closed_at).await;
    embedder.join();
    outcome
}

/// Serves until a signal arrives, `loci ctl stop` is called, or another process listens at the agents' socket; returns at once if the store
/// failed.
async fn serve_until_stopped(
    mut sockets: Sockets,
    is_open: bool,
    draining: &CancellationToken,
) -> Sockets {
    if is_open {
        activation::notify_ready();
        tokio::select! {
            () = wait_for_stop(draining) => {}
            () = sockets.watch() => {}
            () = activation::send_watchdog() => {}
        }
    }
    sockets
}

type Task = tokio::task::JoinHandle<()>;

/// The background tasks of the daemon.
struct Background {
    load: Task,
    housekeeping: Task,
    reload: Task,
}

impl Background {
    fn spawn(
        service: &Arc<Service>,
        idle_limit: Option<Duration>,
        draining: &CancellationToken,
    ) -> Self {
        let load = tokio::spawn(index_warmup::run(Arc::clone(service), draining.clone()));
        let housekeeping = housekeeping::run(Arc::clone(service), idle_limit, draining.clone());
        let reload = tokio::spawn(reload_on_signal(Arc::clone(service)));
        Self { load, housekeeping: tokio::spawn(housekeeping), reload }
    }

    /// Waits for the tasks that end when the daemon drains.
    async fn join(self) {
        let _ = tokio::time::timeout(DRAIN_DEADLINE, self.housekeeping).await;
        let _ = tokio::time::timeout(DRAIN_DEADLINE, self.load).await;
    }
}

/// Takes one lock for the sockets and one for the database, because two socket folders may belong to one database.
async fn take_locks(paths: &Paths, db: &Path) -> Result<[Lock; 2], StartupError> {
    let sockets = startup::lock(&paths.lock).await?;
    let database = startup::lock(&startup::database_lock(&paths::canonical(db))).await?;
    Ok([sockets, database])
}

fn open_store(
    db: &Path,
    settings: Settings,
    service: &Service,
) -> Result<(StorePools, Threads), Error> {
    let mut writer = open_cold(db, settings, service.now())?;
    if writer.warmup().counts().total <= LOAD_BEFORE_SERVING {
        writer.load()?;
    }
    for finding in writer.findings() {
        tracing::warn!(%finding, "the files of the store are not as they were left");
    }
    service.clock.initialise(writer.last_seen()?, writer.suspected()?);
    let findings = writer.findings().to_vec();
    let (needs_check, group_redirects, warmup) =
        (writer.wants_check(), writer.group_redirects(), writer.warmup());
    let readers = (0..READERS).map(|_| writer.reader()).collect::<Result<Vec<_>, _>>()?;
    let (writer, writer_threads) = Pool::start("writer", vec![writer]);
    let (readers, reader_threads) = Pool::start("reader", readers);
    Ok((
        StorePools { writer, readers, group_redirects, warmup, needs_check, findings },
        Threads { writer: writer_threads, readers: reader_threads },
    ))
}

/// Waits until the store is open or has failed, and publishes its state.
async fn publish_store(
    opening: tokio::task::JoinHandle<Result<(StorePools, Threads), Error>>,
    store: &watch::Sender<StoreState>,
) -> (Option<Threads>, Result<(), StartupError>) {
    let opened = opening.await.unwrap_or_else(|e| {
        Err(Failure::new(Code::Internal, format!("opening the store failed: {e}")).into())
    });
    match opened {
        Ok((pools, threads)) => {
            store.send_replace(StoreState::Open(Arc::new(pools)));
            (Some(threads), Ok(()))
        }
        Err(error) => {
            let exit = match error {
                Error::NewerDatabase { .. } | Error::NotOurs { .. } => Exit::Config,
                Error::InUse { .. } => Exit::AlreadyRunning,
                _ => Exit::Storage,
            };
            let failure = Failure::from(error);
            tracing::error!(%failure, "the store cannot be opened");
            store.send_replace(StoreState::Failed(failure.clone()));
            (None, Err(StartupError::new(exit, failure)))
        }
    }
}

async fn wait_for_stop(draining: &CancellationToken) {
    let (term, int) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    let (Ok(mut term), Ok(mut int)) = (term, int) else { return draining.cancelled().await };
    tokio::select! {
        _ = term.recv() => {}
        _ = int.recv() => {}
        () = draining.cancelled() => {}
    }
}

/// Reloads the configuration at each SIGHUP. Ignores SIGUSR1, which would otherwise end the process.
async fn reload_on_signal(service: Arc<Service>) {
    let (Ok(mut hangup), Ok(mut user1)) =
        (signal(SignalKind::hangup()), signal(SignalKind::user_defined1()))
    else {
        return;
    };
    loop {
        tokio::select! {
            _ = user1.recv() => continue,
            _ = hangup.recv() => {}
        }
        match service.reload().await {
            Ok(reply) => {
                tracing::info!(changed = reply.changed.len(), "configuration reloaded");
            }
            Err(failure) => {
                tracing::error!(%failure, "configuration not reloaded: the file is faulty");
            }
        }
    }
}

/// Waits until the threads of the store have ended, records the time, and closes the database.
async fn close_store(threads: Option<Threads>, now: ClockReading) {
    let Some(threads) = threads else { return };
    let closed = tokio::task::spawn_blocking(move || {
        threads.readers.into_iter().for_each(|thread| drop(thread.join()));
        for writer in threads.writer.into_iter().filter_map(|thread| thread.join().ok()) {
            let recorded = writer.record_time(now);
            if let Err(error) = writer.close().and(recorded) {
                tracing::error!(%error, "the store was not closed cleanly; nothing is lost");
            }
        }
    });
    if tokio::time::timeout(Duration::from_secs(5), closed).await.is_err() {
        tracing::error!(
            "the store's threads did not end within 5 s; nothing that was acknowledged is lost"
        );
    }
}
