//! The whole house under test: one binary, one file a subject, each test in a home of its own.

mod bad_input;
mod ctl;
mod degraded;
mod first_use;
mod handshake;
mod house;
mod lifecycle;
mod many;
mod privacy;
mod protocol;
mod recall;
mod settings;
mod store;
mod torture;
