//! Starts the daemon with a clean environment and waits until it accepts connections or exits.
//!
//! A daemon is started only if none listens. The starting process holds `spawn.lock` until the daemon accepts connections,
//! so that twenty shims that start at the same time start one daemon. Not here: when to start one (`client`), and the daemon's own lock (`locid`).

mod environment;
mod find_locid;
pub mod folders;
mod log;
#[cfg(test)]
mod tests;

pub use find_locid::find_locid;

use crate::client::backoff::Backoff;
use crate::client::socket::{connect, pid_in};
use crate::client::unreachable::{ConnectError, Unreachable};
use loci_proto::error::Exit;
use loci_proto::paths;
use loci_proto::paths::Paths;
use log::Log;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

/// Maximum time for which [`hold_start`] waits for a start in progress.
const START_DEADLINE: Duration = Duration::from_secs(15);

/// How to start a daemon.
#[derive(Debug, Default)]
pub struct Launch {
    /// The binary; `None` searches our own folder and PATH.
    pub binary: Option<PathBuf>,
}

impl Launch {
    /// Starts a daemon, unless another process does so first, and connects to it.
    ///
    /// Has no time limit: drop the future to give up. `latest_error` then says why no daemon answers yet.
    ///
    /// # Errors
    /// Permanent when the daemon cannot be run or exits with an error; transient when another daemon holds the lock, or the daemon was
    /// killed or exited normally.
    pub async fn start(
        &self,
        paths: &Paths,
        latest_error: &mut Unreachable,
    ) -> Result<UnixStream, ConnectError> {
        if paths.hold.exists() {
            return Err(ConnectError::Permanent(Unreachable::OnHold));
        }
        paths::refuse_foreign_home(&paths.home, nix::unistd::geteuid().as_raw())
            .map_err(|failure| ConnectError::Permanent(Unreachable::SocketFolder(failure)))?;
        folders::ensure_private(&paths.runtime)
            .map_err(|failure| ConnectError::Permanent(Unreachable::SocketFolder(failure)))?;
        *latest_error = match restoring(paths) {
            Some(pid) => Unreachable::Restoring { pid },
            None => not_started("another loci is still starting it", None),
        };
        let _lock = match lock_or_connect(paths).await? {
            LockOutcome::Locked(lock) => lock,
            LockOutcome::DaemonRunning(stream) => return Ok(stream),
        };
        match connect(&paths.socket).await {
            Err(Unreachable::Absent) => {}
            Ok(stream) => return Ok(stream),
            Err(reason) => return Err(ConnectError::Transient(reason)),
        }
        let binary = match &self.binary {
            Some(binary) => binary.clone(),
            None => {
                find_locid().map_err(|reason| ConnectError::Permanent(not_started(reason, None)))?
            }
        };
        let log = Log::open(paths)
            .map_err(|reason| ConnectError::Permanent(not_started(reason, None)))?;
        let child = spawn(&binary, &log).map_err(|e| {
            ConnectError::Permanent(not_started(format!("{}: {e}", binary.display()), None))
        })?;
        *latest_error = Unreachable::NoAnswer { pid: child.id() };
        wait_until_listening(child, paths, &log).await
    }
}

fn not_started(reason: impl Into<String>, exit: Option<i32>) -> Unreachable {
    Unreachable::NotStarted { reason: reason.into(), exit }
}

/// Returns the path of the lock of commands that replace the database. It contains the process id
/// while one runs.
#[must_use]
pub fn restore_lock(paths: &Paths) -> PathBuf {
    paths.spawn_lock.with_extension("restore")
}

/// Returns the process that replaces the database at the moment.
fn restoring(paths: &Paths) -> Option<u32> {
    let pid = pid_in(&restore_lock(paths))?;
    let process = nix::unistd::Pid::from_raw(i32::try_from(pid).ok()?);
    nix::sys::signal::kill(process, None).is_ok().then_some(pid)
}

/// Keeps every other process from starting the daemon until the lock is dropped. Waits for a start in progress.
///
/// # Errors
/// When the lock cannot be taken within [`START_DEADLINE`].
pub async fn hold_start(paths: &Paths) -> Result<Flock<File>, Unreachable> {
    let failed =
        |error: io::Error| not_started(format!("{}: {error}", paths.spawn_lock.display()), None);
    folders::ensure_private(&paths.runtime).map_err(Unreachable::SocketFolder)?;
    let mut file = folders::private_file().open(&paths.spawn_lock).map_err(failed)?;
    let started = Instant::now();
    let mut backoff = Backoff::default();
    loop {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(lock),
            Err((file, Errno::EWOULDBLOCK | Errno::EINTR)) => file,
            Err((_, errno)) => return Err(failed(errno.into())),
        };
        if started.elapsed() >= START_DEADLINE {
            return Err(Unreachable::NoAnswer { pid: pid_in(&paths.lock) });
        }
        backoff.wait().await;
    }
}

/// The outcome of waiting for `spawn.lock`.
enum LockOutcome {
    /// We hold the lock.
    Locked(Flock<File>),
    /// Another process has started a daemon meanwhile; we are connected to it.
    DaemonRunning(UnixStream),
}

async fn lock_or_connect(paths: &Paths) -> Result<LockOutcome, ConnectError> {
    let failed = |error: io::Error| {
        ConnectError::Permanent(not_started(
            format!("{}: {error}", paths.spawn_lock.display()),
            None,
        ))
    };
    let mut file = folders::private_file().open(&paths.spawn_lock).map_err(failed)?;
    let mut backoff = Backoff::default();
    loop {
        file = match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => return Ok(LockOutcome::Locked(lock)),
            Err((file, Errno::EWOULDBLOCK | Errno::EINTR)) => file,
            Err((_, errno)) => return Err(failed(errno.into())),
        };
        backoff.wait().await;
        if let Ok(stream) = connect(&paths.socket).await {
            return Ok(LockOutcome::DaemonRunning(stream));
        }
    }
}

fn spawn(binary: &Path, log: &Log) -> io::Result<Child> {
    let mut command = Command::new(binary);
    command
        .arg("--auto-started")
        .env_clear()
        .envs(environment::for_daemon(std::env::vars_os()))
        .current_dir("/");
    command.stdin(Stdio::null()).stdout(log.file.try_clone()?).stderr(log.file.try_clone()?);
    // SAFETY: between fork and exec only async-signal-safe system calls are made (`setsid`, `close_range`).
    unsafe { command.pre_exec(detach_from_agent) };
    command.spawn()
}

/// Detaches the new process: gives it its own session, so that it outlives the terminal and the agent, and closes the agent's open
/// files at exec, because another process may wait for them to close.
fn detach_from_agent() -> io::Result<()> {
    nix::unistd::setsid()?;
    #[cfg(target_os = "linux")]
    {
        use nix::libc::{CLOSE_RANGE_CLOEXEC, c_uint, close_range};
        // SAFETY: the call closes nothing now; it marks descriptors to be closed by exec. An old kernel refuses it; the files stay open.
        let _ = unsafe { close_range(3, c_uint::MAX, CLOSE_RANGE_CLOEXEC.cast_signed()) };
    }
    Ok(())
}

/// Connects to the daemon as soon as it listens, or returns an error when it exits.
async fn wait_until_listening(
    mut child: Child,
    paths: &Paths,
    log: &Log,
) -> Result<UnixStream, ConnectError> {
    let mut backoff = Backoff::default();
    loop {
        match connect(&paths.socket).await {
            Ok(stream) => return Ok(stream),
            Err(Unreachable::Absent | Unreachable::NoAnswer { .. }) => {}
            Err(reason) => return Err(ConnectError::Permanent(reason)),
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(exit_error(status, paths, log));
        }
        backoff.wait().await;
    }
}

fn exit_error(status: ExitStatus, paths: &Paths, log: &Log) -> ConnectError {
    if status.code() == Some(Exit::AlreadyRunning as i32) {
        // Another daemon holds the lock: it is either starting or shutting down.
        return ConnectError::Transient(Unreachable::NoAnswer { pid: pid_in(&paths.lock) });
    }
    let exit = match (status.code(), status.signal()) {
        (Some(code), _) => format!("it exited with code {code}"),
        (None, signal) => format!("it was killed by signal {}", signal.unwrap_or_default()),
    };
    let last_lines = log.last_lines();
    let reason = if last_lines.is_empty() {
        log.write_error().map_or(exit.clone(), |error| format!("{exit}; {error}"))
    } else {
        last_lines
    };
    let error = not_started(reason, status.code());
    // A daemon that exited with an error will do so again. After a kill or a normal exit, another attempt may succeed.
    if status.code().is_some_and(|code| code != 0) {
        ConnectError::Permanent(error)
    } else {
        ConnectError::Transient(error)
    }
}
