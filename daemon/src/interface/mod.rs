//! The two interfaces of the daemon: MCP for agents, HTTP with JSON for `loci ctl` and the other commands.

pub mod admin;
pub mod agents;
