//! Where a memory comes from, how far it is trusted, and which memory may take the place of which.
//!
//! The gates are decided here alone: [`Provenance::is_gated`] (global scope, briefs, promotion) and
//! [`Provenance::may_supersede`], [`Provenance::may_replace`] (ranking, merging). Not here: finding flags
//! (`crate::flags`), the columns (`db::memories`).

use crate::flags::Flags;
use crate::model::actor::Actor;
use loci_proto::memory::{Origin, Trust};

/// Maximum characters of a client's name in texts for models.
const MAX_CLIENT_CHARS: usize = 24;

/// The provenance of one memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Who stored it; `None` if that is not known.
    pub origin: Option<Origin>,
    /// The name that the client gave itself.
    pub client: Option<String>,
    /// The session in which it was stored.
    pub session: Option<String>,
    /// How far the source is trusted.
    pub trust: Trust,
    /// Why the text is held back.
    pub flags: Flags,
    /// True for an episode that its session stored after it had been shown a similar memory: it is
    /// no evidence of its own.
    pub is_echo: bool,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The commit that was checked out.
    pub commit: Option<String>,
}

impl Provenance {
    /// The provenance of what a caller stores.
    pub fn of(actor: &Actor, flags: Flags) -> Self {
        Self {
            origin: Some(actor.origin),
            client: actor.client.clone(),
            session: actor.session.clone(),
            trust: actor.origin.trust(),
            flags,
            is_echo: false,
            branch: actor.checkout.as_ref().and_then(|checkout| checkout.branch.clone()),
            commit: actor.checkout.as_ref().and_then(|checkout| checkout.commit.clone()),
        }
    }

    /// The provenance of a row that cannot be decoded: the least trust.
    pub fn unknown() -> Self {
        Self {
            origin: None,
            client: None,
            session: None,
            trust: Trust::Import,
            flags: Flags::default(),
            is_echo: false,
            branch: None,
            commit: None,
        }
    }

    /// Returns the provenance as replies show it.
    pub fn into_reply(self) -> loci_proto::memory::Provenance {
        let Self { origin, client, session, trust, flags, branch, commit, is_echo: _ } = self;
        let flags = flags.names();
        loci_proto::memory::Provenance { origin, client, session, trust, flags, branch, commit }
    }

    /// Returns who stored the memory, for a model: the name of an agent's client, else the origin;
    /// `None` if neither is known.
    pub fn source(&self) -> Option<String> {
        let client = self.client.as_deref().map(client_name).filter(|name| !name.is_empty());
        match self.origin {
            Some(Origin::Agent | Origin::Hook) => client.or(Some("agent".to_owned())),
            Some(origin) => Some(origin.as_str().to_owned()),
            None => client,
        }
    }

    /// Lowers trust to that of a source, and adds its flags: a memory that is made from others is
    /// trusted as the least trusted of them.
    pub fn inherit(&mut self, source: &Self) {
        self.trust = self.trust.min(source.trust);
        self.flags.merge(source.flags);
    }

    /// Returns true if the memory is kept out of global scope, briefs and promotion until a person
    /// confirms it.
    pub fn is_gated(&self) -> bool {
        self.trust == Trust::Import || !self.flags.is_empty()
    }

    /// Returns true if this memory may supersede the other one: it is trusted as much. A flagged
    /// correction is held back itself, and leaves no stale text in force.
    pub fn may_supersede(&self, other: &Self) -> bool {
        self.trust >= other.trust
    }

    /// Returns true if this memory may take the place of the other one in an answer or be merged into
    /// it: it is trusted as much, and flagged only if the other one is.
    pub fn may_replace(&self, other: &Self) -> bool {
        self.trust >= other.trust && (self.flags.is_empty() || !other.flags.is_empty())
    }

    /// Returns true if both are trusted alike: neither gains or loses trust if they are merged.
    pub fn is_equal_to(&self, other: &Self) -> bool {
        self.trust == other.trust && self.flags.is_empty() == other.flags.is_empty()
    }
}

/// Returns the name of a client without its version. A client chooses its own name, so only short
/// names of plain characters pass to models.
pub fn client_name(client: &str) -> String {
    let name = client.rsplit_once(' ').map_or(client, |(name, _)| name);
    let is_plain = |c: &char| c.is_ascii_alphanumeric() || "-_.".contains(*c);
    name.chars().filter(is_plain).take(MAX_CLIENT_CHARS).collect()
}
