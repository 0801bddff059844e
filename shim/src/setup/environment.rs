//! What setup knows of the machine: folders, programs on the search path, and the path of the running `loci`.
//!
//! Not here: which client keeps its configuration where.

use crate::output::Problem;
use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Variables by which clients move their configuration, and those that move the files of loci.
const VARIABLES: [&str; 13] = [
    "APPDATA",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "COPILOT_HOME",
    "GEMINI_CLI_HOME",
    "LOCI_CONFIG",
    "LOCI_DB",
    "LOCI_HOME",
    "LOCI_MODELS",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
];

/// The systems whose paths differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and other systems with XDG folders.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

/// The machine as setup sees it.
#[derive(Debug, Clone)]
pub struct Environment {
    /// The system.
    pub system: System,
    /// The home folder.
    pub home: PathBuf,
    /// The folder of the project, for the scope `project`.
    pub project: PathBuf,
    /// Folders of the search path.
    pub search_path: Vec<PathBuf>,
    /// The variables of [`VARIABLES`] that are set.
    pub variables: BTreeMap<String, PathBuf>,
}

impl Environment {
    /// Reads the environment of this process; `None` without a home folder.
    #[must_use]
    pub fn of_process() -> Option<Self> {
        let home = directories::BaseDirs::new()?.home_dir().to_path_buf();
        let set = |name: &&str| std::env::var_os(name).filter(|value| !value.is_empty());
        let variables = VARIABLES
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), PathBuf::from(set(name)?))))
            .filter(|(_, path)| path.is_absolute());
        let system = match () {
            () if cfg!(target_os = "macos") => System::Mac,
            () if cfg!(windows) => System::Windows,
            () => System::Linux,
        };
        let search_path = std::env::var_os("PATH").unwrap_or_default();
        Some(Self {
            system,
            home,
            project: std::env::current_dir().ok()?,
            search_path: std::env::split_paths(&search_path).filter(|p| p.is_absolute()).collect(),
            variables: variables.collect(),
        })
    }

    /// Returns the names of the set variables that move files of loci. The runtime folder of a login session counts as not moved, because
    /// loci finds it without the variable.
    #[must_use]
    pub fn own_variables(&self) -> Vec<&str> {
        let moves = |name: &str, path: &Path| match name {
            "XDG_RUNTIME_DIR" => !path.starts_with("/run/user"),
            name => name.starts_with("LOCI_"),
        };
        let set = self.variables.iter().filter(|(name, path)| moves(name, path));
        set.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the folder that a variable names, else one below the home folder.
    #[must_use]
    pub fn folder(&self, variable: &str, below_home: &str) -> PathBuf {
        self.variables.get(variable).cloned().unwrap_or_else(|| self.home.join(below_home))
    }

    /// Returns the folder of configurations by the rules of XDG, which some clients follow on every system.
    #[must_use]
    pub fn xdg_config(&self) -> PathBuf {
        self.folder("XDG_CONFIG_HOME", ".config")
    }

    /// Returns the folder in which applications of this system keep their configuration.
    #[must_use]
    pub fn application_data(&self) -> PathBuf {
        match self.system {
            System::Linux => self.xdg_config(),
            System::Mac => self.home.join("Library/Application Support"),
            System::Windows => self.folder("APPDATA", "AppData/Roaming"),
        }
    }

    /// Returns the path of a program on the search path, with its symbolic links.
    #[must_use]
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        self.search_path.iter().map(|folder| folder.join(name)).find(|path| is_executable(path))
    }
}

/// Returns whether a path is a file that can be run.
#[must_use]
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns the path under which clients can start this program: the one on the search path if it leads here, else the one that was
/// typed, else that of the file. Symbolic links stay, because an update changes where they lead.
///
/// # Errors
/// The path of the process is unknown.
pub fn own_path(environment: &Environment) -> std::io::Result<PathBuf> {
    let file = std::env::current_exe()?;
    let typed = std::env::args_os().next().unwrap_or_default();
    Ok(stable_path(environment, &file, Path::new(&typed)))
}

/// Refuses a path that cannot be written into a configuration.
///
/// # Errors
/// It is not UTF-8.
pub fn check_text(path: &Path) -> Result<(), Problem> {
    if path.to_str().is_some() {
        return Ok(());
    }
    let message = format!("The path of this program is not UTF-8: {}", path.display());
    Err(Problem::new(message).hint(
        "A client's configuration cannot name it. Install loci in a folder whose name is UTF-8",
    ))
}

fn stable_path(environment: &Environment, file: &Path, typed: &Path) -> PathBuf {
    let canonical = file.canonicalize().unwrap_or_else(|_| file.to_path_buf());
    let leads_here = |path: &PathBuf| path.canonicalize().is_ok_and(|path| path == canonical);
    let is_path = typed.components().count() > 1;
    let typed = is_path.then(|| environment.project.join(typed)).filter(leads_here);
    let typed = typed.map(|path| without_dots(&path));
    let on_path = environment.program("loci").filter(leads_here);
    typed.or(on_path).unwrap_or_else(|| file.to_path_buf())
}

/// Removes `.` and `..` from a path by its names alone.
fn without_dots(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            std::path::Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean
}

/// Returns whether a path is in a folder in which cargo builds, which `cargo clean` removes.
#[must_use]
pub fn is_build(path: &Path) -> bool {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let profile = path.parent().map(Path::to_path_buf).unwrap_or_default();
    let is_profile = profile.ends_with("release") || profile.ends_with("debug");
    is_profile && profile.join(".fingerprint").is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn environment(folder: &Path) -> Environment {
        Environment {
            system: System::Linux,
            home: folder.to_path_buf(),
            project: folder.to_path_buf(),
            search_path: vec![folder.join("bin")],
            variables: BTreeMap::new(),
        }
    }

    #[test]
    fn the_link_on_the_search_path_is_kept_and_a_foreign_program_of_that_name_is_not() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("versions-loci");
        std::fs::write(&file, "").expect("the file is written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755))
            .expect("the permissions are set");
        let environment = environment(folder.path());
        assert_eq!(stable_path(&environment, &file, Path::new("loci")), file);
        std::fs::create_dir(folder.path().join("bin")).expect("the folder is created");
        let link = folder.path().join("bin/loci");
        symlink(&file, &link).expect("the link is created");
        assert_eq!(stable_path(&environment, &file, Path::new("loci")), link);
        let typed = Path::new("./bin/../bin/loci");
        assert_eq!(stable_path(&environment, &file, typed), link);
        let other = folder.path().join("other");
        std::fs::copy(&file, &other).expect("the file is copied");
        assert_eq!(stable_path(&environment, &other, Path::new("loci")), other);
    }

    #[test]
    fn folders_follow_the_variables_and_the_system() {
        let mut environment = environment(Path::new("/home/anna"));
        assert_eq!(environment.application_data(), Path::new("/home/anna/.config"));
        environment.system = System::Mac;
        let mac = Path::new("/home/anna/Library/Application Support");
        assert_eq!(environment.application_data(), mac);
        environment.variables.insert("CODEX_HOME".to_owned(), "/data/codex".into());
        assert_eq!(environment.folder("CODEX_HOME", ".codex"), Path::new("/data/codex"));
    }

    #[test]
    fn only_variables_that_move_files_of_loci_are_its_own() {
        let mut environment = environment(Path::new("/home/anna"));
        assert!(environment.own_variables().is_empty());
        for (name, path) in [
            ("CODEX_HOME", "/srv/codex"),
            ("LOCI_HOME", "/srv/loci"),
            ("XDG_RUNTIME_DIR", "/run/user/1000"),
        ] {
            environment.variables.insert(name.to_owned(), path.into());
        }
        assert_eq!(environment.own_variables(), ["LOCI_HOME"]);
        environment.variables.insert("XDG_RUNTIME_DIR".to_owned(), "/srv/run".into());
        assert_eq!(environment.own_variables(), ["LOCI_HOME", "XDG_RUNTIME_DIR"]);
    }
}
