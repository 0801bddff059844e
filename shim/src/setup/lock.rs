//! The lock that keeps two programs from editing clients' files at the same time: one of them would lose its entries in the manifest.
//!
//! It is on the user's home folder, because that is where the files are: two data folders share it, and no file is left behind.

use crate::output::Problem;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::path::Path;

/// The held lock, released when this is dropped.
#[derive(Debug)]
#[must_use = "the lock is released when this is dropped"]
pub struct SetupLock {
    /// `None` if the file system has no locks.
    _folder: Option<Flock<File>>,
}

impl SetupLock {
    /// Takes the lock. `home` is the user's home folder.
    ///
    /// # Errors
    /// Another `loci setup`, `loci uninstall` or `loci doctor --fix` holds it.
    pub fn take(home: &Path) -> Result<Self, Problem> {
        let Ok(folder) = File::open(home) else { return Ok(Self { _folder: None }) };
        match Flock::lock(folder, FlockArg::LockExclusiveNonblock) {
            Ok(lock) => Ok(Self { _folder: Some(lock) }),
            Err((_, Errno::EWOULDBLOCK)) => {
                Err(Problem::new("Another loci command is changing the clients' configuration")
                    .hint("Answer its question or let it finish, then run this command again"))
            }
            Err(_) => Ok(Self { _folder: None }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_program_holds_it_at_a_time() {
        let home = tempfile::tempdir().expect("a temporary folder");
        let lock = SetupLock::take(home.path()).expect("nobody holds it");
        let problem = SetupLock::take(home.path()).expect_err("it is held");
        assert!(problem.message().contains("Another loci command"), "{}", problem.message());
        drop(lock);
        assert!(SetupLock::take(home.path()).is_ok());
    }
}
