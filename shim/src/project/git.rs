//! The git repository around a folder, read from its files: no git binary is needed, and none is trusted.
//!
//! The files may come from anybody, in an archive for instance, and a `.git` can point anywhere. It is believed only where the
//! repository that it names knows the folder too; else the folder stands for the project by itself.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

/// A repository.
pub struct Repository {
    /// The working tree's uppermost folder.
    pub top: PathBuf,
    /// The folder that all its worktrees share, canonical; usually `…/.git`, and `top` itself where a `.git` was not believed.
    pub common: PathBuf,
}

/// Looks for a repository from a canonical folder upwards, but not in folders that many projects share: a repository of
/// somebody's HOME (settings under git) is not the project of everything below.
pub fn find(from: &Path, shared: &[PathBuf], warnings: &mut Vec<String>) -> Option<Repository> {
    for folder in
        from.ancestors().take_while(|folder| !shared.iter().any(|shared| shared == folder))
    {
        let entry = folder.join(".git");
        let common = match fs::symlink_metadata(&entry) {
            Ok(meta) if meta.is_dir() => is_repository(&entry).then_some(entry),
            Ok(meta) => Some(known(folder, &entry, &meta).unwrap_or_else(|| {
                warnings.push(unknown(&entry));
                folder.to_path_buf()
            })),
            Err(_) => None,
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

/// The common directory behind a `.git` file, if the repository there knows this folder. A `.git` that is a link is not followed: no
/// repository knows of those.
fn known(folder: &Path, entry: &Path, meta: &Metadata) -> Option<PathBuf> {
    let dir = if meta.is_file() { pointer(entry, "gitdir: ")? } else { return None };
    let common = of_worktree(entry, &dir).or_else(|| of_submodule(folder, dir))?;
    is_repository(&common).then_some(common)
}

fn unknown(entry: &Path) -> String {
    let why =
        "the repository that it leads to does not know this folder (try `git worktree repair`)";
    format!("{} is ignored, so its folder is a project by itself: {why}", entry.display())
}

/// A worktree: the repository keeps a folder for it, which points back here and forth to the common directory around it.
fn of_worktree(entry: &Path, dir: &Path) -> Option<PathBuf> {
    let common = pointer(&dir.join("commondir"), "")?;
    let kept_there = dir.parent() == Some(&*common.join("worktrees"));
    (kept_there && pointer(&dir.join("gitdir"), "")? == entry).then_some(common)
}

/// A submodule: its repository lies in that of the project around the folder, and names the folder as its working tree.
fn of_submodule(folder: &Path, dir: PathBuf) -> Option<PathBuf> {
    let knows = ["config", "config.worktree"]
        .iter()
        .any(|file| work_tree(&dir.join(file)).is_some_and(|tree| tree == folder));
    let around =
        if knows { find(folder.parent()?, &[], &mut Vec::new())?.common } else { return None };
    (dir != around && dir.starts_with(around)).then_some(dir)
}

/// `core.worktree` of a git configuration, canonical.
fn work_tree(config: &Path) -> Option<PathBuf> {
    let text = crate::project::project_file::read_small(config).ok()?;
    let (mut in_core, mut value) = (false, None);
    for line in text.lines().map(str::trim) {
        match line.split_once('=') {
            _ if line.starts_with('[') => in_core = line.eq_ignore_ascii_case("[core]"),
            Some((key, path)) if in_core && key.trim().eq_ignore_ascii_case("worktree") => {
                value = Some(unquoted(path.trim()))
            }
            _ => {}
        }
    }
    config.parent()?.join(value?).canonicalize().ok()
}

/// A value as git writes it: quotes around what has blanks at its ends, backslashes before quotes and backslashes.
fn unquoted(value: &str) -> String {
    let mut escaped = false;
    let keep = |c: &char| {
        let plain = escaped || !matches!(c, '"' | '\\');
        escaped = !escaped && *c == '\\';
        plain
    };
    value.chars().filter(keep).collect()
}

/// The canonical path written in a small file, relative to that file's folder.
fn pointer(file: &Path, prefix: &str) -> Option<PathBuf> {
    let text = crate::project::project_file::read_small(file).ok()?;
    let target = text.strip_prefix(prefix)?.trim_end_matches(['\n', '\r']);
    file.parent()?.join(target).canonicalize().ok()
}
