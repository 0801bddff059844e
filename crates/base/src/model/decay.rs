//! The current confidence of a memory: a pure function of the time since its anchor.
//!
//! The result does not depend on whether the daemon ran in between. Importance and the number of
//! accesses slow it down if that is configured. Not here: raising confidence
//! (`transaction::access`, `operations::store`).

use crate::model::importance::Importance;
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
    /// How much accesses slow decay: the logarithm of their number is multiplied by it. 0 is off.
    pub adaptive_dampening: f64,
    /// Maximum of that product. Decay is as many times plus one slower at most.
    pub adaptive_cap: f64,
    /// How much importance slows decay, 0 (off) to 1.
    pub importance: f64,
}

impl Default for Decay {
    /// × 0.95 (episodic) and × 0.99 (others) a week, as specified.
    fn default() -> Self {
        Self {
            interval_days: 7.0,
            episodic_factor: 0.95,
            semantic_factor: 0.99,
            adaptive_dampening: 0.0,
            adaptive_cap: 2.0,
            importance: 0.0,
        }
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
    /// How often it was returned in full or stored again, as far as it fits.
    pub accesses: u16,
    /// Its importance, if that is known.
    pub importance: Option<Importance>,
}

impl Anchor {
    /// Returns the anchor of a memory that was not used yet, and of whose importance nothing is known.
    #[must_use]
    pub fn new(confidence: Confidence, at: Timestamp) -> Self {
        Self { confidence, at, pinned: false, accesses: 0, importance: None }
    }
}

impl Decay {
    /// Returns the confidence at `now`: `anchor × factor ^ (age / interval × speed)`. A clock set back
    /// counts as age 0.
    pub fn at(&self, now: Timestamp, kind: MemoryType, anchor: Anchor) -> Confidence {
        if anchor.pinned {
            return anchor.confidence;
        }
        let factor =
            if kind == MemoryType::Episodic { self.episodic_factor } else { self.semantic_factor };
        let intervals = now.since(anchor.at) as f64 / (self.interval_days * DAY as f64);
        let decayed = anchor.confidence.get() * factor.powf(intervals * self.speed(anchor));
        Confidence::new(decayed.clamp(0.0, 1.0)).unwrap_or(anchor.confidence)
    }

    /// Returns whether a memory's confidence has fallen below the threshold; not that of a pinned one.
    pub fn is_dormant(
        &self,
        now: Timestamp,
        below: Confidence,
        (kind, anchor): (MemoryType, Anchor),
    ) -> bool {
        !anchor.pinned && self.at(now, kind, anchor) < below
    }

    /// Returns by what the exponent is multiplied: 1 unless accesses or importance change the speed.
    pub fn speed(&self, anchor: Anchor) -> f64 {
        if self.adaptive_dampening <= 0.0 && self.importance <= 0.0 {
            return 1.0;
        }
        let strength = self.adaptive_dampening * f64::from(anchor.accesses).ln_1p();
        let slower = 1.0 + strength.min(self.adaptive_cap);
        1.0 / (slower * Importance::factor(anchor.importance, self.importance))
    }

    /// Returns the highest speed of any memory.
    pub fn highest_speed(&self) -> f64 {
        1.0 / Importance::factor(Some(Importance::LOWEST), self.importance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn anchor(confidence: f64, at: i64) -> Anchor {
        let confidence = Confidence::new(confidence).expect("the confidence is between 0 and 1");
        Anchor::new(confidence, Timestamp(at))
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

    #[test]
    fn accesses_slow_decay_up_to_the_cap_if_that_is_configured() {
        let year = Timestamp(364 * DAY);
        let used = |accesses| Anchor { accesses, ..anchor(1.0, 0) };
        let at =
            |decay: Decay, accesses| decay.at(year, MemoryType::Episodic, used(accesses)).get();
        assert_eq!(at(Decay::default(), 1000).to_bits(), at(Decay::default(), 0).to_bits());
        let adaptive = Decay { adaptive_dampening: 0.5, adaptive_cap: 2.0, ..Decay::default() };
        assert_eq!(at(adaptive, 0).to_bits(), at(Decay::default(), 0).to_bits());
        let expected = 0.95_f64.powf(52.0 / (1.0 + 0.5 * 11.0_f64.ln()));
        assert!((at(adaptive, 10) - expected).abs() < 1e-9);
        assert!((at(adaptive, u16::MAX) - 0.95_f64.powf(52.0 / 3.0)).abs() < 1e-9, "the cap");
    }

    #[test]
    fn importance_slows_decay_and_its_lack_speeds_it_up_if_that_is_configured() {
        let year = Timestamp(364 * DAY);
        let at = |importance: f64, weight: f64| {
            let importance = Importance::try_from(importance).expect("it is in range");
            let anchor = Anchor { importance: Some(importance), ..anchor(1.0, 0) };
            let decay = Decay { importance: weight, ..Decay::default() };
            decay.at(year, MemoryType::Episodic, anchor).get()
        };
        assert_eq!(at(1.5, 0.0).to_bits(), at(0.7, 0.0).to_bits());
        assert!((at(1.5, 1.0) - 0.95_f64.powf(52.0 / 1.5)).abs() < 1e-9);
        assert!((at(0.7, 1.0) - 0.95_f64.powf(52.0 / 0.7)).abs() < 1e-9);
    }

    proptest! {
        /// Storing the value in between does not change the result, and a clock set back does not
        /// raise it.
        #[test]
        fn decay_depends_only_on_the_total_time(
            first in 0_i64..400 * DAY, then in 0_i64..400 * DAY, start in 0.0_f64..=1.0, accesses in any::<u16>(),
            importance in 0.7_f64..=1.5, dampening in 0.0_f64..=2.0, weight in 0.0_f64..=1.0,
        ) {
            let decay = Decay { adaptive_dampening: dampening, importance: weight, ..Decay::default() };
            let importance = Importance::try_from(importance).ok();
            let anchor = |start, at| Anchor { accesses, importance, ..anchor(start, at) };
            let direct = decay.at(Timestamp(first + then), MemoryType::Episodic, anchor(start, 0)).get();
            let midway = decay.at(Timestamp(first), MemoryType::Episodic, anchor(start, 0));
            let in_two_steps = decay.at(Timestamp(first + then), MemoryType::Episodic, anchor(midway.get(), first)).get();
            prop_assert!((direct - in_two_steps).abs() < 1e-9);
            prop_assert!(decay.at(Timestamp(-then), MemoryType::Episodic, anchor(start, 0)).get() <= start);
            prop_assert!(decay.speed(anchor(start, 0)) <= decay.highest_speed() + 1e-12);
        }
    }
}
