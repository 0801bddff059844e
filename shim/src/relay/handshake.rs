//! Records the agent's MCP handshake, to replay it to a new daemon before all other lines.

use crate::relay::daemon_connection::DaemonConnection;
use crate::relay::in_flight::InFlight;
use crate::relay::message::Id;

/// The lines of the agent's handshake received so far.
#[derive(Debug, Default)]
pub struct Handshake {
    /// Id and line of the agent's latest `initialize` request.
    initialize: Option<(Id, Vec<u8>)>,
    /// The agent's `notifications/initialized`; empty until it is received.
    initialized: Vec<u8>,
}

impl Handshake {
    /// Records an `initialize` request, which discards an earlier handshake.
    pub fn record_initialize(&mut self, id: Id, line: Vec<u8>) {
        *self = Self { initialize: Some((id, line)), initialized: Vec::new() };
    }

    /// Records `notifications/initialized`.
    pub fn record_initialized(&mut self, line: Vec<u8>) {
        self.initialized = line;
    }

    /// Sends the handshake and every unanswered request to a new daemon, in order.
    ///
    /// If `initialize` was answered before, the new daemon's answer belongs to no request in flight and is dropped.
    pub fn replay(&self, in_flight: &mut InFlight, daemon: &mut DaemonConnection) {
        let unanswered =
            self.initialize.as_ref().map(|(id, _)| id).filter(|id| in_flight.contains(id));
        if let (Some((_, line)), None) = (&self.initialize, unanswered) {
            daemon.send(line);
            daemon.send(&self.initialized);
        }
        for request in in_flight.iter_mut() {
            request.attempts += 1;
            daemon.send(&request.line);
            if Some(&request.id) == unanswered {
                daemon.send(&self.initialized);
            }
        }
    }
}
