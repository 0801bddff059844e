//! `locid`, the daemon: it serves two private sockets and, if asked to, HTTP on loopback, and owns the model and the only writer of the
//! database.
//!
//! **Reading guide.** A tool call of an agent passes [`interface::agents`] (`listen`: the connection and its hello; `transport`: a line
//! becomes a message; `mcp`: the message becomes a request) or, over HTTP, [`interface::http`], then [`handlers`] (one file per verb),
//! which use [`service`] (thread pools, embedder, configuration, clock, limiter, sessions) to run an operation of the engine on the writer
//! or a reader. A command of `loci` passes [`interface::admin`] instead, and then the same handlers. [`process`] starts and stops
//! everything in order, [`config`] reads the command line and `config.toml`, [`embedding`] runs the model on a thread of its own, and
//! [`reranking`] a cross-encoder if the user has one.
//!
//! Background work is in [`service::housekeeping`] (flushes, checkpoints, idle timeout), [`service::maintenance_run`] (compaction and
//! promotion) and [`service::index_warmup`].
//!
//! Not here: how memory works (the engine), what agents start (the shim).

pub mod config;
pub mod embedding;
pub mod handlers;
pub mod interface;
pub mod process;
pub mod program;
pub mod reranking;
pub mod service;
