//! Connections to the daemon: [`socket`] connects, [`connector`] says hello and retries, [`admin`], [`call`] and [`stream`] send requests of
//! the command line over the admin socket.
//!
//! Not here: the lines after the hello (`relay`), and starting a daemon (`spawn`).

pub mod admin;
pub mod backoff;
pub mod call;
pub mod connector;
pub mod socket;
pub mod stream;
pub mod unreachable;
