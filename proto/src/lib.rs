//! The protocol between the shim (`loci`) and the daemon (`locid`): requests, replies, errors, the hello line, and paths.
//!
//! **A session of an agent.** An agent starts `loci mcp` and speaks MCP with it, one JSON message per line. The shim connects to the socket
//! [`paths::Paths::socket`] and sends one [`hello::Hello`] line with the protocol versions that it supports, the session, and its project
//! ([`group`]). The daemon answers with one [`hello::Reply`] line. After that the shim passes the agent's lines
//! unchanged, with one exception: it adds an idempotency key to every `tools/call` ([`mcp::idempotency::META_KEY`]), so that a call that is
//! sent again after a crash takes effect once.
//!
//! **A call.** [`requests::Request::parse`] turns the name and the arguments of a call into a request; the types of outside input are
//! checked only there. The reply is the struct in the same module as the request, or an [`error::Failure`] with the name of the argument
//! and the next step. The doc comments of the fields of agents' requests are sent to language models as the schema of the tools
//! ([`mcp::tools`]). The documentation of each module in [`requests`] has an example of its request and reply.
//!
//! **A user's command.** `loci ctl` and the other commands use the second socket, [`paths::Paths::admin_socket`]: HTTP with the bodies of
//! [`admin`]. `POST /verbs/NAME` calls a verb of [`requests::Request`].
//!
//! Reading order: [`memory`] and [`group`] (the basic types), [`requests`], [`mcp`], [`hello`], [`admin`], [`error`], [`limits`],
//! [`paths`].
//!
//! Not here: input and output other than resolving paths, policy, SQL.

pub mod admin;
pub mod as_of;
pub mod bounded_numbers;
pub mod cost;
pub mod counted;
pub mod degraded;
pub mod encryption;
pub mod error;
pub mod error_text;
pub mod foreign;
pub mod gate;
pub mod git_blob;
pub mod group;
pub mod hello;
pub mod http;
pub mod limits;
pub mod locale;
pub mod mcp;
pub mod memory;
pub mod off;
pub mod paths;
pub mod requests;
pub mod sanitize;
mod version;
pub mod view;
pub mod when;
pub mod wish;

pub use version::VERSION;
