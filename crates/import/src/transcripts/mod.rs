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
use collector::{Collected, Collector};
use loci_proto::foreign::{Client, Reading, SkippedText};
use session::Session;
use std::collections::HashSet;
use std::io;
use transcript::What;

/// Which transcripts are read.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The clients; all if empty.
    pub clients: Vec<Client>,
    /// Only what is from then on, in milliseconds since 1970.
    pub since: i64,
}

/// Reads transcripts; returns what they teach.
#[must_use]
pub fn read(places: &Places, wanted: &Wanted) -> Reading {
    let mut collector = Collector::new(wanted.since);
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
            note(&mut reading, name, read);
        }
    }
    leave_out(&mut reading, collector.with_secrets, "may hold a secret".to_owned());
    let Collected { found, over_limit } = collector.finish();
    for (project, kind, count) in over_limit {
        let place = if project.is_empty() { String::new() } else { format!(" in {project}") };
        leave_out(&mut reading, count, format!("a {kind}{place}: there are too many"));
    }
    reading.memories = found.iter().map(to_foreign::memory).collect();
    reading.projects = to_foreign::projects(&found);
    reading
}

/// Notes that a transcript was read, or why not.
fn note(reading: &mut Reading, path: String, read: io::Result<Skipped>) {
    match read {
        Ok(skipped) => {
            reading.files.push(path);
            leave_out(reading, skipped.lines, "lines that cannot be read".to_owned());
        }
        Err(error) => {
            let (place, reason) = (String::new(), error.to_string());
            reading.skip(SkippedText { path, place, reason });
        }
    }
}

/// Counts what is left out for a reason.
fn leave_out(reading: &mut Reading, count: usize, reason: String) {
    if count > 0 {
        *reading.skipped_more.entry(reason).or_default() += count;
    }
}
