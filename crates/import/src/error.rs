//! The result of reading.

use loci_proto::error::Failure;

/// The result of reading; a failure names the file and the next step.
pub type Result<T> = std::result::Result<T, Failure>;
