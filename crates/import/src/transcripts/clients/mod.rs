//! The formats of the clients: where each leaves its transcripts, and how to read one.

mod claude;
mod codex;
mod gemini;
mod opencode;

use crate::places::Places;
use crate::transcripts::transcript::{Step, What, collect, each_line};
use loci_proto::foreign::Client;
use serde_json::Value;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Folders below the folder of transcripts that are searched.
const MAX_DEPTH: usize = 6;

/// What could not be read of a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines that are not JSON, or too long.
    pub lines: usize,
}

/// Returns whether a transcript may have content from a time on, without opening it.
pub(super) fn may_have_changed(client: Client, file: &Path, since: i64) -> bool {
    // The newest rows of a database are in its log.
    (client == Client::Opencode && opencode::is_store(file)) || is_changed_since(file, since)
}

/// Returns whether a transcript is one of these sessions, which were read from another transcript.
pub(super) fn is_one_of(client: Client, file: &Path, sessions: &HashSet<String>) -> bool {
    client == Client::Opencode && opencode::is_one_of(file, sessions)
}

/// Returns the transcripts of a client, in the order of their paths.
pub(super) fn transcripts(client: Client, places: &Places) -> Vec<PathBuf> {
    let (folder, extension) = match client {
        Client::Claude => (places.folder("CLAUDE_CONFIG_DIR", ".claude").join("projects"), "jsonl"),
        Client::Codex => (places.folder("CODEX_HOME", ".codex").join("sessions"), "jsonl"),
        Client::Gemini => (places.home.join(".gemini/tmp"), "jsonl"),
        Client::Opencode => {
            let data = places.folder("XDG_DATA_HOME", ".local/share");
            let named = (places.variable)("OPENCODE_DB").filter(|name| !name.is_empty());
            return opencode::transcripts(&data.join("opencode"), named);
        }
    };
    let mut files = Vec::new();
    collect(&folder, extension, MAX_DEPTH, &mut files);
    files.sort();
    files
}

/// Calls `visit` with each step of a transcript. Sessions of a database that were not changed since a time are left out.
///
/// # Errors
/// The file cannot be read.
pub(super) fn read(
    client: Client,
    file: &Path,
    since: i64,
    mut visit: impl FnMut(Step),
) -> io::Result<Skipped> {
    let steps = match client {
        Client::Opencode => {
            return opencode::read(file, since, visit).map(|lines| Skipped { lines });
        }
        Client::Claude => claude::steps,
        Client::Codex => codex::steps,
        Client::Gemini => gemini::steps,
    };
    if let Some(folder) = (client == Client::Gemini).then(|| gemini::folder(file)).flatten() {
        visit(Step { line: 0, message: None, at: None, what: What::Folder(folder) });
    }
    let mut broken = 0;
    let too_long = each_line(file, |number, line| match serde_json::from_slice::<Value>(line) {
        Ok(record) => steps(number, &record).into_iter().for_each(&mut visit),
        Err(_) => broken += usize::from(!line.is_empty()),
    })?;
    Ok(Skipped { lines: broken + too_long })
}

/// Returns whether a file may have content from a time on.
fn is_changed_since(file: &Path, since: i64) -> bool {
    let since = UNIX_EPOCH + Duration::from_millis(since.max(0).cast_unsigned());
    let changed: Option<SystemTime> = file.metadata().ok().and_then(|data| data.modified().ok());
    changed.is_none_or(|changed| changed >= since)
}
