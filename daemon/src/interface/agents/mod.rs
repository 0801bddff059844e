//! The agents' socket: connections, sessions, and MCP over lines.

mod exits;
pub(crate) mod faults;
pub mod followed;
pub(crate) mod line_reader;
pub mod listen;
pub mod mcp;
pub(crate) mod prompts;
pub mod recognised;
pub(crate) mod resources;
pub mod session;
mod short_ids;
pub mod shown;
pub mod transport;
