//! The project in this store of each memory that was read.
//!
//! A folder is found as for a session in it. Where a source names no project, the memory gets that of the working directory: until it is
//! confirmed it is seen there alone, and a global one in every project afterwards.

use crate::client::call::VerbClient;
use crate::commands::transfer::import::existing::StoredGroup;
use crate::commands::transfer::import::switched_off::SwitchedOff;
use crate::output::Problem;
use crate::project::{self, Environment, FoundProject};
use loci_proto::foreign::{ForeignMemory, ForeignProject};
use loci_proto::group::{Group, GroupHint, GroupName, NAME_HINT, check_name, clean_name};
use loci_proto::requests::config::{ConfigReply, ConfigRequest};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// Resolves projects, each once.
pub(super) struct Projects {
    stored: Vec<StoredGroup>,
    /// The project of everything, if the command names one.
    forced: Option<String>,
    default: String,
    found: HashMap<ForeignProject, Option<String>>,
    off: SwitchedOff,
    /// Names of the projects that memories got, by id.
    pub names: BTreeMap<String, String>,
}

impl Projects {
    /// Finds the project of the working directory.
    ///
    /// # Errors
    /// The daemon cannot be reached, or `--group` is no valid name.
    pub async fn new(
        client: &VerbClient,
        stored: &[StoredGroup],
        forced: Option<&GroupName>,
    ) -> Result<Self, Problem> {
        let mut projects = Self {
            stored: stored.to_vec(),
            forced: None,
            default: String::new(),
            found: HashMap::new(),
            off: SwitchedOff::load(client).await?,
            names: BTreeMap::new(),
        };
        if let Some(name) = forced {
            let id = if let Some(id) = projects.stored_id(name.as_str()) {
                id
            } else {
                check_name(name.as_str())
                    .map_err(|reason| Problem::new(format!("--group {reason}")).hint(NAME_HINT))?;
                projects.named(name.as_str())
            };
            projects.forced = Some(id);
        }
        projects.default = match &client.session().group {
            GroupHint::Default => {
                let config: ConfigReply = client.call("config", &ConfigRequest {}).await?;
                let key = config.keys.iter().find(|key| key.key == "storage.default_group");
                let name = key.and_then(|key| key.value.as_str()).unwrap_or("default").to_owned();
                projects.named(&name)
            }
            hint => projects.of_hint(hint),
        };
        Ok(projects)
    }

    /// Returns whether the command puts everything into one project.
    pub fn is_forced(&self) -> bool {
        self.forced.is_some()
    }

    /// Returns the id of the project of a memory, and whether that is sure: otherwise it is the one of the working directory.
    pub fn group_of(&mut self, memory: &ForeignMemory) -> (String, bool) {
        let found = match (&self.forced, &memory.project) {
            (Some(forced), _) => Some(forced.clone()),
            (None, None) => None,
            (None, Some(project)) => {
                let known = self.found.get(project).cloned();
                let id = known.unwrap_or_else(|| self.resolve(project));
                self.found.insert(project.clone(), id.clone());
                id
            }
        };
        let is_sure = found.is_some();
        let id = found.unwrap_or_else(|| self.default.clone());
        if !self.names.contains_key(&id) {
            let stored = self.stored.iter().find(|group| group.id == id);
            let name = stored.map_or_else(|| id.clone(), |group| group.name.clone());
            self.names.insert(id.clone(), name);
        }
        (id, is_sure)
    }

    /// Returns whether loci is off in a project.
    pub fn is_off(&self, id: &str) -> bool {
        self.off.has(id)
    }

    fn resolve(&mut self, project: &ForeignProject) -> Option<String> {
        let id = match project {
            ForeignProject::Named(name) => self.stored_id(name).unwrap_or_else(|| self.named(name)),
            ForeignProject::RepositoryOf(folder) => {
                let found = found_in(folder);
                if found.checkout.is_none() && !found.has_file {
                    return None;
                }
                self.of_found(&found)
            }
            ForeignProject::Folder(folder) if Path::new(folder).is_dir() => {
                self.of_found(&found_in(folder))
            }
            // It is on another machine, or was removed: its memories may be here.
            ForeignProject::Folder(folder) => {
                let repository =
                    Group::of_folder(&format!("{}/.git", folder.trim_end_matches('/')));
                let group = match self.stored_id(&repository.id) {
                    Some(_) => repository,
                    None => Group::of_folder(folder),
                };
                self.noted(group)
            }
        };
        Some(id)
    }

    fn of_found(&mut self, found: &FoundProject) -> String {
        let id = self.of_hint(&found.hint);
        self.off.note(&id, found);
        id
    }

    fn of_hint(&mut self, hint: &GroupHint) -> String {
        let group = match hint {
            GroupHint::Named(name) => Group::named(name),
            GroupHint::ProjectNamed { folder, name } => Group::of_named_project(folder, name),
            GroupHint::Folder(path) => Group::of_folder(path),
            GroupHint::Default => return self.default.clone(),
        };
        self.noted(group)
    }

    fn named(&mut self, name: &str) -> String {
        let name = clean_name(name).into_owned();
        self.noted(Group { id: name.clone(), name })
    }

    /// Keeps the name of a project that is new; returns the id of the stored one that goes on as it.
    fn noted(&mut self, group: Group) -> String {
        let id = self.stored_by_id(&group.id).unwrap_or_else(|| group.id.clone());
        if !self.stored.iter().any(|stored| stored.id == id) {
            self.names.insert(id.clone(), group.name);
        }
        id
    }

    fn stored_by_id(&self, id: &str) -> Option<String> {
        let is_it = |group: &&StoredGroup| group.id == id || group.aliases.iter().any(|a| a == id);
        self.stored.iter().find(is_it).map(|group| group.id.clone())
    }

    /// Returns the id of the stored project with an id or alias, or the only one with a name.
    fn stored_id(&self, name: &str) -> Option<String> {
        self.stored_by_id(name).or_else(|| {
            let mut named = self.stored.iter().filter(|group| group.name == name);
            named.next().filter(|_| named.next().is_none()).map(|group| group.id.clone())
        })
    }

    /// Returns a project as a value of JSON.
    pub fn json(&self, id: &str) -> Value {
        serde_json::json!({"id": id, "name": self.names.get(id).map_or(id, String::as_str)})
    }
}

/// Returns the project of a session in a folder.
fn found_in(folder: &str) -> FoundProject {
    project::find(&Environment {
        loci_group: None,
        project_dir: None,
        ..Environment::at(Path::new(folder).to_path_buf())
    })
}
