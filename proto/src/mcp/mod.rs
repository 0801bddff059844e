//! The parts of MCP that both programs need: tools, prompts, resources, the handshake, and the checking of arguments.

pub mod arguments;
pub mod guidance;
pub mod handshake;
pub mod idempotency;
pub mod prompts;
pub mod resources;
pub mod tools;
