//! What the projects of memories are on this machine, found as for a session in their folders.

use loci_project::{Environment, find};
use loci_proto::foreign::{ForeignMemory, ForeignProject, LocalProject};
use std::collections::BTreeSet;
use std::path::Path;

/// Returns the projects of memories that have a folder here.
pub(crate) fn on_this_machine(memories: &[ForeignMemory]) -> Vec<LocalProject> {
    let mut projects: BTreeSet<ForeignProject> = BTreeSet::new();
    for project in memories.iter().filter_map(|memory| memory.project.as_ref()) {
        if let ForeignProject::Unsure(folders) = project {
            projects.extend(folders.iter().cloned().map(ForeignProject::Folder));
        }
        projects.insert(project.clone());
    }
    projects.iter().filter_map(local).collect()
}

fn local(project: &ForeignProject) -> Option<LocalProject> {
    let (folder, needs_repository) = match project {
        ForeignProject::Folder(folder) => (folder, false),
        ForeignProject::RepositoryOf(folder) => (folder, true),
        ForeignProject::Named(_) | ForeignProject::Unsure(_) => return None,
    };
    let path = Path::new(folder);
    if !needs_repository && !path.is_dir() {
        return None;
    }
    let environment = Environment::at(path.to_path_buf());
    let found = find(&Environment { loci_group: None, project_dir: None, ..environment });
    if needs_repository && found.checkout.is_none() && !found.has_file && found.asking.is_empty() {
        return None;
    }
    Some(LocalProject {
        project: project.clone(),
        hint: found.hint,
        off: found.off,
        opted_in: found.has_file,
        isolated: found.isolated == Some(true),
    })
}
