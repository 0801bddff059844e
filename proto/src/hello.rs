//! The first line each way on the agents' socket.
//!
//! `{"loci":[1,1],"shim":"0.1.0","session":{…}}` is answered by `{"ok":true,"loci":1,"daemon":"0.1.0","boot":"…","pid":7}`,
//! or by `{"ok":false,"error":"version","min":1,"max":1,…}` and the end of the connection.

use crate::group::Hint;
use serde::{Deserialize, Serialize};

/// The oldest protocol that this build speaks.
pub const MIN: u32 = 1;
/// The newest protocol that this build speaks.
pub const MAX: u32 = 1;

/// What the shim says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    /// Oldest and newest protocol that the shim speaks.
    pub loci: (u32, u32),
    /// The shim's version.
    pub shim: String,
    /// Whose session this is.
    pub session: Session,
}

/// A session of an agent, as the shim sees its surroundings.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Session {
    /// UUID v7 of this shim process; the first part of every idempotency key.
    pub id: String,
    /// The project.
    #[serde(default)]
    pub group: Hint,
    /// What about the surroundings was ignored, in sentences for `loci ctl status`.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The agent's own session id, where it tells one (`CLAUDE_CODE_SESSION_ID`).
    #[serde(default)]
    pub agent_session: Option<String>,
    /// The shim's process.
    pub pid: u32,
}

/// What the daemon says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// Welcome: MCP begins with the next line.
    Welcome(Welcome),
    /// No: the connection ends.
    Refused(Refused),
}

/// The daemon serves this session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Welcome {
    /// Always true.
    pub ok: bool,
    /// The protocol that both speak from here on.
    pub loci: u32,
    /// The daemon's version.
    pub daemon: String,
    /// Differs between two runs of the daemon.
    pub boot: String,
    /// The daemon's process.
    pub pid: u32,
    /// Fingerprint of the tools that it lists ([`crate::mcp::handshake::fingerprint`]).
    #[serde(default)]
    pub tools: String,
}

/// The daemon does not serve this session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refused {
    /// Always false.
    pub ok: bool,
    /// Why.
    pub error: Refusal,
    /// Oldest protocol that the daemon speaks.
    pub min: u32,
    /// Newest protocol that the daemon speaks.
    pub max: u32,
    /// The daemon's version.
    pub daemon: String,
}

/// Why a daemon does not serve a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No protocol in common.
    Version,
    /// All connections are taken: try again later.
    Busy,
    /// The daemon is about to end: connect again.
    Draining,
    /// The first line was no hello.
    BadHello,
}

impl Refused {
    /// A refusal of this build.
    #[must_use]
    pub fn new(error: Refusal) -> Self {
        Self { ok: false, error, min: MIN, max: MAX, daemon: crate::VERSION.to_owned() }
    }
}

/// The protocol to speak with a peer that speaks `theirs` (oldest, newest), if there is one.
#[must_use]
pub fn agree(theirs: (u32, u32)) -> Option<u32> {
    common((MIN, MAX), theirs)
}

/// The newest protocol that lies in both ranges.
fn common(ours: (u32, u32), theirs: (u32, u32)) -> Option<u32> {
    let newest = theirs.1.min(ours.1);
    (newest >= theirs.0.max(ours.0)).then_some(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_protocol_that_both_speak_is_agreed_on() {
        // A daemon of protocol 5 serves shims of 5 and 4, and so the newest of those that speak more.
        for (theirs, agreed) in [
            ((5, 5), Some(5)),
            ((4, 4), Some(4)),
            ((4, 5), Some(5)),
            ((3, 4), Some(4)),
            ((5, 9), Some(5)),
            ((1, 9), Some(5)),
        ] {
            assert_eq!(common((4, 5), theirs), agreed, "{theirs:?}");
        }
        for theirs in [(3, 3), (0, 3), (6, 6), (6, 9), (5, 4)] {
            assert_eq!(common((4, 5), theirs), None, "{theirs:?}");
        }
    }

    #[test]
    fn this_build_serves_its_own_protocol_and_whoever_also_speaks_it() {
        assert_eq!([(MIN, MAX), (MAX - 1, MAX), (MAX, MAX + 1)].map(agree), [Some(MAX); 3]);
        assert_eq!([(MAX + 1, MAX + 2), (0, MIN - 1)].map(agree), [None; 2]);
    }

    #[test]
    fn a_refusal_names_what_this_build_speaks() {
        let refused = serde_json::to_value(Refused::new(Refusal::Version)).expect("is JSON");
        let expected = serde_json::json!({"ok": false, "error": "version", "min": MIN, "max": MAX, "daemon": crate::VERSION});
        assert_eq!(refused, expected);
    }
}
