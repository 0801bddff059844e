//! The flags: why a text is held back, and sets of them.
//!
//! Not here: finding them in a text (the other files of the folder).

/// Why a text is held back until a person has looked at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// Tells a model to ignore its instructions or its user's, or to take a role without rules.
    Override,
    /// Comes from outside and orders a model.
    Order,
    /// Hides something from the user.
    Secrecy,
    /// Has a tag that only the frame of a conversation has.
    RoleMarker,
    /// Sends private data to an address.
    Exfiltration,
    /// Contains encoded text.
    Encoded,
    /// Contained characters that hide text.
    Hidden,
    /// Disagrees with a more trusted memory.
    Conflict,
}

/// Flags of earlier versions, whose memories are still held back: read as an order.
const RETIRED: [&str; 6] =
    ["lasting-order", "permission", "persona", "system-note", "tool-call", "trigger"];

impl Flag {
    const ALL: [Self; 8] = [
        Self::Override,
        Self::Order,
        Self::Secrecy,
        Self::RoleMarker,
        Self::Exfiltration,
        Self::Encoded,
        Self::Hidden,
        Self::Conflict,
    ];

    /// Returns the name in replies, exports and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Order => "order",
            Self::Secrecy => "secrecy",
            Self::RoleMarker => "role-marker",
            Self::Exfiltration => "exfiltration",
            Self::Encoded => "encoded",
            Self::Hidden => "hidden",
            Self::Conflict => "conflict",
        }
    }
}

/// A set of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Flags(u16);

impl Flags {
    /// Adds a flag.
    pub fn insert(&mut self, flag: Flag) {
        self.0 |= 1 << flag as u16;
    }

    /// Adds the flags of another set.
    pub fn merge(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// Returns true if there is no flag.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns true if the set has the flag.
    pub fn contains(self, flag: Flag) -> bool {
        self.0 & (1 << flag as u16) != 0
    }

    /// Returns the names of the flags.
    pub fn names(self) -> Vec<String> {
        let set = Flag::ALL.into_iter().filter(|flag| self.contains(*flag));
        set.map(|flag| flag.as_str().to_owned()).collect()
    }

    /// Returns true for the name of a flag, of this or an earlier version.
    pub fn knows(name: &str) -> bool {
        RETIRED.contains(&name) || Flag::ALL.into_iter().any(|flag| flag.as_str() == name)
    }

    /// Returns the flags with these names; unknown names are left out.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut flags = Self::default();
        for name in names {
            let name = if RETIRED.contains(&name) { Flag::Order.as_str() } else { name };
            Flag::ALL.into_iter().filter(|f| f.as_str() == name).for_each(|f| flags.insert(f));
        }
        flags
    }
}
