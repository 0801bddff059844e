//! Agents.

pub(crate) mod faults;
pub mod listen;
pub mod mcp;
pub(crate) mod offers;
pub mod session;
pub mod transport;
