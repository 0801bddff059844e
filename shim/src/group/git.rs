//! The git repository around a folder, read from its files: no git binary is needed, and none is trusted.

use std::fs;
use std::path::{Path, PathBuf};

/// A repository.
pub struct Repository {
    /// The working tree's uppermost folder.
    pub top: PathBuf,
    /// The folder that all its worktrees share, canonical; usually `…/.git`.
    pub common: PathBuf,
}

/// Looks for a repository from a canonical folder upwards, but not in folders that many projects share: a repository of
/// somebody's HOME (settings under git) is not the project of everything below.
pub fn find(from: &Path, shared: &[PathBuf], warnings: &mut Vec<String>) -> Option<Repository> {
    for folder in from.ancestors().take_while(|folder| !shared.iter().any(|shared| shared == folder)) {
        let entry = folder.join(".git");
        let common = match fs::metadata(&entry) {
            Ok(meta) if meta.is_dir() => entry.canonicalize().ok().filter(|dir| is_repository(dir)),
            Ok(meta) if meta.is_file() => linked(&entry, warnings),
            _ => None,
        };
        if let Some(common) = common {
            return Some(Repository { top: folder.to_path_buf(), common });
        }
    }
    None
}

fn is_repository(dir: &Path) -> bool {
    dir.join("HEAD").exists()
}

/// The common directory behind a `.git` file, as worktrees and submodules have one.
///
/// Anybody can put such a file into an archive and point it at a repository elsewhere. A real worktree is known to its repository,
/// so the way back is checked; and what is no worktree must not point at the `.git` folder of another project.
fn linked(entry: &Path, warnings: &mut Vec<String>) -> Option<PathBuf> {
    let dir = pointer(entry, "gitdir: ")?;
    let common = match pointer(&dir.join("commondir"), "") {
        Some(common) if pointer(&dir.join("gitdir"), "").as_deref() == Some(entry) => common,
        None if dir.file_name() != Some(".git".as_ref()) => dir,
        _ => {
            warnings.push(format!("{} is ignored: the repository does not know this folder (try `git worktree repair`)", entry.display()));
            return None;
        }
    };
    is_repository(&common).then_some(common)
}

/// The canonical path written in a small file, relative to that file's folder.
fn pointer(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = super::project_file::read_small(file).ok()?;
    let target = text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r']);
    file.parent()?.join(target).canonicalize().ok()
}
