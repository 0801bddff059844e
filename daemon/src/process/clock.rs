//! The daemon's clock: the wall clock, as far as it is to be believed.
//!
//! A clock that is set back stands still until it has caught up, so that nothing ages twice and no confidence rises. A clock that jumps
//! ahead by more than [`LEAP`] is used, since the machine may have slept that long, but it is not remembered until it has stood for
//! [`PROOF`], in this run or since an earlier one: one wrong reading must not hold the store in the future for good.

use loci_engine::model::time::{DAY, Timestamp};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A jump that a clock has to prove, in milliseconds.
const LEAP: i64 = 30 * DAY;
/// How long a clock has to stand by a jump.
const PROOF: Duration = Duration::from_hours(24);
/// The same in milliseconds.
const PROOF_MS: i64 = DAY;

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
    /// The latest moment that was believed; none until the store has said what it has seen.
    latest: Option<i64>,
    /// Since when in this run the wall clock has been far ahead of it.
    leapt_at: Option<Instant>,
    /// The first reading far ahead that an earlier run has noted.
    suspected: Option<i64>,
}

impl Clock {
    /// Tells of the latest moment that the store has seen before this start. Until then no reading is believed.
    ///
    /// `suspected` is the first reading far ahead of that moment, if one was noted.
    pub fn has_seen(&self, moment: Timestamp, suspected: Option<Timestamp>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.suspected = suspected.map(|at| at.0);
        known.latest = Some(known.latest.map_or(moment.0, |latest| latest.max(moment.0)));
    }

    /// The time now.
    #[must_use]
    pub fn read(&self) -> Reading {
        let wall = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX));
        self.judge(wall, Instant::now())
    }

    fn judge(&self, wall: i64, at: Instant) -> Reading {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(latest) = known.latest else {
            return Reading { now: Timestamp(wall), believed: false };
        };
        // A store that has seen nothing yet believes the first clock that it sees.
        let leap = latest > 0 && wall - latest > LEAP;
        let stood_by =
            known.suspected.is_some_and(|since| (PROOF_MS..=LEAP).contains(&(wall - since)));
        if leap
            && !stood_by
            && at.saturating_duration_since(*known.leapt_at.get_or_insert(at)) < PROOF
        {
            return Reading { now: Timestamp(wall), believed: false };
        }
        known.leapt_at = None;
        let now = latest.max(wall);
        known.latest = Some(now);
        Reading { now: Timestamp(now), believed: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: i64 = 1_770_000_000_000;

    fn clock() -> (Clock, Instant) {
        let clock = Clock::default();
        clock.has_seen(Timestamp(T0), None);
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
    fn before_the_store_has_spoken_no_reading_is_believed_and_none_is_kept() {
        let (clock, up) = (Clock::default(), Instant::now());
        assert!(!clock.judge(T0 + 365 * DAY, up).believed);
        clock.has_seen(Timestamp(T0), None);
        assert!(
            !clock.judge(T0 + 365 * DAY, up).believed,
            "a wrong clock at the start is found out"
        );
        assert_eq!(clock.judge(T0 + 7, up), Reading { now: Timestamp(T0 + 7), believed: true });
    }

    #[test]
    fn a_new_store_believes_the_first_clock() {
        let clock = Clock::default();
        clock.has_seen(Timestamp(0), None);
        assert!(clock.judge(T0, Instant::now()).believed);
    }

    #[test]
    fn a_jump_that_an_earlier_run_has_noted_is_believed_a_day_later() {
        let (noted, up) = (Timestamp(T0 + 60 * DAY), Instant::now());
        let clock = Clock::default();
        clock.has_seen(Timestamp(T0), Some(noted));
        assert!(!clock.judge(noted.0 + DAY / 2, up).believed);
        assert!(clock.judge(noted.0 + DAY, up).believed);
    }

    #[test]
    fn a_machine_that_slept_for_three_weeks_is_believed_at_once() {
        let (clock, up) = clock();
        assert!(clock.judge(T0 + 21 * DAY, up).believed);
    }
}
