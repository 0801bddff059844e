//! The admin socket: HTTP with JSON, and streams for export and import.

pub(crate) mod calls;
pub(crate) mod context;
pub mod http;
pub(crate) mod http_clients;
mod open_while_connected;
pub(crate) mod screened_lines;
pub(crate) mod spool;
pub(crate) mod transfer;
pub(crate) mod viewer;
