//! Memories whose texts must not be sent to an API. Not here: which API, and when a project is off (the daemon).

use crate::model::time::Timestamp;

/// Which memories are not encoded; by default none. They are encoded once they are no longer withheld.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Withheld {
    /// Ids of the projects in which they were stored.
    pub groups: Vec<String>,
    /// Those that have expired by this time.
    pub expired_at: Option<Timestamp>,
}

impl Withheld {
    /// Returns the ids of the projects as JSON, and the time, for SQL.
    pub fn parameters(&self) -> (String, Option<i64>) {
        let groups: serde_json::Value = self.groups.iter().map(String::as_str).collect();
        (groups.to_string(), self.expired_at.map(|at| at.0))
    }
}
