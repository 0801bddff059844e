//! A record as JSON, and the error for one that cannot be written.

use crate::error::Result;
use loci_proto::error::{Code, Failure};
use serde::Serialize;

pub(crate) fn to_json(value: &impl Serialize) -> Result<String> {
    Ok(serde_json::to_string(value).map_err(|e| Failure::new(Code::Internal, e.to_string()))?)
}

#[expect(clippy::needless_pass_by_value, reason = "passed to map_err")]
pub(crate) fn write_error(error: std::io::Error) -> crate::error::Error {
    Failure::new(Code::StorageFailed, format!("the export could not be written: {error}")).into()
}
