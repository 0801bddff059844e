//! Finds the memory files of clients and reads them: bounded, and never through a symbolic link.
//!
//! Not here: which of them have changed (`scan`).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Maximum folders of projects.
const MAX_PROJECTS: usize = 2000;
/// Maximum files of one client.
pub const MAX_FILES: usize = 2000;
/// Maximum entries of one folder that are looked at.
const MAX_ENTRIES: usize = 5000;
/// Maximum depth of folders below a memory folder.
const MAX_DEPTH: usize = 2;
/// Maximum size of one file.
pub const MAX_FILE_BYTES: u64 = 1 << 20;

/// What shows that a file has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    modified: (i64, i64),
    size: u64,
    inode: u64,
}

impl Stamp {
    fn of(meta: &fs::Metadata) -> Self {
        let modified = (meta.mtime(), meta.mtime_nsec());
        Self { modified, size: meta.size(), inode: meta.ino() }
    }

    /// Returns whether the file at the path is still as it was.
    pub fn is_of(&self, path: &Path) -> bool {
        path.symlink_metadata().is_ok_and(|meta| Self::of(&meta) == *self)
    }

    /// Returns whether the file changed at or after a time, and not in the future.
    pub fn is_modified_since(&self, since: SystemTime) -> bool {
        let (seconds, nanoseconds) = self.modified;
        let nanoseconds = u32::try_from(nanoseconds).unwrap_or(0);
        let after_epoch = u64::try_from(seconds).map(|seconds| Duration::new(seconds, nanoseconds));
        let modified = after_epoch.map_or(UNIX_EPOCH, |after_epoch| UNIX_EPOCH + after_epoch);
        (since..=SystemTime::now()).contains(&modified)
    }
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Its path.
    pub path: PathBuf,
    /// The client's name of its project; `None` if the client has none.
    pub project: Option<String>,
    /// What shows that it has changed.
    pub stamp: Stamp,
}

/// The files of a client.
#[derive(Debug, Default)]
pub struct FoundFiles {
    /// The files.
    pub files: Vec<FoundFile>,
    /// What could not be looked at.
    pub problems: Vec<String>,
}

/// A file that was read.
pub struct ReadFile {
    /// Its text.
    pub text: String,
    /// Its mode.
    pub mode: u32,
}

/// Finds the files of Claude Code: `projects/*/memory/**/*.md` below its folder. `is_served` says whether a project is looked at.
pub fn of_claude(folder: &Path, is_served: impl Fn(&str) -> bool) -> FoundFiles {
    let mut found = FoundFiles::default();
    for entry in found.entries(&folder.join("projects"), MAX_PROJECTS) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_served(&name) {
            found.walk(&entry.path().join("memory"), Some(&name), MAX_DEPTH);
        }
    }
    found
}

/// Finds the files of Codex: those at the top of `memories`, and those of `rollout_summaries`.
pub fn of_codex(folder: &Path) -> FoundFiles {
    let mut found = FoundFiles::default();
    let memories = folder.join("memories");
    found.walk(&memories, None, 0);
    found.walk(&memories.join("rollout_summaries"), None, 0);
    found
}

/// Finds all memory files below a folder.
pub fn below(folder: &Path) -> FoundFiles {
    let mut found = FoundFiles::default();
    found.walk(folder, None, MAX_DEPTH);
    found
}

impl FoundFiles {
    /// Adds those of another folder.
    pub fn extend(&mut self, other: Self) {
        self.files.extend(other.files);
        self.problems.extend(other.problems);
    }

    fn walk(&mut self, folder: &Path, project: Option<&str>, depth: usize) {
        // The folder itself may not be a link either.
        if folder.symlink_metadata().is_ok_and(|meta| !meta.is_dir()) {
            return;
        }
        for entry in self.entries(folder, MAX_ENTRIES) {
            let (path, kind) = (entry.path(), entry.file_type());
            let Ok(kind) = kind else { continue };
            if kind.is_dir() && depth > 0 && !is_hidden(&path) {
                self.walk(&path, project, depth - 1);
            } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "md")
            {
                self.add(path, project);
            }
        }
    }

    fn add(&mut self, path: PathBuf, project: Option<&str>) {
        if self.files.len() >= MAX_FILES {
            let message = format!("There are more than {MAX_FILES} files; the others are not kept");
            if !self.problems.contains(&message) {
                self.problems.push(message);
            }
            return;
        }
        // A path that is not UTF-8 could not be restored by its name.
        let is_text = path.to_str().is_some_and(|text| !text.contains(char::is_control));
        if let Ok(meta) = path.symlink_metadata()
            && is_text
        {
            let stamp = Stamp::of(&meta);
            self.files.push(FoundFile { path, project: project.map(str::to_owned), stamp });
        }
    }

    /// Returns the entries of a folder, sorted by name; none if it does not exist.
    fn entries(&mut self, folder: &Path, limit: usize) -> Vec<fs::DirEntry> {
        let mut entries: Vec<fs::DirEntry> = match fs::read_dir(folder) {
            Ok(entries) => entries.filter_map(Result::ok).take(limit + 1).collect(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Vec::new(),
            Err(error) => {
                self.problems.push(format!("{} cannot be read: {error}", folder.display()));
                return Vec::new();
            }
        };
        if entries.len() > limit {
            self.problems.push(format!("{} has more than {limit} entries", folder.display()));
            entries.truncate(limit);
        }
        entries.sort_by_key(fs::DirEntry::file_name);
        entries
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns whether a file is no longer at its path. Of one that cannot be looked at nothing is known.
#[must_use]
pub fn is_gone(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(meta) => !meta.is_file(),
        Err(error) => {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
        }
    }
}

/// Reads a file.
///
/// # Errors
/// A sentence: it is too large, is not text, or cannot be read.
pub fn read(path: &Path) -> Result<ReadFile, String> {
    let shown = path.display();
    let failed = |error: io::Error| format!("{shown} cannot be read: {error}");
    // Neither a link nor a pipe that was put in its place is followed or waited for.
    let flags = nix::libc::O_NOFOLLOW | nix::libc::O_NONBLOCK;
    let file: File =
        OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(failed)?;
    let meta = file.metadata().map_err(failed)?;
    if !meta.is_file() {
        return Err(format!("{shown} is not a file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("{shown} has more than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8"))?;
    Ok(ReadFile { text, mode: meta.permissions().mode() & 0o777 })
}

/// Returns a path with `~` for the home folder, as `loci import` names it.
#[must_use]
pub fn shown(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let home = directories::BaseDirs::new().and_then(|dirs| dirs.home_dir().canonicalize().ok());
    match home.and_then(|home| path.strip_prefix(home).map(Path::to_path_buf).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// Returns whether the `.loci.toml` of a project switches loci off.
#[must_use]
pub fn is_switched_off(work_tree: &Path) -> bool {
    let path = work_tree.join(".loci.toml");
    let is_small = path.symlink_metadata().is_ok_and(|meta| meta.is_file() && meta.len() < 65_536);
    let text = if is_small { read(&path).ok() } else { None };
    let table = text.and_then(|file| file.text.parse::<toml::Table>().ok());
    table.is_some_and(|table| table.get("off").and_then(toml::Value::as_bool) == Some(true))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_other_files_are_left_out() {
        let home = tempfile::tempdir().expect("a folder");
        let memory = home.path().join("projects/-x/memory");
        fs::create_dir_all(memory.join("deep/er/est")).expect("the folders are created");
        for name in ["MEMORY.md", "deep/a.md", "deep/er/b.md", "deep/er/est/c.md", "notes.txt"] {
            fs::write(memory.join(name), "text").expect("the file is written");
        }
        fs::write(home.path().join("secret.md"), "secret").expect("the file is written");
        symlink(home.path().join("secret.md"), memory.join("link.md")).expect("a link");
        symlink(home.path(), memory.join("folder")).expect("a link");
        symlink(&memory, home.path().join("projects/-y")).expect("a link");
        let found = of_claude(home.path(), |_| true);
        let names: Vec<_> =
            found.files.iter().map(|file| file.path.strip_prefix(&memory)).collect();
        let expected = ["MEMORY.md", "deep/a.md", "deep/er/b.md"];
        assert_eq!(names, expected.map(|name| Ok(Path::new(name))));
        assert!(found.problems.is_empty() && of_claude(home.path(), |_| false).files.is_empty());
        assert!(read(&memory.join("link.md")).is_err(), "a link is not followed");
    }

    #[test]
    fn a_large_or_binary_file_is_named_and_not_read() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("a.md");
        fs::write(&path, b"\xff").expect("the file is written");
        assert!(read(&path).is_err_and(|reason| reason.ends_with("is not UTF-8")));
        fs::write(&path, vec![b'x'; 1 << 20]).expect("the file is written");
        assert!(read(&path).is_ok());
        fs::write(&path, vec![b'x'; (1 << 20) + 1]).expect("the file is written");
        assert!(read(&path).is_err_and(|reason| reason.ends_with("more than 1 MiB")));
    }
}
