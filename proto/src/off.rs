//! Why loci is off for a session: it then neither reads nor writes nor records anything.
//!
//! Not here: which session is off (the daemon).

use crate::error::{Code, Failure};
use serde::{Deserialize, Serialize};

/// Why loci is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OffReason {
    /// The session is incognito.
    Incognito,
    /// `.loci.toml` of the project has `off = true`.
    ProjectFile,
    /// A person has switched the project off.
    Person,
    /// Only projects with a `.loci.toml` are served, and this one has none.
    NotOptedIn,
}

impl OffReason {
    /// Returns the reason as it appears in replies.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Incognito => "incognito",
            Self::ProjectFile => "project_file",
            Self::Person => "person",
            Self::NotOptedIn => "not_opted_in",
        }
    }

    /// Returns the reason as a sentence without a full stop.
    #[must_use]
    pub fn sentence(self, project: &str) -> String {
        match self {
            Self::Incognito => "loci is off: this session is incognito".to_owned(),
            Self::ProjectFile => {
                format!("loci is off in {project}: its .loci.toml has off = true")
            }
            Self::Person => format!("loci is off in {project}: a person switched it off"),
            Self::NotOptedIn => format!(
                "loci is off in {project}: only projects with a .loci.toml that a person has allowed are served (projects.opt_in)"
            ),
        }
    }

    /// Returns how a person switches loci on.
    #[must_use]
    pub fn next_step(self) -> &'static str {
        match self {
            Self::Incognito => {
                "Nothing is read or stored until a person starts a session without LOCI_INCOGNITO, or runs loci ctl incognito --off"
            }
            Self::ProjectFile => {
                "Nothing is read or stored until a person removes off = true from .loci.toml and starts a new session"
            }
            Self::Person => "Nothing is read or stored until a person runs loci groups on",
            Self::NotOptedIn => {
                "Nothing is read or stored until a person adds a .loci.toml, runs loci groups allow there and starts a new session, or runs loci groups on"
            }
        }
    }

    /// Returns the refusal of a call.
    #[must_use]
    pub fn failure(self, project: &str) -> Failure {
        Failure::new(Code::Off, self.sentence(project)).hint(self.next_step())
    }
}
