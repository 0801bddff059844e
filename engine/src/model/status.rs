//! The status of a memory: whether it takes part in recall.

/// Whether a memory takes part in recall.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Active,
    Superseded,
    Compacted,
    Forgotten,
}

impl Status {
    /// Returns the name used in the database and in replies.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Superseded => "superseded",
            Self::Compacted => "compacted",
            Self::Forgotten => "forgotten",
        }
    }

    /// Parses the name used in the database; `None` for any other text.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Self::Active, Self::Superseded, Self::Compacted, Self::Forgotten]
            .into_iter()
            .find(|s| s.as_str() == name)
    }
}
