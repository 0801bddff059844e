//! The status of a memory: whether it takes part in recall.

/// Whether a memory takes part in recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// In use.
    Active,
    /// Replaced by a newer version.
    Superseded,
    /// Replaced by a summary.
    Compacted,
    /// Forgotten; it can be restored until it is purged.
    Forgotten,
    /// Taken from a client's transcripts; a person has not confirmed it.
    Candidate,
    /// An attempt that was given up; its reason says why.
    Rejected,
}

impl Status {
    /// All statuses. Snapshots contain positions in this list: a new one is added at its end.
    pub const ALL: [Self; 6] = [
        Self::Active,
        Self::Superseded,
        Self::Compacted,
        Self::Forgotten,
        Self::Candidate,
        Self::Rejected,
    ];

    /// Returns the name used in the database and in replies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Superseded => "superseded",
            Self::Compacted => "compacted",
            Self::Forgotten => "forgotten",
            Self::Candidate => "candidate",
            Self::Rejected => "rejected",
        }
    }

    /// Parses the name used in the database; `None` for any other text.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}
