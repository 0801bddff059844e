//! Model.

pub(crate) mod content;
pub mod decay;
pub mod encoding;
pub(crate) mod names;
pub mod time;
pub(crate) mod visibility;
