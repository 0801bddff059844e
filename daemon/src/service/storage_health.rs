//! The current warnings about storage, and who has seen them: shown in `loci ctl status` and `loci doctor`, and once to each agent session.
//!
//! A warning is set when its condition begins and cleared when it ends; each change is one line of the log. Lasting notices come from the
//! database and stay until `loci doctor --dismiss`. Not here: finding the conditions (`housekeeping`, `disk`, `file_modes`).

use loci_engine::DamagedRow;
use loci_engine::model::time::Timestamp;
use loci_engine::operations::notices::Notice;
use loci_proto::admin::{StorageWarning, WarningKind};
use loci_proto::error::{Failure, StorageFault};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Number of checkpoints in a row whose failure is a failure of the storage, not a passing one.
const CHECKPOINT_FAILURES: u32 = 3;
/// The beginning of the warning about a damaged database.
const DAMAGED: &str = "The database is damaged: ";
/// The hint of a failing disk.
const CHECK_DISK: &str = "Export your memories (loci export), then check the disk";

/// The current warnings.
#[derive(Debug, Default)]
pub struct StorageHealth(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    current: BTreeMap<WarningKind, Numbered>,
    notices: Vec<Numbered>,
    /// Number of the latest warning or notice; a session remembers the latest that it has seen.
    last_number: u64,
    failed_checkpoints: u32,
}

#[derive(Debug)]
struct Numbered {
    number: u64,
    warning: StorageWarning,
}

impl StorageHealth {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets a warning, or changes its text. The time and the sessions that have seen it stay if it is set already.
    pub fn set(&self, kind: WarningKind, message: &str, next_step: &str, now: Timestamp) {
        let mut state = self.lock();
        if let Some(known) = state.current.get_mut(&kind) {
            message.clone_into(&mut known.warning.message);
            next_step.clone_into(&mut known.warning.next_step);
            return;
        }
        state.last_number += 1;
        let warning = StorageWarning {
            kind,
            message: message.to_owned(),
            next_step: next_step.to_owned(),
            since: now.iso(),
        };
        let numbered = Numbered { number: state.last_number, warning };
        state.current.insert(kind, numbered);
        drop(state);
        tracing::warn!(kind = kind.as_str(), "storage: {message}");
    }

    /// Clears a warning, if it is set.
    pub fn clear(&self, kind: WarningKind) {
        if self.lock().current.remove(&kind).is_some() {
            tracing::info!(kind = kind.as_str(), "storage: the warning has ended");
        }
    }

    /// Returns whether a warning is set.
    #[must_use]
    pub fn has(&self, kind: WarningKind) -> bool {
        self.lock().current.contains_key(&kind)
    }

    /// Sets the lasting notices as the database contains them.
    pub fn set_notices(&self, notices: Vec<Notice>) {
        let mut state = self.lock();
        state.notices.clear();
        for Notice { text, at } in notices {
            state.last_number += 1;
            let warning = StorageWarning {
                kind: WarningKind::Notice,
                message: text,
                next_step: "When you have read it: loci doctor --dismiss".to_owned(),
                since: at.iso(),
            };
            let numbered = Numbered { number: state.last_number, warning };
            state.notices.push(numbered);
        }
    }

    /// Returns the warnings and the notices.
    #[must_use]
    pub fn warnings(&self) -> Vec<StorageWarning> {
        let state = self.lock();
        let all = state.current.values().chain(&state.notices);
        all.map(|numbered| numbered.warning.clone()).collect()
    }

    /// Returns what a session has not seen yet as one text, and records that it has seen it. `seen` is the session's own mark.
    #[must_use]
    pub fn unseen(&self, seen: &AtomicU64) -> Option<String> {
        let state = self.lock();
        let before = seen.swap(state.last_number, Ordering::Relaxed);
        if before == state.last_number {
            return None;
        }
        let new = state.current.values().chain(&state.notices).filter(|one| one.number > before);
        let texts: Vec<String> = new.map(|numbered| numbered.warning.sentence()).collect();
        (!texts.is_empty()).then(|| texts.join(" "))
    }

    /// Records the outcome of a write.
    pub fn record_write<T>(&self, outcome: &Result<T, Failure>, now: Timestamp) {
        match outcome {
            Ok(_) => {
                self.clear(WarningKind::ReadOnly);
                self.clear(WarningKind::WriteFailed);
            }
            Err(failure) => self.record_failure(failure, now),
        }
    }

    /// Records a failure, if storage caused it.
    pub fn record_failure(&self, failure: &Failure, now: Timestamp) {
        match failure.fault {
            Some(StorageFault::Full) => self.set_full(now),
            Some(StorageFault::ReadOnly) => self.set(
                WarningKind::ReadOnly,
                "The database is read-only; memories are found but not stored",
                "Make its file system writable",
                now,
            ),
            Some(StorageFault::Io) => self.set(
                WarningKind::WriteFailed,
                &format!("The disk fails: {}", failure.message),
                CHECK_DISK,
                now,
            ),
            Some(StorageFault::Damaged) => self.set_damaged(&failure.message, now),
            None => {}
        }
    }

    /// Records that the database is damaged.
    pub fn set_damaged(&self, fault: &str, now: Timestamp) {
        let text = format!("{DAMAGED}{fault}");
        self.set(WarningKind::Damaged, &text, "Run loci doctor", now);
    }

    /// Returns the fault of a database that is damaged.
    #[must_use]
    pub fn damage(&self) -> Option<String> {
        let state = self.lock();
        let message = &state.current.get(&WarningKind::Damaged)?.warning.message;
        Some(message.strip_prefix(DAMAGED).unwrap_or(message).to_owned())
    }

    /// Records which rows are damaged; none ends the warning.
    pub fn set_damaged_rows(&self, rows: &[DamagedRow], now: Timestamp) {
        let Some(first) = rows.first() else { return self.clear(WarningKind::DamagedRows) };
        let count = rows.len();
        let text = if count == 1 {
            format!("1 row is damaged on the disk and left out: {}", first.describe())
        } else {
            format!(
                "{count} rows are damaged on the disk and left out, among them {}",
                first.describe()
            )
        };
        self.set(WarningKind::DamagedRows, &text, "Run loci doctor, which lists them", now);
    }

    /// Records that the disk is full.
    pub fn set_full(&self, now: Timestamp) {
        self.set(
            WarningKind::DiskFull,
            "The disk is full; memories are found and can be forgotten, but not stored",
            "Free some space; storing then works again",
            now,
        );
    }

    /// Records the outcome of a checkpoint.
    pub fn record_checkpoint(&self, outcome: Result<(), &Failure>, now: Timestamp) {
        let Err(failure) = outcome else {
            self.lock().failed_checkpoints = 0;
            self.clear(WarningKind::Checkpoint);
            self.clear(WarningKind::CheckpointsFail);
            return;
        };
        if failure.fault == Some(StorageFault::Full) {
            self.set_full(now);
            return;
        }
        let mut state = self.lock();
        state.failed_checkpoints = state.failed_checkpoints.saturating_add(1);
        let failed = state.failed_checkpoints;
        drop(state);
        let reason = &failure.message;
        if failed < CHECKPOINT_FAILURES {
            let text =
                format!("Changes could not be moved from the log into the database: {reason}");
            self.set(WarningKind::Checkpoint, &text, "loci tries again; check the disk", now);
        } else {
            self.clear(WarningKind::Checkpoint);
            let text = format!(
                "The database file cannot be written; changes remain in its log, memory.db-wal: {reason}"
            );
            self.set(WarningKind::CheckpointsFail, &text, CHECK_DISK, now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use loci_proto::error::Code;

    #[test]
    fn a_session_sees_each_warning_once_and_none_that_has_ended() {
        let (health, seen) = (StorageHealth::default(), AtomicU64::new(0));
        assert_eq!(health.unseen(&seen), None);
        health.set_full(Timestamp(0));
        health.set_full(Timestamp(9));
        let shown = health.unseen(&seen).expect("the warning is new");
        assert!(shown.starts_with("The disk is full"), "{shown}");
        assert_eq!(health.unseen(&seen), None);
        health.clear(WarningKind::DiskFull);
        health.set_full(Timestamp(9));
        assert!(health.unseen(&seen).is_some(), "it has begun again");
        let other = AtomicU64::new(0);
        health.clear(WarningKind::DiskFull);
        assert_eq!(health.unseen(&other), None);
    }

    #[test]
    fn three_failed_checkpoints_in_a_row_are_a_failure_and_a_good_one_ends_it() {
        let health = StorageHealth::default();
        let failure = Failure::new(Code::StorageFailed, "EIO").caused_by(StorageFault::Io);
        for kind in [WarningKind::Checkpoint, WarningKind::Checkpoint, WarningKind::CheckpointsFail]
        {
            health.record_checkpoint(Err(&failure), Timestamp(0));
            let kinds: Vec<_> = health.warnings().into_iter().map(|warning| warning.kind).collect();
            assert_eq!(kinds, [kind]);
        }
        health.record_checkpoint(Ok(()), Timestamp(0));
        assert_eq!(health.warnings(), []);
    }
}
