//! Reads the transcripts that clients left on the disk, and takes what is worth remembering: preferences of the user, decisions, commands
//! that worked, errors and what mended them.
//!
//! Fixed rules, no model. Files are read as streams, within bounded memory; no part of a conversation is kept but a statement or a
//! command, and where it stands. Not here: the rules for secrets (`screen`), storing what was taken as candidates (the daemon).

mod clients;
mod collector;
mod command_line;
mod files;
mod findings;
mod session;
mod statements;
mod to_foreign;
mod transcript;

use crate::places::Places;
use clients::Skipped;
use collector::Collector;
use findings::Found;
use loci_proto::foreign::{self, Client};
use session::Session;
use std::collections::HashSet;
use std::io;
use transcript::What;

/// Transcripts that cannot be read and are named.
const MAX_NAMED: usize = 20;

/// Which transcripts are read.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The clients; all if empty.
    pub clients: Vec<Client>,
    /// Only what is from then on, in milliseconds since 1970.
    pub since: i64,
    /// The project of sessions outside any project.
    pub outside: String,
}

/// Reads transcripts; returns what they teach.
#[must_use]
pub fn read(places: &Places, wanted: &Wanted) -> foreign::Reading {
    to_foreign::to_foreign(&read_all(places, wanted), &wanted.outside)
}

/// What was read.
#[derive(Debug, Clone, Default)]
struct Reading {
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
struct NotRead {
    /// The file, with `~` for the home folder.
    pub file: String,
    /// Why.
    pub reason: String,
}

fn read_all(places: &Places, wanted: &Wanted) -> Reading {
    let mut collector = Collector::new(wanted.since, wanted.outside.clone());
    let mut reading = Reading::default();
    let clients = if wanted.clients.is_empty() { Client::ALL } else { &wanted.clients };
    for client in clients.iter().copied() {
        // `OpenCode` keeps some sessions twice.
        let mut sessions = HashSet::new();
        for file in clients::transcripts(client, places) {
            if !clients::may_have_changed(client, &file, wanted.since)
                || clients::is_one_of(client, &file, &sessions)
            {
                continue;
            }
            let name = file.strip_prefix(&places.home).map_or_else(
                |_| file.display().to_string(),
                |path| format!("~/{}", path.display()),
            );
            let mut session = Session::new(&mut collector, client.as_str(), name.clone());
            let mut has_begun = false;
            let read = clients::read(client, &file, wanted.since, |step| {
                has_begun |= step.what == What::Began;
                if let What::Session(id) = &step.what
                    && has_begun
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
