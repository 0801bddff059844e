//! Reads the transcripts that clients left on the disk, and takes what is worth remembering: preferences of the user, decisions, commands
//! that worked, errors and what mended them.
//!
//! Fixed rules, no model. Files are read as streams, within bounded memory; no part of a conversation is kept but a statement or a
//! command, and where it stands. Not here: the daemon, which applies the rules for secrets and stores what was taken as candidates.

pub mod clients;
pub mod collector;
mod command_line;
mod files;
pub mod findings;
mod foreign;
mod session;
mod statements;
pub mod transcript;

use clients::{Client, Skipped};
use collector::Collector;
use findings::Found;
pub use foreign::to_foreign;
use session::Session;
use std::collections::HashSet;
use std::io;
use std::path::Path;
use transcript::What;

/// Transcripts that cannot be read and are named.
const MAX_NAMED: usize = 20;

/// What was read.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// What was found, in the order of projects.
    pub found: Vec<Found>,
    /// The files that were read, with `~` for the home folder.
    pub files: Vec<String>,
    /// Transcripts that cannot be read, or not completely.
    pub unreadable: usize,
    /// The first of them, and why.
    pub not_read: Vec<NotRead>,
    /// Lines that are not JSON, or too long.
    pub skipped_lines: usize,
    /// Findings that were left out because they may hold a secret.
    pub with_secrets: usize,
    /// Findings that were left out because there were too many: project, kind and number.
    pub over_limit: Vec<(String, &'static str, usize)>,
}

impl Reading {
    fn note(&mut self, file: String, read: io::Result<Skipped>) {
        match read {
            Ok(skipped) => {
                self.files.push(file);
                self.skipped_lines += skipped.lines;
            }
            Err(error) => {
                self.unreadable += 1;
                if self.not_read.len() < MAX_NAMED {
                    self.not_read.push(NotRead { file, reason: error.to_string() });
                }
            }
        }
    }
}

/// A transcript that cannot be read.
#[derive(Debug, Clone)]
pub struct NotRead {
    /// The file, with `~` for the home folder.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// Reads the transcripts of these clients from a time on. `outside` is the project of sessions outside any project.
#[must_use]
pub fn read(clients: &[Client], home: &Path, since: i64, outside: &str) -> Reading {
    let mut collector = Collector::new(since, outside.to_owned());
    let mut reading = Reading::default();
    for client in clients {
        // `OpenCode` keeps some sessions twice.
        let mut sessions = HashSet::new();
        for file in client.transcripts(home) {
            if !client.may_have_changed(&file, since) || client.is_one_of(&file, &sessions) {
                continue;
            }
            let name = file.strip_prefix(home).map_or_else(
                |_| file.display().to_string(),
                |path| format!("~/{}", path.display()),
            );
            let mut session = Session::new(&mut collector, client.name(), name.clone());
            let mut began = 0;
            let read = client.read(&file, since, |step| {
                began += usize::from(step.what == What::Began);
                if let What::Session(id) = &step.what
                    && began > 0
                {
                    sessions.insert(id.clone());
                }
                session.follow(step);
            });
            reading.note(name, read);
        }
    }
    reading.with_secrets = collector.with_secrets;
    let collected = collector.finish();
    (reading.found, reading.over_limit) = (collected.found, collected.over_limit);
    reading
}
