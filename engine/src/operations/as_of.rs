//! The store as it was known at an earlier time: for `list`, `memory_inspect`, `recall_memory` and
//! `export` with `as_of`, and for `diff`.
//!
//! Known is what was recorded by then, whatever date a memory has itself. Confidence and expiry are
//! those of that time; uses are not taken back. Not here: how rows are taken back (`db::past`).

use crate::db::damage::{self, DamagedRows};
use crate::db::health;
use crate::db::past::{self, Present};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::model::actor::Viewer;
use crate::model::past::Past;
use crate::model::time::{self, Timestamp};
use std::sync::Arc;

/// The field of requests.
const FIELD: &str = "as_of";

impl Reader {
    /// Opens a reader that sees the store at the time that a text of the field `as_of` states.
    ///
    /// # Errors
    /// `invalid` for the text, `Database`.
    pub(crate) fn as_of(&self, text: &str, now: Timestamp) -> Result<(Self, Timestamp)> {
        let at = time::past_moment(text, FIELD, now)?;
        Ok((self.at_time(at)?, at))
    }

    /// As [`Self::as_of`], for a viewer: to one that may use no project but its own, what has moved to another one is there already.
    pub(crate) fn as_of_seen_by(
        &self,
        text: &str,
        now: Timestamp,
        viewer: Viewer<'_>,
    ) -> Result<(Self, Timestamp)> {
        let at = time::past_moment(text, FIELD, now)?;
        let only = viewer.is_bound.then_some(viewer.group.id.as_str());
        Ok((self.at_time_within(at, only)?, at))
    }

    /// Opens a reader that sees the store at a time.
    ///
    /// # Errors
    /// `Database`.
    pub(crate) fn at_time(&self, at: Timestamp) -> Result<Self> {
        self.at_time_within(at, None)
    }

    /// `only` is the project beside which every one is as isolated.
    fn at_time_within(&self, at: Timestamp, only: Option<&str>) -> Result<Self> {
        let conn = self.fresh_connection()?;
        // What cannot be read of the past is no damage of the store.
        damage::record_into(&conn, &Arc::new(DamagedRows::default()))?;
        let isolation = self.shared.isolation();
        let redirects = self.shared.group_redirects.read().clone();
        let is_isolated =
            |group: &str| isolation.is_isolated(group) || only.is_some_and(|only| only != group);
        let present = Present { redirects: &redirects, is_isolated: &is_isolated };
        let changed = past::lay_over(&conn, at, &present)?;
        let history_from = health::history_from(&conn)?;
        let (unchanged, encoded) = (Vec::new(), Vec::new());
        let past = Past { at, history_from, changed, unchanged, encoded };
        Ok(Self { conn, shared: Arc::clone(&self.shared), past: Some(past) })
    }

    /// Returns what a reply says about the time; `None` for a reader of the present.
    pub(crate) fn stamp(&self) -> Option<loci_proto::as_of::AsOf> {
        self.past.as_ref().map(|past| past.stamp(Vec::new()))
    }
}
