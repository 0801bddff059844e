//! Analysis of a query: its text, its kind, its date filter, its weighted terms, and the event that it may
//! refer to.
//!
//! Not here: searching (`search`), parsing of dates (`text::dates`).

pub(crate) mod date_filter;
pub(crate) mod event_date;
pub(crate) mod kind;
pub(crate) mod parse;
pub(crate) mod prepared;
pub(crate) mod scorer;
pub(crate) mod terms;
