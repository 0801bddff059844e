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

/// Deadlines of connecting.
#[derive(Debug, Clone, Copy)]
pub struct ConnectTimeouts {
    /// For all attempts together, until the daemon accepts our hello.
    pub total: Duration,
    /// For the answer to one hello.
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
    /// The paths of the sockets, or why there are none.
    pub paths: Result<Paths, Failure>,
    /// The first line of every connection.
    pub hello: Hello,
    /// How to start a daemon if none runs; `None` starts none.
    pub launch: Option<Launch>,
    /// Deadlines.
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
    /// Connects and says hello, with retries. Starts a daemon if none runs, and replaces an older one.
    ///
    /// # Errors
    /// The latest reason: at once if it is permanent, else when `timeouts.total` has passed.
    pub async fn connect(&self) -> Result<Connection, Unreachable> {
        let paths = self.paths.as_ref().map_err(|failure| Unreachable::NoPlace(failure.clone()))?;
        let mut latest = Unreachable::Absent;
        let deadline = Instant::now() + self.timeouts.total;
        match timeout_at(deadline, self.retry(paths, &mut latest)).await {
            Ok(connected) => connected,
            Err(_) => Err(latest),
        }
    }

    /// Checks on a separate connection that a daemon which accepts connections also answers a hello.
    ///
    /// # Errors
    /// `NoAnswer` when it does not. Other failures count as alive.
    pub async fn probe(&self) -> Result<(), Unreachable> {
        let Ok(paths) = &self.paths else { return Ok(()) };
        let greeted = match connect(&paths.socket).await {
            Ok(stream) => self.say_hello(stream, paths).await.map(drop),
            Err(reason) => Err(ConnectError::Transient(reason)),
        };
        match greeted {
            Err(ConnectError::Transient(reason @ Unreachable::NoAnswer { .. })) => Err(reason),
            _ => Ok(()),
        }
    }

    async fn retry(
        &self,
        paths: &Paths,
        latest: &mut Unreachable,
    ) -> Result<Connection, Unreachable> {
        let mut backoff = Backoff::default();
        loop {
            match self.try_once(paths, latest).await {
                Ok(connection) => return Ok(connection),
                Err(ConnectError::Permanent(reason)) if reason.is_older_daemon() => {
                    // The older daemon ends after its calls in flight; the next attempt starts ours. An older shim never stops a newer
                    // daemon.
                    admin::post(paths, "/stop").await.map_err(|_| reason.clone())?;
                    *latest = reason;
                }
                Err(ConnectError::Permanent(reason)) => return Err(reason),
                Err(ConnectError::Transient(reason)) => *latest = reason,
            }
            backoff.wait().await;
        }
    }

    async fn try_once(
        &self,
        paths: &Paths,
        latest: &mut Unreachable,
    ) -> Result<Connection, ConnectError> {
        let stream = match connect(&paths.socket).await {
            Ok(stream) => stream,
            Err(Unreachable::Absent) => match &self.launch {
                Some(launch) => launch.start(paths, latest).await?,
                None => return Err(ConnectError::Transient(Unreachable::Absent)),
            },
            Err(Unreachable::NoAnswer { .. }) => {
                return Err(ConnectError::Transient(Unreachable::NoAnswer {
                    pid: pid_in(&paths.lock),
                }));
            }
            Err(reason) => return Err(ConnectError::Permanent(reason)),
        };
        *latest = no_answer(&stream, paths);
        self.say_hello(stream, paths).await
    }

    async fn say_hello(
        &self,
        stream: UnixStream,
        paths: &Paths,
    ) -> Result<Connection, ConnectError> {
        let silent = no_answer(&stream, paths);
        match timeout(self.timeouts.hello, exchange_hello(stream, &self.hello)).await {
            Ok(greeted) => greeted,
            Err(_) => Err(ConnectError::Transient(silent)),
        }
    }
}

fn no_answer(stream: &UnixStream, paths: &Paths) -> Unreachable {
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
        Refusal::Version => ConnectError::Permanent(Unreachable::Skew {
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
