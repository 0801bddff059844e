//! Reaching the daemon: connect, look who answers, say hello, and try again until the patience is spent.
//!
//! Not here: what is said after the hello (`relay`), and how a daemon is started (`spawn`). The admin socket is [`admin`].

pub mod admin;
pub mod call;
pub mod stream;
mod unreachable;

pub use unreachable::Unreachable;

use crate::relay::line_reader::{Line, Lines};
use crate::spawn::Launch;
use loci_proto::error::Failure;
use loci_proto::hello::{Hello, Refusal, Refused, Reply, Welcome};
use loci_proto::limits;
use loci_proto::paths::Paths;
use std::io;
use std::path::Path;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// How long to wait for what.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// For a daemon that has said welcome, all tries together.
    pub reach: Duration,
    /// For the answer to one hello.
    pub hello: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self { reach: Duration::from_secs(10), hello: Duration::from_secs(5) }
    }
}

/// Growing pauses between tries, 5 to 100 ms.
#[derive(Debug)]
pub struct Pauses(Duration);

impl Pauses {
    /// Waits a little, and longer each time.
    pub async fn pause(&mut self) {
        sleep(self.0).await;
        self.0 = (self.0 * 2).min(Duration::from_millis(100));
    }
}

impl Default for Pauses {
    fn default() -> Self {
        Self(Duration::from_millis(5))
    }
}

/// Everything that is needed to reach the daemon, as often as it takes.
#[derive(Debug)]
pub struct Reach {
    /// Where its socket is, or why there is no place for one.
    pub paths: Result<Paths, Failure>,
    /// What to say first.
    pub hello: Hello,
    /// How to start a daemon when there is none; `None` starts none.
    pub launch: Option<Launch>,
    /// How long all this may take.
    pub patience: Patience,
}

/// A daemon that has said welcome.
#[derive(Debug)]
pub struct Connection {
    /// Lines of the daemon.
    pub lines: Lines<OwnedReadHalf>,
    /// The way to it.
    pub writer: OwnedWriteHalf,
    /// Who it is.
    pub welcome: Welcome,
}

/// A try that failed, and whether another one could help.
#[derive(Debug)]
pub enum Failed {
    /// Trying again cannot help.
    ForGood(Unreachable),
    /// It may pass.
    ForNow(Unreachable),
}

impl Reach {
    /// Connects and says hello, again and again, starting a daemon where there is none.
    ///
    /// # Errors
    /// The latest reason, as soon as it cannot pass by itself, at the latest when the patience is spent.
    pub async fn reach(&self) -> Result<Connection, Unreachable> {
        let paths = self.paths.as_ref().map_err(|failure| Unreachable::NoPlace(failure.clone()))?;
        let mut latest = Unreachable::Absent;
        let deadline = Instant::now() + self.patience.reach;
        match timeout_at(deadline, self.try_until_it_works(paths, &mut latest)).await {
            Ok(reached) => reached,
            Err(_) => Err(latest),
        }
    }

    /// Looks on a connection of its own whether a daemon that takes connections still answers them.
    ///
    /// # Errors
    /// `NoAnswer` when it does not.
    pub async fn probe(&self) -> Result<(), Unreachable> {
        let Ok(paths) = &self.paths else { return Ok(()) };
        let greeted = match connect(&paths.socket).await {
            Ok(stream) => self.greet(stream, paths).await.map(drop),
            Err(reason) => Err(Failed::ForNow(reason)),
        };
        match greeted {
            Err(Failed::ForNow(reason @ Unreachable::NoAnswer { .. })) => Err(reason),
            _ => Ok(()),
        }
    }

    async fn try_until_it_works(
        &self,
        paths: &Paths,
        latest: &mut Unreachable,
    ) -> Result<Connection, Unreachable> {
        let mut pauses = Pauses::default();
        loop {
            match self.try_once(paths, latest).await {
                Ok(connection) => return Ok(connection),
                Err(Failed::ForGood(reason)) if reason.is_older_daemon() => {
                    // It ends after what it has in flight; the next try starts the daemon that belongs to this loci. A newer daemon
                    // is never ended by an older shim.
                    admin::post(paths, "/stop").await.map_err(|_| reason.clone())?;
                    *latest = reason;
                }
                Err(Failed::ForGood(reason)) => return Err(reason),
                Err(Failed::ForNow(reason)) => *latest = reason,
            }
            pauses.pause().await;
        }
    }

    async fn try_once(
        &self,
        paths: &Paths,
        latest: &mut Unreachable,
    ) -> Result<Connection, Failed> {
        let stream = match connect(&paths.socket).await {
            Ok(stream) => stream,
            Err(Unreachable::Absent) => match &self.launch {
                Some(launch) => launch.start(paths, latest).await?,
                None => return Err(Failed::ForNow(Unreachable::Absent)),
            },
            Err(Unreachable::NoAnswer { .. }) => {
                return Err(Failed::ForNow(Unreachable::NoAnswer { pid: pid_in(&paths.lock) }));
            }
            Err(reason) => return Err(Failed::ForGood(reason)),
        };
        *latest = no_answer(&stream, paths);
        self.greet(stream, paths).await
    }

    async fn greet(&self, stream: UnixStream, paths: &Paths) -> Result<Connection, Failed> {
        let silent = no_answer(&stream, paths);
        match timeout(self.patience.hello, greet(stream, &self.hello)).await {
            Ok(greeted) => greeted,
            Err(_) => Err(Failed::ForNow(silent)),
        }
    }
}

fn no_answer(stream: &UnixStream, paths: &Paths) -> Unreachable {
    Unreachable::NoAnswer { pid: peer_pid(stream).or_else(|| pid_in(&paths.lock)) }
}

/// Connects to a socket of our own user. Nothing has been sent yet.
///
/// # Errors
/// `Absent` when nobody listens there; `NoAnswer` when nobody takes the connections; `Stranger` and `Broken` else.
pub async fn connect(socket: &Path) -> Result<UnixStream, Unreachable> {
    let stream = UnixStream::connect(socket).await.map_err(|error| match error.kind() {
        // A listener that dies at this very moment resets what it had not accepted.
        io::ErrorKind::NotFound
        | io::ErrorKind::ConnectionRefused
        | io::ErrorKind::ConnectionReset => Unreachable::Absent,
        io::ErrorKind::WouldBlock => Unreachable::NoAnswer { pid: None },
        _ => Unreachable::Broken(format!("{}: {error}", socket.display())),
    })?;
    let peer = stream
        .peer_cred()
        .map_err(|error| Unreachable::Broken(format!("{}: {error}", socket.display())))?;
    let ours = nix::unistd::geteuid().as_raw();
    if peer.uid() == ours { Ok(stream) } else { Err(Unreachable::Stranger { uid: peer.uid() }) }
}

/// The process at the other end.
#[must_use]
pub fn peer_pid(stream: &UnixStream) -> Option<u32> {
    stream.peer_cred().ok()?.pid().and_then(|pid| u32::try_from(pid).ok()).filter(|pid| *pid != 0)
}

/// The process that wrote itself into a lock file.
pub(crate) fn pid_in(lock: &Path) -> Option<u32> {
    std::fs::read_to_string(lock).ok()?.trim().parse().ok()
}

async fn greet(stream: UnixStream, hello: &Hello) -> Result<Connection, Failed> {
    let not_yet = |error: io::Error| Failed::ForNow(Unreachable::Broken(error.to_string()));
    let (reader, mut writer) = stream.into_split();
    let mut line = serde_json::to_vec(hello).map_err(|error| not_yet(error.into()))?;
    line.push(b'\n');
    writer.write_all(&line).await.map_err(not_yet)?;
    let mut lines = Lines::new(reader, limits::LINE_BYTES);
    let answer = match lines.next().await.map_err(not_yet)? {
        Some(Line::Whole(answer)) if answer.len() < limits::HELLO_BYTES => answer,
        Some(_) => {
            return Err(Failed::ForGood(Unreachable::Broken(
                "its first line is too long for a hello".to_owned(),
            )));
        }
        None => return Err(Failed::ForNow(Unreachable::Draining)),
    };
    match serde_json::from_slice(&answer) {
        Ok(Reply::Welcome(welcome)) if welcome.ok => Ok(Connection { lines, writer, welcome }),
        Ok(Reply::Refused(refused)) => Err(in_words(refused)),
        _ => Err(Failed::ForGood(Unreachable::Broken(format!(
            "it said no hello: {}",
            String::from_utf8_lossy(&answer)
        )))),
    }
}

fn in_words(refused: Refused) -> Failed {
    match refused.error {
        Refusal::Version => Failed::ForGood(Unreachable::Skew {
            daemon: refused.daemon,
            speaks: (refused.min, refused.max),
        }),
        Refusal::Busy => Failed::ForNow(Unreachable::Busy),
        Refusal::Draining => Failed::ForNow(Unreachable::Draining),
        Refusal::BadHello => Failed::ForGood(Unreachable::Broken(format!(
            "locid {} cannot read our hello",
            refused.daemon
        ))),
    }
}
