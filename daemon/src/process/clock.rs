//! The daemon's clock: the wall clock, made monotonic, and whether it is trusted.
//!
//! If the wall clock is set back, this clock stops until the wall clock has caught up, so that nothing ages twice and no confidence rises.
//! If the wall clock jumps ahead by more than [`MAX_TRUSTED_JUMP`], the reading is used, since the machine may have slept that long. But it
//! is untrusted, and is not recorded as the latest time, until the jump has lasted for [`TRUST_AFTER`], in this run or since an earlier
//! one: one wrong reading must not move the store into the future permanently.

use loci_engine::model::time::{ClockReading, DAY, Timestamp};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Longest jump ahead that is trusted at once, in milliseconds: people leave for months, wrong clocks are off by years.
const MAX_TRUSTED_JUMP: i64 = 180 * DAY;
/// Time after which a longer jump is trusted.
const TRUST_AFTER: Duration = Duration::from_hours(24);
/// [`TRUST_AFTER`] in milliseconds.
const TRUST_AFTER_MS: i64 = DAY;

/// The wall clock, checked against the latest moment that the store has recorded.
#[derive(Debug, Default)]
pub struct Clock {
    state: Mutex<ClockState>,
}

#[derive(Debug, Default)]
struct ClockState {
    /// The latest trusted moment; `None` until the clock is initialised from the store.
    latest: Option<i64>,
    /// When the wall clock was first found far ahead of `latest` in this run.
    jump_seen_at: Option<Instant>,
    /// The first untrusted reading that an earlier run has recorded.
    untrusted_since: Option<i64>,
}

impl Clock {
    /// Initialises the clock with the latest moment that the store has recorded. Until then no reading is trusted.
    ///
    /// `untrusted_since` is the first reading far ahead of that moment, if an earlier run recorded one.
    pub fn initialise(&self, latest: Timestamp, untrusted_since: Option<Timestamp>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.untrusted_since = untrusted_since.map(|moment| moment.0);
        state.latest = Some(state.latest.map_or(latest.0, |earlier| earlier.max(latest.0)));
    }

    /// Reads the clock.
    #[must_use]
    pub fn read(&self) -> ClockReading {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX));
        self.judge(wall, Instant::now())
    }

    /// Returns the reading for a wall clock of `wall`, in milliseconds since 1970, at the monotonic time `monotonic`.
    fn judge(&self, wall: i64, monotonic: Instant) -> ClockReading {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(latest) = state.latest else {
            return ClockReading { now: Timestamp(wall), is_trusted: false };
        };
        // An empty store trusts the first clock reading.
        let is_jump = latest > 0 && wall - latest > MAX_TRUSTED_JUMP;
        let has_lasted = state
            .untrusted_since
            .is_some_and(|since| (TRUST_AFTER_MS..=MAX_TRUSTED_JUMP).contains(&(wall - since)));
        if is_jump
            && !has_lasted
            && monotonic.saturating_duration_since(*state.jump_seen_at.get_or_insert(monotonic))
                < TRUST_AFTER
        {
            return ClockReading { now: Timestamp(wall), is_trusted: false };
        }
        state.jump_seen_at = None;
        let now = latest.max(wall);
        state.latest = Some(now);
        ClockReading { now: Timestamp(now), is_trusted: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: i64 = 1_770_000_000_000;

    fn clock() -> (Clock, Instant) {
        let clock = Clock::default();
        clock.initialise(Timestamp(T0), None);
        (clock, Instant::now())
    }

    #[test]
    fn a_clock_set_back_stops_until_it_has_caught_up() {
        let (clock, start) = clock();
        assert_eq!(
            clock.judge(T0 - DAY, start),
            ClockReading { now: Timestamp(T0), is_trusted: true }
        );
        assert_eq!(clock.judge(T0 + 1, start).now, Timestamp(T0 + 1));
    }

    #[test]
    fn one_wrong_reading_far_ahead_is_used_but_not_recorded() {
        let (clock, start) = clock();
        let wrong = clock.judge(T0 + 3650 * DAY, start);
        assert_eq!(wrong, ClockReading { now: Timestamp(T0 + 3650 * DAY), is_trusted: false });
        assert_eq!(
            clock.judge(T0 + 5, start),
            ClockReading { now: Timestamp(T0 + 5), is_trusted: true }
        );
    }

    #[test]
    fn a_jump_that_lasts_for_a_day_is_trusted() {
        let (clock, start) = clock();
        assert!(!clock.judge(T0 + 360 * DAY, start).is_trusted);
        assert!(clock.judge(T0 + 361 * DAY, start + TRUST_AFTER).is_trusted);
        assert!(clock.judge(T0 + 361 * DAY + 1, start + TRUST_AFTER).is_trusted);
    }

    #[test]
    fn before_initialisation_no_reading_is_trusted_or_recorded() {
        let (clock, start) = (Clock::default(), Instant::now());
        assert!(!clock.judge(T0 + 365 * DAY, start).is_trusted);
        clock.initialise(Timestamp(T0), None);
        assert!(
            !clock.judge(T0 + 365 * DAY, start).is_trusted,
            "a wrong clock at the start is detected"
        );
        assert_eq!(
            clock.judge(T0 + 7, start),
            ClockReading { now: Timestamp(T0 + 7), is_trusted: true }
        );
    }

    #[test]
    fn an_empty_store_trusts_the_first_reading() {
        let clock = Clock::default();
        clock.initialise(Timestamp(0), None);
        assert!(clock.judge(T0, Instant::now()).is_trusted);
    }

    #[test]
    fn a_jump_that_an_earlier_run_recorded_is_trusted_a_day_later() {
        let (recorded, start) = (Timestamp(T0 + 360 * DAY), Instant::now());
        let clock = Clock::default();
        clock.initialise(Timestamp(T0), Some(recorded));
        assert!(!clock.judge(recorded.0 + DAY / 2, start).is_trusted);
        assert!(clock.judge(recorded.0 + DAY, start).is_trusted);
    }

    #[test]
    fn a_jump_of_some_months_is_trusted_at_once() {
        let (clock, start) = clock();
        assert!(clock.judge(T0 + 150 * DAY, start).is_trusted);
    }
}
