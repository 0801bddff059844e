//! The flags: why a text looks like an order to a model, and sets of them.
//!
//! Not here: finding them in a text (the other files of the folder).

/// Why a text looks like an order to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// Tells the model to ignore its instructions.
    Override,
    /// Addresses the model, or orders what it says.
    Order,
    /// An order for all later answers.
    LastingOrder,
    /// Hides something from the user.
    Secrecy,
    /// Claims that the user has permitted something.
    Permission,
    /// Gives the model another role.
    Persona,
    /// Claims to be a note of the system.
    SystemNote,
    /// Looks like a turn or a tag of a conversation.
    RoleMarker,
    /// Looks like a call of a tool.
    ToolCall,
    /// Sends private data to an address.
    Exfiltration,
    /// Waits for a later occasion.
    Trigger,
    /// Contains encoded text.
    Encoded,
    /// Contained characters that hide text.
    Hidden,
    /// Disagrees with a more trusted memory.
    Conflict,
}

impl Flag {
    const ALL: [Self; 14] = [
        Self::Override,
        Self::Order,
        Self::LastingOrder,
        Self::Secrecy,
        Self::Permission,
        Self::Persona,
        Self::SystemNote,
        Self::RoleMarker,
        Self::ToolCall,
        Self::Exfiltration,
        Self::Trigger,
        Self::Encoded,
        Self::Hidden,
        Self::Conflict,
    ];

    /// Returns the name in replies, exports and the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Override => "override",
            Self::Order => "order",
            Self::LastingOrder => "lasting-order",
            Self::Secrecy => "secrecy",
            Self::Permission => "permission",
            Self::Persona => "persona",
            Self::SystemNote => "system-note",
            Self::RoleMarker => "role-marker",
            Self::ToolCall => "tool-call",
            Self::Exfiltration => "exfiltration",
            Self::Trigger => "trigger",
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

    /// Returns the flags with these names; unknown names are left out.
    pub fn of_names<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut flags = Self::default();
        for name in names {
            Flag::ALL.into_iter().filter(|f| f.as_str() == name).for_each(|f| flags.insert(f));
        }
        flags
    }
}
