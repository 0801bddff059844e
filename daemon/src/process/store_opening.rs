//! Opens the store of the daemon: for writing, with the reserve on a full disk, or read-only until its disk can be written.
//!
//! Not here: serving (`serve`), what opening does in the database (the engine).

use crate::process::startup::StartupError;
use crate::service::Service;
use crate::service::disk;
use crate::service::pools::Pool;
use crate::service::store_state::{StorePools, StoreState, StoreViews, read_only_failure};
use loci_engine::backups::manifest::{self, Backup};
use loci_engine::backups::prepare::Target;
use loci_engine::backups::recover::{self, WithoutBackup};
use loci_engine::error::Error;
use loci_engine::{ReadOnlyStore, Reader, Settings, Writer, open_cold, open_read_only};
use loci_project::{AllowedFiles, Answer, AskingFile, Environment};
use loci_proto::error::{Code, Exit, Failure, StorageFault};
use loci_proto::paths;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Reader threads; they share the cores with the model.
const READERS: usize = 2;
/// The index of a store of at most this many memories is loaded before the store serves calls, in about 50 ms.
const LOAD_BEFORE_SERVING: usize = 5_000;
/// Interval at which the daemon tries whether the disk of a read-only store can be written again.
const RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// The threads of the store, joined at shutdown.
pub struct Threads {
    writer: Vec<JoinHandle<Writer>>,
    readers: Vec<JoinHandle<Reader>>,
}

/// What is needed to open the store, as often as necessary.
pub struct Opening {
    /// The database.
    pub db: PathBuf,
    /// The settings of the engine.
    pub settings: Settings,
    /// The service that gets the store.
    pub service: Arc<Service>,
    /// Where the state of the store is published.
    pub store: Arc<watch::Sender<StoreState>>,
}

/// An opening in progress.
type Task = tokio::task::JoinHandle<Result<Threads, StartupError>>;

/// Waits until the store is open or has failed.
pub async fn finish(opening: Task) -> (Option<Threads>, Result<(), StartupError>) {
    match opening.await {
        Ok(Ok(threads)) => (Some(threads), Ok(())),
        Ok(Err(error)) => (None, Err(error)),
        Err(panic) => {
            let message = format!("opening the store failed: {panic}");
            let failure = Failure::new(Code::Internal, message);
            (None, Err(StartupError::new(Exit::Storage, failure)))
        }
    }
}

/// Allows the project files that named their projects before a person had to allow that, and say nothing else that loosens.
fn allow_known_names(home: &Path, known: &[(PathBuf, String)]) {
    let named = |(root, part): &(PathBuf, String)| {
        let mut environment = Environment::at(root.clone());
        (environment.loci_group, environment.project_dir) = (None, None);
        let found = loci_project::find(&environment);
        let asks = found.asks.filter(|asks| !asks.shares && !asks.serves)?;
        let is_own = |file: &AskingFile| file.path.parent() == Some(root);
        (asks.name?.as_str() == part).then(|| found.asking.into_iter().find(is_own))?
    };
    let files: Vec<AskingFile> = known.iter().filter_map(named).collect();
    if files.is_empty() {
        return;
    }
    if let Err(error) = AllowedFiles::add(home, Answer::Allowed, &files) {
        tracing::warn!(%error, "the names in .loci.toml files were not taken over; loci groups allow allows each");
    }
}

impl Opening {
    /// Starts to open the store; see [`finish`].
    #[must_use]
    pub fn start(self: &Arc<Self>) -> Task {
        let opening = Arc::clone(self);
        tokio::spawn(async move { opening.open().await })
    }

    /// Opens the store and publishes its state.
    ///
    /// # Errors
    /// The exit code and the reason if it can be opened neither for writing nor for reading.
    pub async fn open(self: &Arc<Self>) -> Result<Threads, StartupError> {
        let opening = Arc::clone(self);
        let opened = tokio::task::spawn_blocking(move || opening.open_blocking()).await;
        let opened = opened.unwrap_or_else(|e| {
            let message = format!("opening the store failed: {e}");
            Err(Failure::new(Code::Internal, message).into())
        });
        match opened {
            Ok((pools, threads)) => {
                self.store.send_replace(StoreState::Open(Arc::new(pools)));
                Ok(threads)
            }
            Err(error) => {
                let exit = match error {
                    Error::NewerDatabase { .. }
                    | Error::NotOurs { .. }
                    | Error::Encrypted { .. }
                    | Error::ForeignSchema { .. } => Exit::Config,
                    Error::InUse { .. } => Exit::AlreadyRunning,
                    _ => Exit::Storage,
                };
                let failure = refusal(error, &self.service.backup_folder());
                tracing::error!(%failure, "the store cannot be opened");
                self.store.send_replace(StoreState::Failed(failure.clone()));
                Err(StartupError::new(exit, failure))
            }
        }
    }

    fn open_blocking(&self) -> Result<(StorePools, Threads), Error> {
        let (service, now) = (&self.service, self.service.now());
        let fault = disk::probe(&self.db);
        // SQLite would open a read-only file and fail at a later statement.
        let is_read_only = fault == Some(StorageFault::ReadOnly);
        let error = match fault {
            Some(fault) if is_read_only => read_only_failure(fault).into(),
            _ => match self.open_for_writing() {
                Ok(opened) => return Ok(opened),
                Err(error) => error,
            },
        };
        let Some(fault) = fault else { return self.recover(error) };
        if fault == StorageFault::Full && service.reserve.release() {
            tracing::info!("the disk is full; the reserve is used to open the store");
            let opened = self.open_for_writing();
            service.reserve.refill();
            if let Ok(opened) = opened {
                service.health.set_full(now);
                return Ok(opened);
            }
        }
        let store = open_read_only(&self.db, self.settings.clone()).map_err(|read_error| {
            tracing::info!(%read_error, "the store cannot be read either");
            error
        })?;
        let failure = read_only_failure(fault);
        service.health.record_failure(&failure, now);
        self.read_only_pools(&store, failure)
    }

    /// Recovers a damaged store from its newest whole backup, if a second look finds it damaged too. A lock, a full or failing disk is no
    /// damage, and a file that was lost or is another program's is left to the person.
    fn recover(&self, error: Error) -> Result<(StorePools, Threads), Error> {
        if !error.is_damage() {
            return Err(error);
        }
        tracing::warn!(%error, "the store is damaged; looking a second time");
        let error = match self.open_for_writing() {
            Ok(opened) => return Ok(opened),
            Err(second) if second.is_damage() => second,
            Err(second) => return Err(second),
        };
        let target = Target {
            database: paths::canonical(&self.db),
            backups: self.service.backup_folder(),
            settings: self.settings.clone(),
            policy: self.service.config.policy(),
            now: self.service.now(),
        };
        match recover::recover(&target, WithoutBackup::Refuse) {
            Ok(recovered) => {
                tracing::error!(report = recovered.sentences(), "the store was recovered");
                self.open_for_writing()
            }
            Err(reason) => {
                tracing::error!(%reason, "the store was not recovered");
                Err(error)
            }
        }
    }

    fn open_for_writing(&self) -> Result<(StorePools, Threads), Error> {
        let service = &self.service;
        let mut writer = open_cold(&self.db, self.settings.clone(), service.now())?;
        if writer.warmup().counts().total <= LOAD_BEFORE_SERVING {
            writer.load()?;
        }
        for finding in writer.findings() {
            tracing::warn!(%finding, "the files of the store are not as they were left");
            writer.add_notice(finding, service.now())?;
        }
        service.clock.initialise(writer.last_seen()?, writer.suspected()?);
        allow_known_names(&service.config.paths().home, &writer.take_named_folders()?);
        let needs_check = writer.wants_check();
        let views = StoreViews {
            group_redirects: writer.group_redirects(),
            isolated: writer.isolated_groups(),
            switches: writer.switches(),
            sets: writer.active_sets(),
            warmup: writer.warmup(),
        };
        let readers = (0..READERS).map(|_| writer.reader()).collect::<Result<Vec<_>, _>>()?;
        service.health.set_notices(readers[0].notices()?);
        if let Some(fault) = writer.known_fault()? {
            service.health.set_damaged(&fault, service.now());
        }
        let damaged_rows = writer.damaged_rows();
        service.health.set_damaged_rows(&damaged_rows.all(), service.now());
        let (writer, writer_threads) = Pool::start("writer", vec![writer]);
        let (readers, reader_threads) = Pool::start("reader", readers);
        Ok((
            StorePools::new(Ok(writer), readers, views, needs_check)
                .with_damaged_rows(damaged_rows),
            Threads { writer: writer_threads, readers: reader_threads },
        ))
    }

    fn read_only_pools(
        &self,
        store: &ReadOnlyStore,
        failure: Failure,
    ) -> Result<(StorePools, Threads), Error> {
        self.service.clock.initialise(store.last_seen(), None);
        let readers = (0..READERS).map(|_| store.reader()).collect::<Result<Vec<_>, _>>()?;
        self.service.health.set_notices(readers[0].notices()?);
        let damaged_rows = readers[0].damaged_rows();
        self.service.health.set_damaged_rows(&damaged_rows.all(), self.service.now());
        let (readers, reader_threads) = Pool::start("reader", readers);
        let views = StoreViews {
            group_redirects: store.group_redirects(),
            isolated: store.isolated_groups(),
            switches: store.switches(),
            sets: store.active_sets(),
            warmup: store.warmup(),
        };
        let pools =
            StorePools::new(Err(failure), readers, views, false).with_damaged_rows(damaged_rows);
        Ok((pools, Threads { writer: Vec::new(), readers: reader_threads }))
    }

    /// Opens a read-only store for writing as soon as its disk can be written; returns the threads of the store that is open at the end.
    pub async fn reopen(
        self: Arc<Self>,
        mut threads: Option<Threads>,
        draining: CancellationToken,
    ) -> Option<Threads> {
        while !self.service.is_writable() {
            tokio::select! {
                () = draining.cancelled() => return threads,
                () = tokio::time::sleep(RETRY_INTERVAL) => {}
            }
            let db = self.db.clone();
            if !matches!(tokio::task::spawn_blocking(move || disk::probe(&db)).await, Ok(None)) {
                continue;
            }
            // The readers take no locks, so none may remain when a writer opens the file. Calls wait meanwhile.
            self.store.send_replace(StoreState::Opening);
            if let Some(Threads { readers, .. }) = threads.take() {
                let join = move || readers.into_iter().for_each(|thread| drop(thread.join()));
                let _ = tokio::task::spawn_blocking(join).await;
            }
            match self.open().await {
                Ok(opened) => threads = Some(opened),
                Err(error) => {
                    self.service.record_damage(error.failure);
                    draining.cancel();
                    return None;
                }
            }
            if self.service.is_writable() {
                tracing::info!("the disk can be written again; the store is open for writing");
                self.service.health.record_write(&Ok(()), self.service.now());
                self.service.check_disk();
            }
        }
        threads
    }
}

/// Returns the failure of a start, with the commands that help.
#[must_use]
pub fn refusal(error: Error, backups: &Path) -> Failure {
    let is_recoverable = error.is_damage();
    let hint = match &error {
        Error::NewerDatabase { known, .. } => {
            match newest_of_schema(backups, *known) {
                Some(id) => format!("Update loci, or run loci backup restore {id}, which was made before the migration"),
                None => "Update loci".to_owned(),
            }
        }
        Error::Lost { .. } => {
            "Put the file back; or run loci backup restore, or loci doctor --recover".to_owned()
        }
        Error::NotOurs { .. } => {
            "Put the database back; or run loci backup restore, or loci doctor --recover: both keep this file aside".to_owned()
        }
        Error::ForeignSchema { .. } => {
            "Remove it with another program for SQLite; or run loci backup restore, or loci doctor --recover, which keeps the memories: both keep this file aside".to_owned()
        }
        _ if is_recoverable => "Run loci doctor --recover, which keeps what can be read, or loci backup restore".to_owned(),
        _ => return error.into(),
    };
    Failure::from(error).hint(hint)
}

/// Returns the newest backup whose schema this build knows.
fn newest_of_schema(folder: &Path, known: i64) -> Option<String> {
    let is_known = |backup: &Backup| {
        backup.manifest.as_ref().is_some_and(|manifest| manifest.contents.schema <= known)
    };
    manifest::list(folder).iter().rfind(|backup| is_known(backup)).map(Backup::id)
}

/// Waits until the threads of the store have ended, and closes the database, on a full disk with the help of the reserve.
pub async fn close_store(threads: Option<Threads>, service: &Service) {
    let Some(threads) = threads else { return };
    let (database, closed_at) = (service.database().to_path_buf(), service.clock.read());
    let closed = tokio::task::spawn_blocking(move || {
        threads.readers.into_iter().for_each(|thread| drop(thread.join()));
        let reserve = disk::Reserve::of(&loci_proto::paths::canonical(&database));
        for writer in threads.writer.into_iter().filter_map(|thread| thread.join().ok()) {
            let is_used = disk::free_bytes(&database).is_some_and(|free| free < disk::KEPT_FREE)
                && reserve.release();
            let recorded = writer.record_time(closed_at);
            if let Err(error) = writer.close().and(recorded) {
                tracing::error!(%error, "the store was not closed cleanly; nothing is lost");
            }
            if is_used {
                reserve.refill();
            }
        }
    });
    if tokio::time::timeout(Duration::from_secs(5), closed).await.is_err() {
        tracing::error!(
            "the store's threads did not end within 5 s; nothing that was acknowledged is lost"
        );
    }
}
