//! Writes loci into the configuration of clients, and takes it out again.
//!
//! **Reading guide.** [`clients`] has one file per client, with what it wants; [`edit`] puts entries into JSON and TOML without touching
//! anything else; [`plan`] computes the [`change::Change`]s, of one file in [`draft`] and [`removal`]; [`apply`] makes them and records
//! them in the [`manifest`]; [`check`] compares the record with the files for `loci doctor`. Who writes holds the [`lock`].
//!
//! Not here: questions and output (`commands::setup`), the hooks themselves.

mod additions;
pub mod apply;
pub mod change;
pub mod check;
pub mod client;
pub mod clients;
mod draft;
pub mod edit;
pub mod environment;
pub mod event;
pub mod files;
mod hooks;
pub mod lock;
pub mod manifest;
mod other_hooks;
pub mod plan;
mod plugin;
mod program;
mod removal;
pub mod repair;
pub mod report;
pub mod switches;
pub mod trust;
pub mod uninstall;
pub mod unrecorded;
mod whole;
