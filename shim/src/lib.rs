//! `loci`: the shim that agents start (`loci mcp`), and the command line for people.
//!
//! **Reading guide.** [`relay`] is the core: it passes an agent's lines to the daemon and the answers back, and survives the death of the
//! daemon. [`client`] connects to the daemon; [`spawn`] starts one if none runs. [`commands`] implements each `loci …` command in the file of its name (`loci mcp` is [`commands::mcp`]), [`cli`] defines their
//! arguments, [`speaker`] tells a person from an agent and a script, and [`output`] writes to the terminal. [`setup`] writes loci into the configuration of clients, and [`tui`] has what full-screen commands share.
//!
//! Never here: a database, a model, or the meaning of an MCP message. Every agent session runs one shim process, so it must stay small.

pub mod cli;
pub mod client;
pub mod commands;
pub mod installation;
pub mod output;
pub mod program;
mod regular_file;
pub mod relay;
pub mod setup;
pub mod spawn;
pub mod speaker;
pub mod tui;
