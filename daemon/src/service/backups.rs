//! Makes backups when they are due or asked for, and tests them: one at a time, through a connection of its own, with pauses after calls.
//!
//! Not here: how a backup is made, verified and rotated (the engine's `backups`), `loci backup list`, `verify` and `restore`
//! (`process::backup_commands`).

use crate::service::Service;
use crate::service::store_state::StorePools;
use loci_engine::Reader;
use loci_engine::backups::create::NewBackup;
use loci_engine::backups::due::{self, StoreState};
use loci_engine::backups::manifest::{self, Backup, Reason};
use loci_engine::backups::{drill, verify};
use loci_proto::admin::{BackupStatus, WarningKind};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::backup::BackupEntry;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Pause between two parts of a copy shortly after a call.
const PAUSE: Duration = Duration::from_millis(5);
/// Time until an automatic backup is tried again after it failed.
const RETRY_AFTER: Duration = Duration::from_hours(1);
/// Age in milliseconds of the last backup from which the next one does not wait for a quiet moment.
const OVERDUE: i64 = 25 * 3_600_000;

#[expect(clippy::disallowed_methods, reason = "the pause leaves the disk and a core to the calls")]
fn pause() {
    std::thread::sleep(PAUSE);
}

/// Returns a backup as replies describe it.
#[must_use]
pub fn entry(backup: &Backup) -> BackupEntry {
    let iso = |time: Option<i64>| time.map(|at| loci_engine::model::time::Timestamp(at).iso());
    let manifest = backup.manifest.as_ref();
    BackupEntry {
        id: backup.id(),
        path: backup.path.display().to_string(),
        created_at: backup.created_at.iso(),
        reason: backup.reason().as_str().to_owned(),
        bytes: backup.bytes,
        memories: manifest.map(|manifest| manifest.contents.memories),
        schema: manifest.map(|manifest| manifest.contents.schema),
        verified_at: iso(manifest.and_then(|manifest| manifest.verified_at)),
        drilled_at: iso(manifest.and_then(|manifest| manifest.drilled_at)),
        fault: manifest.and_then(|manifest| manifest.fault.clone()),
    }
}

/// Says when these backups were made and tested, and what is wrong with them.
#[must_use]
pub fn status(listed: &[Backup]) -> BackupStatus {
    let entries: Vec<BackupEntry> = listed.iter().map(entry).collect();
    let fault = |entry: &BackupEntry| {
        entry.fault.as_ref().map(|fault| format!("The backup {} is faulty: {fault}", entry.id))
    };
    BackupStatus {
        count: entries.len(),
        bytes: entries.iter().map(|entry| entry.bytes).sum(),
        last: entries.iter().map(|entry| entry.created_at.clone()).max(),
        last_verified: entries.iter().filter_map(|entry| entry.verified_at.clone()).max(),
        last_drill: entries.iter().filter_map(|entry| entry.drilled_at.clone()).max(),
        faults: entries.iter().filter_map(fault).collect(),
    }
}

/// Runs work on a thread of its own.
async fn on_thread<T: Send + 'static>(
    work: impl FnOnce() -> loci_engine::error::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome.map_err(Failure::from),
        Err(error) => Err(Failure::new(Code::Internal, format!("the backup failed: {error}"))),
    }
}

impl Service {
    /// Returns what to back up now.
    #[must_use]
    pub fn new_backup(&self, reason: Reason) -> NewBackup {
        let max_bytes = self.config.config().backup.budget();
        NewBackup { folder: self.backup_folder(), reason, now: self.now(), max_bytes }
    }

    /// Makes a verified backup.
    ///
    /// # Errors
    /// `storage_failed` with the reason.
    pub async fn back_up(&self, reason: Reason) -> Result<Backup, Failure> {
        let _running = self.backups.running.lock().await;
        let reader = self.read(Reader::try_clone).await?;
        let new = self.new_backup(reason);
        let stopped = Arc::clone(&self.backups.stopped);
        let last_call = self.scheduler.last_call();
        let made = on_thread(move || {
            reader.back_up(&new, &mut || {
                if stopped.load(Ordering::Relaxed) {
                    return Err(Failure::new(Code::Busy, "the daemon is shutting down").into());
                }
                if last_call.is_recent() {
                    pause();
                }
                Ok(())
            })
        })
        .await;
        match &made {
            Ok(backup) => {
                tracing::info!(backup = backup.id(), reason = reason.as_str(), "backup made");
                self.health.clear(WarningKind::Backup);
            }
            Err(failure) if failure.code == Code::Busy => {}
            Err(failure) => {
                let text = format!("No backup could be made: {}", failure.message);
                let next = failure.hint.as_deref().unwrap_or("Run loci backup create");
                self.health.set(WarningKind::Backup, &text, next, self.now());
            }
        }
        made
    }

    /// Makes a backup before a large change, unless the newest one has everything. If it fails, the change is made all the same, and a
    /// warning says so.
    pub async fn back_up_before(&self, reason: Reason) {
        if !self.config.config().backup.enabled || self.is_saved().await {
            return;
        }
        if let Err(failure) = self.back_up(reason).await {
            tracing::warn!(%failure, reason = reason.as_str(), "no backup was made");
        }
    }

    /// Returns whether the newest backup has the last change, or there is nothing to back up.
    async fn is_saved(&self) -> bool {
        let Ok((database, last_change)) = self.read(Reader::last_change).await else {
            return false;
        };
        let folder = self.backup_folder();
        let saved = on_thread(move || {
            Ok(last_change == 0 || due::is_saved(&manifest::list(&folder), &database, last_change))
        });
        saved.await.unwrap_or(false)
    }

    /// Returns when backups were last made and tested, and what is wrong with them.
    pub async fn backup_status(&self) -> BackupStatus {
        let folder = self.backup_folder();
        let listed = on_thread(move || Ok(manifest::list(&folder))).await.unwrap_or_default();
        status(&listed)
    }

    /// Returns all backups, oldest first.
    ///
    /// # Errors
    /// `internal` if the thread ends.
    pub async fn list_backups(&self) -> Result<Vec<BackupEntry>, Failure> {
        let folder = self.backup_folder();
        on_thread(move || Ok(manifest::list(&folder).iter().map(entry).collect())).await
    }

    /// Verifies all backups; returns them as they are afterwards.
    ///
    /// # Errors
    /// `storage_failed` if one cannot be read.
    pub async fn verify_backups(&self) -> Result<Vec<BackupEntry>, Failure> {
        let _running = self.backups.running.lock().await;
        let (folder, now) = (self.backup_folder(), self.now());
        on_thread(move || {
            for backup in manifest::list(&folder) {
                verify::verify(&backup, now)?;
            }
            Ok(manifest::list(&folder).iter().map(entry).collect())
        })
        .await
    }
}

/// Makes daily backups and weekly drills when they are due, until the daemon drains.
pub async fn run(service: &Service, pools: &StorePools, draining: CancellationToken) {
    let mut tick = tokio::time::interval(service.backups.interval());
    tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    // The first tick is at once.
    tick.tick().await;
    let mut not_before = Instant::now();
    loop {
        tokio::select! {
            _ = tick.tick() => {}
            () = draining.cancelled() => return,
        }
        if Instant::now() < not_before || !service.config.config().backup.enabled {
            continue;
        }
        // The check of a large copy cannot be interrupted; a stop does not wait for it. What is left is removed before the next backup.
        let outcome = tokio::select! {
            outcome = run_due(service, pools) => outcome,
            () = draining.cancelled() => return,
        };
        if let Err(failure) = outcome
            && !draining.is_cancelled()
        {
            tracing::warn!(%failure, "the automatic backup failed");
            not_before = Instant::now() + RETRY_AFTER;
        }
    }
}

/// Makes the backup and the drill that are due.
async fn run_due(service: &Service, pools: &StorePools) -> Result<(), Failure> {
    let (database, last_change) = service.read(Reader::last_change).await?;
    let (folder, now) = (service.backup_folder(), service.now());
    let listed = on_thread(move || Ok(manifest::list(&folder))).await?;
    let uptime = service.backups.uptime(service.started);
    let store = StoreState { database: &database, last_change, now, uptime };
    let last_age = listed.last().map_or(i64::MAX, |last| now.since(last.created_at));
    let may_wait = !service.scheduler.is_quiet() && last_age < OVERDUE;
    if may_wait {
        return Ok(());
    }
    if due::is_backup_due(&listed, store) {
        service.back_up(Reason::Daily).await?;
        service.backups.record_daily();
        return Ok(());
    }
    if let Some(backup) = due::drill_due(&listed, &database, now) {
        run_drill(service, pools, backup.clone()).await?;
    }
    Ok(())
}

/// Tests a backup; a fault is a warning, and a notice that stays.
async fn run_drill(service: &Service, pools: &StorePools, backup: Backup) -> Result<(), Failure> {
    let _running = service.backups.running.lock().await;
    let (settings, now) = (service.config.config().settings(), service.now());
    let id = backup.id();
    let fault = on_thread(move || drill::drill(&backup, &settings, now)).await?;
    let Some(fault) = fault else {
        tracing::info!(backup = id, "the restore drill succeeded");
        return Ok(());
    };
    let text = format!("The backup {id} is faulty: {fault}");
    service.health.set(WarningKind::Backup, &text, "Run loci backup create", now);
    let notice = text.clone();
    pools.writer()?.run(move |writer| writer.add_notice(&notice, now)).await??;
    service.health.set_notices(pools.readers.run(|reader| reader.notices()).await??);
    Ok(())
}
