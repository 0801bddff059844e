//! The handles of an open store: one `Writer`, any number of `Reader`s, their shared state, and
//! opening a store.

pub(crate) mod durable;
pub(crate) mod open;
pub(crate) mod open_read_only;
pub(crate) mod reader;
pub(crate) mod settings;
pub(crate) mod shared;
pub(crate) mod writer;
