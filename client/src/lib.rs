//! Calls the loci daemon from a Rust program: stores and recalls memories of the person who runs it.
//!
//! ```no_run
//! use loci_client::Client;
//! use loci_proto::memory::MemoryType;
//! use loci_proto::requests::recall::RecallRequest;
//! use loci_proto::requests::store::StoreRequest;
//!
//! # fn main() -> Result<(), loci_client::Error> {
//! let mut loci = Client::builder("ferry-bot", "1.0").project("harbour").connect()?;
//! loci.store(&StoreRequest::new("The ferry leaves at nine", MemoryType::Semantic))?;
//! let query = Some("When does the boat depart?".to_owned());
//! let reply = loci.recall(&RecallRequest { query, ..RecallRequest::default() })?;
//! # Ok(())
//! # }
//! ```
//!
//! What a program stores has the origin and the trust of an agent's. A call blocks. If the connection breaks, the call is sent once more on
//! a new one with the same idempotency key, so it takes effect once. Not here: starting a daemon (`loci ctl start`, or any agent, does);
//! the verbs for people, which are on the admin socket ([`loci_proto::admin`]).

mod builder;
mod client;
mod connection;
mod error;

pub use builder::Builder;
pub use client::Client;
pub use error::Error;
