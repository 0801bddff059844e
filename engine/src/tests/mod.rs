//! Tests of the engine's operations, one file for each behaviour, and the store that they share.

mod as_of;
mod candidates;
pub(crate) mod coarse_to_fine;
pub(crate) mod collapse;
mod counts;
mod damaged_rows;
mod dates;
#[cfg(feature = "encrypted")]
mod encryption;
pub(crate) mod explain;
mod facets;
mod failpoints;
pub(crate) mod fallback_search;
pub(crate) mod fixture;
mod flipped_bytes;
mod folders;
mod forget;
pub(crate) mod graph;
mod graph_boost;
pub(crate) mod growth;
mod idempotency;
mod isolation;
pub(crate) mod languages;
mod left_log;
mod list;
mod questions;
pub(crate) mod recall;
#[path = "../../../tests/it/red_team_texts.rs"]
pub(crate) mod red_team_texts;
pub(crate) mod reembed;
mod reembed_damage;
mod scan;
pub(crate) mod search;
pub(crate) mod snapshot;
mod state_machine;
pub(crate) mod store;
mod supersede;
mod trust;
mod trust_of_changes;
pub(crate) mod undo;
mod undo_session;
