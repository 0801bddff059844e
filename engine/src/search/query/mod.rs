//! Query.

pub(crate) mod date_filter;
pub(crate) mod event_date;
pub(crate) mod parse;
