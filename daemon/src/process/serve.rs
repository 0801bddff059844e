//! Runs the daemon: starts the locks, sockets, store and model in order, serves, and stops them in order.

use crate::config::effective::EffectiveConfig;
use crate::config::key_file;
use crate::config::options;
use crate::config::options::Options;
use crate::embedding::ModelSource;
use crate::embedding::auto_fetch::AutoFetch;
use crate::interface::agents::listen::ListenerContext;
use crate::interface::http::opening;
use crate::interface::http::tokens::Tokens;
use crate::process::sockets;
use crate::process::sockets::Sockets;
use crate::process::startup;
use crate::process::startup::{Lock, StartupError};
use crate::process::store_opening;
use crate::process::store_opening::{Opening, close_store};
use crate::process::{activation, telemetry};
use crate::reranking::Reranker;
use crate::service::Service;
use crate::service::housekeeping;
use crate::service::index_warmup;
use crate::service::models::Models;
use crate::service::store_state::StoreState;
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::paths;
use loci_proto::paths::Paths;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Maximum time for sessions to finish their calls in flight.
const DRAIN_DEADLINE: Duration = Duration::from_secs(3);

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
    keep_signals_from_ending_the_process();
    let config = effective.config();
    let config_error = |failure| StartupError::new(Exit::Config, failure);
    let db = options::database(paths, &config).map_err(config_error)?;
    let default_group = config.default_group().map_err(config_error)?;
    let source = options::model_source(paths, &config).map_err(config_error)?;
    startup::prepare_folders(paths, &db).map_err(|f| StartupError::new(Exit::Storage, f))?;
    let _locks = take_locks_and_keys(paths, &db).await?;
    let bound = sockets::bind(paths, inherited).await?;

    let (models, reranker) = start_models(&effective, source).map_err(config_error)?;
    let auto_fetch = AutoFetch::new(config.embedding.download);
    let (store, opened) = watch::channel(StoreState::Opening);
    let store = Arc::new(store);
    let service = Service::new(models, auto_fetch, opened, effective, db.clone());
    let service = Arc::new(service.with_reranker(reranker));
    service.scheduler.set_schedule(config.schedule());
    service.backups.set_interval(options.backup_interval());
    let draining = CancellationToken::new();
    let opening = Arc::new(Opening {
        db,
        settings: config.settings_at(paths),
        service: Arc::clone(&service),
        store: Arc::clone(&store),
    });
    let opened = opening.start();
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
        tokens: Arc::new(Tokens::in_folder(&paths.home)),
    };
    let http = opening::open_configured(&context).await;
    // Before the first call is taken: a signal that ends the process leaves it without an answer.
    let stop = StopSignals::receive();
    let sockets = Sockets::serve(bound, paths, context);
    tracing::info!(pid = std::process::id(), version = loci_proto::VERSION, "serving");

    let (threads, opened) = store_opening::finish(opened).await;
    let reopening = tokio::spawn(opening.reopen(threads, draining.clone()));
    let background = Background::spawn(&service, options.idle_limit(), &draining);
    let sockets = serve_until_stopped(sockets, opened.is_ok().then_some(stop), &draining).await;
    background.reload.abort();
    tracing::info!("draining");
    service.backups.stop();
    activation::notify_stopping();
    sockets.remove();
    drop(http);
    draining.cancel();
    if let StoreState::Open(pools) = &*store.borrow() {
        pools.warmup.stop();
    }
    tasks.close();
    let _ = tokio::time::timeout(DRAIN_DEADLINE, tasks.wait()).await;
    // Before background work is awaited, which may itself wait for a model.
    service.stop_models();
    background.join().await;
    let _ = tokio::time::timeout(Duration::from_millis(500), sockets.finish_admin()).await;
    let outcome = service.damage().map_or(opened, |f| Err(StartupError::new(Exit::Storage, f)));
    let threads = reopening.await.unwrap_or_default();
    // Drops the last reference to the pools, so that their threads end.
    store.send_replace(StoreState::Opening);
    drop(store);
    close_store(threads, &service).await;
    service.join_models();
    drop(service);
    outcome
}

/// Starts the configured model, and the cross-encoder if there is one.
fn start_models(
    effective: &EffectiveConfig,
    source: ModelSource,
) -> Result<(Models, Option<Reranker>), Failure> {
    let (config, runtime) = (effective.config(), source.pinned().clone());
    let start = |cross_encoder| Reranker::start(cross_encoder, runtime);
    let reranker = config.retrieval.cross_encoder()?.map(start).transpose().map_err(|e| {
        Failure::new(Code::Internal, format!("the thread of the cross-encoder cannot start: {e}"))
    })?;
    Ok((Models::start(source.with_policy(effective.current_policy())), reranker))
}

/// Serves until a signal arrives, `loci ctl stop` is called, or another process listens at the agents' socket; returns at once without
/// the signals, because the store failed.
async fn serve_until_stopped(
    mut sockets: Sockets,
    stop: Option<StopSignals>,
    draining: &CancellationToken,
) -> Sockets {
    if let Some(stop) = stop {
        activation::notify_ready();
        tokio::select! {
            () = stop.wait(draining) => {}
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

/// Takes one lock for the sockets and one for the database, because two socket folders may belong to one database. Then reads the keys of
/// the store, which only a holder of the locks changes.
async fn take_locks_and_keys(paths: &Paths, db: &Path) -> Result<[Lock; 2], StartupError> {
    let sockets = startup::lock(&paths.lock).await?;
    let database = startup::lock(&startup::database_lock(&paths::canonical(db))).await?;
    key_file::load(paths).map_err(|failure| StartupError::new(Exit::Config, failure))?;
    Ok([sockets, database])
}

/// SIGTERM and SIGINT, received from the creation on; without them if the system refuses the handlers.
struct StopSignals(Option<(Signal, Signal)>);

impl StopSignals {
    fn receive() -> Self {
        let (term, int) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
        Self(term.ok().zip(int.ok()))
    }

    async fn wait(self, draining: &CancellationToken) {
        let Some((mut term, mut int)) = self.0 else { return draining.cancelled().await };
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
            () = draining.cancelled() => {}
        }
    }
}

/// Handles SIGHUP and SIGUSR1 from now on, whose default is to end the process. Until it serves, they have no effect.
fn keep_signals_from_ending_the_process() {
    // The handlers stay when the streams are dropped. A failure leaves the default, as before.
    let _ = (signal(SignalKind::hangup()), signal(SignalKind::user_defined1()));
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
