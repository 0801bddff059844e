//! Folders that nobody else may look into.

use loci_proto::error::{Code, Failure};
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

/// Makes a folder, and those above it, for its owner alone; leaves what is there as it is.
///
/// # Errors
/// Those of the file system.
pub fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Makes the folder of the sockets, or makes sure that the one that is there is ours and closed to others.
///
/// # Errors
/// In words, with the command that mends it.
pub fn make_private(folder: &Path) -> Result<(), Failure> {
    let name = folder.display();
    let refuse =
        |message: String, hint: String| Err(Failure::new(Code::Invalid, message).hint(hint));
    if let Err(error) = make(folder) {
        return refuse(
            format!("{name} cannot be made: {error}"),
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
            format!("{name} is no folder"),
            format!("Remove {name}; loci makes it anew"),
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
    fn a_folder_is_made_for_its_owner_alone() {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let folder = temp.path().join("a/b");
        make_private(&folder).expect("is made");
        make_private(&folder).expect("is there already");
        assert_eq!(folder.metadata().expect("exists").mode() & 0o777, 0o700);
    }

    #[test]
    fn an_open_folder_is_refused_with_the_command_that_closes_it() {
        let temp = tempfile::tempdir().expect("a temporary folder");
        let folder = temp.path().join("open");
        create_dir(&folder).expect("is made");
        set_permissions(&folder, Permissions::from_mode(0o755)).expect("is opened");
        let hint = make_private(&folder).expect_err("is refused").hint.expect("has a hint");
        assert_eq!(hint, format!("Run `chmod 700 {}`", folder.display()));
    }

    #[test]
    fn a_link_to_a_folder_is_refused() {
        let temp = tempfile::tempdir().expect("a temporary folder");
        make_private(&temp.path().join("real")).expect("is made");
        let link = temp.path().join("link");
        symlink(temp.path().join("real"), &link).expect("is linked");
        assert!(make_private(&link).expect_err("is refused").message.ends_with("is no folder"));
    }
}
