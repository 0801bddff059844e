//! The daemon's side of the relay: there is a connection, or one is being made, or none is wanted.

use crate::client::{Connection, Reach, Unreachable};
use crate::relay::line_reader::{Line, Lines};
use crate::relay::liveness::Doubt;
use crate::relay::outbox::Outbox;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

type Reaching = Pin<Box<dyn Future<Output = Result<Connection, Unreachable>>>>;

/// The way to the daemon.
pub struct Link {
    reach: Rc<Reach>,
    state: State,
}

enum State {
    /// No connection, and none is wanted until the agent says something.
    Idle,
    /// On the way.
    Reaching(Reaching),
    /// The daemon has said welcome.
    Up(Up),
}

struct Up {
    lines: Lines<OwnedReadHalf>,
    writer: OwnedWriteHalf,
    outbox: Outbox,
    doubt: Doubt,
    /// Whether we have more to say.
    half: Half,
}

/// Our half of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    Open,
    /// To be closed once the outbox is empty.
    Closing,
    Closed,
}

/// What the relay wants of the daemon just now.
#[derive(Debug, Clone, Copy)]
pub struct Wants {
    /// There is room for its lines.
    pub lines: bool,
    /// Somebody waits for an answer.
    pub answer: bool,
}

/// What happened on the daemon's side.
#[derive(Debug)]
pub enum LinkEvent {
    /// It has said welcome and wants to be told everything; the fingerprint of its tools.
    Reached(String),
    /// There is no reaching it.
    Failed(Unreachable),
    /// It said something.
    Line(Line),
    /// It took some of what it was told.
    Took,
    /// The connection is gone.
    Lost,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.state {
            State::Idle => "Link(idle)",
            State::Reaching(_) => "Link(reaching)",
            State::Up(_) => "Link(up)",
        })
    }
}

impl Link {
    /// No connection yet.
    #[must_use]
    pub fn new(reach: Rc<Reach>) -> Self {
        Self { reach, state: State::Idle }
    }

    /// Makes a connection after a pause, unless there is one or one is being made.
    pub fn want(&mut self, pause: Duration) {
        if matches!(self.state, State::Idle) {
            let reach = Rc::clone(&self.reach);
            self.state = State::Reaching(Box::pin(async move {
                sleep(pause).await;
                reach.reach().await
            }));
        }
    }

    /// What happens next. Cancelling loses nothing.
    pub async fn next(&mut self, wants: Wants) -> LinkEvent {
        let event = match &mut self.state {
            State::Idle => std::future::pending().await,
            State::Reaching(reaching) => match reaching.await {
                Ok(Connection { lines, writer, welcome }) => {
                    let doubt = Doubt::new(Rc::clone(&self.reach));
                    self.state = State::Up(Up {
                        lines,
                        writer,
                        outbox: Outbox::default(),
                        doubt,
                        half: Half::Open,
                    });
                    return LinkEvent::Reached(welcome.tools);
                }
                Err(reason) => LinkEvent::Failed(reason),
            },
            State::Up(up) => up.next(wants).await,
        };
        if matches!(event, LinkEvent::Failed(_) | LinkEvent::Lost) {
            self.state = State::Idle;
        }
        event
    }

    /// True while there is a connection.
    #[must_use]
    pub fn is_up(&self) -> bool {
        matches!(self.state, State::Up(_))
    }

    /// Tells the daemon something; false when there is no connection and nothing was told.
    pub fn tell(&mut self, lines: &[u8]) -> bool {
        match &mut self.state {
            State::Up(up) => {
                up.outbox.push(lines);
                true
            }
            State::Idle | State::Reaching(_) => false,
        }
    }

    /// Tells the daemon, after all the rest, that nothing more will come.
    pub fn close_our_half(&mut self) {
        if let State::Up(up) = &mut self.state
            && up.half == Half::Open
        {
            up.half = Half::Closing;
        }
    }

    /// True while the daemon takes what it is told quickly enough.
    #[must_use]
    pub fn has_room(&self) -> bool {
        match &self.state {
            State::Up(up) => up.outbox.has_room(),
            State::Idle | State::Reaching(_) => true,
        }
    }
}

impl Up {
    async fn next(&mut self, wants: Wants) -> LinkEvent {
        if self.half == Half::Closing && self.outbox.is_empty() {
            self.half = Half::Closed;
            // If it fails the connection is gone, which reading will tell.
            let _ = self.writer.shutdown().await;
        }
        tokio::select! {
            wrote = self.outbox.write_some(&mut self.writer), if !self.outbox.is_empty() => {
                if wrote.is_err() {
                    // What the daemon said before it went is still to be read; its end will then tell that it is lost.
                    self.outbox = Outbox::default();
                }
                LinkEvent::Took
            }
            line = self.lines.next(), if wants.lines => {
                self.doubt.dispel();
                line.ok().flatten().map_or(LinkEvent::Lost, LinkEvent::Line)
            }
            // A daemon that is not listened to cannot be heard.
            reason = self.doubt.confirmed(wants.lines && wants.answer) => LinkEvent::Failed(reason),
        }
    }
}
