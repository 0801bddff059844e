//! The period that a summary covers: an episode belongs to its week, a week's summary to its month,
//! a month's summary to its year.
//!
//! A period is summarised only when it is old enough, so that recent memories stay unchanged. Pure.
//! Not here: topics, and the other conditions for a summary (`plan`).

use crate::maintain::Rules;
use crate::model::time::{Timestamp, days};
use serde_json::{Map, Value};

/// A month or year is summarised when it ended this many times `compaction_age_days` ago; until
/// then its summaries of shorter periods stay active.
const PERIOD_AGE_FACTOR: f64 = 3.0;

/// The kind of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PeriodKind {
    Week,
    Month,
    Year,
}

impl PeriodKind {
    /// Returns its key in the metadata of a summary.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    /// Returns the period that a summary with this metadata covers; `None` if maintenance did not
    /// write it.
    pub(crate) fn of(metadata: &Map<String, Value>) -> Option<(Self, &str)> {
        let label = |kind: Self| Some((kind, metadata.get(kind.as_str())?.as_str()?));
        metadata.get("cluster")?;
        [Self::Year, Self::Month, Self::Week].into_iter().find_map(label)
    }

    /// Returns the week (`2026-W05`), month (`2026-01`) or year (`2026`) of a time; labels of one
    /// kind sort by time.
    pub(crate) fn label(self, at: Timestamp) -> String {
        match self {
            Self::Week => at.week(),
            Self::Month => at.date()[..7].to_owned(),
            Self::Year => at.date()[..4].to_owned(),
        }
    }

    /// Returns whether a time is old enough for its period to be summarised.
    pub(crate) fn is_over(self, at: Timestamp, rules: &Rules, now: Timestamp) -> bool {
        match self {
            Self::Week => now.since(at) > days(rules.compaction_age_days),
            // The whole period must be over, so that it gets one summary per topic.
            Self::Month | Self::Year => {
                self.label(at)
                    < self.label(now.plus(-days(PERIOD_AGE_FACTOR * rules.compaction_age_days)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::moment_of;

    fn is_over(kind: PeriodKind, at: &str, now: &str) -> bool {
        kind.is_over(
            moment_of(at).expect("the text is a date"),
            &Rules::default(),
            moment_of(now).expect("the text is a date"),
        )
    }

    #[test]
    fn an_episode_is_due_at_its_age_and_a_summary_when_its_month_or_year_is_old_enough() {
        assert_eq!(
            [
                is_over(PeriodKind::Week, "2026-01-01", "2026-01-31"),
                is_over(PeriodKind::Week, "2026-01-01", "2026-02-01")
            ],
            [false, true]
        );
        assert_eq!(
            [
                is_over(PeriodKind::Month, "2026-01-01", "2026-05-01"),
                is_over(PeriodKind::Month, "2026-01-31", "2026-05-02")
            ],
            [false, true]
        );
        assert_eq!(
            [
                is_over(PeriodKind::Year, "2025-01-01", "2026-03-31"),
                is_over(PeriodKind::Year, "2025-12-31", "2026-04-01")
            ],
            [false, true]
        );
    }
}
