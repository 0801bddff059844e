//! Finds the git repository of a folder by reading its files, without running git.
//!
//! The files are not trusted: they may come from an archive, and a `.git` file can point anywhere. A `.git` file is followed only if the
//! repository refers back to its folder; otherwise the folder is a project of its own.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// A git repository.
pub struct Repository {
    /// The top folder of the working tree.
    pub top: PathBuf,
    /// The canonical git common directory, which all worktrees share: usually `…/.git`; `top` if a `.git` was ignored.
    pub common: PathBuf,
    /// The directory with the `HEAD` of this working tree; `None` if a `.git` was ignored.
    pub head_dir: Option<PathBuf>,
}

/// Searches a canonical folder and its parents up to the first `shared` folder, which is not searched: a repository in HOME (dotfiles)
/// is not the project of everything below it.
pub fn find(from: &Path, shared: &[PathBuf], warnings: &mut Vec<String>) -> Option<Repository> {
    for folder in
        from.ancestors().take_while(|folder| !shared.iter().any(|shared| shared == folder))
    {
        let entry = folder.join(".git");
        let dirs = match fs::symlink_metadata(&entry) {
            Ok(meta) if meta.is_dir() => {
                is_repository(&entry).then(|| GitDirs { common: entry.clone(), head: Some(entry) })
            }
            Ok(meta) => Some(trusted_dirs(folder, &entry, &meta).unwrap_or_else(|| {
                warnings.push(ignored_warning(&entry));
                GitDirs { common: folder.to_path_buf(), head: None }
            })),
            Err(_) => None,
        };
        if let Some(GitDirs { common, head }) = dirs {
            return Some(Repository { top: folder.to_path_buf(), common, head_dir: head });
        }
    }
    None
}

fn is_repository(dir: &Path) -> bool {
    dir.join("HEAD").exists()
}

/// The directories of a working tree.
struct GitDirs {
    common: PathBuf,
    /// The one with its `HEAD`.
    head: Option<PathBuf>,
}

/// Returns the directories that a `.git` file points to, if that repository refers back to this folder. A symbolic link is never
/// followed, because no repository refers back to one.
fn trusted_dirs(folder: &Path, entry: &Path, meta: &Metadata) -> Option<GitDirs> {
    let dir = if meta.is_file() { read_path(entry, "gitdir: ")? } else { return None };
    let common = worktree_common_dir(entry, &dir).or_else(|| submodule_dir(folder, dir.clone()))?;
    is_repository(&common).then_some(GitDirs { common, head: Some(dir) })
}

fn ignored_warning(entry: &Path) -> String {
    let reason = "the repository it points to does not refer back to this folder (try `git worktree repair`)";
    format!("{} is ignored and its folder is a project of its own: {reason}", entry.display())
}

/// Returns the common directory of a worktree, whose admin folder must be in `worktrees` of the common directory and point back to
/// `entry`.
fn worktree_common_dir(entry: &Path, dir: &Path) -> Option<PathBuf> {
    let common = read_path(&dir.join("commondir"), "")?;
    let is_inside = dir.parent() == Some(&*common.join("worktrees"));
    (is_inside && read_path(&dir.join("gitdir"), "")? == entry).then_some(common)
}

/// Returns the repository of a submodule, which must be inside the repository of the parent folder and have `folder` as its working
/// tree.
fn submodule_dir(folder: &Path, dir: PathBuf) -> Option<PathBuf> {
    let refers_back = ["config", "config.worktree"]
        .iter()
        .any(|file| work_tree(&dir.join(file)).is_some_and(|work_tree| work_tree == folder));
    let parent_repository = if refers_back {
        find(folder.parent()?, &[], &mut Vec::new())?.common
    } else {
        return None;
    };
    (dir != parent_repository && dir.starts_with(parent_repository)).then_some(dir)
}

/// Returns the canonical `core.worktree` of a git configuration.
fn work_tree(config: &Path) -> Option<PathBuf> {
    let value = config_value(config, "[core]", "worktree")?;
    config.parent()?.join(value).canonicalize().ok()
}

/// Returns the address that a repository was cloned from, without what may be left out of it.
pub fn remote(common: &Path) -> Option<String> {
    let address = config_value(&common.join("config"), "[remote \"origin\"]", "url")?;
    let address = address.trim_end_matches('/').trim_end_matches(".git").trim_end_matches('/');
    (!address.is_empty()).then(|| address.to_owned())
}

/// Returns the last value of a key in a section of a git configuration.
fn config_value(config: &Path, section: &str, key: &str) -> Option<String> {
    let text = crate::project_file::read_small(config).ok()?;
    let (mut is_inside, mut value) = (false, None);
    for line in text.lines().map(str::trim) {
        match line.split_once('=') {
            _ if line.starts_with('[') => is_inside = line.eq_ignore_ascii_case(section),
            Some((name, text)) if is_inside && name.trim().eq_ignore_ascii_case(key) => {
                value = Some(strip_quotes(text.trim()));
            }
            _ => {}
        }
    }
    value
}

/// Removes the quotes and backslash escapes of a git configuration value.
fn strip_quotes(value: &str) -> String {
    let mut escaped = false;
    let is_kept = |c: &char| {
        let is_kept = escaped || !matches!(c, '"' | '\\');
        escaped = !escaped && *c == '\\';
        is_kept
    };
    value.chars().filter(is_kept).collect()
}

/// Reads a path after `prefix` from a small file and returns it canonical; a relative path starts at the folder of the file.
fn read_path(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = crate::project_file::read_small(file).ok()?;
    let target = text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r']);
    file.parent()?.join(target).canonicalize().ok()
}
