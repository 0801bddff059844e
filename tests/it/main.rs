//! The whole house under test: one binary, one file a subject, each test in a home of its own.

mod activation;
mod bad_input;
mod ctl;
mod degraded;
mod ending;
mod first_use;
mod full_disk;
mod fuzz_corpus;
mod groups;
mod handshake;
mod house;
mod lifecycle;
mod many;
mod pressure;
mod privacy;
mod protocol;
mod recall;
mod sessions;
mod settings;
mod skew;
mod sockets;
mod store;
mod strangers;
mod torture;
mod turns;
mod wire;
