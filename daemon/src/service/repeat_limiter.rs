//! Rate limiter for repeated stores: an agent that stores the same text in a loop is refused with `busy`.
//!
//! Distinct texts are never limited. Not here: merging texts that state the same fact (the engine).

use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Length of the window in which the stores of one text are counted.
const WINDOW: Duration = Duration::from_mins(1);
/// Number of counted texts from which texts whose window has ended are dropped.
const MAX_TEXTS: usize = 4096;

/// Counts the recent stores of each text.
#[derive(Debug, Default)]
pub struct RepeatLimiter {
    /// The current window of each text, by the hash of group and text.
    windows: Mutex<HashMap<u64, CountedWindow>>,
}

#[derive(Debug)]
struct CountedWindow {
    start: Instant,
    count: u32,
}

impl RepeatLimiter {
    /// Counts a store of this text by this group.
    ///
    /// # Errors
    /// `busy` with the seconds to wait, from the 21st store of the text within a minute.
    pub fn count(&self, group: &str, text: &str, now: Instant) -> Result<(), Failure> {
        let mut hasher = DefaultHasher::new();
        (group, text).hash(&mut hasher);
        let age = |window: &CountedWindow| now.saturating_duration_since(window.start);
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= MAX_TEXTS {
            windows.retain(|_, window| age(window) < WINDOW);
        }
        let fresh = CountedWindow { start: now, count: 0 };
        let window = windows.entry(hasher.finish()).or_insert(fresh);
        if age(window) >= WINDOW {
            *window = CountedWindow { start: now, count: 0 };
        }
        window.count += 1;
        if window.count <= limits::REPEATED_STORES_PER_MINUTE {
            return Ok(());
        }
        let wait = WINDOW.saturating_sub(age(window)).as_secs() + 1;
        let message = format!(
            "the same text was stored more than {} times in a minute",
            limits::REPEATED_STORES_PER_MINUTE
        );
        Err(Failure::new(Code::Busy, message).hint(format!(
            "It is stored already; continue with something else (retry_after: {wait} s)"
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_21st_store_of_a_text_in_a_minute_is_refused_and_no_other_text_is() {
        let (limiter, start) = (RepeatLimiter::default(), Instant::now());
        for _ in 0..20 {
            assert!(limiter.count("g", "the same", start).is_ok());
        }
        let refused = limiter
            .count("g", "the same", start + Duration::from_secs(50))
            .expect_err("the 21st store is refused")
            .to_string();
        assert!(
            refused.starts_with("busy: ") && refused.contains("retry_after: 11 s"),
            "{refused}"
        );
        assert!(
            limiter.count("g", "another", start).is_ok()
                && limiter.count("other", "the same", start).is_ok()
        );
        assert!(limiter.count("g", "the same", start + WINDOW).is_ok());
    }
}
