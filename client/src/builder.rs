//! What a client says of itself before it connects.

use loci_proto::group::{GroupHint, GroupName};
use loci_proto::hello::Session;
use std::path::PathBuf;
use std::time::Duration;

/// Maximum time for an answer; the daemon's own limit of a call is shorter.
const ANSWER_DEADLINE: Duration = Duration::from_mins(1);

/// Describes a client.
#[derive(Debug, Clone)]
pub struct Builder {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) session: Session,
    pub(crate) socket: Option<PathBuf>,
    pub(crate) deadline: Duration,
    /// Why the project cannot have its name.
    pub(crate) fault: Option<String>,
}

impl Builder {
    pub(crate) fn new(name: &str, version: &str) -> Self {
        let session = Session {
            id: uuid::Uuid::now_v7().to_string(),
            pid: std::process::id(),
            ..Session::default()
        };
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            session,
            socket: None,
            deadline: ANSWER_DEADLINE,
            fault: None,
        }
    }

    /// The project, by its id, an alias or a new name; without it that of `storage.default_group`.
    #[must_use]
    pub fn project(mut self, name: &str) -> Self {
        match name.parse::<GroupName>() {
            Ok(name) => self.session.group = GroupHint::Named(name),
            Err(fault) => self.fault = Some(format!("project: {fault}")),
        }
        self
    }

    /// Another socket than that of the environment (`LOCI_HOME`, `LOCI_RUNTIME`).
    #[must_use]
    pub fn socket(mut self, path: impl Into<PathBuf>) -> Self {
        self.socket = Some(path.into());
        self
    }

    /// Maximum time for an answer; 60 s by default.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }
}
