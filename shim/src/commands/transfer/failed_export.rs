//! Recognises an export that the daemon has ended with a failure.

use loci_proto::admin::FailedExport;
use loci_proto::error::Failure;

/// Returns the failure that ended an export, if its last line is one.
pub(super) fn failure(end: &[u8]) -> Option<Failure> {
    let last_line = end.rsplit(|byte| *byte == b'\n').find(|line| !line.is_empty())?;
    serde_json::from_slice(last_line).ok().map(|failed: FailedExport| failed.error)
}
