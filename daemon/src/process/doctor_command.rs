//! `locid doctor`: checks configuration and store without a daemon. A short-lived command that prints JSON for `loci doctor --offline`.
//!
//! It takes the locks of the daemon and writes nothing. Not here: the checks of the database (the engine's `offline_check`), of the model's
//! files and of clients (`loci`).

use crate::config::options;
use crate::config::{Config, key_file};
use crate::process::startup::{self, Lock};
use crate::process::store_opening::refusal;
use crate::service::storage_health::StorageHealth;
use crate::service::store_state::read_only_failure;
use crate::service::{backups, disk, findings, status};
use loci_engine::Settings;
use loci_engine::backups::manifest;
use loci_engine::model::time::Timestamp;
use loci_engine::operations::offline_check::{Depth, OfflineCheck, check_offline};
use loci_proto::error::{Code, Exit, Failure, StorageFault};
use loci_proto::paths::{self, Paths};
use loci_proto::requests::doctor::{DoctorReply, Finding};
use std::io::{self, Write};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The next step while a daemon runs.
const WHILE_RUNNING: &str = "Run loci doctor, which asks the daemon; or loci ctl stop --hold, loci doctor --offline, then loci ctl start";

/// Runs the checks; prints the findings, or why there are none, as one line of JSON.
#[must_use]
pub fn run(paths: &Paths, deep: bool) -> Exit {
    startup::make_private();
    let (line, exit) = match check(paths, if deep { Depth::EveryRow } else { Depth::Full }) {
        Ok(findings) => {
            (serde_json::to_string(&DoctorReply { findings, dismissed: None }), Exit::Ok)
        }
        Err(failure) => (serde_json::to_string(&failure), Exit::Failed),
    };
    // The reader may have gone; nothing was changed.
    let _ = writeln!(io::stdout(), "{}", line.unwrap_or_default());
    exit
}

fn check(paths: &Paths, depth: Depth) -> Result<Vec<Finding>, Failure> {
    paths::refuse_foreign_home(&paths.home, nix::unistd::geteuid().as_raw())?;
    let mut found = vec![findings::config(&paths.config)];
    // Without the configuration it is not known which database is meant.
    let Ok(config) = Config::read(&paths.config) else { return Ok(found) };
    let database = paths::canonical(&options::database(paths, &config)?);
    let _locks = take_locks(paths, &database)?;
    if let Err(failure) = key_file::load(paths) {
        let next_step = failure.hint.unwrap_or_else(|| "Correct what it names".to_owned());
        found.push(Finding::fail("encryption", failure.message, next_step));
        return Ok(found);
    }
    let settings = config.settings_at(paths);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp(i64::try_from(now.as_millis()).unwrap_or(i64::MAX));
    let listed = settings.backups.folder.as_deref().map(manifest::list).unwrap_or_default();
    let store = check_store(&database, settings, depth, now)?;
    let health = StorageHealth::default();
    if disk::is_read_only(&database) {
        health.record_failure(&read_only_failure(StorageFault::ReadOnly), now);
    }
    status::check_disk(&health, paths, &database, true, now);
    health.set_notices(store.notices);
    found.extend(findings::storage(&health));
    found.extend(store.findings);
    let configured = config.embedding.pinned().map(|model| model.id);
    if configured.is_some_and(|id| !store.model.is_empty() && id != store.model) {
        found.push(findings::other_model(&store.model));
    }
    found.push(findings::backups(&backups::status(&listed)));
    Ok(found)
}

/// Checks the database. That it cannot be read is a finding, unless another process uses it.
fn check_store(
    database: &Path,
    settings: Settings,
    depth: Depth,
    now: Timestamp,
) -> Result<OfflineCheck, Failure> {
    let folder = settings.backups.folder.clone().unwrap_or_default();
    match check_offline(database, settings, depth, now) {
        Ok(check) => Ok(check),
        Err(error) => {
            let failure = refusal(error, &folder);
            if failure.code == Code::Busy {
                return Err(failure.hint(WHILE_RUNNING));
            }
            let next_step = failure.hint.unwrap_or_else(|| "Correct what it names".to_owned());
            let finding = Finding::fail("database", failure.message, next_step);
            Ok(OfflineCheck { findings: vec![finding], ..OfflineCheck::default() })
        }
    }
}

/// Takes the locks of the daemon, which must not run.
fn take_locks(paths: &Paths, database: &Path) -> Result<[Option<Lock>; 2], Failure> {
    let take = |path: &Path| {
        startup::lock_unwritten(path).map_err(|error| match error.exit {
            Exit::AlreadyRunning => {
                let holder = std::fs::read_to_string(path).unwrap_or_default();
                let message = format!("the store is in use by process {}", holder.trim());
                Failure::new(Code::Busy, message).hint(WHILE_RUNNING)
            }
            _ => error.failure,
        })
    };
    Ok([take(&paths.lock)?, take(&startup::database_lock(database))?])
}
