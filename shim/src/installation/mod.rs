//! This installation of loci: how it came onto the machine, and its service.
//!
//! Not here: the data (`proto::paths`), and what clients are configured with.

pub mod origin;
pub mod service;
pub mod service_files;
pub mod shell;
