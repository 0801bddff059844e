//! Times that a query refers to: calendar dates, times relative to today, and events. Pure.
//!
//! `calendar` and `relative` parse English, `cldr` other languages, `span` turns a time and a
//! relation ("before", "since") into days with a fall-off, `references` combines the times of one
//! query, `event_reference` parses events. `event_day` finds the day that a stored text names,
//! `relative_day` the one that "yesterday" in it means. Not here: the day of a memory
//! (`index::features`), the day of an event (`search::query::event_date`).

mod calendar;
mod cldr;
mod cldr_table;
pub mod event_day;
mod event_reference;
mod references;
mod relative;
pub mod relative_day;
mod span;

pub use calendar::is_month;
pub use event_reference::EventReference;
pub use references::DateReferences;
