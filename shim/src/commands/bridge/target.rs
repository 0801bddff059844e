//! A memory file of a client that is about to be written: it is below the client's memory folder, nothing on its way is a link, and it is
//! replaced in one step.
//!
//! Not here: what is written.

use crate::output::{Problem, escape_line};
use crate::regular_file;
use loci_proto::requests::bridge::file_hash;
use similar::TextDiff;
use std::fs::{DirBuilder, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The refusal to write a client's file for an agent.
pub const WRITES: &str = "This writes a memory file of a client, which only a person may do; --dry-run only shows the difference";

/// The file.
#[derive(Debug)]
pub struct Target {
    path: PathBuf,
    root: PathBuf,
    /// Its text now; `None` if it does not exist.
    pub before: Option<String>,
}

impl Target {
    /// Looks at a file that must be below one of the folders.
    ///
    /// # Errors
    /// It is elsewhere, a part of its path is a link, or it cannot be read.
    pub fn new(path: &str, roots: &[String]) -> Result<Self, Problem> {
        let path = PathBuf::from(path);
        let root = roots.iter().map(PathBuf::from).find(|root| path.starts_with(root));
        let has_dots = path.components().any(|part| part == std::path::Component::ParentDir);
        let Some(root) = root.filter(|_| !has_dots) else {
            return Err(refused(&path, "it is not in the memory folder of a watched client")
                .hint("Switch the bridge on first: loci bridge claude --on"));
        };
        let mut target = Self { path, root, before: None };
        target.check_way()?;
        target.before = target.read()?;
        Ok(target)
    }

    /// Refuses a link between the folder and the file, and in place of the file.
    fn check_way(&self) -> Result<(), Problem> {
        let below = self.path.ancestors().take_while(|part| part.starts_with(&self.root));
        for part in below {
            if part.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
                let reason = format!("{} is a symbolic link", part.display());
                return Err(refused(&self.path, &reason).hint(
                    "Nothing was written. Copy the text from: loci bridge history FILE --version N",
                ));
            }
        }
        Ok(())
    }

    fn read(&self) -> Result<Option<String>, Problem> {
        match regular_file::read(&self.path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text)),
                Err(_) => Err(refused(&self.path, "it is not UTF-8, so it could not be kept")),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(refused(&self.path, &error.to_string())),
        }
    }

    /// Returns whether the file is as the daemon has last read it, so that what is overwritten is kept.
    #[must_use]
    pub fn is_kept_as(&self, hash: Option<&str>) -> bool {
        self.before.as_ref().map(|text| file_hash(text.as_bytes())).as_deref() == hash
    }

    /// Returns the change as a unified diff, escaped for a terminal.
    #[must_use]
    pub fn diff(&self, after: &str) -> String {
        let path = self.path.to_string_lossy();
        let name = if self.before.is_some() { path.as_ref() } else { "/dev/null" };
        let lines = TextDiff::from_lines(self.before.as_deref().unwrap_or_default(), after);
        let diff = lines.unified_diff().header(name, &path).to_string();
        diff.lines().map(escape_line).collect::<Vec<_>>().join("\n")
    }

    /// Replaces the file, unless it has changed since it was looked at. A file that exists keeps its mode.
    ///
    /// # Errors
    /// It has changed, or cannot be written.
    pub fn write(&self, text: &str, mode: u32) -> Result<(), Problem> {
        self.check_way()?;
        if self.read()? != self.before {
            return Err(refused(&self.path, "it has changed meanwhile")
                .hint("Nothing was written. Run the command again"));
        }
        let folder = self.path.parent().unwrap_or(&self.root);
        let write = || -> io::Result<()> {
            let mode = match self.path.metadata() {
                Ok(meta) => meta.permissions().mode() & 0o777,
                Err(_) => mode & 0o777,
            };
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
            let mut new = tempfile::Builder::new().prefix(".loci-").tempfile_in(folder)?;
            new.write_all(text.as_bytes())?;
            new.as_file().set_permissions(Permissions::from_mode(mode))?;
            new.as_file().sync_all()?;
            new.persist(&self.path)?;
            Ok(())
        };
        write().map_err(|error| refused(&self.path, &error.to_string()))
    }
}

fn refused(path: &Path, reason: &str) -> Problem {
    let shown = escape_line(&path.to_string_lossy());
    Problem::new(format!("{shown} cannot be written: {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn nothing_outside_the_folder_is_written_and_no_link_followed() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let root = home.path().join("projects");
        fs::create_dir_all(root.join("-x/memory")).expect("the folder is created");
        let roots = [root.to_string_lossy().into_owned()];
        let at = |below: &str| Target::new(&root.join(below).to_string_lossy(), &roots);
        assert!(Target::new("/etc/hosts", &roots).is_err());
        assert!(at("../other.md").is_err());
        assert!(Target::new(&root.join("a.md").to_string_lossy(), &[]).is_err());
        fs::write(home.path().join("real.md"), "real").expect("the file is written");
        symlink(home.path().join("real.md"), root.join("-x/memory/a.md")).expect("a link");
        symlink(home.path(), root.join("-y")).expect("a link");
        assert!(at("-x/memory/a.md").is_err() && at("-y/a.md").is_err());
    }

    #[test]
    fn a_file_is_replaced_in_one_step_and_keeps_its_mode() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let roots = [home.path().to_string_lossy().into_owned()];
        let path = home.path().join("deep/er/MEMORY.md");
        let target =
            || Target::new(&path.to_string_lossy(), &roots).expect("the file may be written");
        target().write("one\n", 0o640).expect("the file is written");
        let mode = || path.metadata().expect("it exists").permissions().mode() & 0o777;
        assert_eq!(mode(), 0o640);
        let stale = target();
        assert!(stale.is_kept_as(Some(&file_hash(b"one\n"))) && !stale.is_kept_as(None));
        assert!(stale.diff("two\n").contains("-one\n+two"), "{}", stale.diff("two\n"));
        target().write("two\n", 0o600).expect("the file is written");
        assert_eq!(mode(), 0o640);
        assert!(stale.write("three\n", 0o600).is_err(), "it has changed meanwhile");
    }
}
