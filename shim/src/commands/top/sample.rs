//! The states of the daemon that `loci top` has seen, and what changed between them.

use loci_proto::admin::{SessionStatus, Status};
use std::collections::{BTreeMap, VecDeque};
use std::time::Instant;

/// States of which the rates are kept.
const KEPT: usize = 120;

/// What was seen.
#[derive(Debug, Default)]
pub struct Samples {
    /// The latest state.
    pub latest: Option<Status>,
    /// Why there is no newer one.
    pub lost: Option<String>,
    /// Calls per second, the latest last.
    pub calls_per_second: VecDeque<f64>,
    /// Number of memories when watching began.
    pub memories_at_first: u64,
    /// Texts that hooks had delivered when watching began.
    pub delivered_at_first: u64,
    calls_at_first: BTreeMap<String, u64>,
    taken: Option<Instant>,
    began: Option<Instant>,
}

impl Samples {
    /// Adds a state.
    pub fn add(&mut self, status: Status) {
        let now = Instant::now();
        self.lost = None;
        match (&self.latest, self.taken) {
            (Some(earlier), Some(taken)) if earlier.pid == status.pid => {
                let calls = total_calls(&status).saturating_sub(total_calls(earlier));
                let seconds = now.duration_since(taken).as_secs_f64().max(0.001);
                self.calls_per_second.push_back(calls as f64 / seconds);
            }
            _ => {
                self.memories_at_first = status.memories;
                self.delivered_at_first = delivered(&status);
                self.calls_at_first.clear();
                self.began = Some(now);
            }
        }
        for session in &status.sessions {
            self.calls_at_first.entry(session.id.clone()).or_insert(session.calls);
        }
        if self.calls_per_second.len() > KEPT {
            self.calls_per_second.pop_front();
        }
        (self.latest, self.taken) = (Some(status), Some(now));
    }

    /// Records that the daemon does not answer.
    pub fn lose(&mut self, reason: &str) {
        self.lost = Some(reason.to_owned());
    }

    /// Returns the seconds since watching this daemon began.
    #[must_use]
    pub fn watched_seconds(&self) -> u64 {
        self.began.map_or(0, |began| began.elapsed().as_secs())
    }

    /// Returns the calls of a session since watching began.
    #[must_use]
    pub fn new_calls(&self, session: &SessionStatus) -> u64 {
        let first = self.calls_at_first.get(&session.id).copied().unwrap_or(session.calls);
        session.calls.saturating_sub(first)
    }
}

/// Returns the number of calls of all verbs, but for those by which people look.
fn total_calls(status: &Status) -> u64 {
    status.latencies.iter().map(|verb| verb.calls).sum()
}

/// Returns the number of texts that hooks delivered.
pub fn delivered(status: &Status) -> u64 {
    status.hooks.clients.iter().map(|client| client.delivered).sum()
}
