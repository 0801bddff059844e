//! Reads the transcripts that clients left on the disk, and takes what is worth remembering: preferences of the user, decisions, commands
//! that worked, errors and what mended them.
//!
//! Fixed rules, no model. Files are read as streams, within bounded memory; no part of a conversation is kept but a statement or a
//! command, and where it stands. Not here: the daemon, which applies the rules for secrets and stores what was taken as candidates.

pub mod clients;
pub mod collector;
mod command_line;
mod export_lines;
mod files;
pub mod findings;
mod session;
mod statements;
pub mod transcript;

use clients::Client;
use collector::Collector;
pub use export_lines::{export_lines, id};
use findings::Found;
use session::Session;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// What was found, in the order of projects.
    pub found: Vec<Found>,
    /// Transcripts that were read.
    pub transcripts: usize,
    /// Transcripts that cannot be read.
    pub unreadable: usize,
    /// Lines that are not JSON, or too long.
    pub skipped_lines: usize,
    /// Findings that were left out because they may hold a secret.
    pub with_secrets: usize,
    /// Findings that were left out because there were too many: project, kind and number.
    pub over_limit: Vec<(String, &'static str, usize)>,
}

/// Reads the transcripts of these clients from a time on. `outside` is the project of sessions outside any project.
#[must_use]
pub fn read(
    clients: &[Client],
    home: &Path,
    since: i64,
    outside: &str,
    needs_file: bool,
) -> Reading {
    let mut collector = Collector::new(since, outside.to_owned(), needs_file);
    let mut reading = Reading::default();
    for client in clients {
        for file in client.transcripts(home) {
            if !is_changed_since(&file, since) {
                continue;
            }
            let name = file.strip_prefix(home).map_or_else(
                |_| file.display().to_string(),
                |path| format!("~/{}", path.display()),
            );
            let mut session = Session::new(&mut collector, client.name(), name);
            match client.read(&file, |step| session.follow(step)) {
                Ok(skipped) => {
                    reading.transcripts += 1;
                    reading.skipped_lines += skipped.lines;
                }
                Err(_) => reading.unreadable += 1,
            }
        }
    }
    reading.with_secrets = collector.with_secrets;
    let collected = collector.finish();
    (reading.found, reading.over_limit) = (collected.found, collected.over_limit);
    reading
}

/// Returns whether a file may have content from a time on.
fn is_changed_since(file: &Path, since: i64) -> bool {
    let since = UNIX_EPOCH + Duration::from_millis(since.max(0).cast_unsigned());
    let changed: Option<SystemTime> = file.metadata().ok().and_then(|data| data.modified().ok());
    changed.is_none_or(|changed| changed >= since)
}
