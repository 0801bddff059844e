//! Admin.

pub mod http;
pub(crate) mod spool;
pub(crate) mod transfer;
