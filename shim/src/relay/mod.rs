//! `loci mcp`: passes an agent's lines to the daemon and the answers back, and outlives the daemon.
//!
//! One loop, no tasks: it waits for the next event on either side and acts on it without waiting for anything else. Lines of the agent
//! are looked at just far enough to keep a table of the unanswered ones ([`flight`]); each `tools/call` is stamped with a key
//! ([`stamp`]). When the daemon is lost the next one is told the handshake and every unanswered line again, in order; the key makes
//! sure that nothing happens twice. What cannot be passed on is answered here ([`answers`]), so the agent never waits for nothing.
//!
//! Bounds: a line, each side's [`outbox`], and the table. When one is full the side that fills it is not read until there is room.
//!
//! Not here: what a message means, and any state of MCP but the handshake that a new daemon has to hear again.

pub mod agent;
mod code_pages;
pub mod daemon_connection;
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

use crate::client::{Reach, Unreachable};
use agent::{Agent, AgentEvent};
use daemon_connection::{Link, LinkEvent, Wants};
use handshake::Handshake;
use idempotency_key::Keys;
use in_flight::{Entry, Flight, Kind};
use line_reader::{Excerpt, Line};
use loci_proto::limits;
use loci_proto::mcp::handshake as handshake_snapshot;
use message::{FromDaemon, Message, Notification, Refusal, Request};
use std::future::{Future, pending};
use std::io::Write as _;
use std::rc::Rc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, sleep_until};

/// Daemons that are lost under one request before it may be given up: it may be what ends them.
const DAEMONS_PER_REQUEST: u32 = 8;

/// A session between one agent and its daemons.
#[derive(Debug)]
pub struct Relay<I, O> {
    agent: Agent<I, O>,
    link: Link,
    flight: Flight,
    handshake: Handshake,
    keys: Keys,
    /// Fingerprint of the latest daemon's tools.
    tools: Option<String>,
    /// The handshake was answered here.
    greeted: bool,
    /// What the person was last told on standard error.
    told: Option<String>,
    beginning: Beginning,
    /// Daemons that were lost since the last answer.
    lost: u32,
    endurance: Endurance,
}

/// How far a session has come in what only its beginning takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    /// No answer of the daemon has come.
    Under,
    /// One has come, and the agent may still have to take it.
    Answered,
    /// The agent has it.
    Over,
}

/// How long the relay holds out for its agent.
#[derive(Debug, Clone, Copy)]
pub struct Endurance {
    /// For unanswered requests, once the agent has ended.
    pub drain: Duration,
    /// For a request under which one daemon after the other is lost.
    pub request: Duration,
    /// For the daemon's hello, before the handshake is answered here.
    pub greeting: Duration,
    /// For a daemon that has said hello to answer the handshake.
    pub handshake: Duration,
}

impl Default for Endurance {
    fn default() -> Self {
        Self {
            drain: Duration::from_secs(5),
            request: Duration::from_secs(30),
            greeting: Duration::from_millis(40),
            handshake: Duration::from_secs(1),
        }
    }
}

impl<I: AsyncRead + Unpin, O: AsyncWrite + Unpin> Relay<I, O> {
    /// A session whose idempotency keys are `keys`.
    pub fn new(agent: Agent<I, O>, reach: Rc<Reach>, keys: Keys, endurance: Endurance) -> Self {
        let (flight, handshake) = (Flight::default(), Handshake::default());
        Self {
            agent,
            link: Link::new(reach),
            flight,
            handshake,
            keys,
            tools: None,
            greeted: false,
            beginning: Beginning::Under,
            told: None,
            lost: 0,
            endurance,
        }
    }

    /// Serves the agent until it ends (end of input, closed output, or `stop`).
    pub async fn run(mut self, stop: impl Future<Output = ()>) {
        // The daemon warms up while the agent is still busy with itself.
        self.link.want(Duration::ZERO);
        tokio::pin!(stop);
        let mut stopped = false;
        let mut end = None;
        while !self.is_over() {
            if !self.agent.speaks() {
                self.link.close_our_half();
                end.get_or_insert_with(|| Instant::now() + self.endurance.drain);
            }
            let take_in = self.flight.has_room() && self.link.has_room() && self.agent.has_room();
            let greeting_due = self.greeting_due();
            let wants = Wants { lines: self.agent.has_room(), answer: self.flight.waiting() };
            tokio::select! {
                event = self.agent.next(take_in) => if self.on_agent(event).is_gone() { return },
                event = self.link.next(wants) => self.on_link(event),
                () = &mut stop, if !stopped => {
                    stopped = true;
                    self.agent.hang_up();
                }
                () = until(greeting_due) => self.greet(),
                () = until(end) => return self.last_words().await,
            }
        }
        self.agent.flush().await;
    }

    /// When the handshake has to be answered here, if the daemon does not answer it before.
    fn greeting_due(&self) -> Option<Instant> {
        let patience =
            if self.link.is_up() { self.endurance.handshake } else { self.endurance.greeting };
        self.flight.greeted_since().map(|since| since + patience)
    }

    /// Answers the handshake in the daemon's words; its own answer comes to an id that nobody waits for, and is dropped.
    fn greet(&mut self) {
        self.greeted |= self.flight.greeted_since().is_some();
        for entry in self.flight.give_up(|entry| entry.kind == Kind::Handshake) {
            let answer = local_replies::handshake(&entry);
            self.agent.tell(&answer.unwrap_or_else(|| {
                local_replies::failure(&entry, "locid is not there yet.", "Ask again.")
            }));
        }
    }

    /// Nobody speaks, nobody waits, and everything was said.
    fn is_over(&self) -> bool {
        !self.agent.speaks() && !self.flight.waiting() && self.agent.took_all()
    }

    /// Answers, as far as somebody still listens, what the daemon did not answer in time.
    async fn last_words(mut self) {
        for entry in self.flight.give_up(|_| true) {
            self.agent.tell(&local_replies::failure(
                &entry,
                "the session ended before the answer came.",
                "Ask again in a new one.",
            ));
        }
        let end = Some(Instant::now() + Duration::from_millis(100));
        while !self.agent.took_all() {
            tokio::select! {
                event = self.agent.next(false) => if matches!(event, AgentEvent::Gone) { return },
                () = until(end) => return,
            }
        }
        self.agent.flush().await;
    }

    fn on_agent(&mut self, event: AgentEvent) -> Presence {
        match event {
            AgentEvent::Line(Line::Whole(line)) => self.on_line(&line),
            AgentEvent::Line(Line::TooLong(excerpt)) => self.refuse(&too_long(&excerpt)),
            AgentEvent::Gone => return Presence::Gone,
            AgentEvent::Took => self.after_an_answer(),
            AgentEvent::Silent => {}
        }
        Presence::There
    }

    /// The agent has its first answer: nobody waits while the code of the beginning goes.
    fn after_an_answer(&mut self) {
        if self.beginning == Beginning::Answered && self.agent.took_all() {
            self.beginning = Beginning::Over;
            code_pages::give_back();
        }
    }

    fn on_line(&mut self, line: &[u8]) {
        if line.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let taken = match message::read(line) {
            Ok(Message::Request(request)) => self.on_request(line, request),
            Ok(Message::Notification(notification)) => {
                self.on_notification(line, &notification);
                Ok(())
            }
            Ok(Message::Answer) => {
                self.link.tell(&with_newline(line));
                Ok(())
            }
            Err(refusal) => Err(refusal),
        };
        if let Err(refusal) = taken {
            self.refuse(&refusal);
        }
    }

    fn on_request(&mut self, line: &[u8], request: Request) -> Result<(), Refusal> {
        let Request { id, method, params } = request;
        if self.flight.contains(&id) {
            return Err(Refusal::new(
                Some(id),
                message::INVALID_REQUEST,
                "A request with this id is not answered yet",
            ));
        }
        let kind = Kind::of(&method);
        let line = match (kind, params) {
            (Kind::Call, Some(params)) => self.stamped(line, params, &id)?,
            _ => with_newline(line),
        };
        if method == "initialize" {
            self.handshake.begin(id.clone(), line.clone());
        }
        let sent = u32::from(self.link.tell(&line));
        self.flight.push(Entry { id, kind, line, sent, since: Instant::now() });
        self.link.want(Duration::ZERO);
        Ok(())
    }

    fn stamped(
        &mut self,
        line: &[u8],
        params: &serde_json::value::RawValue,
        id: &message::Id,
    ) -> Result<Vec<u8>, Refusal> {
        let refuse = |code: i32, why: String| Refusal::new(Some(id.clone()), code, why);
        let text =
            std::str::from_utf8(line).map_err(|e| refuse(message::PARSE_ERROR, e.to_string()))?;
        let stamped = idempotency_key::stamp(text, params, &self.keys.fresh())
            .map_err(|why| refuse(message::INVALID_PARAMS, why.to_owned()))?;
        if stamped.len() >= limits::LINE_BYTES {
            return Err(refuse(message::INVALID_REQUEST, LINE_TOO_LONG.to_owned()));
        }
        Ok(with_newline(stamped.as_bytes()))
    }

    /// A notification passes while there is a connection. A later daemon needs to hear no more of them than `initialized`.
    fn on_notification(&mut self, line: &[u8], notification: &Notification) {
        if let Some(id) = notification.cancels() {
            self.flight.remove(&id);
        }
        let line = with_newline(line);
        self.link.tell(&line);
        if notification.method == "notifications/initialized" {
            self.handshake.complete(line);
        }
    }

    fn on_link(&mut self, event: LinkEvent) {
        match event {
            LinkEvent::Line(Line::Whole(line)) => self.on_answer(&line),
            LinkEvent::Line(Line::TooLong(excerpt)) => self.on_overlong_answer(&excerpt),
            LinkEvent::Reached(tools) => self.on_reached(tools),
            LinkEvent::Failed(reason) => self.on_unreachable(&reason),
            LinkEvent::Lost => self.on_lost(),
            LinkEvent::Took => {}
        }
    }

    fn on_reached(&mut self, tools: String) {
        self.handshake.tell_again(&mut self.flight, &mut self.link);
        // An agent that was not greeted here knows the tools of the daemon that it heard of first.
        let known = self
            .tools
            .take()
            .or_else(|| self.greeted.then(|| handshake_snapshot::own_fingerprint().to_owned()));
        if !tools.is_empty() && known.is_some_and(|known| known != tools) {
            self.agent.tell(local_replies::TOOLS_CHANGED);
        }
        self.tools = Some(tools);
    }

    fn on_answer(&mut self, line: &[u8]) {
        let passes = match message::read_answer(line) {
            FromDaemon::Answer(id) => self.flight.remove(&id).is_some(),
            FromDaemon::Other => true,
            FromDaemon::Unreadable => false,
        };
        if passes {
            self.lost = 0;
            self.agent.tell(&with_newline(line));
            if self.beginning == Beginning::Under {
                self.beginning = Beginning::Answered;
            }
        }
    }

    fn on_overlong_answer(&mut self, excerpt: &Excerpt) {
        let answered = message::id_of_excerpt(excerpt).and_then(|id| self.flight.remove(&id));
        if let Some(entry) = answered {
            let message = format!("The answer is longer than {} bytes", limits::LINE_BYTES);
            self.agent.tell(&local_replies::error(
                Some(&entry.id),
                message::INTERNAL_ERROR,
                &message,
            ));
        }
    }

    fn on_unreachable(&mut self, reason: &Unreachable) {
        // Once for each reason, since somebody may keep it all, and whether anybody reads it or not.
        let what = reason.what();
        if self.told.as_ref() != Some(&what) {
            let _ = writeln!(std::io::stderr(), "loci: {what}");
        }
        self.greet();
        for entry in self.flight.give_up(|_| true) {
            self.agent.tell(&local_replies::failure(&entry, &what, &reason.next_step()));
        }
        self.told = Some(what);
    }

    fn on_lost(&mut self) {
        self.lost += 1;
        let endurance = self.endurance.request;
        for entry in self.flight.give_up(|entry| {
            entry.sent >= DAEMONS_PER_REQUEST && entry.since.elapsed() >= endurance
        }) {
            let what = format!("locid ended {} times while it worked on this request.", entry.sent);
            self.agent.tell(&local_replies::failure(
                &entry,
                &what,
                "Do not repeat it as it is; `loci ctl logs` shows why locid ended.",
            ));
        }
        // With nothing to tell it a new daemon has to wait for the agent: `loci ctl stop` then lasts.
        if self.flight.waiting() {
            self.link.want(pause_after(self.lost));
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.agent.tell(&local_replies::refusal(refusal));
    }
}

/// Whether there still is an agent to serve.
#[derive(PartialEq, Eq)]
enum Presence {
    There,
    Gone,
}

impl Presence {
    fn is_gone(&self) -> bool {
        *self == Self::Gone
    }
}

/// None after the first loss, then longer each time: what ends one daemon after the other is not to keep the machine busy.
fn pause_after(lost: u32) -> Duration {
    let doublings = lost.saturating_sub(2).min(6);
    if lost < 2 { Duration::ZERO } else { Duration::from_millis(5) * 2_u32.pow(doublings) }
}

const LINE_TOO_LONG: &str = "The line is longer than 1 MiB";

fn too_long(excerpt: &Excerpt) -> Refusal {
    Refusal::new(message::id_of_excerpt(excerpt), message::INVALID_REQUEST, LINE_TOO_LONG)
}

fn with_newline(line: &[u8]) -> Vec<u8> {
    [line, b"\n"].concat()
}

async fn until(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => pending().await,
    }
}
