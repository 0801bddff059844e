//! `[maintenance]`: how memories age, when they are compacted, promoted and purged, and when that runs. Not here: what a run does
//! (the engine), whether one is due (`service::scheduler`).

use crate::config::allowed::check_all;
use loci_engine::maintain::Rules;
use loci_engine::model::decay::Decay;
use loci_proto::error::Failure;
use loci_proto::memory::Confidence;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// An hour, in days.
const HOUR_IN_DAYS: f64 = 1.0 / 24.0;
/// Seconds of a minute.
const MINUTE: f64 = 60.0;

/// Minimum of `maintenance.idle_minutes`, unless it is 0.
const MIN_IDLE_MINUTES: f64 = 0.01;

/// `[maintenance]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Maintenance {
    /// Compact and promote in the background while no call arrives.
    pub enabled: bool,
    /// Days in which a decay factor is applied once; also the days between two maintenance runs.
    pub interval_days: f64,
    /// Also run after this many minutes without a call, once each time; 0 is off.
    pub idle_minutes: f64,
    /// Factor applied to the confidence of an episodic memory per interval, 0.01 to 1.
    pub episodic_decay_factor: f64,
    /// Factor applied to the confidence of any other memory per interval, 0.01 to 1.
    pub semantic_decay_factor: f64,
    /// How much accesses slow decay; 0 is off.
    pub adaptive_dampening: f64,
    /// By how many times accesses slow decay at most, in addition to its own speed.
    pub adaptive_cap: f64,
    /// How much importance slows decay, 0 (not) to 1.
    pub importance: f64,
    /// Below this confidence a memory is dormant; 0 is off.
    pub dormant_threshold: f64,
    /// Age in days from which episodes are compacted.
    pub compaction_age_days: f64,
    /// Minimum number of episodes of one project and week that are compacted.
    pub compaction_min_group_size: i64,
    /// Maximum number of memories of one summary, 3 to 200.
    pub compaction_batch: i64,
    /// Minimum mean cosine of the memories of one summary, 0 to 1.
    pub compaction_topic_similarity: f64,
    /// Compact soon: every hour, small groups of episodes that are a day old.
    pub compaction_short_period: bool,
    /// Minimum number of episodes with the same statement that are promoted to a fact.
    pub promotion_threshold: i64,
    /// Cosine above which two episodes have the same statement, 0.5 to 1.
    pub promotion_similarity: f64,
    /// A cleanup forgets only memories whose confidence is below this, 0 to 1.
    pub cleanup_confidence_floor: f64,
    /// A cleanup forgets only memories that were not used for this many days.
    pub cleanup_no_access_days: f64,
    /// A run erases memories that were forgotten this many days ago; 0 is never.
    pub purge_forgotten_days: f64,
}

/// When maintenance runs automatically.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// `maintenance.enabled`
    pub enabled: bool,
    /// `maintenance.interval_days`
    pub interval_days: f64,
    /// `maintenance.idle_minutes`; `None` if that is off.
    pub idle: Option<Duration>,
}

impl Default for Maintenance {
    fn default() -> Self {
        let (decay, rules) = (Decay::default(), Rules::default());
        Self {
            enabled: false,
            interval_days: decay.interval_days,
            idle_minutes: 0.0,
            episodic_decay_factor: decay.episodic_factor,
            semantic_decay_factor: decay.semantic_factor,
            adaptive_dampening: decay.adaptive_dampening,
            adaptive_cap: decay.adaptive_cap,
            importance: decay.importance,
            dormant_threshold: 0.0,
            compaction_age_days: rules.compaction_age_days,
            compaction_min_group_size: i64::try_from(rules.compaction_min_group_size).unwrap_or(5),
            compaction_batch: i64::try_from(rules.compaction_batch).unwrap_or(40),
            compaction_topic_similarity: rules.topic_similarity,
            compaction_short_period: false,
            promotion_threshold: i64::try_from(rules.promotion_threshold).unwrap_or(3),
            promotion_similarity: rules.promotion_similarity,
            cleanup_confidence_floor: rules.cleanup_confidence_floor,
            cleanup_no_access_days: rules.cleanup_no_access_days,
            purge_forgotten_days: rules.purge_forgotten_days,
        }
    }
}

impl Maintenance {
    /// Refuses a number out of range.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn check(&self) -> Result<(), Failure> {
        let zero_to_one = 0.0..=1.0;
        if self.idle_minutes > 0.0 && self.idle_minutes < MIN_IDLE_MINUTES {
            let key = "maintenance.idle_minutes";
            let message = format!(
                "must be 0 or from {MIN_IDLE_MINUTES} to 525600, not {}",
                self.idle_minutes
            );
            return Err(Failure::invalid(key, message).hint("0 switches it off"));
        }
        check_all([
            ("maintenance.interval_days", self.interval_days, 0.01..=3650.0),
            ("maintenance.idle_minutes", self.idle_minutes, 0.0..=525_600.0),
            ("maintenance.episodic_decay_factor", self.episodic_decay_factor, 0.01..=1.0),
            ("maintenance.semantic_decay_factor", self.semantic_decay_factor, 0.01..=1.0),
            ("maintenance.adaptive_dampening", self.adaptive_dampening, 0.0..=10.0),
            ("maintenance.adaptive_cap", self.adaptive_cap, 0.0..=100.0),
            ("maintenance.importance", self.importance, zero_to_one.clone()),
            ("maintenance.dormant_threshold", self.dormant_threshold, zero_to_one.clone()),
            ("maintenance.compaction_age_days", self.compaction_age_days, 1.0..=36500.0),
            (
                "maintenance.compaction_min_group_size",
                self.compaction_min_group_size as f64,
                2.0..=1000.0,
            ),
            ("maintenance.compaction_batch", self.compaction_batch as f64, 3.0..=200.0),
            (
                "maintenance.compaction_topic_similarity",
                self.compaction_topic_similarity,
                zero_to_one.clone(),
            ),
            ("maintenance.promotion_threshold", self.promotion_threshold as f64, 2.0..=1000.0),
            ("maintenance.promotion_similarity", self.promotion_similarity, 0.5..=1.0),
            ("maintenance.cleanup_confidence_floor", self.cleanup_confidence_floor, zero_to_one),
            ("maintenance.cleanup_no_access_days", self.cleanup_no_access_days, 1.0..=36500.0),
            ("maintenance.purge_forgotten_days", self.purge_forgotten_days, 0.0..=36500.0),
        ])
    }

    /// Returns when maintenance runs automatically.
    #[must_use]
    pub fn schedule(&self) -> Schedule {
        let idle = Duration::from_secs_f64(self.idle_minutes.max(0.0) * MINUTE);
        Schedule {
            enabled: self.enabled,
            interval_days: if self.compaction_short_period {
                self.interval_days.min(HOUR_IN_DAYS)
            } else {
                self.interval_days
            },
            idle: (!idle.is_zero()).then_some(idle),
        }
    }

    /// Returns how confidence decays.
    #[must_use]
    pub fn decay(&self) -> Decay {
        Decay {
            interval_days: self.interval_days,
            episodic_factor: self.episodic_decay_factor,
            semantic_factor: self.semantic_decay_factor,
            adaptive_dampening: self.adaptive_dampening,
            adaptive_cap: self.adaptive_cap,
            importance: self.importance,
        }
    }

    /// Returns the confidence below which a memory is dormant; `None` if that is off.
    #[must_use]
    pub fn dormant_threshold(&self) -> Option<Confidence> {
        Confidence::new(self.dormant_threshold).ok().filter(|below| below.get() > 0.0)
    }

    /// Returns what a run does.
    #[must_use]
    pub fn rules(&self) -> Rules {
        let count = |n: i64| usize::try_from(n).unwrap_or(0);
        let rules = Rules {
            compaction_age_days: self.compaction_age_days,
            compaction_min_group_size: count(self.compaction_min_group_size),
            compaction_batch: count(self.compaction_batch),
            topic_similarity: self.compaction_topic_similarity,
            promotion_threshold: count(self.promotion_threshold),
            promotion_similarity: self.promotion_similarity,
            cleanup_confidence_floor: self.cleanup_confidence_floor,
            cleanup_no_access_days: self.cleanup_no_access_days,
            purge_forgotten_days: self.purge_forgotten_days,
        };
        if self.compaction_short_period { rules.for_short_periods() } else { rules }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use std::path::Path;
    use std::time::Duration;

    fn parsed(text: &str) -> Config {
        let text = format!("[maintenance]\n{text}\n");
        Config::from_text(&text, Path::new("/x/config.toml")).expect("the text is valid")
    }

    #[test]
    fn the_short_period_runs_hourly_and_does_not_change_decay() {
        let usual = parsed("enabled = true");
        let short = parsed("enabled = true\ncompaction_short_period = true");
        assert!((short.schedule().interval_days - 1.0 / 24.0).abs() < 1e-9);
        assert_eq!(short.settings().decay, usual.settings().decay);
        let (short, usual) = (short.settings().rules, usual.settings().rules);
        let sizes = |rules: &loci_engine::maintain::Rules| rules.compaction_min_group_size;
        assert!(short.compaction_age_days < usual.compaction_age_days);
        assert!(sizes(&short) < sizes(&usual) && short.topic_similarity < usual.topic_similarity);
    }

    #[test]
    fn an_idle_time_too_short_to_be_one_is_refused() {
        for minutes in ["1e-300", "0.009", "-1", "nan"] {
            let text = format!("[maintenance]\nidle_minutes = {minutes}\n");
            let refused = Config::from_text(&text, Path::new("/x/config.toml"));
            let refused = refused.expect_err("is refused").to_string();
            assert!(refused.contains("maintenance.idle_minutes must be"), "{refused}");
        }
        assert_eq!(parsed("idle_minutes = 0.01").schedule().idle, Some(Duration::from_millis(600)));
    }

    #[test]
    fn zero_switches_each_of_the_options_off_and_is_the_default() {
        let all = parsed(
            "idle_minutes = 0.5\ndormant_threshold = 0.01\npurge_forgotten_days = 30\ncompaction_batch = 12\n\
             compaction_topic_similarity = 0.5\nadaptive_dampening = 0.5\nimportance = 1",
        );
        assert_eq!(all.schedule().idle, Some(Duration::from_secs(30)));
        let settings = all.settings();
        assert_eq!(settings.dormant_threshold.map(loci_proto::memory::Confidence::get), Some(0.01));
        assert_eq!(
            (settings.rules.purge_forgotten_days, settings.rules.compaction_batch),
            (30.0, 12)
        );
        assert_eq!((settings.rules.topic_similarity, settings.decay.importance), (0.5, 1.0));
        let none = parsed("");
        assert_eq!((none.schedule().idle, none.settings().dormant_threshold), (None, None));
        let rules = none.settings().rules;
        assert_eq!((rules.purge_forgotten_days, none.settings().decay.importance), (0.0, 0.0));
    }
}
