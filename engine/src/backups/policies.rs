//! What keeps memories to themselves, in a file next to the backups: isolated projects and what is switched off. A restore and a recovery put
//! it in force again, also if the database that has it is damaged or lost.
//!
//! Each line is the whole state, the last one that of now. Not here: the rows of the database (`db::isolated_groups`, `db::switches`).

use crate::backups::mirrored::{self, FileLines};
use crate::db::switches::Off;
use crate::error::Result;
use crate::model::switch_set::{FolderSwitch, SwitchSet};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name of the file.
pub(crate) const NAME: &str = "policies";

/// What is in force.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Policies {
    /// Ids of the isolated projects.
    isolated: Vec<String>,
    /// Ids of the projects that are off.
    off: Vec<String>,
    /// The folders that are off: path, identity and id of the group.
    folders: Vec<(String, Option<String>, String)>,
}

impl Policies {
    pub fn new(isolated: &[String], switches: &SwitchSet) -> Self {
        let folders = switches.folders.iter().filter(|folder| folder.is_off);
        let folder = |f: &FolderSwitch| (f.path.clone(), f.identity.clone(), f.group.clone());
        Self {
            isolated: isolated.to_vec(),
            off: switches.off.clone(),
            folders: folders.map(folder).collect(),
        }
    }

    fn add(&mut self, other: Self) {
        self.isolated.extend(other.isolated);
        self.off.extend(other.off);
        self.folders.extend(other.folders);
    }
}

/// What the file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KnownPolicies {
    pub isolated: Vec<String>,
    pub off: Off,
    /// Nothing of it can be read: anything may be in force.
    pub is_unreadable: bool,
}

/// Records what is in force, on the disk before it returns.
///
/// # Errors
/// `File`.
pub(crate) fn record(folder: &Path, policies: &Policies) -> Result<()> {
    let line = serde_json::to_string(policies).unwrap_or_default();
    mirrored::append(folder, NAME, &[line])
}

/// Returns whether anything was ever recorded.
pub(crate) fn exists(folder: &Path) -> bool {
    mirrored::read(folder, NAME, |_| false).map_or(true, |files| !files.is_empty())
}

/// Returns what was recorded last; `None` if nothing was, or it cannot be read.
pub(crate) fn last(folder: &Path) -> Option<Policies> {
    let files = mirrored::read(folder, NAME, |_| false).ok()?;
    let ends: Vec<_> = files.iter().map(|file| (file.ends_damaged, states(file).pop())).collect();
    match ends.as_slice() {
        [(false, one), (false, other)] if one == other => one.clone(),
        _ => None,
    }
}

/// Returns what is in force as far as either file tells it. Where the end of a file is damaged, everything that it ever had counts.
pub(crate) fn read(folder: &Path) -> KnownPolicies {
    let Ok(files) = mirrored::read(folder, NAME, |_| false) else {
        return KnownPolicies { is_unreadable: true, ..KnownPolicies::default() };
    };
    let mut all = Policies::default();
    let mut is_known = files.is_empty();
    for file in &files {
        let mut states = states(file);
        is_known |= !states.is_empty();
        let counted = if file.ends_damaged { 0 } else { states.len().saturating_sub(1) };
        states.drain(counted..).for_each(|state| all.add(state));
    }
    let Policies { mut isolated, mut off, mut folders } = all;
    isolated.sort();
    isolated.dedup();
    off.sort();
    off.dedup();
    folders.sort();
    folders.dedup();
    let folder = |(path, identity, group)| FolderSwitch { path, identity, group, is_off: true };
    let off = Off { groups: off, folders: folders.into_iter().map(folder).collect() };
    KnownPolicies { isolated, off, is_unreadable: !is_known }
}

fn states(file: &FileLines) -> Vec<Policies> {
    file.lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
