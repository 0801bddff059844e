//! The agent's side of the relay: reads its lines from standard input and writes answers to standard output.

use crate::relay::line_reader::{Line, LineReader};
use crate::relay::outbox::Outbox;
use loci_proto::limits;
use std::io;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};

/// The agent at the other end of standard input and output.
#[derive(Debug)]
pub struct Agent<I, O> {
    lines: LineReader<I>,
    stdout: O,
    outbox: Outbox,
    input_open: bool,
}

/// An event on the agent's side.
#[derive(Debug)]
pub enum AgentEvent {
    /// The agent sent a line.
    Line(Line),
    /// The agent's input ended; it may still read answers.
    InputClosed,
    /// The agent no longer reads answers.
    OutputClosed,
    /// Some queued answers were written.
    Wrote,
}

impl<I: AsyncRead + Unpin, O: AsyncWrite + Unpin> Agent<I, O> {
    /// Creates an agent that reads and writes the given streams.
    pub fn new(stdin: I, stdout: O) -> Self {
        Self {
            lines: LineReader::new(stdin, limits::LINE_BYTES),
            stdout,
            outbox: Outbox::default(),
            input_open: true,
        }
    }

    /// Waits for the next event; reads lines only if `read_input`. Cancel safe.
    pub async fn next(&mut self, read_input: bool) -> AgentEvent {
        tokio::select! {
            wrote = self.outbox.write_some(&mut self.stdout), if !self.outbox.is_empty() => match wrote {
                Ok(()) => AgentEvent::Wrote,
                Err(_) => AgentEvent::OutputClosed,
            },
            line = self.lines.next(), if read_input && self.input_open => self.on_line(line),
            else => std::future::pending().await,
        }
    }

    fn on_line(&mut self, line: io::Result<Option<Line>>) -> AgentEvent {
        if let Ok(Some(line)) = line {
            return AgentEvent::Line(line);
        }
        // A read error counts as the end of input. The last line may lack its newline.
        self.input_open = false;
        self.lines.take_unterminated().map_or(AgentEvent::InputClosed, AgentEvent::Line)
    }

    /// Queues lines to be written to the agent.
    pub fn send(&mut self, lines: &[u8]) {
        self.outbox.push(lines);
    }

    /// Returns true until the input has ended or was closed.
    pub fn is_input_open(&self) -> bool {
        self.input_open
    }

    /// Stops reading lines, as if the input had ended.
    pub fn close_input(&mut self) {
        self.input_open = false;
    }

    /// Returns true when every queued answer is written.
    pub fn is_drained(&self) -> bool {
        self.outbox.is_empty()
    }

    /// Returns true while the outbox accepts another line.
    pub fn has_capacity(&self) -> bool {
        self.outbox.has_capacity()
    }

    /// Flushes standard output.
    pub async fn flush(&mut self) {
        // A failure means that the agent has closed its end and reads no more answers.
        let _ = self.stdout.flush().await;
    }
}
