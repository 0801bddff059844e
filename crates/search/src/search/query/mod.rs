//! Analysis of a query: its text, its kind, its date filter, its weighted terms, its names and codes, and the event that it may
//! refer to.
//!
//! Not here: searching (`search`), parsing of dates (`text::dates`).

pub mod date_filter;
pub mod event_date;
pub mod kind;
pub(crate) mod marks;
pub mod parse;
pub mod prepared;
pub mod scorer;
pub mod terms;
