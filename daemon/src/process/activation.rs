//! Service manager protocol: socket activation, readiness and watchdog notifications.
//!
//! systemd opens the agents' socket (`locid.socket`), starts the daemon at the first connection, waits until it is ready, and kills it if
//! its watchdog notifications stop. Without a service manager all of this does nothing. Not here: the sockets that the daemon binds
//! itself (`sockets`).

use loci_proto::error::{Code, Failure};
use loci_proto::paths;
use nix::sys::socket::{getsockopt, sockopt};
use sd_notify::NotifyState;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

/// Takes over the agents' socket if the service manager passed one.
///
/// Call it while the process has one thread: it removes the environment variables, so that no child process uses them.
///
/// # Errors
/// `invalid` if anything but one socket that listens at `expected`, the path to which agents connect, was passed.
pub fn take_inherited_socket(expected: &Path) -> Result<Option<UnixListener>, Failure> {
    let refuse = |reason: String| {
        let hint = format!(
            "Set ListenStream= of the socket unit to {} and nothing else",
            expected.display()
        );
        Failure::new(
            Code::Invalid,
            format!("the service manager's socket cannot be used: {reason}"),
        )
        .hint(hint)
    };
    let mut passed = listenfd::ListenFd::from_env();
    if passed.len() > 1 {
        return Err(refuse(format!("{} sockets were passed", passed.len())));
    }
    let Some(listener) = passed.take_unix_listener(0).map_err(|e| refuse(e.to_string()))? else {
        return Ok(None);
    };
    if !getsockopt(&listener, sockopt::AcceptConn).unwrap_or(false) {
        return Err(refuse("it does not listen".to_owned()));
    }
    let address = listener.local_addr().map_err(|e| refuse(e.to_string()))?;
    match address.as_pathname() {
        Some(path) if paths::canonical(path) == paths::canonical(expected) => Ok(Some(listener)),
        Some(path) => Err(refuse(format!("it is {}", path.display()))),
        None => Err(refuse("it has no path".to_owned())),
    }
}

/// Checks that `--socket` of a service file is the socket that agents use. launchd passes no socket, so its service file
/// names the path.
///
/// # Errors
/// `invalid` if agents use another socket.
pub fn check_socket_option(socket: Option<&Path>, expected: &Path) -> Result<(), Failure> {
    match socket {
        Some(named) if paths::canonical(named) != paths::canonical(expected) => {
            let reason =
                format!("is {}, but agents connect to {}", named.display(), expected.display());
            let hint = "Name that socket in the service file, or set the same LOCI_HOME and LOCI_DB there as for the agents";
            Err(Failure::invalid("--socket", reason).hint(hint))
        }
        _ => Ok(()),
    }
}

/// Notifies the service manager that calls are served.
pub fn notify_ready() {
    notify(NotifyState::Ready);
}

/// Notifies the service manager that the daemon shuts down: no new connections, calls in flight are finished.
pub fn notify_stopping() {
    notify(NotifyState::Stopping);
}

/// Sends watchdog notifications, twice per interval of the service manager. Never returns.
pub async fn send_watchdog() {
    let Some(limit) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
    let mut tick = tokio::time::interval((limit / 2).max(Duration::from_millis(10)));
    loop {
        tick.tick().await;
        notify(NotifyState::Watchdog);
    }
}

fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager could not be notified");
    }
}
