//! Process.

pub mod activation;
pub mod clock;
pub mod serve;
pub mod sockets;
pub mod startup;
pub mod telemetry;
