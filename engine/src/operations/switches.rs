//! `switches`: projects that a person has switched off or on, and sessions that became incognito.
//!
//! The switches are in no journal entry: an undo must not switch a project on. Not here: what off means, and the other reasons for it
//! (the daemon).

use crate::db::switches::{OFF, ON};
use crate::db::{groups, switches};
use crate::error::Result;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::time::Timestamp;
use crate::operations::groups::find;
use crate::transaction::change::CallContext;
use loci_proto::group::Group;
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

    /// Returns whether a person has switched a project off.
    #[must_use]
    pub fn is_off(&self, group: &Group) -> bool {
        self.0.switches.read().is_off(&group.id)
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

    /// Switches a project off or on: the named one, else that of the caller.
    ///
    /// # Errors
    /// `not_found`, `Database`.
    pub fn switch_group(
        &mut self,
        call: &CallContext,
        request: &SwitchRequest,
    ) -> Result<GroupSwitchedReply> {
        self.run_idempotent(call, |change| {
            let group = if let Some(name) = &request.group {
                let found = find(change, "group", name)?;
                Group { id: found.id, name: found.name }
            } else {
                groups::ensure(change.conn, &call.actor.group, call.now)?;
                call.actor.group.clone()
            };
            let state = if request.off { OFF } else { ON };
            switches::set_group(change.conn, &group.id, state, call.now)?;
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
    pub(crate) fn switch_off_again(&mut self, groups: &[String], now: Timestamp) -> Result<()> {
        self.change(|conn, _, _| {
            groups.iter().try_for_each(|group| switches::set_group(conn, group, OFF, now))
        })
    }
}
