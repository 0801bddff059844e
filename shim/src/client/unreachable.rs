//! Why there is no daemon to talk to, in the words that a model or a person gets to read.

use loci_proto::error::{Exit, Failure};
use loci_proto::{VERSION, hello};

/// Why the daemon cannot be talked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreachable {
    /// None runs, and this caller starts none.
    Absent,
    /// It could not be started; the reason may have several lines.
    NotStarted {
        /// What it said, or what the system said.
        why: String,
        /// How it ended, if it ran at all.
        exit: Option<i32>,
    },
    /// It takes connections, or holds its lock, but says nothing.
    NoAnswer {
        /// Its process, where that can be told.
        pid: Option<u32>,
    },
    /// It speaks other versions of the protocol.
    Skew {
        /// The daemon's version.
        daemon: String,
        /// Oldest and newest protocol that it speaks.
        speaks: (u32, u32),
    },
    /// The person stopped it and wants no other one started.
    OnHold,
    /// All its connections are taken.
    Busy,
    /// It is about to end, and has not ended.
    Draining,
    /// The socket is served by a process of somebody else.
    Stranger {
        /// Whose it is.
        uid: u32,
    },
    /// There is no place for a socket.
    NoPlace(Failure),
    /// The system refused, or the other side speaks something else.
    Broken(String),
}

impl Unreachable {
    /// What is wrong: one sentence with its full stop.
    #[must_use]
    pub fn what(&self) -> String {
        match self {
            Self::Absent => "locid is not running.".to_owned(),
            Self::NotStarted { why, .. } => {
                format!("locid could not be started: {}.", why.trim_end_matches('.'))
            }
            Self::NoAnswer { pid: Some(pid) } => format!("locid does not answer (pid {pid})."),
            Self::NoAnswer { pid: None } => "locid does not answer.".to_owned(),
            Self::Skew { daemon, speaks: (min, max) } => format!(
                "this loci ({VERSION}) speaks protocol {} to {}, the running locid ({daemon}) speaks {min} to {max}.",
                hello::MIN_VERSION,
                hello::MAX_VERSION
            ),
            Self::OnHold => "locid was stopped with --hold.".to_owned(),
            Self::Busy => "locid serves as many sessions as it can.".to_owned(),
            Self::Draining => "locid is ending and has not ended yet.".to_owned(),
            Self::Stranger { uid } => {
                format!("locid's socket is served by a process of another user (uid {uid}).")
            }
            Self::NoPlace(failure) => {
                format!("there is no place for locid's socket: {}.", sentence(failure))
            }
            Self::Broken(why) => format!("locid cannot be reached: {}.", why.trim_end_matches('.')),
        }
    }

    /// What to do about it: one sentence with its full stop.
    #[must_use]
    pub fn next_step(&self) -> String {
        match self {
            Self::Absent => "Start it with `loci ctl start`, or by any call of an agent.".to_owned(),
            Self::NotStarted { .. } => "Mend that and try again; `loci ctl logs` shows more.".to_owned(),
            Self::NoAnswer { pid: Some(pid) } => {
                format!("If it is stopped, `kill -CONT {pid}` wakes it; `kill -9 {pid}` ends it, and the next call starts a new one.")
            }
            Self::NoAnswer { pid: None } => "Try again; `loci ctl logs` shows what it was doing.".to_owned(),
            Self::Skew { speaks: (min, _), .. } if *min > hello::MAX_VERSION => "Restart this session, so that it runs the newer loci.".to_owned(),
            Self::Skew { .. } => "Run `loci ctl stop`; the next call starts the locid that belongs to this loci.".to_owned(),
            Self::OnHold => "Run `loci ctl start` to end the hold.".to_owned(),
            Self::Busy => "End sessions that are no longer needed (`loci ctl status` lists them), then try again.".to_owned(),
            Self::Draining => "Try again in a few seconds.".to_owned(),
            Self::Stranger { .. } => "Nothing was sent. Remove that socket, or set XDG_RUNTIME_DIR to a folder of your own.".to_owned(),
            Self::NoPlace(failure) => format!("{}.", failure.hint.as_deref().unwrap_or("Mend that and try again")),
            Self::Broken(_) => "Try again; `loci ctl logs` may show more.".to_owned(),
        }
    }

    /// True for a daemon that is older than this loci, and so may be replaced by the one that belongs to it.
    #[must_use]
    pub fn is_older_daemon(&self) -> bool {
        matches!(self, Self::Skew { speaks: (_, newest), .. } if *newest < hello::MIN_VERSION)
    }

    /// How a command ends that needed the daemon.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Skew { .. } => Exit::VersionSkew,
            Self::NoPlace(_) => Exit::Failed,
            // The configuration is at fault, not the reach.
            Self::NotStarted { exit: Some(code), .. } if *code == Exit::Config as i32 => {
                Exit::Failed
            }
            _ => Exit::Unreachable,
        }
    }
}

/// What a failure says without its code and hint.
fn sentence(failure: &Failure) -> String {
    match &failure.field {
        Some(field) => format!("{field} {}", failure.message),
        None => failure.message.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skew_names_both_versions_and_which_side_to_renew() {
        let newer = Unreachable::Skew { daemon: "9.0.0".into(), speaks: (7, 9) };
        assert!(
            newer.what().contains(VERSION)
                && newer.what().contains("9.0.0")
                && newer.what().contains("7 to 9")
        );
        assert!(newer.next_step().contains("Restart this session"));
        let older = Unreachable::Skew { daemon: "0.0.1".into(), speaks: (0, 0) };
        assert!(older.next_step().contains("loci ctl stop"));
    }

    #[test]
    fn a_bad_configuration_is_a_failure_and_a_missing_daemon_is_unreachable() {
        let config =
            Unreachable::NotStarted { why: "config.toml:3:1: unknown key".into(), exit: Some(78) };
        assert_eq!(config.exit(), Exit::Failed);
        assert_eq!(Unreachable::Absent.exit(), Exit::Unreachable);
    }
}
