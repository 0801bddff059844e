//! Reads and writes configuration files: a file is replaced in one step, keeps its mode and group, and a symbolic link stays a link.
//!
//! Not here: what is written.

use crate::output::Problem;
use nix::unistd::{AccessFlags, access};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;

/// Configurations above this size are refused: no client writes such a file.
const MAX_BYTES: u64 = 64 << 20;
/// Start of the name of a file that is about to take the place of another one in its folder.
const TEMPORARY: &str = ".loci-setup-";
/// Age at which such a file was left by a command that was killed.
const LEFTOVER_AGE: Duration = Duration::from_mins(1);

/// Returns the text of a file; `None` if it does not exist.
///
/// # Errors
/// The file cannot be read, is too large, or is not UTF-8.
pub fn read(path: &Path) -> Result<Option<String>, Problem> {
    let shown = path.display();
    let cannot_read = |error: &dyn ToString| {
        Problem::new(format!("{shown} cannot be read"))
            .because(&error.to_string())
            .hint(format!("Nothing was written to it. Look at it with: ls -l {shown}"))
    };
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_link = path.symlink_metadata().is_ok();
            return if is_link { Err(cannot_read(&"the link leads nowhere")) } else { Ok(None) };
        }
        Err(error) => return Err(cannot_read(&error)),
        Ok(meta) if !meta.is_file() => return Err(cannot_read(&"it is not a file")),
        Ok(meta) if meta.len() > MAX_BYTES => return Err(cannot_read(&"it is above 64 MiB")),
        Ok(_) => {}
    }
    let bytes = fs::read(path).map_err(|error| cannot_read(&error))?;
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let line = String::from_utf8_lossy(&error.as_bytes()[..valid]).matches('\n').count() + 1;
        cannot_read(&format!("line {line} is not UTF-8"))
    })
}

/// Replaces or creates a file; returns the folders that were created for it, outermost first.
///
/// # Errors
/// The file cannot be replaced, or its folder cannot be written.
pub fn write(path: &Path, text: &str) -> Result<Vec<PathBuf>, Problem> {
    put(path, text, || Ok(()))
}

/// Like [`write`], if the file is still as it was read; `None` is no file.
///
/// # Errors
/// As [`write`], and when somebody has changed the file since.
pub fn replace(path: &Path, before: Option<&str>, text: &str) -> Result<Vec<PathBuf>, Problem> {
    put(path, text, || check_unchanged(path, before))
}

/// Refuses a file that is not as it was read.
///
/// # Errors
/// Somebody has changed it, or it cannot be read.
pub fn check_unchanged(path: &Path, before: Option<&str>) -> Result<(), Problem> {
    if read(path)?.as_deref() == before {
        return Ok(());
    }
    let message = format!("{} was changed while the plan was shown", path.display());
    Err(Problem::new(message).hint("Nothing was written to it. Run the command again"))
}

/// Refuses a file that cannot be replaced: read-only, in a folder that cannot be written, or with several hard links.
///
/// # Errors
/// With the reason.
pub fn check_writable(path: &Path) -> Result<(), Problem> {
    let file = real(path);
    let can_write = |path: &Path| access(path, AccessFlags::W_OK).is_ok();
    if let Ok(meta) = file.metadata() {
        if meta.permissions().mode() & 0o200 == 0 || !can_write(&file) {
            return Err(cannot_write(path, &"it is read-only"));
        }
        if meta.nlink() > 1 {
            let (shown, links) = (path.display(), meta.nlink());
            let reason = format!("it has {links} hard links, and only this one would be new");
            return Err(Problem::new(format!("{shown} cannot be replaced")).because(&reason).hint(
                format!(
                    "Make it a file of its own: cp -p {shown} {shown}.new && mv {shown}.new {shown}"
                ),
            ));
        }
    }
    let folder = file.ancestors().skip(1).find(|folder| folder.exists());
    match folder {
        Some(folder) if folder.is_dir() && can_write(folder) => Ok(()),
        Some(folder) => Err(cannot_write(path, &format!("{} cannot be written", folder.display()))),
        None => Err(cannot_write(path, &"it has no folder")),
    }
}

/// Returns where a path leads: every symbolic link is followed, and what does not exist yet is added.
#[must_use]
pub fn real(path: &Path) -> PathBuf {
    let known = path.ancestors().find_map(|known| Some((known, known.canonicalize().ok()?)));
    let Some((known, real)) = known else { return path.to_path_buf() };
    match path.strip_prefix(known) {
        Ok(rest) if !rest.as_os_str().is_empty() => real.join(rest),
        _ => real,
    }
}

/// Returns where a file below `folder` is, if a symbolic link leads it to another place.
#[must_use]
pub fn leads_to(path: &Path, folder: &Path) -> Option<PathBuf> {
    let expected = match path.strip_prefix(folder) {
        Ok(rest) => real(folder).join(rest),
        Err(_) => path.to_path_buf(),
    };
    let real = real(path);
    (real != expected).then_some(real)
}

fn cannot_write(path: &Path, reason: &dyn ToString) -> Problem {
    Problem::new(format!("{} cannot be written", path.display()))
        .because(&reason.to_string())
        .hint("Another program may manage it; loci setup --print shows what to add by hand")
}

fn put(
    path: &Path,
    text: &str,
    check: impl FnOnce() -> Result<(), Problem>,
) -> Result<Vec<PathBuf>, Problem> {
    let failed = |error: &dyn ToString| cannot_write(path, error);
    check_writable(path)?;
    let file = real(path);
    let folder = file.parent().ok_or_else(|| failed(&"it has no folder"))?.to_path_buf();
    let created = create_folders(&folder).map_err(|error| failed(&error))?;
    let prepare = || -> io::Result<NamedTempFile> {
        let mut new = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&folder)?;
        new.write_all(text.as_bytes())?;
        let mode = file.metadata().map_or(0o600, |meta| keep_owner(new.as_file(), &meta));
        new.as_file().set_permissions(Permissions::from_mode(mode))?;
        new.as_file().sync_all()?;
        Ok(new)
    };
    let written = prepare().map_err(|error| failed(&error)).and_then(|new| {
        check()?;
        new.persist(&file).map_err(|error| failed(&error.error))
    });
    if written.is_err() {
        remove_empty(&created);
    }
    written.map(|_| created)
}

/// Gives a new file the owner and the group of the one that it replaces. Returns the mode: where the group cannot be kept, another
/// group gets no more than everybody.
fn keep_owner(new: &fs::File, old: &fs::Metadata) -> u32 {
    let mode = old.permissions().mode() & 0o7777;
    let own = new.metadata().map(|meta| (meta.uid(), meta.gid())).ok();
    if own == Some((old.uid(), old.gid())) || fchown(new, Some(old.uid()), Some(old.gid())).is_ok()
    {
        return mode;
    }
    if own.map(|own| own.1) == Some(old.gid()) || fchown(new, None, Some(old.gid())).is_ok() {
        return mode;
    }
    mode & !0o070 | (mode & 0o007) << 3
}

/// Deletes files that a killed command has left in folders. Returns how many.
pub fn remove_leftovers<'a>(folders: impl IntoIterator<Item = &'a PathBuf>) -> usize {
    let own = nix::unistd::geteuid().as_raw();
    let is_old = |meta: &fs::Metadata| {
        meta.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= LEFTOVER_AGE))
    };
    let entries = folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten();
    let ours = entries.filter_map(Result::ok).filter(|entry| {
        entry.file_name().to_string_lossy().starts_with(TEMPORARY)
            && entry.metadata().is_ok_and(|m| m.is_file() && m.uid() == own && is_old(&m))
    });
    ours.filter(|entry| fs::remove_file(entry.path()).is_ok()).count()
}

/// Creates a folder and its parents; returns those that did not exist.
fn create_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> =
        folder.ancestors().take_while(|path| !path.exists()).map(Path::to_path_buf).collect();
    missing.reverse();
    for path in &missing {
        fs::create_dir(path)?;
    }
    Ok(missing)
}

/// Deletes a file, and those of the folders that are empty now.
///
/// # Errors
/// The file cannot be deleted.
pub fn delete(path: &Path, folders: &[PathBuf]) -> Result<(), Problem> {
    if let Err(error) = fs::remove_file(path)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(Problem::new(format!("{} cannot be deleted", path.display())).because(&error));
    }
    remove_empty(folders);
    Ok(())
}

fn remove_empty(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        // A folder that is not empty stays.
        let _ = fs::remove_dir(folder);
    }
}

/// Returns the SHA-256 of a text as hexadecimal digits.
#[must_use]
pub fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_file_keeps_its_mode_and_its_link() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (file, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
        fs::write(&file, "old").expect("the file is written");
        fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("the mode is set");
        symlink(&file, &link).expect("the link is created");
        assert_eq!(write(&link, "new").expect("the file is replaced"), Vec::<PathBuf>::new());
        assert_eq!(read(&file).expect("the file is read").as_deref(), Some("new"));
        assert!(link.is_symlink());
        assert_eq!(file.metadata().expect("it exists").permissions().mode() & 0o777, 0o640);
        fs::set_permissions(&file, Permissions::from_mode(0o440)).expect("the mode is set");
        assert!(write(&link, "newer").is_err(), "a read-only file is refused");
    }

    #[test]
    fn created_folders_disappear_with_the_file_unless_they_are_used() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a/b/c.json");
        let created = write(&file, "{}").expect("the file is created");
        assert_eq!(created, [folder.path().join("a"), folder.path().join("a/b")]);
        assert_eq!(file.metadata().expect("it exists").permissions().mode() & 0o777, 0o600);
        fs::write(folder.path().join("a/other"), "").expect("the file is written");
        delete(&file, &created).expect("the file is deleted");
        assert!(!folder.path().join("a/b").exists());
        assert!(folder.path().join("a/other").exists());
    }

    #[test]
    fn what_is_not_text_or_leads_nowhere_is_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.json");
        assert_eq!(read(&file).expect("a missing file is no error"), None);
        symlink(folder.path().join("nowhere"), &file).expect("the link is created");
        assert!(read(&file).is_err());
        let binary = folder.path().join("b.json");
        fs::write(&binary, b"{\n\xff}").expect("the file is written");
        let problem = read(&binary).expect_err("bytes are refused");
        assert!(problem.message().contains("line 2 is not UTF-8"), "{}", problem.message());
    }

    #[test]
    fn a_file_that_was_changed_meanwhile_is_not_replaced_and_nothing_is_left() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.json");
        fs::write(&file, "newer").expect("the file is written");
        let problem = replace(&file, Some("older"), "ours").expect_err("it was changed");
        assert!(problem.message().contains("was changed while"), "{}", problem.message());
        assert_eq!(fs::read_to_string(&file).expect("it is read"), "newer");
        assert!(replace(&file, None, "ours").is_err(), "it was created meanwhile");
        let missing = folder.path().join("b/c.json");
        assert!(replace(&missing, Some("older"), "ours").is_err(), "it was deleted meanwhile");
        assert_eq!(fs::read_dir(folder.path()).expect("it is read").count(), 1);
        assert!(replace(&file, Some("newer"), "ours").is_ok());
    }

    #[test]
    fn a_file_keeps_its_group_and_hard_links_are_refused() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("a.json");
        fs::write(&file, "old").expect("the file is written");
        // Only root may choose any group.
        let has_group = std::os::unix::fs::chown(&file, None, Some(54321)).is_ok();
        write(&file, "new").expect("it is replaced");
        assert!(!has_group || file.metadata().expect("it exists").gid() == 54321);
        fs::hard_link(&file, folder.path().join("b.json")).expect("the link is created");
        let problem = check_writable(&file).expect_err("it has two names");
        assert!(problem.message().contains("2 hard links"), "{}", problem.message());
        assert!(write(&file, "newer").is_err());
    }

    #[test]
    fn a_path_is_followed_through_links_also_where_nothing_is_yet() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let home = folder.path().canonicalize().expect("it exists");
        fs::create_dir(home.join("real")).expect("the folder is created");
        symlink(home.join("real"), home.join("link")).expect("the link is created");
        assert_eq!(real(&home.join("link/a/b")), home.join("real/a/b"));
        assert_eq!(leads_to(&home.join("link/a"), &home), Some(home.join("real/a")));
        assert_eq!(leads_to(&home.join("real/a"), &home), None);
        assert_eq!(leads_to(&home.join("link/a"), &home.join("link")), None, "the home is a link");
    }
}
