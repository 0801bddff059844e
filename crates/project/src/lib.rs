//! Finds the project that a session works in. `group` is the wire name of a project.
//!
//! In order of precedence: the folder of a project whose `.loci.toml` isolates it; `LOCI_GROUP`; the `.loci.toml` of the project; the git
//! common directory, which all worktrees share; the project folder itself, unless many projects share it (HOME, `/`, temporary folders).
//! Files of a project are not trusted: they can isolate or switch off their own project, rename or split it if a person has allowed that,
//! and never select another one.
//! Everything that needs the project asks here: sessions, the command line, hooks. Not here: the id of a project
//! (`loci_proto::group`), projects whose folder was moved (the daemon).

mod allowed;
mod checkout;
mod git;
mod project_file;
#[cfg(test)]
mod tests;

pub use allowed::{AllowedFiles, Answer, AskingFile};
pub use checkout::{CheckoutReader, CheckoutStamp};
use loci_proto::group::{GroupHint, GroupName};
use loci_proto::hello::{FileAsks, FolderMark, Root, Session, SessionFolder, Speaker};
use loci_proto::paths::{Paths, Variables};
use project_file::ProjectFile;
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// Maximum length of a warning in characters.
const MAX_WARNING_CHARS: usize = 500;
/// Maximum number of folders around the session that are looked at.
const MAX_LEVELS: usize = 64;

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
    /// `LOCI_INCOGNITO`.
    pub incognito: bool,
    /// The project files that a person has allowed.
    pub allowed: AllowedFiles,
}

impl Environment {
    /// Returns the environment of this process in another working directory, which a hook gets from its client.
    #[must_use]
    pub fn at(working_dir: PathBuf) -> Self {
        Self { working_dir: Some(working_dir), ..Self::of_process() }
    }

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
        let paths = Paths::resolve(&Variables::of_process());
        Self {
            allowed: paths.map(|paths| AllowedFiles::read(&paths.home)).unwrap_or_default(),
            loci_group: variable("LOCI_GROUP"),
            project_dir: variable("CLAUDE_PROJECT_DIR").map(PathBuf::from),
            working_dir: std::env::current_dir().ok(),
            shared,
            // Every value but 0 means incognito, because a typing error must not record the session.
            incognito: variable("LOCI_INCOGNITO").is_some_and(|value| value != "0"),
        }
    }
}

/// The project and the warnings about ignored settings.
#[derive(Debug, Clone)]
pub struct FoundProject {
    /// The project as sent to the daemon.
    pub hint: GroupHint,
    /// Whether the project keeps its memories to itself; `None` if its files do not say so.
    pub isolated: Option<bool>,
    /// The project's files switch loci off.
    pub off: bool,
    /// The project has a `.loci.toml` that a person has allowed.
    pub has_file: bool,
    /// What the project's files ask a person for.
    pub asks: Option<FileAsks>,
    /// The files that ask.
    pub asking: Vec<AskingFile>,
    /// What the folder of the project is, whatever its path.
    pub folder: Option<FolderMark>,
    /// Where the session works; `None` without a working directory.
    pub place: Option<SessionFolder>,
    /// Reads what is checked out in the project; `None` outside a repository.
    pub checkout: Option<CheckoutReader>,
    /// The session is incognito.
    pub incognito: bool,
    /// One sentence per ignored setting.
    pub warnings: Vec<String>,
}

impl FoundProject {
    /// Returns the session of this process in the project.
    #[must_use]
    pub fn session(self, id: String, agent_session: Option<String>) -> Session {
        Session {
            id,
            group: self.hint,
            isolated: self.isolated,
            warnings: self.warnings,
            agent_session,
            pid: std::process::id(),
            folder: self.folder,
            place: self.place,
            checkout: self.checkout.as_ref().map(CheckoutReader::read),
            off: self.off,
            opted_in: self.has_file,
            asks: self.asks,
            incognito: self.incognito,
            ancestors: Vec::new(),
            hook: None,
            speaker: Speaker::default(),
            shown: None,
        }
    }
}

/// Finds the project.
#[must_use]
pub fn find(environment: &Environment) -> FoundProject {
    let mut warnings = Vec::new();
    let mut folder_warnings = Vec::new();
    let from_folder = from_folder(environment, &mut folder_warnings).unwrap_or_default();
    let isolated = from_folder.file.isolated;
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
    if named.is_none() || from_folder.file.off == Some(true) {
        warnings.append(&mut folder_warnings);
    }
    // Warnings are sent in the hello, whose length is bounded.
    let warnings =
        warnings.iter().map(|warning| warning.chars().take(MAX_WARNING_CHARS).collect()).collect();
    let place = from_folder.place.map(|place| match named {
        Some(_) => SessionFolder { root: None, ..place },
        None => place,
    });
    FoundProject {
        place,
        folder: named.is_none().then_some(from_folder.mark).flatten(),
        hint: named.or(from_folder.hint).unwrap_or_default(),
        isolated,
        off: from_folder.file.off == Some(true),
        has_file: from_folder.file.is_allowed,
        asks: from_folder.file.asks,
        asking: from_folder.file.asking,
        checkout: from_folder.checkout,
        incognito: environment.incognito,
        warnings,
    }
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
#[derive(Default)]
struct FolderProject {
    /// `None` if many projects share the folder.
    hint: Option<GroupHint>,
    mark: Option<FolderMark>,
    place: Option<SessionFolder>,
    file: ProjectFile,
    checkout: Option<CheckoutReader>,
}

fn from_folder(environment: &Environment, warnings: &mut Vec<String>) -> Option<FolderProject> {
    let shared: Vec<PathBuf> =
        environment.shared.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
    let project = project_folder(environment, warnings)?;
    let repository = git::find(&project, &shared, warnings);
    let top = repository.as_ref().map_or(project.as_path(), |repository| &repository.top);
    let common = repository.as_ref().map_or(project.as_path(), |repository| &repository.common);
    let mut bases = vec![common.to_path_buf()];
    bases.extend(identity(common).map(PathBuf::from));
    let found = project_file::find(&project, (top, &bases), &environment.allowed, warnings);
    let mut file = found.unwrap_or_default();
    let checkout = repository.as_ref().and_then(|repository| {
        let head_dir = repository.head_dir.clone()?;
        Some(CheckoutReader::new(head_dir, repository.common.clone(), &repository.top))
    });
    let root = if file.group.is_some() { file.folder.as_path() } else { top };
    let is_main = repository.as_ref().is_none_or(|repository| {
        repository.common == repository.top || repository.common == repository.top.join(".git")
    });
    let root = (!shared.iter().any(|shared| shared == root)).then(|| Root {
        path: path_text(root),
        identity: identity(root),
        is_main,
    });
    let place = Some(place(&project, root, &shared));
    let folder = repository.map_or(project, |repository| repository.common);
    let path = path_text(&folder);
    let hint = match file.group.take() {
        Some(name) => Some(GroupHint::ProjectNamed { folder: path, name }),
        None if shared.contains(&folder) => {
            if file.isolated.take() == Some(true) {
                let folder = folder.display();
                warnings.push(format!("isolated is ignored: {folder} is not one project"));
            }
            None
        }
        None => Some(GroupHint::Folder(path)),
    };
    let mark = hint.is_some().then(|| mark_of(&folder, checkout.is_some()));
    Some(FolderProject { hint, mark, place, file, checkout })
}

/// Returns what a folder is, and what a copy or another clone of its repository shares with it.
fn mark_of(folder: &Path, is_repository: bool) -> FolderMark {
    let trace = is_repository.then(|| checkout::trace(folder)).flatten();
    let remote = is_repository.then(|| git::remote(folder)).flatten();
    let remote = remote.map(|address| loci_proto::group::trace_of(address.as_bytes()));
    FolderMark { identity: identity(folder), trace, remote }
}

/// Returns what a folder is. Device and inode stay when it is renamed or moved within its file system; the time of creation tells it
/// from a later folder that got the same inode.
fn identity(folder: &Path) -> Option<String> {
    let metadata = folder.metadata().ok()?;
    let created = metadata.created().ok()?.duration_since(UNIX_EPOCH).ok()?.as_nanos();
    // Some file systems report the epoch for an unknown time.
    (created > 0).then(|| format!("{:x}-{:x}-{created:x}", metadata.dev(), metadata.ino()))
}

/// Returns where a session works, up to the first folder that many projects share.
fn place(project: &Path, root: Option<Root>, shared: &[PathBuf]) -> SessionFolder {
    let folders = project.ancestors().take_while(|folder| !shared.iter().any(|s| s == folder));
    SessionFolder {
        path: path_text(project),
        identities: folders
            .take(MAX_LEVELS)
            .map(|folder| identity(folder).unwrap_or_default())
            .collect(),
        root,
    }
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
