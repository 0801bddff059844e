//! The words that both sides of loci say: what a tool takes and gives, how a shim greets the daemon, where the socket lives.
//!
//! **The protocol, told once.** An agent launches `loci mcp` and speaks MCP to it, one JSON message a line. The shim
//! connects to the socket that [`paths::Paths`] names and sends one [`hello::Hello`] line: which protocol versions it speaks,
//! whose session this is, and which project (group) the session works in. The daemon answers with one [`hello::Reply`] line.
//! From then on the agent's own lines pass through unchanged, but for one thing: the shim stamps every `tools/call` with an
//! idempotency key in `params._meta["dev.loci/key"]`, so that a call sent again after a crash takes effect once.
//!
//! A tool's arguments become a request ([`crate::requests::store::StoreRequest`], [`crate::requests::recall::RecallRequest`], [`crate::requests::stats::StatsRequest`]) through
//! [`crate::mcp::arguments::parse`], the only place where outside input is checked for shape. What comes back is a reply of the same room,
//! or a [`error::Failure`] that names the field and the next step. The doc comments of the requests are sent to language models
//! as the tools' schema (see [`tools`]); they are written for that reader.
//!
//! People's commands (`loci ctl …`) use the second socket and the shapes of [`admin`].
//!
//! Not here: any input or output beyond resolving a path, any policy, any SQL.

pub mod admin;
pub mod error;
pub mod group;
pub mod hello;
pub mod limits;
pub mod mcp;
pub mod memory;
pub mod paths;
pub mod requests;
pub mod smaps;

/// The version of this build, as both binaries report it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Key in `params._meta` under which the shim stamps its idempotency key, `<agent session>:<sequence>`.
pub const META_KEY: &str = "dev.loci/key";
