//! The agent's side of the relay: its lines come in, answers go out.

use crate::relay::line_reader::{Line, Lines};
use crate::relay::outbox::Outbox;
use loci_proto::limits;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

/// An agent on the other end of standard input and output.
#[derive(Debug)]
pub struct Agent<I, O> {
    lines: Lines<I>,
    stdout: O,
    outbox: Outbox,
    speaks: bool,
}

/// What happened on the agent's side.
#[derive(Debug)]
pub enum AgentEvent {
    /// It said something.
    Line(Line),
    /// It will say nothing more; it may still listen.
    Silent,
    /// It listens no more.
    Gone,
    /// It took some of its answers.
    Took,
}

impl<I: AsyncRead + Unpin, O: AsyncWrite + Unpin> Agent<I, O> {
    /// An agent that speaks and listens.
    pub fn new(stdin: I, stdout: O) -> Self {
        Self {
            lines: Lines::new(stdin, limits::LINE_BYTES),
            stdout,
            outbox: Outbox::default(),
            speaks: true,
        }
    }

    /// What happens next; lines are read only while `read` is true. Cancelling loses nothing.
    pub async fn next(&mut self, read: bool) -> AgentEvent {
        tokio::select! {
            wrote = self.outbox.write_some(&mut self.stdout), if !self.outbox.is_empty() => match wrote {
                Ok(()) => AgentEvent::Took,
                Err(_) => AgentEvent::Gone,
            },
            line = self.lines.next(), if read && self.speaks => self.on_line(line),
            else => std::future::pending().await,
        }
    }

    fn on_line(&mut self, line: io::Result<Option<Line>>) -> AgentEvent {
        if let Ok(Some(line)) = line {
            return AgentEvent::Line(line);
        }
        // The end, or an error of standard input, which comes to the same. A last line may lack its newline.
        self.speaks = false;
        self.lines.unfinished().map_or(AgentEvent::Silent, AgentEvent::Line)
    }

    /// Sends answers.
    pub fn tell(&mut self, lines: &[u8]) {
        self.outbox.push(lines);
    }

    /// True while it may still say something.
    pub fn speaks(&self) -> bool {
        self.speaks
    }

    /// Listens to it no more.
    pub fn hang_up(&mut self) {
        self.speaks = false;
    }

    /// True when it took every answer.
    pub fn took_all(&self) -> bool {
        self.outbox.is_empty()
    }

    /// True while it takes its answers quickly enough.
    pub fn has_room(&self) -> bool {
        self.outbox.has_room()
    }

    /// Hands the last answers to the system.
    pub async fn flush(&mut self) {
        // Whoever does not read any more does not miss them.
        let _ = self.stdout.flush().await;
    }
}
