//! Where a client keeps its memory, and which projects its folders belong to.
//!
//! Claude Code names the folder of a project by its path with a hyphen in place of every other character, so a name may stand for several
//! paths: only one that is the only existing folder of that name counts. Not here: reading the memory files (the daemon).

use crate::regular_file;
use crate::setup::edit::{self, Format};
use crate::setup::environment::Environment;
use loci_project::{self as project, Environment as ProjectEnvironment};
use loci_proto::group::GroupHint;
use loci_proto::requests::bridge::{BridgeClient, BridgeProject, claude_folder_name};
use std::fs;
use std::path::{Path, PathBuf};

/// Maximum folders of projects that are looked at.
const MAX_PROJECTS: usize = 2000;
/// Maximum folders that are read to find the path behind one name.
const MAX_READ: usize = 500;

/// Returns the client's folder.
pub fn of(client: BridgeClient, environment: &Environment) -> PathBuf {
    let folder = match client {
        BridgeClient::Claude => environment.folder("CLAUDE_CONFIG_DIR", ".claude"),
        BridgeClient::Codex => environment.folder("CODEX_HOME", ".codex"),
    };
    folder.canonicalize().unwrap_or(folder)
}

/// Returns the folder of the setting `autoMemoryDirectory` of Claude Code.
pub fn auto_memory(folder: &Path, home: &Path) -> Option<PathBuf> {
    let bytes = regular_file::read(&folder.join("settings.json")).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    let settings = edit::parse(&text, Format::Json).ok()?;
    let value = settings["autoMemoryDirectory"].as_str()?;
    let path = match value.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(value),
    };
    path.is_absolute().then(|| path.canonicalize().unwrap_or(path))
}

/// Returns the projects behind the folders of Claude Code, as far as they can be found.
pub fn projects(folder: &Path) -> Vec<BridgeProject> {
    let Ok(entries) = fs::read_dir(folder.join("projects")) else { return Vec::new() };
    let names = entries.filter_map(Result::ok).take(MAX_PROJECTS);
    let mut names: Vec<String> =
        names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names.into_iter().filter_map(|name| project_of(path_of(&name)?, name)).collect()
}

/// Returns the project of a folder in which a person works.
pub fn project_of(path: PathBuf, name: String) -> Option<BridgeProject> {
    let environment = ProjectEnvironment {
        loci_group: None,
        project_dir: None,
        incognito: false,
        ..ProjectEnvironment::at(path)
    };
    let found = project::find(&environment);
    let (path, part) = match found.hint {
        GroupHint::Folder(path) => (path, None),
        GroupHint::ProjectNamed { folder, name } => (folder, Some(name)),
        GroupHint::Named(_) | GroupHint::Default => return None,
    };
    Some(BridgeProject { name, path, part, off: found.off, opted_in: found.has_file })
}

/// Returns the only existing folder that has this name.
fn path_of(name: &str) -> Option<PathBuf> {
    let mut search = Search { found: Vec::new(), read: 0 };
    search.below(Path::new("/"), name.strip_prefix('-')?);
    if search.found.len() == 1 && search.read < MAX_READ { search.found.pop() } else { None }
}

struct Search {
    found: Vec<PathBuf>,
    read: usize,
}

impl Search {
    /// Searches the folders below `folder` whose names, joined by hyphens, are `rest`.
    fn below(&mut self, folder: &Path, rest: &str) {
        self.read += 1;
        if self.read >= MAX_READ || self.found.len() > 1 {
            return;
        }
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.filter_map(Result::ok) {
            let Ok(name) = entry.file_name().into_string() else { continue };
            let name = claude_folder_name(&name);
            let Some(left) = rest.strip_prefix(name.as_str()) else { continue };
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            match left.strip_prefix('-') {
                Some(left) => self.below(&entry.path(), left),
                None if left.is_empty() => self.found.push(entry.path()),
                None => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_behind_a_name_is_found_if_there_is_only_one() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().canonicalize().expect("the folder exists");
        let (one, other) = (root.join("my.shop/api"), root.join("my/shop-api"));
        fs::create_dir_all(&one).expect("the folder is created");
        let name = claude_folder_name(&one.to_string_lossy());
        assert_eq!(path_of(&name), Some(one));
        fs::create_dir_all(&other).expect("the folder is created");
        assert_eq!(path_of(&name), None, "two folders have this name");
        assert_eq!(path_of("no-hyphen"), None);
    }

    #[test]
    fn the_setting_of_another_folder_is_read() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = Path::new("/home/anna");
        assert_eq!(auto_memory(folder.path(), home), None);
        let text = r#"{"autoMemoryDirectory": "~/notes"}"#;
        fs::write(folder.path().join("settings.json"), text).expect("the file is written");
        assert_eq!(auto_memory(folder.path(), home), Some(home.join("notes")));
    }
}
