//! Notes an event that did not reach the daemon, as one short line of a small file, which the daemon reads and removes.

use crate::spawn::folders::private_file;
use loci_proto::paths::Paths;
use loci_proto::requests::hook::{HookRequest, MAX_MISSED_BYTES, MissedDelivery, SESSION_CHARS};
use std::io::Write;
use std::time::SystemTime;

/// Why an event was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reason {
    /// No daemon runs.
    Away,
    /// The daemon did not answer in time.
    Deadline,
}

/// Appends a line, unless the file is full or cannot be written.
pub(super) fn note(paths: &Paths, request: &HookRequest, reason: Reason) {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let missed = MissedDelivery {
        at: i64::try_from(since.as_millis()).unwrap_or_default(),
        client: request.client,
        event: request.event,
        session: request.session.clone().filter(|id| id.chars().count() <= SESSION_CHARS),
        why: match reason {
            Reason::Away => "away".to_owned(),
            Reason::Deadline => "deadline".to_owned(),
        },
    };
    let Ok(mut line) = serde_json::to_vec(&missed) else { return };
    line.push(b'\n');
    // Without the data folder nothing has ever been stored, and nothing was missed.
    let Ok(mut file) = private_file().append(true).open(&paths.missed_hooks) else { return };
    let length = file.metadata().map_or(u64::MAX, |metadata| metadata.len());
    if length + line.len() as u64 <= MAX_MISSED_BYTES {
        let _ = file.write_all(&line);
    }
}
