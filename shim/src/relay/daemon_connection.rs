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
use tokio::time::{Instant, sleep};

type Connecting = Pin<Box<dyn Future<Output = Result<Connection, Unreachable>>>>;

/// The relay's connection to the daemon.
pub struct DaemonConnection {
    connector: Rc<Connector>,
    state: State,
}

enum State {
    /// Not connected; the next request of the agent starts an attempt.
    Idle,
    /// A connection attempt is running; with the time of its start.
    Connecting(Instant, Connecting),
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
    /// To be closed once the outbox is empty.
    Closing,
    Closed,
}

/// What the relay currently expects from the daemon.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Read the daemon's lines; false while the agent's outbox is full.
    pub read: bool,
    /// A request is waiting for its answer.
    pub reply_expected: bool,
}

/// An event on the daemon's side.
#[derive(Debug)]
pub enum DaemonEvent {
    /// A daemon accepted our hello. It has received no other line of this session.
    Connected {
        /// Fingerprint of the daemon's tool list; empty if unknown.
        tools_fingerprint: String,
    },
    /// No daemon can be reached.
    Unreachable {
        /// Why.
        reason: Unreachable,
        /// When the failed attempt to connect started; the present for a daemon that fell silent.
        since: Instant,
    },
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
            State::Connecting(..) => "DaemonConnection(connecting)",
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
            let connecting = Box::pin(async move {
                sleep(delay).await;
                connector.connect().await
            });
            self.state = State::Connecting(Instant::now(), connecting);
        }
    }

    /// Waits for the next event. Cancel safe.
    pub async fn next(&mut self, demand: Demand) -> DaemonEvent {
        let event = match &mut self.state {
            State::Idle => std::future::pending().await,
            State::Connecting(since, connecting) => match connecting.await {
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
                Err(reason) => DaemonEvent::Unreachable { reason, since: *since },
            },
            State::Connected(connected) => connected.next(demand).await,
        };
        if matches!(event, DaemonEvent::Unreachable { .. } | DaemonEvent::Lost) {
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
            State::Idle | State::Connecting(..) => false,
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

    /// Returns true while the outbox accepts another line, or if not connected.
    #[must_use]
    pub fn has_capacity(&self) -> bool {
        match &self.state {
            State::Connected(connected) => connected.outbox.has_capacity(),
            State::Idle | State::Connecting(..) => true,
        }
    }
}

impl Connected {
    async fn next(&mut self, demand: Demand) -> DaemonEvent {
        if self.write_half == WriteHalf::Closing && self.outbox.is_empty() {
            self.write_half = WriteHalf::Closed;
            // If this fails, the connection is lost, and the next read reports it.
            let _ = self.writer.shutdown().await;
        }
        tokio::select! {
            wrote = self.outbox.write_some(&mut self.writer), if !self.outbox.is_empty() => {
                if wrote.is_err() {
                    // Keep reading the lines that the daemon sent before it died; the end of its stream then reports the loss.
                    self.outbox = Outbox::default();
                }
                DaemonEvent::Wrote
            }
            line = self.lines.next(), if demand.read => {
                self.liveness.reset();
                line.ok().flatten().map_or(DaemonEvent::Lost, DaemonEvent::Line)
            }
            // While we do not read, a working daemon seems silent, so do not probe.
            reason = self.liveness.until_unresponsive(demand.read && demand.reply_expected) => {
                DaemonEvent::Unreachable { reason, since: Instant::now() }
            }
        }
    }
}
