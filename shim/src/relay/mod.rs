//! `loci mcp`: relays lines between one agent and the daemon, and keeps the session alive when the daemon dies.
//!
//! [`Relay::run`] is a single event loop without tasks. It waits for the next event of either side and handles it without blocking.
//!
//! - **Reads:** lines of the agent from standard input, lines of the daemon from its socket. Each line is parsed just far enough to
//!   route it ([`message`]).
//! - **Forwards:** every line unchanged, except that each `tools/call` gets an idempotency key ([`idempotency_key`]). Unanswered
//!   requests are kept in [`in_flight`].
//! - **Replays:** when the daemon is lost, the next daemon receives the MCP handshake ([`handshake`]) and every unanswered request
//!   again, in order. Because of the idempotency key no call takes effect twice.
//! - **Answers itself:** invalid lines, the handshake if the daemon is late, and calls that cannot be served ([`local_replies`]). The
//!   agent never waits forever.
//!
//! Bounds: the length of a line, the [`outbox`] of each side, and the in-flight table. While one is full, the side that fills it is
//! not read.
//!
//! Not here: what a message means. The handshake is the only MCP state that the relay keeps.

pub mod agent;
pub mod daemon_connection;
mod file_pages;
pub mod handshake;
pub mod idempotency_key;
pub mod in_flight;
pub mod line_reader;
pub mod liveness;
pub mod local_replies;
pub mod message;
pub mod outbox;
pub mod stdio;
#[cfg(test)]
mod tests;

use crate::client::connector::Connector;
use crate::client::unreachable::Unreachable;
use agent::{Agent, AgentEvent};
use daemon_connection::{DaemonConnection, DaemonEvent, Demand};
use handshake::Handshake;
use idempotency_key::{CallMeta, IdempotencyKeys, SessionCheckout};
use in_flight::{InFlight, PendingRequest, RequestKind};
use line_reader::{Excerpt, Line};
use loci_proto::gate::ModelText;
use loci_proto::limits;
use loci_proto::mcp::handshake as handshake_snapshot;
use message::{FromDaemon, Message, Notification, Refusal, Request};
use std::future::{Future, pending};
use std::io::Write as _;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};

/// Number of daemons that a request may be sent to. If all of them died, the request is the likely cause.
const MAX_ATTEMPTS: u32 = 8;
/// How long a session is quiet before pages of code and constants are dropped.
const QUIET: Duration = Duration::from_secs(1);
/// Time limit for writing the last failure replies before the process exits.
const FINAL_FLUSH_TIMEOUT: Duration = Duration::from_millis(100);
/// The refusal of a line above [`limits::LINE_BYTES`].
const LINE_TOO_LONG: &str = "The line is longer than 1 MiB";

/// A session between one agent and the daemon, across daemon restarts.
#[derive(Debug)]
pub struct Relay<I, O> {
    agent: Agent<I, O>,
    daemon: DaemonConnection,
    in_flight: InFlight,
    handshake: Handshake,
    keys: IdempotencyKeys,
    checkout: Option<SessionCheckout>,
    /// Fingerprint of the latest daemon's tool list.
    tools_fingerprint: Option<String>,
    /// Whether the relay answered the handshake itself.
    answered_handshake: bool,
    /// The error last printed on standard error.
    last_printed_error: Option<String>,
    /// When the last line of the agent came or the last answer to it was written; `None` once pages were dropped after it.
    active_at: Option<Instant>,
    /// Number of daemons lost since the last forwarded line of a daemon.
    losses: u32,
    timeouts: Timeouts,
}

/// Deadlines of the relay.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// How long the relay waits for answers after the agent closed its input.
    pub drain: Duration,
    /// Minimum age of a request before the relay fails it because daemons keep dying.
    pub request: Duration,
    /// How long to wait for a connection before the relay answers the handshake itself.
    pub connect: Duration,
    /// How long a connected daemon may take to answer the handshake.
    pub handshake: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            drain: Duration::from_secs(5),
            request: Duration::from_secs(30),
            connect: Duration::from_millis(40),
            handshake: Duration::from_secs(1),
        }
    }
}

impl<I: AsyncRead + Unpin, O: AsyncWrite + Unpin> Relay<I, O> {
    /// Creates a session whose calls get their idempotency keys from `keys`.
    pub fn new(
        agent: Agent<I, O>,
        connector: Rc<Connector>,
        keys: IdempotencyKeys,
        timeouts: Timeouts,
    ) -> Self {
        Self {
            agent,
            daemon: DaemonConnection::new(connector),
            in_flight: InFlight::default(),
            handshake: Handshake::default(),
            keys,
            checkout: None,
            tools_fingerprint: None,
            answered_handshake: false,
            last_printed_error: None,
            active_at: Some(Instant::now()),
            losses: 0,
            timeouts,
        }
    }

    /// Adds the checkout to calls when it changes.
    #[must_use]
    pub fn with_checkout(self, checkout: Option<SessionCheckout>) -> Self {
        Self { checkout, ..self }
    }

    /// Runs the event loop until the agent is done: its input ends, its output closes, or `stop` completes.
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        // Connect before the first request, so that the daemon starts while the agent still initialises.
        self.daemon.connect_after(Duration::ZERO);
        tokio::pin!(stop);
        let mut stopped = false;
        let mut drain_deadline = None;
        while !self.is_finished() {
            if !self.agent.is_input_open() {
                self.daemon.close_write_half();
                drain_deadline.get_or_insert_with(|| Instant::now() + self.timeouts.drain);
            }
            let read_agent = self.in_flight.has_capacity()
                && self.daemon.has_capacity()
                && self.agent.has_capacity();
            let demand = Demand {
                read: self.agent.has_capacity(),
                reply_expected: self.in_flight.has_waiting(),
            };
            let handshake_deadline = self.handshake_deadline();
            let quiet_deadline = self.quiet_deadline();
            tokio::select! {
                event = self.agent.next(read_agent) => {
                    if self.on_agent_event(event) == Liveness::Gone { return }
                }
                event = self.daemon.next(demand) => self.on_daemon_event(event),
                () = &mut stop, if !stopped => {
                    stopped = true;
                    self.agent.close_input();
                }
                () = sleep_until_some(handshake_deadline) => self.answer_handshake_locally(),
                () = sleep_until_some(drain_deadline) => return self.fail_pending().await,
                () = sleep_until_some(quiet_deadline) => self.trim_memory(),
            }
        }
        self.agent.flush().await;
    }

    /// Returns when the relay has to answer a pending handshake itself; `None` if none is pending.
    fn handshake_deadline(&self) -> Option<Instant> {
        let timeout = if self.daemon.is_connected() {
            self.timeouts.handshake
        } else {
            self.timeouts.connect
        };
        self.in_flight.handshake_since().map(|since| since + timeout)
    }

    /// Answers pending handshake requests with a built-in copy of the daemon's answer. The daemon's own answer is dropped if it arrives
    /// later.
    fn answer_handshake_locally(&mut self) {
        self.answered_handshake |= self.in_flight.handshake_since().is_some();
        for request in self.in_flight.take_waiting(|r| r.kind == RequestKind::Handshake) {
            let answer = local_replies::handshake(&request).unwrap_or_else(|| {
                local_replies::failure(&request, "locid is not running yet.", "Try again.")
            });
            self.agent.send(&answer);
        }
    }

    /// Returns true when the agent's input is closed, nothing is in flight and all output is written.
    fn is_finished(&self) -> bool {
        !self.agent.is_input_open() && !self.in_flight.has_waiting() && self.agent.is_drained()
    }

    /// Answers every waiting request with a failure, and writes these replies for at most [`FINAL_FLUSH_TIMEOUT`].
    async fn fail_pending(mut self) {
        for request in self.in_flight.take_waiting(|_| true) {
            self.agent.send(&local_replies::failure(
                &request,
                "the session ended before the answer came.",
                "Try again in a new session.",
            ));
        }
        let deadline = Some(Instant::now() + FINAL_FLUSH_TIMEOUT);
        while !self.agent.is_drained() {
            tokio::select! {
                event = self.agent.next(false) => if matches!(event, AgentEvent::OutputClosed) { return },
                () = sleep_until_some(deadline) => return,
            }
        }
        self.agent.flush().await;
    }

    fn on_agent_event(&mut self, event: AgentEvent) -> Liveness {
        match event {
            AgentEvent::Line(Line::Whole(line)) => self.on_agent_line(&line),
            AgentEvent::Line(Line::TooLong(excerpt)) => self.refuse(&too_long(&excerpt)),
            AgentEvent::OutputClosed => return Liveness::Gone,
            AgentEvent::Wrote => self.active_at = Some(Instant::now()),
            AgentEvent::InputClosed => {}
        }
        Liveness::Alive
    }

    /// Returns when the session has been quiet for so long that pages are dropped; `None` while a request waits, and after that.
    fn quiet_deadline(&self) -> Option<Instant> {
        let is_idle = !self.in_flight.has_waiting() && self.agent.is_drained();
        self.active_at.filter(|_| is_idle).map(|since| since + QUIET)
    }

    fn trim_memory(&mut self) {
        self.active_at = None;
        file_pages::trim_file_pages();
    }

    fn on_agent_line(&mut self, line: &[u8]) {
        self.active_at = Some(Instant::now());
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let result = match message::read(line) {
            Ok(Message::Request(request)) => self.on_request(line, request),
            Ok(Message::Notification(notification)) => {
                self.on_notification(line, &notification);
                Ok(())
            }
            Ok(Message::Answer) => {
                self.daemon.send(&with_newline(line));
                Ok(())
            }
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = result {
            self.refuse(&refusal);
        }
    }

    /// Forwards a request and records it as in flight.
    fn on_request(&mut self, line: &[u8], request: Request) -> Result<(), Refusal> {
        let Request { id, method, params } = request;
        if self.in_flight.contains(&id) {
            return Err(Refusal::new(
                Some(id),
                message::INVALID_REQUEST,
                "A request with this id is still unanswered",
            ));
        }
        let kind = RequestKind::of(&method);
        let line = match (kind, params) {
            (RequestKind::Call, Some(params)) => self.with_key(line, params, &id)?,
            _ => with_newline(line),
        };
        if method == "initialize" {
            self.handshake.record_initialize(id.clone(), line.clone());
        }
        let attempts = u32::from(self.daemon.send(&line));
        self.in_flight.push(PendingRequest { id, kind, line, attempts, since: Instant::now() });
        self.daemon.connect_after(Duration::ZERO);
        Ok(())
    }

    /// Returns a `tools/call` line with its idempotency key and newline.
    fn with_key(
        &mut self,
        line: &[u8],
        params: &serde_json::value::RawValue,
        id: &message::Id,
    ) -> Result<Vec<u8>, Refusal> {
        let refuse = |code: i32, reason: String| Refusal::new(Some(id.clone()), code, reason);
        let text =
            std::str::from_utf8(line).map_err(|e| refuse(message::PARSE_ERROR, e.to_string()))?;
        let added = CallMeta::next(&mut self.keys, self.checkout.as_mut());
        let keyed = idempotency_key::inject_key(text, params, &added)
            .map_err(|reason| refuse(message::INVALID_PARAMS, reason.to_owned()))?;
        if keyed.len() >= limits::LINE_BYTES {
            return Err(refuse(message::INVALID_REQUEST, LINE_TOO_LONG.to_owned()));
        }
        Ok(with_newline(keyed.as_bytes()))
    }

    /// Forwards a notification if a daemon is connected. Only `notifications/initialized` is replayed to later daemons.
    fn on_notification(&mut self, line: &[u8], notification: &Notification) {
        if let Some(id) = notification.cancelled_request() {
            self.in_flight.remove(&id);
        }
        let line = with_newline(line);
        self.daemon.send(&line);
        if notification.method == "notifications/initialized" {
            self.handshake.record_initialized(line);
        }
    }

    fn on_daemon_event(&mut self, event: DaemonEvent) {
        match event {
            DaemonEvent::Line(Line::Whole(line)) => self.on_daemon_line(&line),
            DaemonEvent::Line(Line::TooLong(excerpt)) => self.on_overlong_answer(&excerpt),
            DaemonEvent::Connected { tools_fingerprint } => self.on_connected(tools_fingerprint),
            DaemonEvent::Unreachable { reason, since } => self.on_unreachable(&reason, since),
            DaemonEvent::Lost => self.on_lost(),
            DaemonEvent::Wrote => {}
        }
    }

    /// Replays the handshake and all unanswered requests, and notifies the agent if the tool list has changed.
    fn on_connected(&mut self, fingerprint: String) {
        self.handshake.replay(&mut self.in_flight, &mut self.daemon);
        // The agent knows the tools of the previous daemon, or our built-in list if the relay answered the handshake.
        let known_tools = self.tools_fingerprint.take().or_else(|| {
            self.answered_handshake.then(|| handshake_snapshot::own_fingerprint().to_owned())
        });
        if !fingerprint.is_empty() && known_tools.is_some_and(|known| known != fingerprint) {
            self.agent.send(local_replies::TOOLS_CHANGED);
        }
        self.tools_fingerprint = Some(fingerprint);
    }

    /// Forwards a line of the daemon, unless it answers a request that is no longer in flight.
    fn on_daemon_line(&mut self, line: &[u8]) {
        let forward = match message::read_answer(line) {
            FromDaemon::Answer(id) => self.in_flight.remove(&id).is_some(),
            FromDaemon::Other => true,
            FromDaemon::Unreadable => false,
        };
        if forward {
            self.losses = 0;
            self.agent.send(&with_newline(line));
        }
    }

    fn on_overlong_answer(&mut self, excerpt: &Excerpt) {
        let request = message::id_of_excerpt(excerpt).and_then(|id| self.in_flight.remove(&id));
        if let Some(request) = request {
            let message = ModelText::own("The answer is longer than ")
                .and_count(limits::LINE_BYTES)
                .and_own(" bytes");
            let code = message::INTERNAL_ERROR;
            self.agent.send(&local_replies::error(Some(&request.id), code, &message));
        }
    }

    /// Fails the waiting requests, and prints each new reason once on standard error.
    ///
    /// A daemon that ran and exited may have read a file that the user has repaired since. A request
    /// that came after its start is therefore kept for another start.
    fn on_unreachable(&mut self, reason: &Unreachable, attempt: Instant) {
        let message = reason.message();
        if self.last_printed_error.as_ref() != Some(&message) {
            // Many agents log standard error. A failed write is not an error.
            let _ = writeln!(std::io::stderr(), "loci: {message}");
        }
        self.answer_handshake_locally();
        let try_again = matches!(reason, Unreachable::NotStarted { exit: Some(_), .. });
        for request in self.in_flight.take_waiting(|r| !try_again || r.since <= attempt) {
            self.agent.send(&local_replies::failure(&request, &message, &reason.next_step()));
        }
        if self.in_flight.has_waiting() {
            self.daemon.connect_after(Duration::ZERO);
        }
        self.last_printed_error = Some(message);
    }

    /// Fails requests that probably crash the daemon, and reconnects if other requests still wait.
    fn on_lost(&mut self) {
        self.losses += 1;
        let min_age = self.timeouts.request;
        for request in self.in_flight.take_waiting(|request| {
            request.attempts >= MAX_ATTEMPTS && request.since.elapsed() >= min_age
        }) {
            let message =
                format!("locid ended {} times while it worked on this request.", request.attempts);
            self.agent.send(&local_replies::failure(
                &request,
                &message,
                "Do not repeat it unchanged; `loci ctl logs` shows why locid ended.",
            ));
        }
        // Without a waiting request, do not reconnect: that would restart the daemon right after `loci ctl stop`.
        if self.in_flight.has_waiting() {
            self.daemon.connect_after(reconnect_delay(self.losses));
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.agent.send(&local_replies::refusal(refusal));
    }
}

/// Whether the agent still reads its answers.
#[derive(PartialEq, Eq)]
enum Liveness {
    Alive,
    Gone,
}

/// Returns the delay before reconnecting: none after the first loss, then 5 to 320 ms, so that a crash loop does not keep the machine
/// busy.
fn reconnect_delay(losses: u32) -> Duration {
    let doublings = losses.saturating_sub(2).min(6);
    if losses < 2 { Duration::ZERO } else { Duration::from_millis(5) * 2_u32.pow(doublings) }
}

fn too_long(excerpt: &Excerpt) -> Refusal {
    Refusal::new(message::id_of_excerpt(excerpt), message::INVALID_REQUEST, LINE_TOO_LONG)
}

fn with_newline(line: &[u8]) -> Vec<u8> {
    [line, b"\n"].concat()
}

/// Sleeps until `deadline`, or forever without one.
async fn sleep_until_some(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => pending().await,
    }
}
