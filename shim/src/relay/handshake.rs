//! What a new daemon has to hear before anything else, in the eras of MCP that have a handshake; and then all the rest.

use crate::relay::daemon_connection::Link;
use crate::relay::in_flight::Flight;
use crate::relay::message::Id;

/// The agent's handshake, as far as it has come.
#[derive(Debug, Default)]
pub struct Handshake {
    /// The agent's latest `initialize`.
    initialize: Option<(Id, Vec<u8>)>,
    /// Its `notifications/initialized`.
    initialized: Vec<u8>,
}

impl Handshake {
    /// The agent begins a handshake, or begins again.
    pub fn begin(&mut self, id: Id, line: Vec<u8>) {
        *self = Self { initialize: Some((id, line)), initialized: Vec::new() };
    }

    /// The agent has seen the answer.
    pub fn complete(&mut self, line: Vec<u8>) {
        self.initialized = line;
    }

    /// Tells a new daemon the handshake and every unanswered request, in order.
    ///
    /// The answer to a handshake that was answered before comes back to an id that nobody waits for, and is dropped.
    pub fn tell_again(&self, flight: &mut Flight, link: &mut Link) {
        let unanswered =
            self.initialize.as_ref().map(|(id, _)| id).filter(|id| flight.contains(id));
        if let (Some((_, line)), None) = (&self.initialize, unanswered) {
            link.tell(line);
            link.tell(&self.initialized);
        }
        for entry in flight.iter_mut() {
            entry.sent += 1;
            link.tell(&entry.line);
            if Some(&entry.id) == unanswered {
                link.tell(&self.initialized);
            }
        }
    }
}
