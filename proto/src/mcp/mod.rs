//! Mcp.

pub mod arguments;
pub mod handshake;
pub mod offers;
pub mod tools;
