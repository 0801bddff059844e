//! The date filter of a recall or a list: `date_from` and `date_to`.
//!
//! Not here: the day of a memory (`index::features`), times that the query text names
//! (`text::dates`).

use loci_base::Result;
use loci_base::model::time::{self, Timestamp};
use loci_proto::error::Failure;

/// The days that a result must be of; open where an end is `None`.
///
/// The day of a memory is that of its event, else the one that its text names, else the day when it
/// was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateFilter {
    from: Option<i32>,
    to: Option<i32>,
}

impl DateFilter {
    /// Parses the filter of a request.
    ///
    /// # Errors
    /// `invalid`, naming the field that is not a date, or `date_from` if it is after `date_to`.
    pub fn parse(date_from: Option<&str>, date_to: Option<&str>, now: Timestamp) -> Result<Self> {
        let day =
            |text: Option<&str>, field| text.map(|text| time::day_of(text, field, now)).transpose();
        let filter = Self { from: day(date_from, "date_from")?, to: day(date_to, "date_to")? };
        match filter {
            Self { from: Some(from), to: Some(to) } if from > to => {
                Err(Failure::invalid("date_from", "is after date_to")
                    .hint("Exchange the two, or leave one out"))
            }
            _ => Ok(filter),
        }
    }

    /// Whether the filter admits every memory.
    pub fn is_open(self) -> bool {
        self == Self::default()
    }

    /// Whether the filter admits a memory of this day. An open filter also admits memories without
    /// a day.
    pub fn admits(self, day: Option<i32>) -> bool {
        self.is_open()
            || day.is_some_and(|day| {
                self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
            })
    }
}
