//! The project in this store of each memory that was read.
//!
//! A folder is that of a session in it. Where a source names no project, the memory waits in that of the working directory; where the
//! source is ambiguous, in [`UNASSIGNED`], which is nobody's.

use crate::db::{groups, import_rows};
use crate::error::Result;
use crate::model::actor::Viewer;
use crate::model::switch_set::SwitchSet;
use crate::model::visibility::Isolation;
use crate::operations::named_project::named_group;
use crate::transaction::change::Change;
use crate::transfer::foreign::body::Body;
use loci_proto::foreign::{ForeignMemory, ForeignProject, LocalProject};
use loci_proto::group::{Group, GroupHint, GroupName, clean_name};
use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap, HashSet};

/// What the daemon knows of the call.
#[derive(Debug, Clone)]
pub struct ForeignContext {
    /// Projects without a `.loci.toml` are off.
    pub needs_file: bool,
    /// The id of the project that the hello of the session makes: its folder may have been moved since.
    pub hinted: String,
}

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
    /// The project that the hello of the session makes, and the one that it is now.
    own: (String, Group),
    isolation: Isolation,
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
    /// The ids of those that the store does not have yet.
    pub new: HashSet<String>,
}

impl<'a> Projects<'a> {
    /// Finds the project of the session, and the one that the call names.
    pub fn new(
        change: &Change<'a>,
        forced: Option<&GroupName>,
        body: &Body,
        context: &ForeignContext,
    ) -> Result<Self> {
        let own = &change.call.actor.group;
        let mut projects = Self {
            conn: change.conn,
            own: (context.hinted.clone(), own.clone()),
            isolation: change.shared.isolation(),
            switches: change.shared.switches.read().clone(),
            local: body.projects.clone(),
            needs_file: context.needs_file,
            forced: None,
            default: Placed { id: own.id.clone(), is_off: false },
            outside: change.shared.isolation().outside().to_owned(),
            found: HashMap::new(),
            names: BTreeMap::new(),
            new: HashSet::new(),
        };
        projects.default = projects.placed(own.clone(), None)?;
        if forced.is_some() {
            let group = named_group(
                change.conn,
                &projects.isolation,
                Viewer::from(&change.call.actor),
                forced,
            )?;
            projects.forced = Some(projects.placed(group, None)?);
        }
        Ok(projects)
    }

    /// Adds a project that is known, by its id.
    pub fn add_known(&mut self, group: Group) -> Result<()> {
        let project = ForeignProject::Named(group.id.clone());
        let placed = self.placed(group, None)?;
        self.found.insert(project, Some(placed));
        Ok(())
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
            ForeignProject::Unsure(folders) => return self.unassigned(folders).map(Some),
            ForeignProject::Named(name) => {
                let known = match name.parse() {
                    Ok(name) => groups::find(self.conn, &name)?.or(self.only_named(&name)?),
                    Err(_) => None,
                };
                known.unwrap_or_else(|| {
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
        // The folder of the session may have been moved.
        let (hinted, own) = &self.own;
        let group = if group.id == *hinted { own.clone() } else { group };
        let stored = import_rows::group(self.conn, &group.id)?;
        if stored.is_none() {
            self.new.insert(group.id.clone());
        }
        let id = stored.unwrap_or_else(|| group.id.clone());
        let name = groups::name(self.conn, &id)?.unwrap_or(group.name);
        let is_off_here = |local: &LocalProject| {
            local.off || (self.needs_file && !local.opted_in && !self.switches.on.contains(&id))
        };
        let is_off = self.switches.is_off(&id) || local.is_some_and(is_off_here);
        self.names.insert(id.clone(), name);
        Ok(Placed { id, is_off })
    }

    /// Returns the project with a name, if only one has it.
    fn only_named(&self, name: &GroupName) -> Result<Option<Group>> {
        let mut named = groups::names(self.conn)?;
        named.retain(|group| group.name == name.as_str());
        Ok(if named.len() == 1 { named.pop() } else { None })
    }

    /// Returns the project of what may belong to several folders. If loci is off in one of them, or one keeps its memories to itself, it is
    /// off.
    fn unassigned(&mut self, folders: &[String]) -> Result<Placed> {
        let mut is_off = false;
        for folder in folders {
            let project = ForeignProject::Folder(folder.clone());
            let is_isolated = self.local.get(&project).is_some_and(|local| local.isolated);
            let placed = self.find(&project)?;
            is_off |= is_isolated
                || placed
                    .is_some_and(|placed| placed.is_off || self.isolation.is_isolated(&placed.id));
        }
        let group = Group { id: UNASSIGNED.to_owned(), name: UNASSIGNED.to_owned() };
        Ok(Placed { is_off, ..self.placed(group, None)? })
    }

    /// Keeps the name of a stored project.
    pub fn name_stored(&mut self, id: &str) -> Result<()> {
        if !self.names.contains_key(id) {
            let name = groups::name(self.conn, id)?.unwrap_or_else(|| id.to_owned());
            self.names.insert(id.to_owned(), name);
        }
        Ok(())
    }
}
