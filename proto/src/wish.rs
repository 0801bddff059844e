//! A wish: what an agent or a script asked to do to one memory and only a person may do. It waits until the person does or declines it.

use crate::memory::MemoryId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A wish for a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wish {
    /// What shall be done.
    pub kind: WishKind,
    /// The project of a move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_id: Option<String>,
    /// The command of the person that does it.
    pub command: String,
    /// Who asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<String>,
    /// When, ISO 8601, UTC.
    pub at: String,
}

/// What shall be done to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WishKind {
    /// Hide it.
    Forget,
    /// Delete it permanently.
    Delete,
    /// Make it active again.
    Restore,
    /// Confirm it.
    Confirm,
    /// Move it to another project.
    Move,
}

impl WishKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Forget, Self::Delete, Self::Restore, Self::Confirm, Self::Move];

    /// Returns its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Forget => "forget",
            Self::Delete => "delete",
            Self::Restore => "restore",
            Self::Confirm => "confirm",
            Self::Move => "move",
        }
    }

    /// Returns the kind of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Returns the command of the person that does it to a memory; `to` is the project of a move.
    #[must_use]
    pub fn command(self, id: &MemoryId, to: Option<&str>) -> String {
        match (self, to) {
            (Self::Delete, _) => format!("loci forget {id} --hard"),
            (Self::Move, Some(to)) => format!("loci move {id} --to {}", quoted(to)),
            _ => format!("loci {} {id}", self.as_str()),
        }
    }
}

/// Quotes a name for a shell.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-/".contains(c);
    if name.chars().all(is_plain) && !name.starts_with('-') {
        return name.to_owned();
    }
    format!("'{}'", name.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_wish_is_one_command() {
        let id: MemoryId = "01953a2b-7c1e-7000-8000-0123456789ab".parse().expect("it is an id");
        let command = |to| WishKind::Move.command(&id, Some(to));
        assert!(command("shop").ends_with("--to shop"));
        assert!(command("a; rm 'c' d").ends_with(r"--to 'a; rm '\''c'\'' d'"));
        assert_eq!(WishKind::parse("delete"), Some(WishKind::Delete));
    }
}
