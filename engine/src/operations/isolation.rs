//! `isolation`: whether a project keeps its memories to itself.
//!
//! The flag is in no journal entry: an undo must not open an isolated project. Not here: what
//! isolation means (`model::visibility`), which session may set the flag (the daemon).

use crate::db::{groups, isolated_groups};
use crate::error::Result;
use crate::handles::shared::Shared;
use crate::handles::writer::Writer;
use crate::model::time::Timestamp;
use crate::transaction::change::CallContext;
use std::sync::Arc;

/// The isolated projects in the current state of the store.
#[derive(Debug, Clone)]
pub struct IsolatedGroups(Arc<Shared>);

impl IsolatedGroups {
    /// Returns those of a store.
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::clone(shared))
    }

    /// Returns whether no group is isolated.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.isolated.read().is_empty()
    }

    /// Returns whether a group is isolated.
    #[must_use]
    pub fn contains(&self, group: &str) -> bool {
        self.0.isolated.read().iter().any(|isolated| isolated == group)
    }
}

impl Writer {
    /// Returns the isolated projects.
    #[must_use]
    pub fn isolated_groups(&self) -> IsolatedGroups {
        IsolatedGroups::of(&self.shared)
    }

    /// Isolates projects in a store that takes the place of another one.
    ///
    /// # Errors
    /// `Database`.
    pub(crate) fn isolate_again(&mut self, groups: &[String], now: Timestamp) -> Result<()> {
        self.change(|conn, _, _| {
            groups.iter().try_for_each(|group| isolated_groups::insert(conn, group, now))
        })
    }

    /// Isolates the project of the caller, or ends its isolation unless the project was isolated after
    /// `session_began`: the session has not seen the present `.loci.toml`.
    ///
    /// # Errors
    /// `Database`.
    pub fn set_isolated(
        &mut self,
        call: &CallContext,
        isolated: bool,
        session_began: Timestamp,
    ) -> Result<()> {
        self.run_idempotent(call, |change| {
            let group = &call.actor.group;
            groups::ensure(change.conn, group, call.now)?;
            if isolated {
                isolated_groups::insert(change.conn, &group.id, call.now)
            } else {
                isolated_groups::delete(change.conn, &group.id, session_began)
            }
        })
    }
}
