//! Interface.

pub mod admin;
pub mod agents;
