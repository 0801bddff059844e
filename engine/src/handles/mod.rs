//! The handles of an open store: one `Writer`, any number of `Reader`s, what they share, and how a store is opened.

pub(crate) mod open;
pub(crate) mod reader;
pub(crate) mod settings;
pub(crate) mod shared;
pub(crate) mod writer;
