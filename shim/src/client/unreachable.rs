//! The reasons why the daemon cannot be reached, each with the message and the next step for the model or the user.

use loci_proto::error::{Exit, Failure};
use loci_proto::{VERSION, hello};

/// Why the daemon cannot be reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreachable {
    /// No daemon listens.
    Absent,
    /// The daemon failed to start.
    NotStarted {
        /// The last lines of its log, or the system error.
        reason: String,
        /// Its exit code, if it ran.
        exit: Option<i32>,
    },
    /// It accepts connections or holds its lock, but does not answer.
    NoAnswer {
        /// Its process id, if known.
        pid: Option<u32>,
    },
    /// It supports no protocol version that this `loci` supports.
    VersionSkew {
        /// The daemon's version.
        daemon: String,
        /// Oldest protocol version that it supports.
        oldest: u32,
        /// Newest protocol version that it supports.
        newest: u32,
    },
    /// It was stopped with `--hold`: no daemon may be started until `loci ctl start`.
    OnHold,
    /// Another process restores a backup and starts it afterwards.
    Restoring {
        /// The process id of that process.
        pid: u32,
    },
    /// It has reached its limit of sessions.
    Busy,
    /// It is shutting down.
    Draining,
    /// A process of another user serves the socket.
    OtherUser {
        /// The user id of that process.
        uid: u32,
    },
    /// The folder of the socket cannot be used.
    SocketFolder(Failure),
    /// A system error, or an answer that does not follow the protocol.
    Broken(String),
}

impl Unreachable {
    /// Returns the error as one sentence with a full stop.
    #[must_use]
    pub fn message(&self) -> String {
        match self {
            Self::Absent => "locid is not running.".to_owned(),
            Self::NotStarted { reason, .. } => {
                format!("locid could not be started: {}.", reason.trim_end_matches('.'))
            }
            Self::NoAnswer { pid: Some(pid) } => format!("locid does not answer (pid {pid})."),
            Self::NoAnswer { pid: None } => "locid does not answer.".to_owned(),
            Self::VersionSkew { daemon, oldest, newest } => format!(
                "this loci ({VERSION}) supports protocol {} to {}, the running locid ({daemon}) supports {oldest} to {newest}.",
                hello::MIN_VERSION,
                hello::MAX_VERSION
            ),
            Self::OnHold => "locid was stopped with --hold.".to_owned(),
            Self::Restoring { pid } => format!("a backup is being restored (pid {pid})."),
            Self::Busy => "locid has reached its limit of sessions.".to_owned(),
            Self::Draining => "locid is shutting down.".to_owned(),
            Self::OtherUser { uid } => {
                format!("a process of another user (uid {uid}) serves locid's socket.")
            }
            Self::SocketFolder(failure) => {
                format!(
                    "the folder of locid's socket cannot be used: {}.",
                    field_and_message(failure)
                )
            }
            Self::Broken(reason) => {
                format!("locid cannot be reached: {}.", reason.trim_end_matches('.'))
            }
        }
    }

    /// Returns the next step as sentences with a full stop.
    #[must_use]
    pub fn next_step(&self) -> String {
        match self {
            Self::Absent => "Start it with `loci ctl start`, or by calling any tool.".to_owned(),
            Self::NotStarted { .. } => "Fix this and try again; `loci ctl logs` shows more.".to_owned(),
            Self::NoAnswer { pid: Some(pid) } => {
                format!("It may be busy: try again. If it was suspended, `kill -CONT {pid}` resumes it; `kill {pid}` stops it without loss, and the next call starts a new one.")
            }
            Self::NoAnswer { pid: None } => "Try again; `loci ctl logs` shows what it was doing.".to_owned(),
            Self::VersionSkew { oldest, .. } if *oldest > hello::MAX_VERSION => "Restart this session to use the newer loci.".to_owned(),
            Self::VersionSkew { .. } => "Run `loci ctl stop`; the next call starts the matching locid.".to_owned(),
            Self::OnHold => "Run `loci ctl start` to end the hold.".to_owned(),
            Self::Restoring { .. } => "Try again when `loci backup restore` has ended; nothing was changed by this call.".to_owned(),
            Self::Busy => "Close unused sessions (`loci ctl status` lists them), then try again.".to_owned(),
            Self::Draining => "Try again in a few seconds.".to_owned(),
            Self::OtherUser { .. } => "Nothing was sent. Remove that socket, or set XDG_RUNTIME_DIR to a folder of your own.".to_owned(),
            Self::SocketFolder(failure) => format!("{}.", failure.hint.as_deref().unwrap_or("Fix this and try again")),
            Self::Broken(_) => "Try again; `loci ctl logs` may show more.".to_owned(),
        }
    }

    /// Returns true for a daemon whose protocol is older than this loci supports; it may be replaced.
    #[must_use]
    pub fn is_older_daemon(&self) -> bool {
        matches!(self, Self::VersionSkew { newest, .. } if *newest < hello::MIN_VERSION)
    }

    /// Returns the exit code of a command that failed for this reason.
    #[must_use]
    pub fn exit_code(&self) -> Exit {
        match self {
            Self::VersionSkew { .. } => Exit::VersionSkew,
            Self::SocketFolder(_) => Exit::Failed,
            // An invalid configuration is not a connection problem.
            Self::NotStarted { exit: Some(code), .. } if *code == Exit::Config as i32 => {
                Exit::Failed
            }
            _ => Exit::Unreachable,
        }
    }
}

/// Returns the field and the message of a failure, without its code and hint.
fn field_and_message(failure: &Failure) -> String {
    match &failure.field {
        Some(field) => format!("{field} {}", failure.message),
        None => failure.message.clone(),
    }
}

/// A failed connection attempt.
#[derive(Debug)]
pub enum ConnectError {
    /// Another attempt cannot succeed.
    Permanent(Unreachable),
    /// Another attempt may succeed.
    Transient(Unreachable),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_skew_names_both_versions_and_which_side_to_update() {
        let newer = Unreachable::VersionSkew { daemon: "9.0.0".into(), oldest: 7, newest: 9 };
        assert!(
            newer.message().contains(VERSION)
                && newer.message().contains("9.0.0")
                && newer.message().contains("7 to 9")
        );
        assert!(newer.next_step().contains("Restart this session"));
        let older = Unreachable::VersionSkew { daemon: "0.0.1".into(), oldest: 0, newest: 0 };
        assert!(older.next_step().contains("loci ctl stop"));
    }

    #[test]
    fn a_bad_configuration_is_a_failure_and_a_missing_daemon_is_unreachable() {
        let config = Unreachable::NotStarted {
            reason: "config.toml:3:1: unknown key".into(),
            exit: Some(78),
        };
        assert_eq!(config.exit_code(), Exit::Failed);
        assert_eq!(Unreachable::Absent.exit_code(), Exit::Unreachable);
    }
}
