//! Folders and files that only their owner may access.

use loci_proto::error::{Code, Failure};
use nix::fcntl::OFlag;
use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// Returns options to append to and read a file with mode 0600 that is not a symbolic link; creates it if missing.
#[must_use]
pub fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.create(true).append(true).read(true).mode(0o600).custom_flags(OFlag::O_NOFOLLOW.bits());
    options
}

/// Creates a folder and its parents with mode 0700; existing folders stay unchanged.
///
/// # Errors
/// File system errors.
pub fn create(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Creates the folder of the sockets, or checks that an existing one belongs to us and has no permissions for others.
///
/// # Errors
/// A failure whose hint is the command that fixes it.
pub fn ensure_private(folder: &Path) -> Result<(), Failure> {
    let name = folder.display();
    let refuse =
        |message: String, hint: String| Err(Failure::new(Code::Invalid, message).hint(hint));
    if let Err(error) = create(folder) {
        return refuse(
            format!("cannot create {name}: {error}"),
            "Set XDG_RUNTIME_DIR to a folder of your own".to_owned(),
        );
    }
    let meta = match folder.symlink_metadata() {
        Ok(meta) => meta,
        Err(error) => {
            return refuse(
                format!("{name}: {error}"),
                "Set XDG_RUNTIME_DIR to a folder of your own".to_owned(),
            );
        }
    };
    if !meta.is_dir() {
        return refuse(
            format!("{name} is not a folder"),
            format!("Remove {name}; loci creates it again"),
        );
    }
    if meta.uid() != nix::unistd::geteuid().as_raw() {
        return refuse(
            format!("{name} belongs to another user (uid {})", meta.uid()),
            "Set XDG_RUNTIME_DIR to a folder of your own".to_owned(),
        );
    }
    if meta.mode() & 0o077 != 0 {
        return refuse(
            format!("{name} is open to others (mode {:o})", meta.mode() & 0o777),
            format!("Run `chmod 700 {name}`"),
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn a_new_folder_is_accessible_to_its_owner_only() {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let folder = temp.path().join("a/b");
        ensure_private(&folder).expect("the folder is created");
        ensure_private(&folder).expect("the existing folder is accepted");
        assert_eq!(folder.metadata().expect("the folder exists").mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_open_to_others_is_refused_with_the_command_that_closes_it() {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let folder = temp.path().join("open");
        create_dir(&folder).expect("the folder is created");
        set_permissions(&folder, Permissions::from_mode(0o755)).expect("the mode is set");
        let hint = ensure_private(&folder)
            .expect_err("the folder is refused")
            .hint
            .expect("the error has a hint");
        assert_eq!(hint, format!("Run `chmod 700 {}`", folder.display()));
    }

    #[test]
    fn a_symbolic_link_to_a_folder_is_refused() {
        let temp = tempfile::tempdir().expect("a temporary folder");
        ensure_private(&temp.path().join("real")).expect("the folder is created");
        let link = temp.path().join("link");
        symlink(temp.path().join("real"), &link).expect("the link is created");
        assert!(
            ensure_private(&link)
                .expect_err("the link is refused")
                .message
                .ends_with("is not a folder")
        );
    }
}
