//! The project in this store of each memory that was read.
//!
//! A folder is that of a session in it. Where a source names no project, the memory waits in that of the working directory; where the
//! source is ambiguous, in [`UNASSIGNED`], which is nobody's.

use crate::db::{groups, import_rows};
use crate::error::Result;
use crate::model::switch_set::SwitchSet;
use crate::transaction::change::Change;
use crate::transfer::foreign::source::Source;
use loci_proto::error::Failure;
use loci_proto::foreign::{ForeignMemory, ForeignProject, LocalProject};
use loci_proto::group::{Group, GroupHint, GroupName, clean_name};
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap};

/// The project of memories whose own is not known.
pub(super) const UNASSIGNED: &str = "unassigned";

/// A project of this store, or a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Placed {
    pub id: String,
    /// loci is off in it.
    pub is_off: bool,
}

/// Finds projects, each once.
pub(super) struct Projects<'a> {
    conn: &'a Connection,
    switches: SwitchSet,
    local: HashMap<ForeignProject, LocalProject>,
    needs_file: bool,
    /// The project of everything, if the call names one.
    forced: Option<Placed>,
    default: Placed,
    /// The project of sessions outside any project.
    outside: String,
    found: HashMap<ForeignProject, Option<Placed>>,
    /// Names of the projects that memories got, by id.
    pub names: BTreeMap<String, String>,
}

impl<'a> Projects<'a> {
    /// Finds the project of the session, and the one that the call names.
    pub fn new(
        change: &Change<'a>,
        forced: Option<&GroupName>,
        source: &Source,
        needs_file: bool,
    ) -> Result<Self> {
        let own = &change.call.actor.group;
        let mut projects = Self {
            conn: change.conn,
            switches: change.shared.switches.read().clone(),
            local: source.projects.clone(),
            needs_file,
            forced: None,
            default: Placed { id: own.id.clone(), is_off: false },
            outside: change.shared.isolation().outside().to_owned(),
            found: HashMap::new(),
            names: BTreeMap::new(),
        };
        projects.default = projects.placed(own.clone(), None)?;
        if let Some(name) = forced {
            let group = match projects.named(name)? {
                Some(group) => group,
                None => groups::new_named(name)?,
            };
            projects.forced = Some(projects.placed(group, None)?);
        }
        Ok(projects)
    }

    /// Returns whether the call puts everything into one project.
    pub fn is_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// Returns the project of a memory, and whether that is sure: otherwise it waits in the one of the working directory, or unassigned.
    pub fn of(&mut self, memory: &ForeignMemory) -> Result<(Placed, bool)> {
        let found = match (&self.forced, &memory.project) {
            (Some(forced), _) => Some(forced.clone()),
            (None, None) => None,
            (None, Some(project)) => {
                if !self.found.contains_key(project) {
                    let placed = self.find(project)?;
                    self.found.insert(project.clone(), placed);
                }
                self.found.get(project).cloned().flatten()
            }
        };
        let is_sure = found.as_ref().is_some_and(|placed| placed.id != UNASSIGNED);
        Ok((found.unwrap_or_else(|| self.default.clone()), is_sure))
    }

    fn find(&mut self, project: &ForeignProject) -> Result<Option<Placed>> {
        if let Some(local) = self.local.get(project).cloned() {
            let group = match &local.hint {
                GroupHint::Named(name) => Group::named(name),
                GroupHint::ProjectNamed { folder, name } => Group::of_named_project(folder, name),
                GroupHint::Folder(path) => Group::of_folder(path),
                GroupHint::Default => {
                    let name = self.outside.clone();
                    Group { id: name.clone(), name }
                }
            };
            return self.placed(group, Some(&local)).map(Some);
        }
        let group = match project {
            ForeignProject::RepositoryOf(_) => return Ok(None),
            ForeignProject::Unsure => {
                Group { id: UNASSIGNED.to_owned(), name: UNASSIGNED.to_owned() }
            }
            ForeignProject::Named(name) => {
                let known = name.parse().ok().map(|name| self.named(&name)).transpose()?;
                known.flatten().unwrap_or_else(|| {
                    let name = clean_name(name).into_owned();
                    Group { id: name.clone(), name }
                })
            }
            // It is on another machine, or was removed: its memories may be here.
            ForeignProject::Folder(folder) => {
                let folder = folder.trim_end_matches('/');
                let repository = Group::of_folder(&format!("{folder}/.git"));
                match import_rows::group(self.conn, &repository.id)? {
                    Some(_) => repository,
                    None => Group::of_folder(folder),
                }
            }
        };
        self.placed(group, None).map(Some)
    }

    /// Returns the stored project that goes on as a group, or the group as a new one.
    fn placed(&mut self, group: Group, local: Option<&LocalProject>) -> Result<Placed> {
        let stored = import_rows::group(self.conn, &group.id)?;
        let id = stored.unwrap_or_else(|| group.id.clone());
        let name = groups::name(self.conn, &id)?.unwrap_or(group.name);
        let is_off_here = |local: &LocalProject| {
            local.off || (self.needs_file && !local.opted_in && !self.switches.on.contains(&id))
        };
        let is_off = self.switches.is_off(&id) || local.is_some_and(is_off_here);
        self.names.insert(id.clone(), name);
        Ok(Placed { id, is_off })
    }

    /// Returns the stored project with an id or alias, or the only one with a name.
    fn named(&self, name: &GroupName) -> Result<Option<Group>> {
        if let Some(group) = groups::find(self.conn, name)? {
            return Ok(Some(group));
        }
        let mut named = groups::names(self.conn)?;
        named.retain(|group| group.name == name.as_str());
        match named.len() {
            0 | 1 => Ok(named.pop()),
            count => {
                let message = format!("is the name of {count} projects");
                Err(Failure::invalid("group", message)
                    .hint("Use the id of one: loci groups list")
                    .into())
            }
        }
    }
}
