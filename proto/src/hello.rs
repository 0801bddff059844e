//! The hello line: the first line in each direction on the agents' socket.
//!
//! `{"loci":[1,1],"shim":"0.1.0","session":{…}}` is answered by `{"ok":true,"loci":1,"daemon":"0.1.0","boot":"…","pid":7}`,
//! or by `{"ok":false,"error":"version","min":1,"max":1,…}` and the end of the connection.

use crate::group::{GroupHint, GroupName};
use crate::requests::hook::HookClient;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The oldest protocol version that this build supports.
pub const MIN_VERSION: u32 = 1;
/// The newest protocol version that this build supports.
pub const MAX_VERSION: u32 = 1;

/// The hello line of the shim.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Hello {
    /// Oldest and newest protocol version that the shim supports.
    pub loci: (u32, u32),
    /// The shim's version.
    pub shim: String,
    /// The session.
    pub session: Session,
}

/// The session of an agent, and the environment of its shim.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Session {
    /// UUID v7 of this shim process; the first part of every idempotency key.
    pub id: String,
    /// The project.
    #[serde(default)]
    pub group: GroupHint,
    /// `isolated` of the project's `.loci.toml`; `None` if the file does not have the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolated: Option<bool>,
    /// Parts of the environment that were ignored, in sentences for `loci ctl status`.
    #[serde(default)]
    pub warnings: Vec<String>,
    /// The agent's own session id, if it is in the environment (`CLAUDE_CODE_SESSION_ID`).
    #[serde(default)]
    pub agent_session: Option<String>,
    /// Process id of the shim.
    pub pid: u32,
    /// What the folder of the project is, whatever its path; `None` outside any project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<FolderMark>,
    /// Where the session works, whatever its project is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<SessionFolder>,
    /// The branch and the commit that are checked out; `None` outside a repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkout: Option<Checkout>,
    /// The project's files switch loci off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub off: bool,
    /// The project has a `.loci.toml` that a person has allowed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub opted_in: bool,
    /// What the project's files ask a person for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<FileAsks>,
    /// The session is incognito.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub incognito: bool,
    /// The processes above the shim, the nearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ancestors: Vec<u32>,
    /// The client whose hook this is; absent for agents and people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hook: Option<HookClient>,
    /// Who runs the command.
    #[serde(default, skip_serializing_if = "Speaker::is_script")]
    pub speaker: Speaker,
    /// `version` of the memories that a person was shown before they decided, by id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown: Option<BTreeMap<String, String>>,
}

/// What the `.loci.toml` of a project asks for that only a person may allow: a repository can write such a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAsks {
    /// The name that it gives the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<GroupName>,
    /// It says `isolated = false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shares: bool,
    /// It says `off = false`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub serves: bool,
}

/// Who runs a command, as far as the shim can tell.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    /// A person at a terminal, or a script that a person has declared as their own.
    Person,
    /// The shell of an agent, with the name of its client.
    Agent(String),
    /// Nobody knows who: also a shim that does not say it.
    #[default]
    Script,
}

impl Speaker {
    /// Returns whether nothing is known of who runs the command.
    #[must_use]
    pub fn is_script(&self) -> bool {
        *self == Self::Script
    }

    /// Returns the name under which the texts of an agent or a script are stored.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Person => "person",
            Self::Agent(client) => client,
            Self::Script => "script",
        }
    }
}

/// What a folder is, whatever its path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderMark {
    /// Device, inode and time of creation: equal only for one folder that was renamed or moved, or that is seen by several paths. No
    /// archive and no clone can set it. `None` where the file system does not record the time of creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// A hash of the first line of the reflog, which a copy of the repository shares: a hint only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// A hash of the address that the repository was cloned from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<String>,
}

/// Where a session works, whatever its project is called.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionFolder {
    /// The folder of the session.
    pub path: String,
    /// What it and the folders around it are, the nearest first, as [`FolderMark::identity`]; empty where unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub identities: Vec<String>,
    /// The top folder of the project; `None` if many projects share it, or if the project has its name from the environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<Root>,
}

/// The top folder of a project: the one with the `.loci.toml` that names it, else that of the working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// The path.
    pub path: String,
    /// As [`FolderMark::identity`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<String>,
    /// The repository of the project is in this folder, or the project has none: in every session of the project it is the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_main: bool,
}

/// What is checked out in a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkout {
    /// The branch; `None` if `HEAD` is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The commit in hexadecimal; `None` before the first commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The default branch of the remote `origin`, if it is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
    /// The canonical top folder of the working tree: the files that memories speak of are below it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top: Option<String>,
}

/// The daemon's answer to the hello line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Reply {
    /// Accepted: MCP begins with the next line.
    Welcome(Welcome),
    /// Refused: the daemon closes the connection.
    Refused(Refused),
}

/// The daemon accepts the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Welcome {
    /// Always true.
    pub ok: bool,
    /// The agreed protocol version.
    pub loci: u32,
    /// The daemon's version.
    pub daemon: String,
    /// Random id of this run of the daemon.
    pub boot: String,
    /// Process id of the daemon.
    pub pid: u32,
    /// Fingerprint of the daemon's list of tools ([`crate::mcp::handshake::fingerprint`]).
    #[serde(default)]
    pub tools: String,
}

/// The daemon refuses the session.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Refused {
    /// Always false.
    pub ok: bool,
    /// The reason.
    pub error: Refusal,
    /// Oldest protocol version that the daemon supports.
    pub min: u32,
    /// Newest protocol version that the daemon supports.
    pub max: u32,
    /// The daemon's version.
    pub daemon: String,
}

/// Why the daemon refuses a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// No common protocol version.
    Version,
    /// The maximum number of connections is reached: try again later.
    Busy,
    /// The daemon is shutting down: connect again.
    Draining,
    /// The first line is not a valid hello line.
    BadHello,
}

impl Refused {
    /// Creates a refusal with the versions of this build.
    #[must_use]
    pub fn new(error: Refusal) -> Self {
        Self {
            ok: false,
            error,
            min: MIN_VERSION,
            max: MAX_VERSION,
            daemon: crate::VERSION.to_owned(),
        }
    }
}

/// Returns the newest protocol version that this build and a peer with `theirs` (oldest, newest) support.
#[must_use]
pub fn agreed_version(theirs: (u32, u32)) -> Option<u32> {
    common_version((MIN_VERSION, MAX_VERSION), theirs)
}

/// Returns the newest version in both ranges.
fn common_version(ours: (u32, u32), theirs: (u32, u32)) -> Option<u32> {
    let newest = theirs.1.min(ours.1);
    (newest >= theirs.0.max(ours.0)).then_some(newest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_common_version_is_agreed_on() {
        // A daemon that supports 4 and 5 serves every shim that supports one of them, with the newest common version.
        for (theirs, expected) in [
            ((5, 5), Some(5)),
            ((4, 4), Some(4)),
            ((4, 5), Some(5)),
            ((3, 4), Some(4)),
            ((5, 9), Some(5)),
            ((1, 9), Some(5)),
        ] {
            assert_eq!(common_version((4, 5), theirs), expected, "{theirs:?}");
        }
        for theirs in [(3, 3), (0, 3), (6, 6), (6, 9), (5, 4)] {
            assert_eq!(common_version((4, 5), theirs), None, "{theirs:?}");
        }
    }

    #[test]
    fn this_build_accepts_peers_that_support_its_version() {
        assert_eq!(
            [
                (MIN_VERSION, MAX_VERSION),
                (MAX_VERSION - 1, MAX_VERSION),
                (MAX_VERSION, MAX_VERSION + 1)
            ]
            .map(agreed_version),
            [Some(MAX_VERSION); 3]
        );
        assert_eq!(
            [(MAX_VERSION + 1, MAX_VERSION + 2), (0, MIN_VERSION - 1)].map(agreed_version),
            [None; 2]
        );
    }

    #[test]
    fn a_refusal_names_the_versions_of_this_build() {
        let refused = serde_json::to_value(Refused::new(Refusal::Version))
            .expect("the refusal is serialised");
        let expected = serde_json::json!({"ok": false, "error": "version", "min": MIN_VERSION, "max": MAX_VERSION, "daemon": crate::VERSION});
        assert_eq!(refused, expected);
    }
}
