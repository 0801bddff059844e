//! The unanswered requests of an agent, in the order in which they were sent.
//!
//! Not here: when they are replayed (`relay`, `handshake`), and the replies to failed requests (`local_replies`).

use crate::relay::message::Id;
use loci_proto::mcp::handshake;
use std::collections::VecDeque;
use tokio::time::Instant;

/// Unanswered requests at which the relay stops reading its agent.
const MAX_REQUESTS: usize = 256;
/// Bytes of unanswered requests at which the relay stops reading its agent.
const MAX_BYTES: usize = 4 * 1024 * 1024;

/// The kind of a request: decides how the relay answers it itself, and whether the agent waits for the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestKind {
    /// `tools/call`: a failure is a tool result, which the model reads.
    Call,
    /// The handshake: the relay answers it itself if the daemon is late.
    Handshake,
    /// `subscriptions/listen`: answered only when it ends, so the agent does not wait for it.
    Subscription,
    /// Any other method: a failure is a JSON-RPC error.
    Other,
}

impl RequestKind {
    /// Returns the kind of a method.
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
pub struct PendingRequest {
    /// Its JSON-RPC id.
    pub id: Id,
    /// Its kind.
    pub kind: RequestKind,
    /// The line as sent to the daemon: with its idempotency key and newline.
    pub line: Vec<u8>,
    /// Number of daemons to which it was sent.
    pub attempts: u32,
    /// When the agent sent it.
    pub since: Instant,
}

/// The table of unanswered requests.
#[derive(Debug, Default)]
pub struct InFlight {
    requests: VecDeque<PendingRequest>,
    bytes: usize,
}

impl InFlight {
    /// Adds the newest request.
    pub fn push(&mut self, request: PendingRequest) {
        self.bytes += request.line.len();
        self.requests.push_back(request);
    }

    /// Returns true while the request with this id is unanswered.
    #[must_use]
    pub fn contains(&self, id: &Id) -> bool {
        self.requests.iter().any(|request| request.id == *id)
    }

    /// Removes the request that was answered or cancelled.
    pub fn remove(&mut self, id: &Id) -> Option<PendingRequest> {
        let index = self.requests.iter().position(|request| request.id == *id)?;
        let request = self.requests.remove(index)?;
        self.bytes -= request.line.len();
        Some(request)
    }

    /// Returns true while the agent waits for an answer; it does not wait for subscriptions.
    #[must_use]
    pub fn has_waiting(&self) -> bool {
        self.requests.iter().any(|request| request.kind != RequestKind::Subscription)
    }

    /// Returns true while both bounds allow another request.
    #[must_use]
    pub fn has_capacity(&self) -> bool {
        self.requests.len() < MAX_REQUESTS && self.bytes < MAX_BYTES
    }

    /// Returns when the oldest unanswered handshake request was sent.
    #[must_use]
    pub fn handshake_since(&self) -> Option<Instant> {
        self.requests
            .iter()
            .filter(|request| request.kind == RequestKind::Handshake)
            .map(|request| request.since)
            .min()
    }

    /// Iterates over the requests in order.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut PendingRequest> {
        self.requests.iter_mut()
    }

    /// Removes and returns, in order, every request that the agent waits for and that matches `condition`.
    pub fn take_waiting(
        &mut self,
        condition: impl Fn(&PendingRequest) -> bool,
    ) -> Vec<PendingRequest> {
        let (taken, remaining): (Vec<_>, _) = std::mem::take(&mut self.requests)
            .into_iter()
            .partition(|request| request.kind != RequestKind::Subscription && condition(request));
        self.requests = VecDeque::from(remaining);
        self.bytes = self.requests.iter().map(|request| request.line.len()).sum();
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relay::message::{Message, read};

    fn request(id: &str, method: &str) -> PendingRequest {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#).into_bytes();
        let Ok(Message::Request(parsed)) = read(&line) else { panic!("not a request") };
        PendingRequest {
            id: parsed.id,
            kind: RequestKind::of(method),
            line,
            attempts: 0,
            since: Instant::now(),
        }
    }

    fn ids(requests: impl IntoIterator<Item = PendingRequest>) -> Vec<String> {
        requests.into_iter().map(|request| request.id.as_json().to_owned()).collect()
    }

    #[test]
    fn requests_keep_their_order_and_are_removed_by_id() {
        let mut in_flight = InFlight::default();
        for id in ["1", "\"1\"", "2"] {
            in_flight.push(request(id, "tools/call"));
        }
        let answered = request("\"1\"", "tools/call").id;
        assert!(in_flight.contains(&answered));
        assert!(in_flight.remove(&answered).is_some());
        assert!(in_flight.remove(&answered).is_none(), "an answer is forwarded once");
        assert_eq!(ids(in_flight.take_waiting(|_| true)), ["1", "2"]);
    }

    #[test]
    fn a_subscription_is_not_waited_for_and_is_never_taken() {
        let mut in_flight = InFlight::default();
        in_flight.push(request("1", "subscriptions/listen"));
        assert!(!in_flight.has_waiting());
        in_flight.push(request("2", "tools/list"));
        assert!(in_flight.has_waiting());
        assert_eq!(ids(in_flight.take_waiting(|_| true)), ["2"]);
        assert_eq!(in_flight.iter_mut().count(), 1);
    }

    #[test]
    fn there_is_capacity_until_a_bound_is_reached() {
        let mut in_flight = InFlight::default();
        for id in 0..MAX_REQUESTS {
            assert!(in_flight.has_capacity());
            in_flight.push(request(&id.to_string(), "ping"));
        }
        assert!(!in_flight.has_capacity());
        let first = request("0", "ping").id;
        in_flight.remove(&first);
        assert!(in_flight.has_capacity());
        in_flight.push(PendingRequest { line: vec![0; MAX_BYTES], ..request("\"big\"", "ping") });
        assert!(!in_flight.has_capacity());
    }
}
