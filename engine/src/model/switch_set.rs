//! Where a person has switched loci off: projects and running sessions.
//!
//! Not here: the other reasons why loci is off (the daemon).

/// The switches of a store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SwitchSet {
    /// Ids of the groups that are off.
    pub off: Vec<String>,
    /// Ids of the groups that were switched on.
    pub on: Vec<String>,
    /// Sessions that became incognito.
    pub incognito: Vec<String>,
}

impl SwitchSet {
    /// Returns whether a person has switched a project off.
    pub(crate) fn is_off(&self, group: &str) -> bool {
        self.off.iter().any(|off| off == group)
    }
}
