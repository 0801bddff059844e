//! `groups_join`: the memories of a project that has no folder here, after an import on another machine or a move, become those of the
//! project of a folder, when a person says so.
//!
//! Which projects may be meant is found here: by name, and by the repository of a folder that the store knows. Not here: whether a folder
//! still exists (the daemon), moving the memories (`groups`).

use crate::db::folders::{self, name as folder_name};
use crate::db::groups::GroupRow;
use crate::db::rows::Row;
use crate::db::{groups, health, import_rows};
use crate::error::Result;
use crate::handles::reader::Reader;
use crate::handles::writer::Writer;
use crate::operations::folders::SeenFolder;
use crate::operations::merge_groups::merge;
use crate::text::same_letters;
use crate::transaction::change::CallContext;
use loci_proto::error::{Code, Failure};
use loci_proto::group::Group;
use loci_proto::requests::groups::GroupChangedReply;
use rusqlite::Connection;

/// The key of the offers that a person has declined, in `meta`: a JSON array of pairs of ids.
const DECLINED: &str = "declined_joins";
/// Maximum number of declined offers that are kept.
const MAX_DECLINED: usize = 200;

/// A project that may be that of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joinable {
    /// The project.
    pub group: Group,
    /// Its active memories.
    pub memories: usize,
    /// Where its sessions worked, as far as this store knows.
    pub folders: Vec<String>,
    /// A person has declined it for this folder.
    pub is_declined: bool,
}

impl Reader {
    /// Returns the projects that may be that of a folder: those of this name, or id, if one is given; else those of the folder's name and
    /// of a folder with the same repository.
    ///
    /// # Errors
    /// `Database`.
    pub fn joinable(
        &self,
        own: &Group,
        seen: &SeenFolder,
        wanted: Option<&str>,
    ) -> Result<Vec<Joinable>> {
        let (isolation, switches) = (self.shared.isolation(), self.shared.switches.read().clone());
        if isolation.is_isolated(&own.id) || seen.is_isolated {
            return Ok(Vec::new());
        }
        let own = import_rows::group(&self.conn, &own.id)?.unwrap_or_else(|| own.id.clone());
        let declined = declined(&self.conn)?;
        let mut ids = ids_alike(&self.conn, seen, wanted)?;
        ids.retain(|id| *id != own && !isolation.is_isolated(id) && !switches.is_off(id));
        let mut found = Vec::new();
        for id in ids {
            let Some(row) = groups::one(&self.conn, &id)?.filter(|row| row.memories > 0) else {
                continue;
            };
            let folders = folders::of_group(&self.conn, &id)?;
            found.push(Joinable {
                memories: row.active,
                folders: folders.into_iter().map(|folder| folder.path).collect(),
                is_declined: declined.contains(&(own.clone(), id)),
                group: Group { id: row.id, name: row.name },
            });
        }
        Ok(found)
    }
}

impl Writer {
    /// Moves the memories of a project into that of a folder, which may be a new one.
    ///
    /// # Errors
    /// As [`Writer::merge_groups`].
    pub fn join_group(
        &mut self,
        call: &CallContext,
        from: &Group,
        own: &Group,
    ) -> Result<GroupChangedReply> {
        self.run_idempotent(call, |change| {
            if groups::name(change.conn, &own.id)?.is_none() {
                groups::ensure(change.conn, own, call.now)?;
                change.record_created(Row::Group(own.id.clone()));
            }
            let (from, own) = (row(change.conn, &from.id)?, row(change.conn, &own.id)?);
            merge(change, &from, &own, false)
        })
    }

    /// Notes that a person has declined to join a project to that of a folder: it is not offered again. Not an act.
    ///
    /// # Errors
    /// `Database`.
    pub fn decline_join(&mut self, call: &CallContext, from: &Group, own: &Group) -> Result<()> {
        self.run_idempotent(call, |change| {
            let mut all = declined(change.conn)?;
            let pair = (own.id.clone(), from.id.clone());
            if !all.contains(&pair) {
                all.push(pair);
            }
            let newest = &all[all.len().saturating_sub(MAX_DECLINED)..];
            let text = serde_json::to_string(newest)
                .map_err(|error| Failure::new(Code::Internal, error.to_string()))?;
            health::set_meta(change.conn, DECLINED, &text)
        })
    }
}

/// Returns the ids of the projects that a name or id means, or that a folder is like.
fn ids_alike(conn: &Connection, seen: &SeenFolder, wanted: Option<&str>) -> Result<Vec<String>> {
    let name = same_letters::folded(wanted.unwrap_or_else(|| folder_name(&seen.path)));
    let mut ids: Vec<String> = groups::names(conn)?
        .into_iter()
        .filter(|group| same_letters::folded(&group.name) == name || wanted == Some(&group.id))
        .map(|group| group.id)
        .collect();
    if let Some(wanted) = wanted {
        ids.extend(import_rows::group(conn, wanted)?);
    } else {
        for folder in folders::alike(conn, &seen.row())? {
            ids.extend(import_rows::group(conn, &folder.id)?);
        }
    }
    ids.sort();
    ids.dedup();
    Ok(ids)
}

fn row(conn: &Connection, id: &str) -> Result<GroupRow> {
    groups::one(conn, id)?.ok_or_else(|| {
        Failure::new(Code::NotFound, format!("there is no project {id}"))
            .hint("Run loci groups list to see them")
            .into()
    })
}

/// Returns the declined offers: the project of the folder, and the other one.
fn declined(conn: &Connection) -> Result<Vec<(String, String)>> {
    let stored = health::meta(conn, DECLINED)?;
    Ok(stored.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}
