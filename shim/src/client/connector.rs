//! Connects to the daemon: opens the socket, starts a daemon if none runs, says hello, and retries with backoff until a deadline.

use crate::client::admin;
use crate::client::backoff::Backoff;
use crate::client::socket::{connect, peer_pid, pid_in};
use crate::client::unreachable::{ConnectError, Unreachable};
use crate::relay::line_reader::{Line, LineReader};
use crate::spawn::Launch;
use loci_proto::error::Failure;
use loci_proto::hello::{Hello, Refusal, Refused, Reply, Welcome};
use loci_proto::limits;
use loci_proto::paths::Paths;
use std::io;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout, timeout_at};

/// Time limits for connecting.
#[derive(Debug, Clone, Copy)]
pub struct ConnectTimeouts {
    /// Limit for all attempts together, until the daemon accepts our hello.
    pub total: Duration,
    /// Limit for the answer to one hello.
    pub hello: Duration,
}

impl Default for ConnectTimeouts {
    fn default() -> Self {
        Self { total: Duration::from_secs(10), hello: Duration::from_secs(5) }
    }
}

/// Everything needed to connect to the daemon, as often as necessary.
#[derive(Debug)]
pub struct Connector {
    /// The paths of the sockets, or why they cannot be resolved.
    pub paths: Result<Paths, Failure>,
    /// The first line of every connection.
    pub hello: Hello,
    /// How to start a daemon if none runs; `None` starts none.
    pub launch: Option<Launch>,
    /// Time limits.
    pub timeouts: ConnectTimeouts,
}

/// A connection to a daemon that has accepted our hello.
#[derive(Debug)]
pub struct Connection {
    /// Lines from the daemon.
    pub lines: LineReader<OwnedReadHalf>,
    /// Bytes to the daemon.
    pub writer: OwnedWriteHalf,
    /// The daemon's answer to the hello.
    pub welcome: Welcome,
}

impl Connector {
    /// Connects and says hello, with retries. Starts a daemon if none runs, and replaces one whose protocol is too old.
    ///
    /// # Errors
    /// A permanent error at once; otherwise the latest error when `timeouts.total` has passed.
    pub async fn connect(&self) -> Result<Connection, Unreachable> {
        let paths =
            self.paths.as_ref().map_err(|failure| Unreachable::SocketFolder(failure.clone()))?;
        let mut latest_error = Unreachable::Absent;
        let deadline = Instant::now() + self.timeouts.total;
        match timeout_at(deadline, self.retry(paths, &mut latest_error)).await {
            Ok(result) => result,
            Err(_) => Err(latest_error),
        }
    }

    /// Checks on a separate connection that a daemon which accepts connections also answers a hello.
    ///
    /// # Errors
    /// `NoAnswer` when it does not. Any other failure counts as an answer.
    pub async fn probe(&self) -> Result<(), Unreachable> {
        let Ok(paths) = &self.paths else { return Ok(()) };
        let result = match connect(&paths.socket).await {
            Ok(stream) => self.say_hello(stream, paths).await.map(drop),
            Err(reason) => Err(ConnectError::Transient(reason)),
        };
        match result {
            Err(ConnectError::Transient(reason @ Unreachable::NoAnswer { .. })) => Err(reason),
            _ => Ok(()),
        }
    }

    async fn retry(
        &self,
        paths: &Paths,
        latest_error: &mut Unreachable,
    ) -> Result<Connection, Unreachable> {
        let mut backoff = Backoff::default();
        loop {
            match self.try_once(paths, latest_error).await {
                Ok(connection) => return Ok(connection),
                Err(ConnectError::Permanent(reason)) if reason.is_older_daemon() => {
                    // The older daemon finishes its calls in flight and exits; a later attempt starts ours. A newer daemon is never
                    // stopped.
                    admin::post(paths, "/stop").await.map_err(|_| reason.clone())?;
                    *latest_error = reason;
                }
                Err(ConnectError::Permanent(reason)) => return Err(reason),
                Err(ConnectError::Transient(reason)) => *latest_error = reason,
            }
            backoff.wait().await;
        }
    }

    async fn try_once(
        &self,
        paths: &Paths,
        latest_error: &mut Unreachable,
    ) -> Result<Connection, ConnectError> {
        let stream = match connect(&paths.socket).await {
            Ok(stream) => stream,
            Err(Unreachable::Absent) => match &self.launch {
                Some(launch) => launch.start(paths, latest_error).await?,
                None => return Err(ConnectError::Transient(Unreachable::Absent)),
            },
            Err(Unreachable::NoAnswer { .. }) => {
                return Err(ConnectError::Transient(Unreachable::NoAnswer {
                    pid: pid_in(&paths.lock),
                }));
            }
            Err(reason) => return Err(ConnectError::Permanent(reason)),
        };
        *latest_error = no_answer_error(&stream, paths);
        self.say_hello(stream, paths).await
    }

    async fn say_hello(
        &self,
        stream: UnixStream,
        paths: &Paths,
    ) -> Result<Connection, ConnectError> {
        let no_answer = no_answer_error(&stream, paths);
        match timeout(self.timeouts.hello, exchange_hello(stream, &self.hello)).await {
            Ok(result) => result,
            Err(_) => Err(ConnectError::Transient(no_answer)),
        }
    }
}

fn no_answer_error(stream: &UnixStream, paths: &Paths) -> Unreachable {
    Unreachable::NoAnswer { pid: peer_pid(stream).or_else(|| pid_in(&paths.lock)) }
}

async fn exchange_hello(stream: UnixStream, hello: &Hello) -> Result<Connection, ConnectError> {
    let transient =
        |error: io::Error| ConnectError::Transient(Unreachable::Broken(error.to_string()));
    let (reader, mut writer) = stream.into_split();
    let mut line = serde_json::to_vec(hello).map_err(|error| transient(error.into()))?;
    line.push(b'\n');
    writer.write_all(&line).await.map_err(transient)?;
    let mut lines = LineReader::new(reader, limits::LINE_BYTES);
    let answer = match lines.next().await.map_err(transient)? {
        Some(Line::Whole(answer)) if answer.len() < limits::HELLO_BYTES => answer,
        Some(_) => {
            return Err(ConnectError::Permanent(Unreachable::Broken(
                "its first line is too long for a hello".to_owned(),
            )));
        }
        None => return Err(ConnectError::Transient(Unreachable::Draining)),
    };
    match serde_json::from_slice(&answer) {
        Ok(Reply::Welcome(welcome)) if welcome.ok => Ok(Connection { lines, writer, welcome }),
        Ok(Reply::Refused(refused)) => Err(refusal_error(refused)),
        _ => Err(ConnectError::Permanent(Unreachable::Broken(format!(
            "its first line is not a hello: {}",
            String::from_utf8_lossy(&answer)
        )))),
    }
}

fn refusal_error(refused: Refused) -> ConnectError {
    match refused.error {
        Refusal::Version => ConnectError::Permanent(Unreachable::VersionSkew {
            daemon: refused.daemon,
            oldest: refused.min,
            newest: refused.max,
        }),
        Refusal::Busy => ConnectError::Transient(Unreachable::Busy),
        Refusal::Draining => ConnectError::Transient(Unreachable::Draining),
        Refusal::BadHello => ConnectError::Permanent(Unreachable::Broken(format!(
            "locid {} cannot parse our hello",
            refused.daemon
        ))),
    }
}
