//! How long no call is made after failures: longer after each one, or as the provider asks.
//!
//! Not here: waiting (`sender`).

use crate::embedding::api::messages::{ApiFailure, FailureKind};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The first pause; each further failure doubles it.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause that doubling leads to.
const LONGEST: Duration = Duration::from_mins(1);
/// The pause after a fault that only a person can correct.
const UNTIL_CORRECTED: Duration = Duration::from_mins(5);

/// The pause of all threads.
#[derive(Debug, Default)]
pub struct Backoff(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    until: Option<Instant>,
}

impl Backoff {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a failure; returns when the next call may be made.
    pub fn count(&self, failure: &ApiFailure, now: Instant) -> Instant {
        let mut state = self.lock();
        let doubled = FIRST.saturating_mul(1 << state.failures.min(10)).min(LONGEST);
        state.failures = state.failures.saturating_add(1);
        let pause = match failure.kind {
            FailureKind::Key | FailureKind::Refused => UNTIL_CORRECTED,
            FailureKind::Limit | FailureKind::Usage => LONGEST,
            FailureKind::Busy | FailureKind::Unavailable => {
                failure.retry_after_s.map_or(doubled, |seconds| Duration::from_secs(seconds.max(1)))
            }
        };
        let until = state.until.unwrap_or(now).max(now + pause);
        state.until = Some(until);
        until
    }

    /// Forgets the failures: a call has succeeded, or a person asks to try again.
    pub fn reset(&self) {
        *self.lock() = State::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_a_minute_unless_the_provider_says_how_long() {
        let (backoff, now) = (Backoff::default(), Instant::now());
        let failure = |kind| ApiFailure::new(kind, "");
        let pause =
            |failure: &ApiFailure| backoff.count(failure, now).duration_since(now).as_secs();
        let server = failure(FailureKind::Unavailable);
        let pauses: Vec<u64> = (0..8).map(|_| pause(&server)).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
        backoff.reset();
        let asked = ApiFailure { retry_after_s: Some(20), ..failure(FailureKind::Busy) };
        assert_eq!(pause(&asked), 20);
        assert_eq!(pause(&server), 20, "another thread does not shorten it");
        backoff.reset();
        assert_eq!(pause(&failure(FailureKind::Key)), 300);
    }
}
