//! The daemon's side of the relay: a connection state machine (idle, connecting, connected).

use crate::client::connector::{Connection, Connector};
use crate::client::unreachable::Unreachable;
use crate::relay::line_reader::{Line, LineReader};
use crate::relay::liveness::LivenessProbe;
use crate::relay::outbox::Outbox;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

type Connecting = Pin<Box<dyn Future<Output = Result<Connection, Unreachable>>>>;

/// The relay's connection to the daemon.
pub struct DaemonConnection {
    connector: Rc<Connector>,
    state: State,
}

enum State {
    /// No connection, and none is wanted until the agent sends something.
    Idle,
    /// A connection attempt is running.
    Connecting(Connecting),
    /// The daemon has accepted our hello.
    Connected(Connected),
}

struct Connected {
    lines: LineReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    outbox: Outbox,
    liveness: LivenessProbe,
    write_half: WriteHalf,
}

/// State of the half of the connection that we write to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WriteHalf {
    Open,
    /// Closes once the outbox is empty.
    Closing,
    Closed,
}

/// What the relay can take from the daemon at the moment.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// The buffer can take more lines of the daemon.
    pub read: bool,
    /// A request waits for its answer.
    pub reply_expected: bool,
}

/// An event on the daemon's side.
#[derive(Debug)]
pub enum DaemonEvent {
    /// A daemon accepted our hello; it has not seen any line of this session yet.
    Connected {
        /// Fingerprint of the daemon's tool list; empty if unknown.
        tools_fingerprint: String,
    },
    /// No daemon can be reached.
    Unreachable(Unreachable),
    /// The daemon sent a line.
    Line(Line),
    /// Some queued lines were written.
    Wrote,
    /// The connection closed.
    Lost,
}

impl fmt::Debug for DaemonConnection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Idle => "DaemonConnection(idle)",
            State::Connecting(_) => "DaemonConnection(connecting)",
            State::Connected(_) => "DaemonConnection(connected)",
        })
    }
}

impl DaemonConnection {
    /// Creates an idle connection.
    #[must_use]
    pub fn new(connector: Rc<Connector>) -> Self {
        Self { connector, state: State::Idle }
    }

    /// Starts connecting after `delay`; does nothing if connected or connecting.
    pub fn connect_after(&mut self, delay: Duration) {
        if matches!(self.state, State::Idle) {
            let connector = Rc::clone(&self.connector);
            self.state = State::Connecting(Box::pin(async move {
                sleep(delay).await;
                connector.connect().await
            }));
        }
    }

    /// Waits for the next event. Cancel safe.
    pub async fn next(&mut self, demand: Demand) -> DaemonEvent {
        let event = match &mut self.state {
            State::Idle => std::future::pending().await,
            State::Connecting(connecting) => match connecting.await {
                Ok(Connection { lines, writer, welcome }) => {
                    self.state = State::Connected(Connected {
                        lines,
                        writer,
                        outbox: Outbox::default(),
                        liveness: LivenessProbe::new(Rc::clone(&self.connector)),
                        write_half: WriteHalf::Open,
                    });
                    return DaemonEvent::Connected { tools_fingerprint: welcome.tools };
                }
                Err(reason) => DaemonEvent::Unreachable(reason),
            },
            State::Connected(connected) => connected.next(demand).await,
        };
        if matches!(event, DaemonEvent::Unreachable(_) | DaemonEvent::Lost) {
            self.state = State::Idle;
        }
        event
    }

    /// Returns true while connected.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        matches!(self.state, State::Connected(_))
    }

    /// Queues lines for the daemon. Returns false, and queues nothing, if not connected.
    pub fn send(&mut self, lines: &[u8]) -> bool {
        match &mut self.state {
            State::Connected(connected) => {
                connected.outbox.push(lines);
                true
            }
            State::Idle | State::Connecting(_) => false,
        }
    }

    /// Closes our half of the connection after all queued lines are written.
    pub fn close_write_half(&mut self) {
        if let State::Connected(connected) = &mut self.state
            && connected.write_half == WriteHalf::Open
        {
            connected.write_half = WriteHalf::Closing;
        }
    }

    /// Returns true while the outbox is below its bound.
    #[must_use]
    pub fn has_room(&self) -> bool {
        match &self.state {
            State::Connected(connected) => connected.outbox.has_room(),
            State::Idle | State::Connecting(_) => true,
        }
    }
}

impl Connected {
    async fn next(&mut self, demand: Demand) -> DaemonEvent {
        if self.write_half == WriteHalf::Closing && self.outbox.is_empty() {
            self.write_half = WriteHalf::Closed;
            // If this fails the connection is lost, which the next read reports.
            let _ = self.writer.shutdown().await;
        }
        tokio::select! {
            wrote = self.outbox.write_some(&mut self.writer), if !self.outbox.is_empty() => {
                if wrote.is_err() {
                    // Read what the daemon sent before it died; the end of its stream then reports the loss.
                    self.outbox = Outbox::default();
                }
                DaemonEvent::Wrote
            }
            line = self.lines.next(), if demand.read => {
                self.liveness.reset();
                line.ok().flatten().map_or(DaemonEvent::Lost, DaemonEvent::Line)
            }
            // Without reading, silence of the daemon means nothing.
            reason = self.liveness.until_unresponsive(demand.read && demand.reply_expected) => {
                DaemonEvent::Unreachable(reason)
            }
        }
    }
}
