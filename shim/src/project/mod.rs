//! Which project a session works in, from what surrounds the shim.
//!
//! Strongest first: `LOCI_GROUP`; `.loci.toml` of the project; the project's git common directory, which its worktrees share; the
//! project's folder itself, unless it is one that many projects share (HOME, `/`, the temporary root). A project's own files may come
//! from anybody: they rename or split their own project, and never lead to another one. Not here: the group's id (`proto::group`, in the daemon).

mod git;
mod project_file;
#[cfg(test)]
mod tests;

use loci_proto::group::{GroupHint, GroupName};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Most characters of a warning.
const WARNING_CHARS: usize = 500;

/// What the answer depends on, besides the files.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `LOCI_GROUP`.
    pub loci_group: Option<OsString>,
    /// `CLAUDE_PROJECT_DIR`.
    pub project_dir: Option<PathBuf>,
    /// The working directory, while it exists.
    pub working_dir: Option<PathBuf>,
    /// Folders that stand for no project: HOME, `/`, the temporary roots.
    pub shared: Vec<PathBuf>,
}

impl Surroundings {
    /// Those of this process.
    #[must_use]
    pub fn of_process() -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
        let mut shared = vec![
            PathBuf::from("/"),
            PathBuf::from("/tmp"),
            PathBuf::from("/var/tmp"),
            std::env::temp_dir(),
        ];
        shared.extend(home);
        Self {
            loci_group: variable("LOCI_GROUP"),
            project_dir: variable("CLAUDE_PROJECT_DIR").map(PathBuf::from),
            working_dir: std::env::current_dir().ok(),
            shared,
        }
    }
}

/// A hint, and what was passed over on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// For the daemon.
    pub hint: GroupHint,
    /// For people, in sentences.
    pub warnings: Vec<String>,
}

/// Finds the project.
#[must_use]
pub fn find(surroundings: &Surroundings) -> Found {
    let mut warnings = Vec::new();
    let hint = named(surroundings, &mut warnings)
        .or_else(|| of_project(surroundings, &mut warnings))
        .unwrap_or_default();
    // They travel in the hello, which has a bound of its own.
    let warnings =
        warnings.iter().map(|warning| warning.chars().take(WARNING_CHARS).collect()).collect();
    Found { hint, warnings }
}

fn named(surroundings: &Surroundings, warnings: &mut Vec<String>) -> Option<GroupHint> {
    let value = surroundings.loci_group.as_ref()?.to_string_lossy();
    if value.contains("${") {
        warnings.push(
            "LOCI_GROUP is ignored: the agent left a variable in it that it should have replaced"
                .to_owned(),
        );
        return None;
    }
    match value.parse::<GroupName>() {
        Ok(name) => Some(GroupHint::Named(name)),
        Err(why) => {
            warnings.push(format!("LOCI_GROUP is ignored: it {why}"));
            None
        }
    }
}

fn of_project(surroundings: &Surroundings, warnings: &mut Vec<String>) -> Option<GroupHint> {
    let shared: Vec<PathBuf> =
        surroundings.shared.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let project = project_folder(surroundings, warnings)?;
    let repository = git::find(&project, &shared, warnings);
    let top = repository.as_ref().map_or(project.as_path(), |repository| &repository.top);
    let name = project_file::find(&project, top, warnings);
    let folder = repository.map_or(project, |repository| repository.common);
    let path = as_text(&folder);
    match name {
        Some(name) => Some(GroupHint::ProjectNamed { folder: path, name }),
        None => (!shared.contains(&folder)).then_some(GroupHint::Folder(path)),
    }
}

/// The canonical folder of the project.
fn project_folder(surroundings: &Surroundings, warnings: &mut Vec<String>) -> Option<PathBuf> {
    if let Some(folder) = &surroundings.project_dir {
        match folder.canonicalize() {
            Ok(folder) if folder.is_dir() => return Some(folder),
            _ => warnings.push("CLAUDE_PROJECT_DIR is ignored: it is no folder".to_owned()),
        }
    }
    let folder = surroundings.working_dir.as_ref().and_then(|folder| folder.canonicalize().ok());
    if folder.is_none() {
        warnings.push("The working directory is gone, so no project is known".to_owned());
    }
    folder
}

/// A path as text, so that two folders never read alike, nor a folder like another one and a name. What is no UTF-8 is escaped, and so
/// are line breaks and backslashes: an archive can hold a folder with any name.
fn as_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.contains(|c: char| c == '\\' || c.is_control()) => text.to_owned(),
        _ => path.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
    }
}
