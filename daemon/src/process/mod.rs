//! The process: start, locks, sockets, service manager, clock, logging and orderly shutdown.

pub mod activation;
pub mod backup_commands;
pub mod clock;
pub mod doctor_command;
pub mod encryption_commands;
pub(crate) mod own_program;
pub mod read_command;
pub mod serve;
pub mod sockets;
pub mod startup;
pub mod store_opening;
pub mod telemetry;
pub mod time_zone;
