//! The interfaces of the daemon: MCP for agents, on a socket and over HTTP; HTTP with JSON for `loci ctl` and the other commands.

pub mod admin;
pub mod agents;
pub mod http;
pub(crate) mod view;
