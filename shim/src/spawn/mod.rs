//! Starting the daemon: one at a time, from a clean environment, and only until it answers or says why it cannot.
//!
//! A daemon is started only where nobody listens. Whoever starts one holds `spawn.lock` until it answers, so that twenty shims that
//! come at once start one daemon. Not here: when to start one (`client`), and the daemon's own lock (`locid`).

mod environment;
mod find_locid;
pub mod folders;
#[cfg(test)]
mod tests;

pub use find_locid::find_locid;

use crate::client::{Failed, Pauses, Unreachable, connect, pid_in};
use loci_proto::error::Exit;
use loci_proto::paths;
use loci_proto::paths::Paths;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

/// Lines of its log that a daemon which ended at once is quoted with.
const QUOTED_LINES: usize = 5;
/// Bytes of its log that are looked at for them.
const QUOTED_BYTES: u64 = 4 * 1024;

/// How a daemon is started.
#[derive(Debug, Default)]
pub struct Launch {
    /// The binary; looked up beside our own and on PATH when none is given.
    pub binary: Option<PathBuf>,
}

impl Launch {
    /// Starts a daemon, unless somebody else does so first, and connects to it. Has no deadline of its own: drop it to give up;
    /// `latest` then tells what it was waiting for.
    ///
    /// # Errors
    /// For good: the daemon ended with a reason, or there is nothing to start. For now: another daemon holds the lock.
    pub async fn start(
        &self,
        paths: &Paths,
        latest: &mut Unreachable,
    ) -> Result<UnixStream, Failed> {
        if paths.hold.exists() {
            return Err(Failed::ForGood(Unreachable::OnHold));
        }
        let foreign = paths::refuse_foreign_home(&paths.home, nix::unistd::geteuid().as_raw());
        foreign.map_err(|failure| Failed::ForGood(Unreachable::NoPlace(failure)))?;
        folders::make_private(&paths.runtime)
            .map_err(|failure| Failed::ForGood(Unreachable::NoPlace(failure)))?;
        *latest = not_started("another loci is starting it, and that takes very long", None);
        let _lock = match turn(paths).await? {
            Turn::Ours(lock) => lock,
            Turn::NotNeeded(stream) => return Ok(stream),
        };
        match connect(&paths.socket).await {
            Err(Unreachable::Absent) => {}
            Ok(stream) => return Ok(stream),
            Err(reason) => return Err(Failed::ForNow(reason)),
        }
        let binary = match &self.binary {
            Some(binary) => binary.clone(),
            None => find_locid().map_err(|why| Failed::ForGood(not_started(why, None)))?,
        };
        let log = Log::open(paths).map_err(|why| Failed::ForGood(not_started(why, None)))?;
        let child = spawn(&binary, &log).map_err(|e| {
            Failed::ForGood(not_started(format!("{}: {e}", binary.display()), None))
        })?;
        *latest = Unreachable::NoAnswer { pid: child.id() };
        until_it_answers(child, paths, &log).await
    }
}

fn not_started(why: impl Into<String>, exit: Option<i32>) -> Unreachable {
    Unreachable::NotStarted { why: why.into(), exit }
}

/// What waiting for the right to start a daemon ends with.
enum Turn {
    /// The lock is ours.
    Ours(Flock<File>),
    /// Somebody else has started one meanwhile.
    NotNeeded(UnixStream),
}

async fn turn(paths: &Paths) -> Result<Turn, Failed> {
    let failed = |error: io::Error| {
        Failed::ForGood(not_started(format!("{}: {error}", paths.spawn_lock.display()), None))
    };
    let mut file = private_file().open(&paths.spawn_lock).map_err(failed)?;
    let mut pauses = Pauses::default();
    loop {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(Turn::Ours(lock)),
            Err((file, Errno::EWOULDBLOCK | Errno::EINTR)) => file,
            Err((_, errno)) => return Err(failed(errno.into())),
        };
        pauses.pause().await;
        if let Ok(stream) = connect(&paths.socket).await {
            return Ok(Turn::NotNeeded(stream));
        }
    }
}

/// Files that only their owner may read, never reached through a link.
fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true).mode(0o600).custom_flags(OFlag::O_NOFOLLOW.bits());
    options
}

fn spawn(binary: &Path, log: &Log) -> io::Result<Child> {
    let mut command = Command::new(binary);
    command
        .arg("--auto-started")
        .env_clear()
        .envs(environment::for_the_daemon(std::env::vars_os()))
        .current_dir("/");
    command.stdin(Stdio::null()).stdout(log.file.try_clone()?).stderr(log.file.try_clone()?);
    // SAFETY: between fork and exec only system calls are made that touch no memory (`setsid`, `close_range`).
    unsafe { command.pre_exec(leave_the_agent) };
    command.spawn()
}

/// In the new process: a session of its own, so that it outlives the terminal and the agent whose shim happened to start it, and
/// none of the agent's open files, since somebody may wait for their end.
fn leave_the_agent() -> io::Result<()> {
    nix::unistd::setsid()?;
    #[cfg(target_os = "linux")]
    {
        use nix::libc::{CLOSE_RANGE_CLOEXEC, c_uint, close_range};
        // SAFETY: nothing is closed yet; descriptors are marked to be closed by exec. An older kernel refuses, which does no harm.
        let _ = unsafe { close_range(3, c_uint::MAX, CLOSE_RANGE_CLOEXEC.cast_signed()) };
    }
    Ok(())
}

/// Connects to the daemon as soon as it listens; notices when it ends instead.
async fn until_it_answers(
    mut child: Child,
    paths: &Paths,
    log: &Log,
) -> Result<UnixStream, Failed> {
    let mut pauses = Pauses::default();
    loop {
        match connect(&paths.socket).await {
            Ok(stream) => return Ok(stream),
            Err(Unreachable::Absent | Unreachable::NoAnswer { .. }) => {}
            Err(reason) => return Err(Failed::ForGood(reason)),
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(it_ended(status, paths, log));
        }
        pauses.pause().await;
    }
}

fn it_ended(status: ExitStatus, paths: &Paths, log: &Log) -> Failed {
    if status.code() == Some(Exit::AlreadyRunning as i32) {
        // Either it listens in a moment, or it is about to end and lets go of the lock.
        return Failed::ForNow(Unreachable::NoAnswer { pid: pid_in(&paths.lock) });
    }
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with code {code}"),
        (None, signal) => format!("it was ended by signal {}", signal.unwrap_or_default()),
    };
    let said = log.last_lines();
    let why = if said.is_empty() {
        log.why_empty().map_or(how.clone(), |trouble| format!("{how}; {trouble}"))
    } else {
        said
    };
    let reason = not_started(why, status.code());
    // A daemon that fails will do so again; one that somebody killed, or told to end before we reached it, will not.
    if status.code().is_some_and(|code| code != 0) {
        Failed::ForGood(reason)
    } else {
        Failed::ForNow(reason)
    }
}

/// The daemon's log, and where it ended before this daemon was started.
struct Log {
    file: File,
    path: PathBuf,
    start: u64,
    /// Why there is none.
    trouble: Option<io::Error>,
}

impl Log {
    /// The log, or nothing where it cannot be written: on a read-only or full disk the daemon can still recall.
    fn open(paths: &Paths) -> Result<Self, String> {
        let path = paths.logs.join("locid.log");
        let opened = folders::make(&paths.logs).and_then(|()| private_file().open(&path));
        let (file, trouble) = match opened {
            Ok(file) => (file, None),
            Err(trouble) => (
                OpenOptions::new()
                    .write(true)
                    .open("/dev/null")
                    .map_err(|e| format!("/dev/null: {e}"))?,
                Some(trouble),
            ),
        };
        let start = file.metadata().map_or(0, |meta| meta.len());
        Ok(Self { file, path, start, trouble })
    }

    /// Why nothing stands in it, if that is because nothing can be written: what ended the daemon, as like as not.
    fn why_empty(&self) -> Option<String> {
        let written = match &self.trouble {
            Some(trouble) => Err(trouble.to_string()),
            None => (&self.file).write_all(b"\n").map_err(|error| error.to_string()),
        };
        written.err().map(|why| format!("its log {} cannot be written: {why}", self.path.display()))
    }

    /// What the daemon said last.
    fn last_lines(&self) -> String {
        let mut text = Vec::new();
        let read = || -> io::Result<()> {
            let mut file = File::open(&self.path)?;
            let end = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.start.max(end.saturating_sub(QUOTED_BYTES))))?;
            file.take(QUOTED_BYTES).read_to_end(&mut text).map(drop)
        };
        if { read }().is_err() {
            return String::new();
        }
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> =
            text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
    }
}
