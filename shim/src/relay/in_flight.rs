//! The requests that an agent waits for, in the order in which they came: what a new daemon has to be told again.
//!
//! Not here: when that happens (`relay`), and what is said when it cannot (`answers`).

use crate::relay::message::Id;
use loci_proto::mcp::handshake;
use std::collections::VecDeque;
use tokio::time::Instant;

/// Most requests that may be unanswered before the relay stops reading its agent.
const MOST: usize = 256;
/// Most bytes of unanswered requests before the relay stops reading its agent.
const MOST_BYTES: usize = 4 * 1024 * 1024;

/// What an answer from the relay itself would have to look like, and whether anything waits for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `tools/call`: a failure is a result that the model reads.
    Call,
    /// The handshake: answered here when the daemon is not there in time.
    Handshake,
    /// `subscriptions/listen`: answered when it ends, so nothing waits for it.
    Subscription,
    /// Any other: a failure is a JSON-RPC error.
    Other,
}

impl Kind {
    /// The kind of a method.
    #[must_use]
    pub fn of(method: &str) -> Self {
        match method {
            "tools/call" => Self::Call,
            "subscriptions/listen" => Self::Subscription,
            method if handshake::is_handshake(method) => Self::Handshake,
            _ => Self::Other,
        }
    }
}

/// An unanswered request.
#[derive(Debug)]
pub struct Entry {
    /// Its id.
    pub id: Id,
    /// Its kind.
    pub kind: Kind,
    /// The line as it goes to the daemon, stamped, with its newline.
    pub line: Vec<u8>,
    /// Daemons that were told of it.
    pub sent: u32,
    /// When it came.
    pub since: Instant,
}

/// Every unanswered request.
#[derive(Debug, Default)]
pub struct Flight {
    entries: VecDeque<Entry>,
    bytes: usize,
}

impl Flight {
    /// Adds the newest request.
    pub fn push(&mut self, entry: Entry) {
        self.bytes += entry.line.len();
        self.entries.push_back(entry);
    }

    /// True while this id waits for its answer.
    #[must_use]
    pub fn contains(&self, id: &Id) -> bool {
        self.entries.iter().any(|entry| entry.id == *id)
    }

    /// Takes out the request that was answered or cancelled.
    pub fn remove(&mut self, id: &Id) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.id == *id)?;
        let entry = self.entries.remove(at)?;
        self.bytes -= entry.line.len();
        Some(entry)
    }

    /// True while somebody waits; subscriptions do not count.
    #[must_use]
    pub fn waiting(&self) -> bool {
        self.entries.iter().any(|entry| entry.kind != Kind::Subscription)
    }

    /// True while another request may be taken in.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.entries.len() < MOST && self.bytes < MOST_BYTES
    }

    /// Since when the oldest unanswered request of the handshake waits.
    #[must_use]
    pub fn greeted_since(&self) -> Option<Instant> {
        self.entries
            .iter()
            .filter(|entry| entry.kind == Kind::Handshake)
            .map(|entry| entry.since)
            .min()
    }

    /// The requests in order, to be sent again.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Entry> {
        self.entries.iter_mut()
    }

    /// Takes out, in order, every request that somebody waits for and that fulfils the condition.
    pub fn give_up(&mut self, hopeless: impl Fn(&Entry) -> bool) -> Vec<Entry> {
        let (out, kept): (Vec<_>, _) = std::mem::take(&mut self.entries)
            .into_iter()
            .partition(|entry| entry.kind != Kind::Subscription && hopeless(entry));
        self.entries = VecDeque::from(kept);
        self.bytes = self.entries.iter().map(|entry| entry.line.len()).sum();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::message::{Message, read};

    fn entry(id: &str, method: &str) -> Entry {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#).into_bytes();
        let Ok(Message::Request(request)) = read(&line) else { panic!("not a request") };
        Entry { id: request.id, kind: Kind::of(method), line, sent: 0, since: Instant::now() }
    }

    fn ids(entries: impl IntoIterator<Item = Entry>) -> Vec<String> {
        entries.into_iter().map(|entry| entry.id.as_json().to_owned()).collect()
    }

    #[test]
    fn requests_keep_their_order_and_leave_by_id() {
        let mut flight = Flight::default();
        for id in ["1", "\"1\"", "2"] {
            flight.push(entry(id, "tools/call"));
        }
        let answered = entry("\"1\"", "tools/call").id;
        assert!(flight.contains(&answered));
        assert!(flight.remove(&answered).is_some());
        assert!(flight.remove(&answered).is_none(), "an answer is given once");
        assert_eq!(ids(flight.give_up(|_| true)), ["1", "2"]);
    }

    #[test]
    fn nobody_waits_for_a_subscription_and_it_is_never_given_up() {
        let mut flight = Flight::default();
        flight.push(entry("1", "subscriptions/listen"));
        assert!(!flight.waiting());
        flight.push(entry("2", "tools/list"));
        assert!(flight.waiting());
        assert_eq!(ids(flight.give_up(|_| true)), ["2"]);
        assert_eq!(flight.iter_mut().count(), 1);
    }

    #[test]
    fn there_is_room_until_a_bound_is_reached() {
        let mut flight = Flight::default();
        for id in 0..MOST {
            assert!(flight.has_room());
            flight.push(entry(&id.to_string(), "ping"));
        }
        assert!(!flight.has_room());
        let first = entry("0", "ping").id;
        flight.remove(&first);
        assert!(flight.has_room());
        flight.push(Entry { line: vec![0; MOST_BYTES], ..entry("\"big\"", "ping") });
        assert!(!flight.has_room());
    }
}
