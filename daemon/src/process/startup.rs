//! What has to be true before the daemon serves: a private process, private folders, and nobody else on the same database.
//!
//! The lock is taken before the sockets are bound, and only its holder removes a stale socket. Not here: the sockets (`listen`).

use loci_proto::error::{Code, Exit, Failure};
use loci_proto::limits;
use loci_proto::paths;
use loci_proto::paths::Paths;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::stat::{Mode, umask};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The end of a start that did not succeed.
#[derive(Debug)]
pub struct End {
    /// How the process ends.
    pub exit: Exit,
    /// Why.
    pub failure: Failure,
}

impl End {
    /// An end with this exit code.
    #[must_use]
    pub fn new(exit: Exit, failure: Failure) -> Self {
        Self { exit, failure }
    }
}

/// Most descriptors that the daemon asks for.
const DESCRIPTORS: u64 = 4096;

/// Makes the process private: files for their owner alone, no core dumps, no other process of the same user may look in.
pub fn go_private() {
    umask(Mode::from_bits_truncate(0o077));
    // Each of these only narrows what is possible; where the system refuses, the daemon is as private as the system lets it be.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_dumpable(false);
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard.min(DESCRIPTORS), hard);
    }
}

/// Descriptors that are never given to connections: the store, the model's files while they are read, locks, sockets.
const DESCRIPTORS_OF_OURS: u64 = 32;
/// Connections beyond the sessions: peers that say hello, or are told that there is no place.
const ANTEROOM: usize = 8;

/// Connections that may be open at once, so that a crowd takes no descriptor from the store. A further one waits in the socket.
#[must_use]
pub fn connections() -> usize {
    let descriptors = getrlimit(Resource::RLIMIT_NOFILE).map_or(DESCRIPTORS, |(soft, _)| soft);
    usize::try_from(descriptors.saturating_sub(DESCRIPTORS_OF_OURS))
        .unwrap_or(usize::MAX)
        .clamp(2 * ANTEROOM, 4 * limits::CONNECTIONS)
}

/// Sessions that are served at once: as many as promised, fewer where the system gives few descriptors.
#[must_use]
pub fn places() -> usize {
    (connections() - ANTEROOM).min(limits::CONNECTIONS)
}

/// Makes a folder for its owner alone, or checks that it is one.
///
/// # Errors
/// When it is no folder, belongs to somebody else or is open to others; the command that mends it is in the hint.
pub fn private_folder(path: &Path) -> Result<(), Failure> {
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Failure::new(
                Code::StorageFailed,
                format!("the folder {} cannot be made: {e}", path.display()),
            ));
        }
        _ => {}
    }
    let refuse = |what: &str| {
        Failure::new(Code::StorageFailed, format!("the folder {} {what}", path.display()))
    };
    let found =
        std::fs::symlink_metadata(path).map_err(|e| refuse(&format!("cannot be read: {e}")))?;
    if !found.is_dir() {
        return Err(refuse("is not a folder").hint("Move it away"));
    }
    if found.uid() != nix::unistd::geteuid().as_raw() {
        return Err(refuse("belongs to another user").hint("Run as its owner, or set LOCI_HOME"));
    }
    if found.mode() & 0o077 != 0 {
        return Err(
            refuse("is open to other users").hint(format!("Run: chmod 700 {}", path.display()))
        );
    }
    Ok(())
}

/// A lock that is held until the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: Flock<File>,
}

/// Takes a lock, and writes our process id into it. Waits a moment: a shim may be looking at it, or a daemon be about to end.
///
/// # Errors
/// `AlreadyRunning` when somebody keeps it.
pub async fn lock(path: &Path) -> Result<Lock, End> {
    for _ in 0..6 {
        match try_lock(path) {
            Ok(lock) => return Ok(lock),
            Err(Errno::EWOULDBLOCK) => tokio::time::sleep(Duration::from_millis(50)).await,
            Err(errno) => {
                let failure = Failure::new(
                    Code::StorageFailed,
                    format!("the lock {} cannot be taken: {errno}", path.display()),
                );
                return Err(End::new(Exit::Storage, failure));
            }
        }
    }
    Err(End::new(
        Exit::AlreadyRunning,
        Failure::new(Code::Busy, format!("another daemon holds {}", path.display())),
    ))
}

fn try_lock(path: &Path) -> Result<Lock, Errno> {
    let errno = |e: std::io::Error| Errno::from_raw(e.raw_os_error().unwrap_or(0));
    let file = OpenOptions::new()
        .create(true)
        .read(true)
        .write(true)
        .truncate(false)
        .mode(0o600)
        .open(path)
        .map_err(errno)?;
    let mut file =
        Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno)?;
    // What is written is for people who look at the file; the lock alone counts.
    let _ = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(Lock { _file: file })
}

/// The lock beside a database: it guards the file even when two folders of sockets lead to it.
#[must_use]
pub fn database_lock(db: &Path) -> PathBuf {
    let mut name = db.file_name().unwrap_or_default().to_os_string();
    name.push(".lock");
    db.with_file_name(name)
}

/// Makes and checks every folder that the daemon writes to.
///
/// # Errors
/// As [`private_folder`].
pub fn folders(paths: &Paths, db: &Path) -> Result<(), Failure> {
    paths::refuse_foreign_home(&paths.home, nix::unistd::geteuid().as_raw())?;
    private_folder(&paths.home)?;
    private_folder(&paths.runtime)?;
    match db.parent() {
        Some(parent) if parent != paths.home && !parent.is_dir() => private_folder(parent),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_folder_open_to_others_or_no_folder_is_refused_with_the_remedy() {
        let home = tempfile::tempdir().expect("a folder");
        let open = home.path().join("open");
        std::fs::create_dir(&open).expect("is made");
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755)).expect("is set");
        assert!(private_folder(&open).expect_err("is refused").to_string().contains("chmod 700"));
        let file = home.path().join("file");
        std::fs::write(&file, "").expect("is written");
        assert!(
            private_folder(&file).expect_err("is refused").to_string().contains("not a folder")
        );
        assert!(private_folder(&home.path().join("new/deep")).is_ok());
    }

    #[tokio::test]
    async fn a_lock_has_one_holder() {
        let home = tempfile::tempdir().expect("a folder");
        let path = home.path().join("locid.lock");
        let held = lock(&path).await.expect("is free");
        assert_eq!(lock(&path).await.expect_err("is held").exit, Exit::AlreadyRunning);
        drop(held);
        assert!(lock(&path).await.is_ok());
    }
}
