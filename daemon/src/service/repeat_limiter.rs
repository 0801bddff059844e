//! A brake on loops: an agent that stores the same text again and again is told to stop, and nobody else notices.
//!
//! Distinct texts are never braked. Not here: what counts as the same fact (the engine merges it).

use loci_proto::error::{Code, Failure};
use loci_proto::limits;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time in which stores of one text are counted.
const MINUTE: Duration = Duration::from_mins(1);
/// Texts that are counted at once; older ones are dropped beyond that.
const TEXTS: usize = 4096;

/// How often each text was stored of late.
#[derive(Debug, Default)]
pub struct Brake {
    seen: Mutex<HashMap<u64, (Instant, u32)>>,
}

impl Brake {
    /// Counts a store of this text by this group.
    ///
    /// # Errors
    /// `busy` with the seconds to wait, from the 21st store of the text within a minute on.
    pub fn count(&self, group: &str, text: &str, now: Instant) -> Result<(), Failure> {
        let mut hasher = DefaultHasher::new();
        (group, text).hash(&mut hasher);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() >= TEXTS {
            seen.retain(|_, (since, _)| now.saturating_duration_since(*since) < MINUTE);
        }
        let (since, count) = seen.entry(hasher.finish()).or_insert((now, 0));
        if now.saturating_duration_since(*since) >= MINUTE {
            (*since, *count) = (now, 0);
        }
        *count += 1;
        if *count <= limits::REPEATED_STORES_PER_MINUTE {
            return Ok(());
        }
        let wait = MINUTE.saturating_sub(now.saturating_duration_since(*since)).as_secs() + 1;
        let message = format!(
            "the same text was stored more than {} times in a minute",
            limits::REPEATED_STORES_PER_MINUTE
        );
        Err(Failure::new(Code::Busy, message)
            .hint(format!("It is remembered; go on with something else (retry_after: {wait} s)")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_is_braked_from_the_21st_time_in_a_minute_and_no_other_text_is() {
        let (brake, start) = (Brake::default(), Instant::now());
        for _ in 0..20 {
            assert!(brake.count("g", "the same", start).is_ok());
        }
        let said = brake
            .count("g", "the same", start + Duration::from_secs(50))
            .expect_err("is braked")
            .to_string();
        assert!(said.starts_with("busy: ") && said.contains("retry_after: 11 s"), "{said}");
        assert!(
            brake.count("g", "another", start).is_ok()
                && brake.count("other", "the same", start).is_ok()
        );
        assert!(brake.count("g", "the same", start + MINUTE).is_ok());
    }
}
