//! `locid backup`: lists, verifies and restores backups, and recovers a damaged store. Short-lived commands that print JSON for `loci`.
//!
//! They work while no daemon can start. Those that replace the database take the locks of the daemon, and name who holds them. Not here:
//! stopping the daemon before (`loci`).

use crate::config::options::{self, BackupCommand, WhichBackup};
use crate::config::{Config, key_file};
use crate::process::startup::{self, Lock};
use crate::service::backups::entry;
use loci_engine::backups::manifest::{self, Backup};
use loci_engine::backups::prepare::Target;
use loci_engine::backups::recover::{self, WithoutBackup};
use loci_engine::backups::{restore, verify};
use loci_engine::error::Error;
use loci_engine::model::time::{Timestamp, past_moment};
use loci_proto::error::{Code, Exit, Failure};
use loci_proto::paths::{self, Paths};
use loci_proto::requests::backup::{
    BackupEntry, BackupList, RecoverReply, RestoreBackupReply, RestorePlan,
};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// Runs a command; prints its reply, or the failure, as one line of JSON.
#[must_use]
pub fn run(paths: &Paths, command: &BackupCommand) -> Exit {
    startup::make_private();
    print_outcome(run_command(paths, command))
}

/// Prints a reply, or the failure, as one line of JSON.
#[must_use]
pub fn print_outcome(outcome: Result<String, Failure>) -> Exit {
    let line = match outcome {
        Ok(line) => line,
        Err(failure) => {
            print(&serde_json::to_string(&failure).unwrap_or_default());
            return Exit::Failed;
        }
    };
    print(&line);
    Exit::Ok
}

fn print(line: &str) {
    // The reader may have gone; what was done stays done.
    let _ = writeln!(io::stdout(), "{line}");
}

/// Returns a reply as JSON.
///
/// # Errors
/// None in practice: every reply can be written as JSON.
pub fn json(reply: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(reply).map_err(|error| Failure::new(Code::Internal, error.to_string()))
}

fn run_command(paths: &Paths, command: &BackupCommand) -> Result<String, Failure> {
    let target = target(paths)?;
    match command {
        BackupCommand::List => json(&list(&target)),
        BackupCommand::Verify { backup } => json(&verify_backups(&target, backup.as_deref())?),
        BackupCommand::Plan(which) => json(&plan(&target, which)?),
        BackupCommand::Restore(which) => json(&restore_backup(paths, &target, which)?),
        BackupCommand::Recover => json(&recover_store(paths, &target)?),
    }
}

/// Returns the store that the commands work on.
///
/// # Errors
/// `invalid`, naming the key of the configuration.
pub fn target(paths: &Paths) -> Result<Target, Failure> {
    key_file::load(paths)?;
    let config = Config::read(&paths.config)?;
    let database = paths::canonical(&options::database(paths, &config)?);
    let settings = config.settings_at(paths);
    let policy = Arc::new(config.privacy.policy()?);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = Timestamp(i64::try_from(now.as_millis()).unwrap_or(i64::MAX));
    let backups = settings.backups.folder.clone().unwrap_or_default();
    Ok(Target { database, backups, settings, policy, now })
}

fn list(target: &Target) -> BackupList {
    BackupList { backups: manifest::list(&target.backups).iter().map(entry).collect() }
}

/// Verifies one backup, or all; the outcome is in their entries.
fn verify_backups(target: &Target, id: Option<&str>) -> Result<BackupList, Failure> {
    let backups = match id {
        Some(id) => vec![manifest::find(&target.backups, id)?],
        None => manifest::list(&target.backups),
    };
    let verified = |backup: &Backup| -> Result<BackupEntry, Failure> {
        let manifest = verify::verify(backup, target.now)?.manifest;
        Ok(entry(&Backup { manifest: Some(manifest), ..backup.clone() }))
    };
    let backups = backups.iter().map(verified).collect::<Result<Vec<_>, _>>()?;
    Ok(BackupList { backups })
}

/// Returns the backup that the arguments name.
fn chosen(target: &Target, which: &WhichBackup) -> Result<Backup, Failure> {
    Ok(match (&which.backup, &which.at) {
        (Some(id), _) if id != "latest" => manifest::find(&target.backups, id)?,
        (_, Some(at)) => restore::newest_at(target, past_moment(at, "at", target.now)?)?,
        _ => restore::newest(target)?,
    })
}

fn plan(target: &Target, which: &WhichBackup) -> Result<RestorePlan, Failure> {
    let backup = chosen(target, which)?;
    let verification = verify::verify(&backup, target.now)?;
    if let Some(what) = verification.fault {
        return Err(faulty(&backup.path, &what));
    }
    let backup = Backup { manifest: Some(verification.manifest), ..backup };
    Ok(RestorePlan { backup: entry(&backup), memories_now: target.memories_now() })
}

fn faulty(path: &Path, what: &str) -> Failure {
    let message = format!("the backup {} is faulty: {what}", path.display());
    Failure::new(Code::StorageFailed, message)
        .hint("Choose another one: loci backup list; then loci backup restore ID")
}

fn restore_backup(
    paths: &Paths,
    target: &Target,
    which: &WhichBackup,
) -> Result<RestoreBackupReply, Failure> {
    let _locks = take_locks(paths, &target.database)?;
    let backup = chosen(target, which)?;
    let restored = restore::restore(target, &backup).map_err(|error| match error {
        Error::Damaged { path, what } => faulty(&path, &what),
        error => Failure::from(error),
    })?;
    Ok(RestoreBackupReply {
        backup: backup.id(),
        memories: restored.memories,
        memories_before: restored.memories_before,
        forgotten_again: restored.forgotten_again,
        redacted_again: restored.redacted_again,
        quarantine: restored.quarantine.display().to_string(),
        safety_backup: restored.safety_backup,
    })
}

/// Recovers the store, unless it can be opened.
fn recover_store(paths: &Paths, target: &Target) -> Result<RecoverReply, Failure> {
    let _locks = take_locks(paths, &target.database)?;
    if let Some((memories, report)) = nothing_to_recover(target)? {
        return Ok(RecoverReply {
            report,
            backup: None,
            memories,
            salvaged: 0,
            lost: 0,
            quarantine: None,
        });
    }
    let recovered = recover::recover(target, WithoutBackup::Salvage)?;
    Ok(RecoverReply {
        report: recovered.sentences(),
        backup: recovered.backup,
        memories: recovered.memories,
        salvaged: recovered.salvaged,
        lost: recovered.lost,
        quarantine: Some(recovered.quarantine.display().to_string()),
    })
}

/// Returns the number of memories and a report of a store that can be opened and read; `None` if it is damaged, lost or not a database.
/// Damaged memories alone are recovered if there is a backup without damage.
fn nothing_to_recover(target: &Target) -> Result<Option<(usize, String)>, Failure> {
    let opened = loci_engine::open_cold(&target.database, target.settings.clone(), target.now);
    let writer = match opened {
        Ok(writer) => writer,
        Err(Error::NotOurs { .. } | Error::Lost { .. } | Error::ForeignSchema { .. }) => {
            return Ok(None);
        }
        Err(error) if error.is_damage() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    match writer.reader().and_then(|reader| reader.full_check()) {
        Ok(check) if check.is_structural() => Ok(None),
        Ok(check) => {
            let memories = writer.memories()?;
            let damaged = writer.damaged_rows().all().len();
            let fault = check.fault().map(str::to_owned);
            writer.close()?;
            if damaged > 0
                && recover::newest_whole(target)?.is_some_and(|backup| !backup.has_damage())
            {
                return Ok(None);
            }
            Ok(Some((memories, report_of_readable(damaged, fault))))
        }
        Err(error) if error.is_damage() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn report_of_readable(damaged: usize, fault: Option<String>) -> String {
    match (damaged, fault) {
        (0, None) => "The database is whole; nothing was done".to_owned(),
        (0, Some(fault)) => format!(
            "Every memory can be read; nothing was done. Still wrong: {fault}. Run loci doctor"
        ),
        (count, _) => format!(
            "Every other memory can be read, and no backup has the {count} damaged ones; nothing was done. Run loci doctor, which names them"
        ),
    }
}

/// Takes the locks of the daemon.
///
/// # Errors
/// `busy` if another process has them.
pub fn take_locks(paths: &Paths, database: &Path) -> Result<[Lock; 2], Failure> {
    startup::prepare_folders(paths, database)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
    let take = |path: &Path| {
        runtime.block_on(startup::lock(path)).map_err(|error| match error.exit {
            Exit::AlreadyRunning => {
                let holder = std::fs::read_to_string(path).unwrap_or_default();
                let message = format!("the store is in use by process {}", holder.trim());
                Failure::new(Code::Busy, message)
                    .hint("Wait until it has ended; if it is the daemon, run loci ctl stop")
            }
            _ => error.failure,
        })
    };
    Ok([take(&paths.lock)?, take(&startup::database_lock(database))?])
}
