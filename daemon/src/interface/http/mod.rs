//! MCP over HTTP on the loopback address, for clients that start no program. Closed unless the configuration or `loci serve --http` opens
//! it.
//!
//! A request passes the layers of [`guard`] in the order of [`routes`]; then rmcp parses it, and the same handler answers it as on the
//! agents' socket. Every request stands alone: there are no MCP sessions, so none can be stolen. [`sessions`] groups the requests of one
//! client for `loci ctl status` and for what a session remembers. Not here: encryption and OAuth, for which a loopback address has no use;
//! another way to authenticate would replace [`guard::authenticate`].

pub mod guard;
pub mod opening;
pub mod own_address;
pub mod peer;
pub mod refusal;
pub mod routes;
pub mod server;
pub mod sessions;
pub mod token_file;
pub mod tokens;
