//! The daemon's clock: the wall clock, as far as it is to be believed.
//!
//! A clock that is set back stands still until it has caught up, so that nothing ages twice and no confidence rises. A clock that jumps
//! ahead by more than [`LEAP`] is used, since the machine may have slept that long, but it is not remembered until it has stood for
//! [`PROOF`]: one wrong reading must not hold the store in the future for good.

use loci_engine::time::{DAY, Timestamp};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A jump that a clock has to prove, in milliseconds.
const LEAP: i64 = 30 * DAY;
/// How long a clock has to stand by a jump.
const PROOF: Duration = Duration::from_hours(24);

/// A reading of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    /// The moment to work with.
    pub now: Timestamp,
    /// Whether it may be remembered, and anchors be set by it.
    pub believed: bool,
}

/// What is known of the time.
#[derive(Debug, Default)]
pub struct Clock {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The latest moment that was believed.
    latest: i64,
    /// Since when the wall clock has been far ahead of it.
    leapt_at: Option<Instant>,
}

impl Clock {
    /// Tells of a moment that the store has seen before this start.
    pub fn has_seen(&self, moment: Timestamp) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.latest = known.latest.max(moment.0);
    }

    /// The time now.
    #[must_use]
    pub fn read(&self) -> Reading {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX));
        self.judge(wall, Instant::now())
    }

    fn judge(&self, wall: i64, at: Instant) -> Reading {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let leap = known.latest > 0 && wall - known.latest > LEAP;
        if leap && at.saturating_duration_since(*known.leapt_at.get_or_insert(at)) < PROOF {
            return Reading { now: Timestamp(wall), believed: false };
        }
        known.leapt_at = None;
        known.latest = known.latest.max(wall);
        Reading { now: Timestamp(known.latest), believed: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: i64 = 1_770_000_000_000;

    fn clock() -> (Clock, Instant) {
        let clock = Clock::default();
        clock.has_seen(Timestamp(T0));
        (clock, Instant::now())
    }

    #[test]
    fn a_clock_set_back_stands_still_until_it_has_caught_up() {
        let (clock, up) = clock();
        assert_eq!(clock.judge(T0 - DAY, up), Reading { now: Timestamp(T0), believed: true });
        assert_eq!(clock.judge(T0 + 1, up).now, Timestamp(T0 + 1));
    }

    #[test]
    fn one_wrong_reading_far_ahead_is_used_and_forgotten() {
        let (clock, up) = clock();
        let wrong = clock.judge(T0 + 3650 * DAY, up);
        assert_eq!(wrong, Reading { now: Timestamp(T0 + 3650 * DAY), believed: false });
        assert_eq!(clock.judge(T0 + 5, up), Reading { now: Timestamp(T0 + 5), believed: true });
    }

    #[test]
    fn a_clock_that_stands_by_its_jump_is_believed_after_a_day() {
        let (clock, up) = clock();
        assert!(!clock.judge(T0 + 60 * DAY, up).believed);
        assert!(clock.judge(T0 + 61 * DAY, up + PROOF).believed);
        assert!(clock.judge(T0 + 61 * DAY + 1, up + PROOF).believed);
    }

    #[test]
    fn a_machine_that_slept_for_three_weeks_is_believed_at_once() {
        let (clock, up) = clock();
        assert!(clock.judge(T0 + 21 * DAY, up).believed);
    }
}
