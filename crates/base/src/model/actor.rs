//! The caller on whose behalf the engine acts or reads.

use loci_proto::group::Group;
use loci_proto::hello::Checkout;
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
    /// What is checked out in the project.
    pub checkout: Option<Checkout>,
    /// The session may use no project but its own: an HTTP client whose token names one.
    pub is_bound: bool,
}

/// Begins the name of the client of a person, which is the command line or the viewer.
const PERSON: &str = "loci ";

/// Returns the name of the client of a person.
#[must_use]
pub fn person_client(version: &str) -> String {
    format!("{PERSON}{version}")
}

/// Returns whether a recorded change is a person's, by the name of its client. Earlier versions wrote the same for commands of agents, and
/// an agent can call itself so: such changes are protected as a person's.
#[must_use]
pub fn is_of_person(client: Option<&str>) -> bool {
    let version = client.and_then(|client| client.strip_prefix(PERSON));
    version.is_some_and(|version| version.starts_with(|first: char| first.is_ascii_digit()))
}

/// Returns the name under which the client of an agent is recorded: none is a person's.
#[must_use]
pub fn recorded_client(name: String) -> String {
    if is_of_person(Some(&name)) { format!("agent {name}") } else { name }
}

impl Actor {
    /// An agent without a name and a session, for programs that fill a store.
    #[must_use]
    pub fn unnamed_agent(group: Group) -> Self {
        Self {
            client: None,
            session: None,
            origin: Origin::Agent,
            group,
            checkout: None,
            is_bound: false,
        }
    }
}

/// Who reads: the project of a session, and what kind of caller it is.
#[derive(Debug, Clone, Copy)]
pub struct Viewer<'a> {
    /// The project of the session.
    pub group: &'a Group,
    /// Set by the daemon. Only a person may name an isolated project from outside.
    pub origin: Origin,
    /// What is checked out in the project.
    pub checkout: Option<&'a Checkout>,
    /// The session may use no project but its own.
    pub is_bound: bool,
}

impl Viewer<'_> {
    /// Returns whether a person reads.
    pub fn is_person(&self) -> bool {
        self.origin == Origin::Person
    }
}

/// An agent that works in the group.
impl<'a> From<&'a Group> for Viewer<'a> {
    fn from(group: &'a Group) -> Self {
        Self { group, origin: Origin::Agent, checkout: None, is_bound: false }
    }
}

impl<'a> From<&'a Actor> for Viewer<'a> {
    fn from(actor: &'a Actor) -> Self {
        let Actor { group, origin, checkout, is_bound, .. } = actor;
        Self { group, origin: *origin, checkout: checkout.as_ref(), is_bound: *is_bound }
    }
}
