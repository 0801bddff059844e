//! The days that a recall is asked to keep to.
//!
//! Not here: which day a memory is of (`index`), times that a question names (`soft`).

use crate::error::Result;
use crate::model::time;
use loci_proto::error::Failure;
use loci_proto::requests::recall::RecallRequest;

/// The days of the memories that may be found: of the event, else before the text, else of storing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Days {
    from: Option<i32>,
    to: Option<i32>,
}

impl Days {
    /// The days that a request asks for.
    ///
    /// # Errors
    /// `invalid`, naming the field that is no day or the two that are the wrong way round.
    pub(crate) fn of(request: &RecallRequest) -> Result<Self> {
        let day = |text: &Option<String>, field| {
            text.as_deref().map(|text| time::day_of(text, field)).transpose()
        };
        let days = Self {
            from: day(&request.date_from, "date_from")?,
            to: day(&request.date_to, "date_to")?,
        };
        match days {
            Self { from: Some(from), to: Some(to) } if from > to => {
                Err(Failure::invalid("date_from", "is after date_to")
                    .hint("Exchange the two, or leave one out")
                    .into())
            }
            _ => Ok(days),
        }
    }

    /// Whether a memory of this day may be found; where no days are asked for, one without a day, too.
    pub(crate) fn admit(self, day: Option<i32>) -> bool {
        self == Self::default() || self.hold(day)
    }

    /// Whether a memory of this day is among those asked for.
    pub(crate) fn hold(self, day: Option<i32>) -> bool {
        day.is_some_and(|day| {
            self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
        })
    }
}
