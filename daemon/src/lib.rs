//! `locid`: the one living process of a person's memory.
//!
//! It holds the lock, listens on two private sockets, owns the warm model and the database's one writer, and lets everything end in good
//! order. A tool call passes four rooms: [`listen`] (who is there), [`transport`] (a line in, a line out), [`mcp`] (what MCP says),
//! [`service`] (one method a verb), and from there into the engine on a thread of [`workers`]. Around them: [`options`] and [`config`]
//! (what a person set), [`settled`] (what is in force, read again when told), [`lifecycle`] (folders, lock, limits), [`activation`] (the
//! service manager), [`sockets`] (their places on the disk), [`serve`] (from start to end), [`maintenance`] (the clock's work), [`clock`]
//! (what time it is), [`brake`] (agents that loop), [`http`] (`loci ctl`), [`embedding`] (the model), [`telemetry`] (logs without a
//! memory's text).
//!
//! Not here: what memory is (the engine), what agents launch (the shim).

pub mod activation;
pub mod brake;
pub mod clock;
pub mod config;
pub mod embedding;
pub mod eval;
pub mod http;
pub mod lifecycle;
pub mod listen;
mod loading;
pub mod maintenance;
pub mod mcp;
pub mod options;
pub mod runs;
pub mod serve;
pub mod service;
pub mod session;
pub mod settled;
#[cfg(test)]
#[path = "../../tests/it/skipped.rs"]
mod skipped;
pub mod sockets;
pub mod telemetry;
pub mod transport;
pub mod verbs;
pub mod workers;
