//! What a service manager hands over, and what it wants to hear.
//!
//! systemd holds the agents' socket (`locid.socket`), starts the daemon when somebody knocks, waits for its readiness, and ends it when
//! it gives no more sign of life. Without a service manager all of this does nothing. Not here: binding sockets of our own (`sockets`).

use loci_proto::error::{Code, Failure};
use loci_proto::paths;
use nix::sys::socket::{getsockopt, sockopt};
use sd_notify::NotifyState;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::Duration;

/// The agents' socket, if a service manager holds it for us.
///
/// Has to be called while the process has one thread: it takes the variables away, so that no child takes them for its own.
///
/// # Errors
/// `invalid` when something else was handed over than one socket that listens at `expected`, where agents look for it.
pub fn inherited(expected: &Path) -> Result<Option<UnixListener>, Failure> {
    let refuse = |why: String| {
        let hint = format!(
            "ListenStream= of the socket unit has to be {}, and nothing else",
            expected.display()
        );
        Failure::new(Code::Invalid, format!("the service manager's socket cannot be used: {why}"))
            .hint(hint)
    };
    let mut handed = listenfd::ListenFd::from_env();
    if handed.len() > 1 {
        return Err(refuse(format!("{} were handed over", handed.len())));
    }
    let Some(listener) = handed.take_unix_listener(0).map_err(|e| refuse(e.to_string()))? else {
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

/// Checks the socket that a service file names: launchd holds none for us, so this is what keeps its file and the agents together.
///
/// # Errors
/// `invalid` when agents look elsewhere.
pub fn named(socket: Option<&Path>, expected: &Path) -> Result<(), Failure> {
    match socket {
        Some(named) if paths::canonical(named) != paths::canonical(expected) => {
            let why = format!("is {}, but agents look at {}", named.display(), expected.display());
            let hint = "Name that one in the service file, or give it the variables that the agents have (LOCI_HOME, LOCI_DB)";
            Err(Failure::invalid("--socket", why).hint(hint))
        }
        _ => Ok(()),
    }
}

/// Calls are served.
pub fn ready() {
    tell(NotifyState::Ready);
}

/// No more connections are taken; what is in flight is being ended.
pub fn stopping() {
    tell(NotifyState::Stopping);
}

/// Gives signs of life as often as the service manager wants them, twice over. Never returns.
pub async fn stay_alive() {
    let Some(limit) = sd_notify::watchdog_enabled() else { return std::future::pending().await };
    let mut tick = tokio::time::interval((limit / 2).max(Duration::from_millis(10)));
    loop {
        tick.tick().await;
        tell(NotifyState::Watchdog);
    }
}

fn tell(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!(%error, "the service manager could not be told");
    }
}
