//! `switches`: projects that a person has switched off or on, and sessions that became incognito.
//!
//! The switches are in no journal entry: an undo must not switch a project on. Not here: what off means, and the other reasons for it
//! (the daemon).

use crate::db::switches::{OFF, ON, Off};
use crate::db::{folders, groups, switches};
use crate::error::Result;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::switch_set::FolderSwitch;
use crate::model::time::Timestamp;
use crate::operations::groups::find;
use crate::transaction::change::{CallContext, Change};
use loci_proto::group::Group;
use loci_proto::hello::{Root, Session};
use loci_proto::requests::groups::{GroupSwitchedReply, SwitchRequest};
use std::sync::Arc;

/// The switches in the current state of the store.
#[derive(Debug, Clone)]
pub struct Switches(Arc<Shared>);

impl Switches {
    /// Returns those of a store.
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }

    /// Returns whether a person has switched off a project, or the folder in which a session works, whatever its project is called.
    #[must_use]
    pub fn is_off(&self, group: &Group, session: &Session) -> bool {
        let switches = self.0.switches.read();
        switches.is_off(&group.id) || switches.is_off_at(session)
    }

    /// Returns the same of a project whose folder is known only by its path.
    #[must_use]
    pub fn is_off_in(&self, group: &Group, folder: &str) -> bool {
        let switches = self.0.switches.read();
        switches.is_off(&group.id) || switches.is_off_in(folder)
    }

    /// Returns whether a person has switched a project on.
    #[must_use]
    pub fn is_on(&self, group: &Group) -> bool {
        self.0.switches.read().on.contains(&group.id)
    }

    /// Returns whether a session became incognito.
    #[must_use]
    pub fn is_incognito(&self, session: &str) -> bool {
        self.0.switches.read().incognito.iter().any(|incognito| incognito == session)
    }

    /// Returns the ids of the projects that are off.
    #[must_use]
    pub fn off(&self) -> Vec<String> {
        self.0.switches.read().off.clone()
    }
}

impl Writer {
    /// Returns the switches.
    #[must_use]
    pub fn switches(&self) -> Switches {
        Switches::of(&self.shared)
    }

    /// Switches a project off or on, and its folders: the named one, else that of the caller, whose top folder is `root`.
    ///
    /// # Errors
    /// `not_found`, `Database`.
    pub fn switch_group(
        &mut self,
        call: &CallContext,
        request: &SwitchRequest,
        root: Option<&Root>,
    ) -> Result<GroupSwitchedReply> {
        self.run_idempotent(call, |change| {
            let group = if let Some(name) = &request.group {
                let found = find(change, "group", name)?;
                Group { id: found.id, name: found.name }
            } else {
                groups::ensure(change.conn, &call.actor.group, call.now)?;
                let own = &call.actor.group;
                let name = groups::name(change.conn, &own.id)?;
                Group { name: name.unwrap_or_else(|| own.name.clone()), ..own.clone() }
            };
            let state = if request.off { OFF } else { ON };
            switches::set_group(change.conn, &group.id, state, call.now)?;
            switches::set_folders_of(change.conn, &group.id, state, call.now)?;
            let mut switched = folders_of(change, &group.id, request.off)?;
            if let (None, Some(Root { path, identity, .. })) = (&request.group, root) {
                let (path, identity) = (path.clone(), identity.clone());
                switched.push(FolderSwitch {
                    path,
                    identity,
                    group: group.id.clone(),
                    is_off: request.off,
                });
            }
            if !request.off {
                switch_on_by_other_names(change, &switched, call.now)?;
            }
            for folder in &switched {
                switches::set_folder(change.conn, folder, call.now)?;
            }
            Ok(GroupSwitchedReply { id: group.id, name: group.name, state: state.to_owned() })
        })
    }

    /// Makes sessions incognito, or ends that.
    ///
    /// # Errors
    /// `Database`.
    pub fn set_incognito(
        &mut self,
        call: &CallContext,
        sessions: &[String],
        incognito: bool,
    ) -> Result<()> {
        self.run_idempotent(call, |change| {
            sessions.iter().try_for_each(|session| {
                if incognito {
                    switches::set_incognito(change.conn, session, call.now)
                } else {
                    switches::end_incognito(change.conn, session)
                }
            })
        })
    }

    /// Switches projects off in a store that takes the place of another one.
    ///
    /// # Errors
    /// `Database`.
    pub(crate) fn switch_off_again(&mut self, off: &Off, now: Timestamp) -> Result<()> {
        self.change(|conn, _, _| {
            off.groups.iter().try_for_each(|group| switches::set_group(conn, group, OFF, now))?;
            off.folders.iter().try_for_each(|folder| switches::set_folder(conn, folder, now))
        })
    }
}

/// Returns the folders of a project as they were last seen. Of a folder that was moved, its earlier paths are no longer of the project.
fn folders_of(change: &Change<'_>, group: &str, is_off: bool) -> Result<Vec<FolderSwitch>> {
    let mut found: Vec<FolderSwitch> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    for row in folders::of_group(change.conn, group)? {
        if row.identity.as_ref().is_some_and(|identity| seen.contains(identity)) {
            continue;
        }
        seen.extend(row.identity.clone());
        let mut add = |path: &str, identity: Option<String>| {
            let (path, group) = (path.to_owned(), group.to_owned());
            found.push(FolderSwitch { path, identity, group, is_off });
        };
        match (&row.root, &row.part) {
            (Some(root), _) => add(root, row.root_identity.clone()),
            (None, None) => add(row.path.trim_end_matches("/.git"), None),
            // Only the folder of the repository is known, which other parts share.
            (None, Some(_)) => {}
        }
        if row.part.is_none() {
            add(&row.path, row.identity.clone());
        }
    }
    Ok(found)
}

/// Switches on what a folder was switched off as when its project was called otherwise.
fn switch_on_by_other_names(
    change: &Change<'_>,
    switched: &[FolderSwitch],
    now: Timestamp,
) -> Result<()> {
    for earlier in switches::all(change.conn)?.folders {
        let is_same = |folder: &FolderSwitch| {
            folder.identity.is_some() && folder.identity == earlier.identity
        };
        if earlier.is_off && switched.iter().any(is_same) {
            switches::set_group(change.conn, &earlier.group, ON, now)?;
            switches::set_folders_of(change.conn, &earlier.group, ON, now)?;
        }
    }
    Ok(())
}
