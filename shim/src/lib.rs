//! `loci`: what agents launch (`loci mcp`), and the command line of people.
//!
//! **Where to begin.** [`relay`] is the heart: an agent's lines go to the daemon and the answers come back, whatever happens to the
//! daemon. It reaches it through [`client`], which looks who answers, says hello, and has [`spawn`] start a daemon where there is none.
//! [`group`] finds out which project the session works in; [`mcp`] puts these together. People's commands are [`verbs`] (one file a
//! command about memories), [`ctl`], [`config`], [`lifecycle`], [`transfer`], [`groups`], [`reset`], [`doctor`], [`eval`], [`model`] and
//! [`demo`]; [`cli`] defines them all, [`pages`] prints what is made of the definitions, and [`output`] speaks to the terminal.
//!
//! Not here, and never to be: a database, a model, and what a message of MCP means. The shim is small because an agent keeps one
//! for every session.

pub mod cli;
pub mod client;
pub mod config;
pub mod ctl;
pub mod demo;
pub mod doctor;
pub mod eval;
pub mod group;
pub mod groups;
pub mod lifecycle;
pub mod mcp;
pub mod model;
pub mod output;
pub mod pages;
pub mod relay;
pub mod reset;
#[cfg(test)]
#[path = "../../tests/it/skipped.rs"]
mod skipped;
pub mod spawn;
pub mod transfer;
pub mod verbs;
