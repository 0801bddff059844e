//! Finds the project that a session works in. `group` is the wire name of a project.
//!
//! In order of precedence: the folder of a project whose `.loci.toml` isolates it; `LOCI_GROUP`; the `.loci.toml` of the project; the git common directory, which all worktrees share; the
//! project folder itself, unless many projects share it (HOME, `/`, temporary folders). Files of a project are not trusted: they can
//! rename or split their own project, but never select another one. Not here: the id of a project (`loci_proto::group`).

mod git;
mod project_file;
#[cfg(test)]
mod tests;

use loci_proto::group::{GroupHint, GroupName};
use project_file::ProjectFile;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Maximum length of a warning in characters.
const MAX_WARNING_CHARS: usize = 500;

/// The inputs of the search that are not files.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    /// `LOCI_GROUP`.
    pub loci_group: Option<OsString>,
    /// `CLAUDE_PROJECT_DIR`.
    pub project_dir: Option<PathBuf>,
    /// The working directory, if it exists.
    pub working_dir: Option<PathBuf>,
    /// Folders that many projects share, so that they are not a project: HOME, `/`, and temporary folders.
    pub shared: Vec<PathBuf>,
}

impl Environment {
    /// Returns the environment of this process.
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

/// The project and the warnings about ignored settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundProject {
    /// The project as sent to the daemon.
    pub hint: GroupHint,
    /// Whether the project keeps its memories to itself; `None` if its files do not say so.
    pub isolated: Option<bool>,
    /// One sentence per ignored setting.
    pub warnings: Vec<String>,
}

/// Finds the project.
#[must_use]
pub fn find(environment: &Environment) -> FoundProject {
    let mut warnings = Vec::new();
    let mut folder_warnings = Vec::new();
    let from_folder = from_folder(environment, &mut folder_warnings);
    let isolated = from_folder.as_ref().and_then(|found| found.isolated);
    // An isolated project is identified by its folder alone, so that no other one can take its name.
    let named = match isolated {
        Some(true) => {
            if environment.loci_group.is_some() {
                warnings.push("LOCI_GROUP is ignored: the project is isolated".to_owned());
            }
            None
        }
        _ => from_variable(environment, &mut warnings),
    };
    if named.is_none() {
        warnings.append(&mut folder_warnings);
    }
    let hint = named.or_else(|| from_folder.map(|found| found.hint));
    let hint = hint.unwrap_or_default();
    // Warnings are sent in the hello, whose length is bounded.
    let warnings =
        warnings.iter().map(|warning| warning.chars().take(MAX_WARNING_CHARS).collect()).collect();
    FoundProject { hint, isolated, warnings }
}

fn from_variable(environment: &Environment, warnings: &mut Vec<String>) -> Option<GroupHint> {
    let value = environment.loci_group.as_ref()?.to_string_lossy();
    if value.contains("${") {
        warnings.push(
            "LOCI_GROUP is ignored: it contains a variable that the agent did not expand"
                .to_owned(),
        );
        return None;
    }
    match value.parse::<GroupName>() {
        Ok(name) => Some(GroupHint::Named(name)),
        Err(reason) => {
            warnings.push(format!("LOCI_GROUP is ignored: it {reason}"));
            None
        }
    }
}

/// The project of a folder.
struct FolderProject {
    hint: GroupHint,
    isolated: Option<bool>,
}

fn from_folder(environment: &Environment, warnings: &mut Vec<String>) -> Option<FolderProject> {
    let shared: Vec<PathBuf> =
        environment.shared.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let project = project_folder(environment, warnings)?;
    let repository = git::find(&project, &shared, warnings);
    let top = repository.as_ref().map_or(project.as_path(), |repository| &repository.top);
    let ProjectFile { group, isolated } = project_file::find(&project, top, warnings);
    let folder = repository.map_or(project, |repository| repository.common);
    let path = path_text(&folder);
    let hint = match group {
        Some(name) => GroupHint::ProjectNamed { folder: path, name },
        None if shared.contains(&folder) => {
            if isolated == Some(true) {
                let folder = folder.display();
                warnings.push(format!("isolated is ignored: {folder} is not one project"));
            }
            return None;
        }
        None => GroupHint::Folder(path),
    };
    Some(FolderProject { hint, isolated })
}

/// Returns the canonical folder of the project.
fn project_folder(environment: &Environment, warnings: &mut Vec<String>) -> Option<PathBuf> {
    if let Some(folder) = &environment.project_dir {
        match folder.canonicalize() {
            Ok(folder) if folder.is_dir() => return Some(folder),
            _ => warnings.push("CLAUDE_PROJECT_DIR is ignored: it is not a folder".to_owned()),
        }
    }
    let folder = environment.working_dir.as_ref().and_then(|folder| folder.canonicalize().ok());
    if folder.is_none() {
        warnings.push("The working directory does not exist, so the project is unknown".to_owned());
    }
    folder
}

/// Returns a path as text that no other path has: escapes bytes that are not UTF-8, control characters and backslashes, because an archive
/// can contain a folder with any name.
fn path_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) if !text.contains(|c: char| c == '\\' || c.is_control()) => text.to_owned(),
        _ => path.as_os_str().as_encoded_bytes().escape_ascii().to_string(),
    }
}
