//! Reads and writes configuration files: a file is replaced in one step, keeps its mode, and a symbolic link stays a link.
//!
//! Not here: what is written.

use crate::output::Problem;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Configurations above this size are refused: no client writes such a file.
const MAX_BYTES: u64 = 64 << 20;

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
/// The file is read-only, or its folder cannot be written.
pub fn write(path: &Path, text: &str) -> Result<Vec<PathBuf>, Problem> {
    let shown = path.display();
    let failed = |error: &dyn ToString| {
        Problem::new(format!("{shown} cannot be written"))
            .because(&error.to_string())
            .hint("Another program may manage it; loci setup --print shows what to add by hand")
    };
    let file = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let folder = file.parent().ok_or_else(|| failed(&"it has no folder"))?.to_path_buf();
    let created = create_folders(&folder).map_err(|error| failed(&error))?;
    let mode = match file.metadata() {
        Ok(meta) if meta.permissions().mode() & 0o200 == 0 => {
            return Err(failed(&"it is read-only"));
        }
        Ok(meta) => meta.permissions().mode() & 0o7777,
        Err(_) => 0o600,
    };
    let write = || -> io::Result<()> {
        let mut new = tempfile::Builder::new().prefix(".loci-").tempfile_in(&folder)?;
        new.write_all(text.as_bytes())?;
        new.as_file().set_permissions(Permissions::from_mode(mode))?;
        new.as_file().sync_all()?;
        new.persist(&file)?;
        Ok(())
    };
    write().map_err(|error| failed(&error))?;
    Ok(created)
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
    for folder in folders.iter().rev() {
        // A folder that is not empty stays.
        let _ = fs::remove_dir(folder);
    }
    Ok(())
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
}
