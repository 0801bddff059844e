//! Which stretch of time a memory is summed up with: an episode with its week, a week's summary with its month, a month's with its year.
//!
//! Each is left alone until it is old enough, so that what is in use stays as it is. Pure. Not here: topics, and what else a memory must
//! be to be summed up (`plan`).

use crate::maintain::Rules;
use crate::model::time::{Timestamp, days};
use serde_json::{Map, Value};

/// How many times the age of an episode the last day of a month or year has to be away: the weeks' summaries serve in the meantime.
const SETTLED: f64 = 3.0;

/// A stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Span {
    Week,
    Month,
    Year,
}

impl Span {
    /// Its name in the metadata of a summary.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    /// What a summary of this metadata stands for; none for one that was not made here.
    pub(crate) fn of(metadata: &Map<String, Value>) -> Option<(Self, &str)> {
        let label = |span: Self| Some((span, metadata.get(span.as_str())?.as_str()?));
        metadata.get("cluster")?;
        [Self::Year, Self::Month, Self::Week].into_iter().find_map(label)
    }

    /// The week (`2026-W05`), month (`2026-01`) or year (`2026`) of a moment; labels of one kind sort by time.
    pub(crate) fn label(self, at: Timestamp) -> String {
        match self {
            Self::Week => at.week(),
            Self::Month => at.date()[..7].to_owned(),
            Self::Year => at.date()[..4].to_owned(),
        }
    }

    /// Whether what happened at a moment is old enough to be summed up with the rest of its stretch.
    pub(crate) fn is_over(self, at: Timestamp, rules: &Rules, now: Timestamp) -> bool {
        match self {
            Self::Week => now.since(at) > days(rules.compaction_age_days),
            // The whole of it, so that its summaries do not come in portions.
            Self::Month | Self::Year => {
                self.label(at) < self.label(now.plus(-days(SETTLED * rules.compaction_age_days)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::time::moment_of;

    fn over(span: Span, at: &str, now: &str) -> bool {
        span.is_over(
            moment_of(at).expect("is a date"),
            &Rules::default(),
            moment_of(now).expect("is a date"),
        )
    }

    #[test]
    fn an_episode_waits_for_its_age_and_a_summary_for_its_whole_month_or_year() {
        assert_eq!(
            [
                over(Span::Week, "2026-01-01", "2026-01-31"),
                over(Span::Week, "2026-01-01", "2026-02-01")
            ],
            [false, true]
        );
        assert_eq!(
            [
                over(Span::Month, "2026-01-01", "2026-05-01"),
                over(Span::Month, "2026-01-31", "2026-05-02")
            ],
            [false, true]
        );
        assert_eq!(
            [
                over(Span::Year, "2025-01-01", "2026-03-31"),
                over(Span::Year, "2025-12-31", "2026-04-01")
            ],
            [false, true]
        );
    }
}
