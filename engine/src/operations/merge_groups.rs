//! `groups_merge`: moves the memories of a group into another, whose sessions then include those of the first.
//!
//! Not here: the other changes of groups (`groups`), which project a folder may join (`join`).

use crate::db::groups::GroupRow;
use crate::db::rows::{self, Image, Row};
use crate::db::{groups, import_rows};
use crate::error::Result;
use crate::handles::writer::Writer;
use crate::operations::groups::{check_not_off, commit, find, move_memory, to_entry};
use crate::operations::verbs::write_verb;
use crate::transaction::change::{CallContext, Change};
use crate::transaction::mentions;
use loci_proto::error::{Code, Failure};
use loci_proto::requests::groups::{GroupChangedReply, MergeRequest};
use serde_json::json;

write_verb!(MergeRequest, Writer::merge_groups, MissingVectors);

impl Writer {
    /// Moves every memory of a group into another; its id and its name then redirect there.
    ///
    /// # Errors
    /// `not_found`, `invalid` if both are the same group, `Database`.
    pub fn merge_groups(
        &mut self,
        call: &CallContext,
        request: &MergeRequest,
    ) -> Result<GroupChangedReply> {
        self.run_idempotent(call, |change| {
            let from = find(change, "from", &request.from)?;
            let into = find(change, "into", &request.into)?;
            if from.id == into.id {
                return Err(Failure::invalid("into", "is the group itself")
                    .hint("Name another group; run loci groups list to see them")
                    .into());
            }
            merge(change, &from, &into, request.dry_run)
        })
    }
}

/// Moves the memories of a group into another.
///
/// # Errors
/// `conflict` for one that is isolated or off; `Database`.
pub(crate) fn merge(
    change: &mut Change<'_>,
    from: &GroupRow,
    into: &GroupRow,
    is_dry_run: bool,
) -> Result<GroupChangedReply> {
    for (field, group) in [("from", from), ("into", into)] {
        check_not_isolated(change, field, group)?;
        check_not_off(change, field, group)?;
    }
    let members = groups::members(change.conn, &from.id)?;
    if is_dry_run {
        let group = to_entry(groups::one(change.conn, &into.id)?.unwrap_or_else(|| into.clone()));
        return Ok(GroupChangedReply { group, moved: members.len(), from: None, act: None });
    }
    for seq in &members {
        move_memory(change, *seq, &into.id)?;
    }
    replace_by_redirects(change, from, into)?;
    mentions::renew_all(change, &members, |_| false)?;
    commit(change, &into.id, members.len(), "groups merge")
}

/// Deletes a group; its aliases, its id, and its display name (unless another group has it) become
/// redirects.
fn replace_by_redirects(change: &mut Change<'_>, from: &GroupRow, into: &GroupRow) -> Result<()> {
    for alias in &from.aliases {
        let row = Row::Alias(alias.clone());
        change.record_before(row.clone())?;
        rows::update(
            change.conn,
            &row,
            &Image::from_iter([("group_id".to_owned(), json!(into.id))]),
        )?;
    }
    change.record_before(Row::Group(from.id.clone()))?;
    rows::delete(change.conn, &Row::Group(from.id.clone()))?;
    let is_unique = groups::all(change.conn)?.iter().all(|group| group.name != from.name);
    for name in [Some(&from.id), Some(&from.name).filter(|_| is_unique)].into_iter().flatten() {
        if import_rows::group(change.conn, name)?.is_none() {
            import_rows::add_alias(change.conn, name, &into.id)?;
            change.record_created(Row::Alias(name.clone()));
        }
    }
    Ok(())
}

/// Refuses to merge an isolated group: its memories would become those of another project, or
/// sessions of another project would see them.
fn check_not_isolated(change: &Change<'_>, field: &str, group: &GroupRow) -> Result<()> {
    if !change.shared.isolation().is_isolated(&group.id) {
        return Ok(());
    }
    let message = format!("is an isolated project: {}", group.name);
    Err(Failure::new(Code::Conflict, message)
        .at(field)
        .hint("Set isolated = false in its .loci.toml and start a session there, then merge")
        .into())
}
