//! The current confidence of a memory: a pure function of the time since its anchor.
//!
//! The result does not depend on whether the daemon ran in between. Not here: raising confidence
//! (`transaction::access`, `operations::store`).

use crate::model::time::{DAY, Timestamp};
use loci_proto::memory::{Confidence, MemoryType};

/// The rate of decay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decay {
    /// Days after which confidence is multiplied by the factor once.
    pub interval_days: f64,
    /// Factor for an episodic memory per interval, above 0 and at most 1.
    pub episodic_factor: f64,
    /// Factor for any other memory per interval, above 0 and at most 1.
    pub semantic_factor: f64,
}

impl Default for Decay {
    /// × 0.95 (episodic) and × 0.99 (others) a week, as specified.
    fn default() -> Self {
        Self { interval_days: 7.0, episodic_factor: 0.95, semantic_factor: 0.99 }
    }
}

/// The last stored confidence of a memory, and its time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// The confidence at the time `at`.
    pub confidence: Confidence,
    /// The time when the confidence was stored.
    pub at: Timestamp,
    /// Pinned memories do not decay.
    pub pinned: bool,
}

impl Decay {
    /// Returns the confidence at `now`: `anchor × factor ^ (age / interval)`. A clock set back
    /// counts as age 0.
    #[must_use]
    pub fn at(&self, now: Timestamp, kind: MemoryType, anchor: Anchor) -> Confidence {
        if anchor.pinned {
            return anchor.confidence;
        }
        let factor =
            if kind == MemoryType::Episodic { self.episodic_factor } else { self.semantic_factor };
        let intervals = now.since(anchor.at) as f64 / (self.interval_days * DAY as f64);
        let decayed = anchor.confidence.get() * factor.powf(intervals);
        Confidence::new(decayed.clamp(0.0, 1.0)).unwrap_or(anchor.confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn anchor(confidence: f64, at: i64) -> Anchor {
        Anchor {
            confidence: Confidence::new(confidence).expect("the confidence is between 0 and 1"),
            at: Timestamp(at),
            pinned: false,
        }
    }

    #[test]
    fn an_episode_loses_five_percent_a_week_and_a_fact_one() {
        let week = Timestamp(7 * DAY);
        let decay = Decay::default();
        assert!((decay.at(week, MemoryType::Episodic, anchor(1.0, 0)).get() - 0.95).abs() < 1e-9);
        assert!((decay.at(week, MemoryType::Entity, anchor(1.0, 0)).get() - 0.99).abs() < 1e-9);
        assert_eq!(
            decay.at(week, MemoryType::Episodic, Anchor { pinned: true, ..anchor(0.7, 0) }),
            anchor(0.7, 0).confidence
        );
    }

    proptest! {
        /// Storing the value in between does not change the result, and a clock set back does not
        /// raise it.
        #[test]
        fn decay_depends_only_on_the_total_time(first in 0_i64..400 * DAY, then in 0_i64..400 * DAY, start in 0.0_f64..=1.0) {
            let decay = Decay::default();
            let direct = decay.at(Timestamp(first + then), MemoryType::Episodic, anchor(start, 0)).get();
            let midway = decay.at(Timestamp(first), MemoryType::Episodic, anchor(start, 0));
            let in_two_steps = decay.at(Timestamp(first + then), MemoryType::Episodic, anchor(midway.get(), first)).get();
            prop_assert!((direct - in_two_steps).abs() < 1e-9);
            prop_assert!(decay.at(Timestamp(-then), MemoryType::Episodic, anchor(start, 0)).get() <= start);
        }
    }
}
