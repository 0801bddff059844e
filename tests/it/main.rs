//! The whole house under test: one binary, one file a subject, each test in a home of its own.

mod activation;
mod bad_input;
mod cli_screens;
mod cli_terminal;
mod ctl;
mod degraded;
mod first_use;
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
mod settings_bad;
mod settings_live;
mod sockets;
mod store;
mod torture;
mod turns;
mod wire;
