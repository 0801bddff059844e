//! The memory files of clients: what they state, and what a client loads of them. Pure.
//!
//! Not here: reading the files (the daemon), the versions and the import (`operations::bridge`).

pub mod loaded;
pub(crate) mod origin;
mod screen;
pub mod statements;
pub(crate) mod wording;

pub use loaded::LoadedMemory;
pub use screen::screened;
pub use statements::{Statement, statements};
pub use wording::ComparisonBudget;
pub(crate) use wording::rewordings;
