//! The caller on whose behalf the engine acts.

use loci_proto::group::Group;
use loci_proto::memory::Origin;

/// The caller of one operation, for the audit log and for visibility.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The name that the agent gives itself.
    pub client: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// What kind of caller it is; set by the daemon.
    pub origin: Origin,
    /// The group (project) that the session works in.
    pub group: Group,
}

impl Actor {
    /// An agent without a name and a session, for programs that fill a store.
    #[must_use]
    pub fn unnamed_agent(group: Group) -> Self {
        Self { client: None, session: None, origin: Origin::Agent, group }
    }
}
