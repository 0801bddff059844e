//! The configurable rules of maintenance.

use crate::maintain::topics::{MAX_TOPIC, SAME_TOPIC};

/// When episodes are compacted, facts promoted, and memories cleaned up. The defaults are those of
/// the specification.
#[derive(Debug, Clone, PartialEq)]
pub struct Rules {
    /// Episodes older than this many days are compacted.
    pub compaction_age_days: f64,
    /// Minimum episodes of a project and week for a summary.
    pub compaction_min_group_size: usize,
    /// Maximum memories of one summary.
    pub compaction_batch: usize,
    /// Minimum mean cosine of the memories of one summary.
    pub topic_similarity: f64,
    /// Minimum similar episodes for a fact.
    pub promotion_threshold: usize,
    /// Above this cosine two episodes count as similar.
    pub promotion_similarity: f64,
    /// Below this confidence a memory may be cleaned up.
    pub cleanup_confidence_floor: f64,
    /// Days without an access after which a memory may be cleaned up.
    pub cleanup_no_access_days: f64,
    /// Days after which a run erases forgotten memories; 0 is never.
    pub purge_forgotten_days: f64,
}

impl Rules {
    /// Returns the rules for compacting soon: small groups of episodes that are a day old.
    #[must_use]
    pub fn for_short_periods(self) -> Self {
        Self {
            compaction_age_days: 1.0,
            compaction_min_group_size: 3,
            topic_similarity: 0.3,
            ..self
        }
    }
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            compaction_age_days: 30.0,
            compaction_min_group_size: 5,
            compaction_batch: MAX_TOPIC,
            topic_similarity: SAME_TOPIC,
            promotion_threshold: 3,
            promotion_similarity: 0.88,
            cleanup_confidence_floor: 0.05,
            cleanup_no_access_days: 90.0,
            purge_forgotten_days: 0.0,
        }
    }
}
