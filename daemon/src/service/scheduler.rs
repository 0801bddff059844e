//! Decides when maintenance runs, and stores the run in progress.
//!
//! Not here: executing the steps of a run (`maintenance_run`), planning them (the engine).

use crate::config::Schedule;
use loci_engine::maintain::Step;
use loci_engine::model::time::{Timestamp, days};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Time without a call after which the background loop executes a step.
const QUIET_PERIOD: Duration = Duration::from_secs(5);
/// Time after a call during which background work is slowed down.
const SLOW_PERIOD: Duration = Duration::from_secs(1);
/// While background work is slowed down, its pauses are this many times as long as the work before them, so that most recalls find the
/// model idle.
const PAUSE_FACTOR: u32 = 5;

/// When maintenance runs, the last call, and the run in progress.
#[derive(Debug, Default)]
pub struct MaintenanceScheduler {
    schedule: Mutex<Option<Schedule>>,
    last_call: LastCall,
    last_run_end: Mutex<Option<Instant>>,
    /// The run in progress, if there is one.
    pub(crate) run: tokio::sync::Mutex<Option<RunInProgress>>,
}

/// When the last call arrived.
#[derive(Debug, Clone)]
pub struct LastCall(Arc<Mutex<LastCallTime>>);

#[derive(Debug)]
struct LastCallTime {
    /// When the daemon was started.
    start: Instant,
    call: Option<Instant>,
}

impl Default for LastCall {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(LastCallTime { start: Instant::now(), call: None })))
    }
}

impl LastCall {
    /// Returns true for 1 s after each call.
    #[must_use]
    pub fn is_recent(&self) -> bool {
        !self.is_quiet_for(SLOW_PERIOD)
    }

    fn record(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).call = Some(Instant::now());
    }

    fn is_quiet_for(&self, period: Duration) -> bool {
        let last_call = self.0.lock().unwrap_or_else(PoisonError::into_inner).call;
        last_call.is_none_or(|last_call| last_call.elapsed() >= period)
    }

    /// Returns since when the daemon is idle: since the last call, or since its start.
    fn idle_since(&self) -> Instant {
        let last_call = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last_call.call.unwrap_or(last_call.start)
    }
}

/// A run of maintenance that has steps left.
#[derive(Debug)]
pub(crate) struct RunInProgress {
    pub(crate) steps: VecDeque<Step>,
    pub(crate) last_step: Instant,
    /// A backup was made before its first step that changes memories. None is made before memories are erased, so that it does not keep
    /// their texts.
    pub(crate) is_backed_up: bool,
}

impl MaintenanceScheduler {
    /// Sets when maintenance runs automatically.
    pub fn set_schedule(&self, schedule: Schedule) {
        *self.schedule.lock().unwrap_or_else(PoisonError::into_inner) = Some(schedule);
    }

    /// Returns when maintenance runs automatically; `None` if it does not.
    #[must_use]
    pub fn schedule(&self) -> Option<Schedule> {
        self.schedule
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .filter(|schedule| schedule.enabled || schedule.idle.is_some())
    }

    /// Records that a run has ended: the next one for idleness is due when a call has arrived since.
    pub(crate) fn record_run_end(&self) {
        *self.last_run_end.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns whether the daemon has been idle for as long as is configured, and no run has ended in
    /// that time.
    pub(crate) fn is_idle_run_due(&self) -> bool {
        let Some(idle) = self.schedule().and_then(|schedule| schedule.idle) else { return false };
        let since = self.last_call.idle_since();
        let last_run_end = *self.last_run_end.lock().unwrap_or_else(PoisonError::into_inner);
        since.elapsed() >= idle && last_run_end.is_none_or(|end| end < since)
    }

    /// Records that a call has arrived: background work waits or slows down for a while.
    pub fn record_call(&self) {
        self.last_call.record();
    }

    /// Returns when the last call arrived, for work on another thread.
    #[must_use]
    pub fn last_call(&self) -> LastCall {
        self.last_call.clone()
    }

    /// Returns true if no call has arrived for 5 s.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.last_call.is_quiet_for(QUIET_PERIOD)
    }

    /// Returns true for 1 s after each call.
    #[must_use]
    pub fn has_recent_call(&self) -> bool {
        self.last_call.is_recent()
    }

    /// Pauses after background work that began at `started`, if a call has arrived recently.
    pub async fn pause_after_work(&self, started: Instant) {
        let pause = started.elapsed() * PAUSE_FACTOR;
        if self.has_recent_call() {
            tokio::time::sleep(pause).await;
        }
    }
}

/// Returns when the next run is due; the first is due at once.
#[must_use]
pub fn due_at(schedule: Schedule, last_run: Option<Timestamp>) -> Timestamp {
    last_run.map_or(Timestamp(0), |last_run| last_run.plus(days(schedule.interval_days)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_run_is_due_interval_days_after_the_last() {
        let due = |interval_days| {
            due_at(Schedule { enabled: true, interval_days, idle: None }, Some(Timestamp(1000)))
        };
        assert_eq!(
            [due(7.0), due(0.5)],
            [Timestamp(1000 + 7 * 86_400_000), Timestamp(1000 + 43_200_000)]
        );
        assert_eq!(
            due_at(Schedule { enabled: true, interval_days: 7.0, idle: None }, None),
            Timestamp(0),
            "the first run is due at once"
        );
    }

    #[test]
    fn a_run_for_idleness_is_due_once_after_each_call() {
        let scheduler = MaintenanceScheduler::default();
        let set_idle = |idle| {
            scheduler.set_schedule(Schedule { enabled: false, interval_days: 7.0, idle });
        };
        set_idle(None);
        assert!(scheduler.schedule().is_none() && !scheduler.is_idle_run_due(), "off");
        set_idle(Some(Duration::from_hours(1)));
        assert!(!scheduler.is_idle_run_due(), "not idle for long enough");
        set_idle(Some(Duration::from_nanos(1)));
        assert!(scheduler.is_idle_run_due());
        scheduler.record_run_end();
        assert!(!scheduler.is_idle_run_due(), "once");
        scheduler.record_call();
        assert!(scheduler.is_idle_run_due(), "again after a call");
    }
}
