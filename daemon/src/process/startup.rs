//! Preconditions of serving: a private process, private folders, and no other daemon on the same database.
//!
//! The locks are taken before the sockets are bound, and only their holder removes a stale socket. Not here: the sockets (`sockets`).

use loci_proto::error::{Code, Exit, Failure};
use loci_proto::limits;
use loci_proto::paths;
use loci_proto::paths::Paths;
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg, OFlag};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::stat::{Mode, umask};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A failed start, or a failed store.
#[derive(Debug)]
pub struct StartupError {
    /// The exit code of the process.
    pub exit: Exit,
    /// The reason.
    pub failure: Failure,
}

impl StartupError {
    /// Creates an error with this exit code.
    #[must_use]
    pub fn new(exit: Exit, failure: Failure) -> Self {
        Self { exit, failure }
    }
}

/// Maximum number of file descriptors that the daemon requests.
const MAX_DESCRIPTORS: u64 = 4096;

/// Makes the process private: files readable by their owner only, no core dumps, no inspection by other processes of the same user.
pub fn make_private() {
    umask(Mode::from_bits_truncate(0o077));
    // Each call only restricts the process; if the system refuses one, the others still apply.
    let _ = setrlimit(Resource::RLIMIT_CORE, 0, 0);
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_dumpable(false);
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard.min(MAX_DESCRIPTORS), hard);
    }
}

/// Has the process end when the one that started it ends, however it does. Where the system cannot do that, it ends when it writes its
/// next line.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
}

/// File descriptors reserved for the store, the model files while they are read, locks and sockets.
const RESERVED_DESCRIPTORS: u64 = 32;
/// Connections beyond the sessions: peers before their hello, or being refused as `busy`.
const EXTRA_CONNECTIONS: usize = 8;

/// Returns the maximum number of open connections, which leaves the reserved descriptors to the store. Further connections wait in the
/// socket's backlog.
#[must_use]
pub fn max_connections() -> usize {
    let descriptors = getrlimit(Resource::RLIMIT_NOFILE).map_or(MAX_DESCRIPTORS, |(soft, _)| soft);
    usize::try_from(descriptors.saturating_sub(RESERVED_DESCRIPTORS))
        .unwrap_or(usize::MAX)
        .clamp(2 * EXTRA_CONNECTIONS, 4 * limits::CONNECTIONS)
}

/// Returns the maximum number of sessions: [`limits::CONNECTIONS`], or fewer if the system allows few descriptors.
#[must_use]
pub fn max_sessions() -> usize {
    (max_connections() - EXTRA_CONNECTIONS).min(limits::CONNECTIONS)
}

/// Creates a folder that only its owner can open, or checks that an existing one is private.
///
/// # Errors
/// `storage_failed` if it is not a folder, belongs to another user or is open to others; the hint has the command that corrects it.
pub fn private_folder(path: &Path) -> Result<(), Failure> {
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Err(e) if e.kind() != std::io::ErrorKind::AlreadyExists => {
            return Err(Failure::new(
                Code::StorageFailed,
                format!("the folder {} cannot be created: {e}", path.display()),
            ));
        }
        _ => {}
    }
    let refuse = |fault: &str| {
        Failure::new(Code::StorageFailed, format!("the folder {} {fault}", path.display()))
    };
    let metadata =
        std::fs::symlink_metadata(path).map_err(|e| refuse(&format!("cannot be read: {e}")))?;
    if !metadata.is_dir() {
        return Err(refuse("is not a folder").hint("Move it away"));
    }
    if metadata.uid() != nix::unistd::geteuid().as_raw() {
        return Err(refuse("belongs to another user").hint("Run as its owner, or set LOCI_HOME"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(
            refuse("is open to other users").hint(format!("Run: chmod 700 {}", path.display()))
        );
    }
    Ok(())
}

/// A file lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    /// `None` on a read-only file system without a lock file, where no daemon can write.
    _file: Option<Flock<File>>,
}

/// Takes a lock and writes the process id into its file. Retries for 0.3 s: a shim may be testing it, or a daemon may be about to exit.
///
/// # Errors
/// `AlreadyRunning` if another process keeps the lock.
pub async fn lock(path: &Path) -> Result<Lock, StartupError> {
    for _ in 0..6 {
        match try_lock(path) {
            Ok(lock) => return Ok(lock),
            Err(Errno::EWOULDBLOCK) => tokio::time::sleep(Duration::from_millis(50)).await,
            Err(errno) => {
                return Err(StartupError::new(Exit::Storage, lock_failure(path, errno)));
            }
        }
    }
    Err(held(path))
}

/// Takes an existing lock without writing the process id into its file, for a process that only reads. `None` if there is no lock file:
/// then no daemon runs, and one that starts meanwhile is refused by the lock of the database file itself.
///
/// # Errors
/// As [`lock`].
pub fn lock_unwritten(path: &Path) -> Result<Option<Lock>, StartupError> {
    let flags = (OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits();
    let failed = |errno| StartupError::new(Exit::Storage, lock_failure(path, errno));
    let file = match OpenOptions::new().read(true).custom_flags(flags).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(Errno::from_raw(error.raw_os_error().unwrap_or(0)))),
    };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(failed(Errno::EINVAL));
    }
    match Flock::lock(file, FlockArg::LockExclusiveNonblock) {
        Ok(file) => Ok(Some(Lock { _file: Some(file) })),
        Err((_, Errno::EWOULDBLOCK)) => Err(held(path)),
        Err((_, errno)) => Err(failed(errno)),
    }
}

fn held(path: &Path) -> StartupError {
    let message = format!("another daemon holds {}", path.display());
    StartupError::new(Exit::AlreadyRunning, Failure::new(Code::Busy, message))
}

fn lock_failure(path: &Path, errno: Errno) -> Failure {
    let shown = path.display();
    let failure = |why: &str| Failure::new(Code::StorageFailed, format!("the lock {shown} {why}"));
    match errno {
        Errno::ELOOP => failure("is a symbolic link")
            .hint(format!("Remove it; nothing was written to its target. Run: rm {shown}")),
        Errno::EINVAL | Errno::ENXIO | Errno::EISDIR => failure("is not a regular file")
            .hint(format!("Move it away. Run: mv {shown} {shown}.old")),
        errno => failure(&format!("cannot be taken: {errno}")),
    }
}

fn try_lock(path: &Path) -> Result<Lock, Errno> {
    let errno = |e: std::io::Error| Errno::from_raw(e.raw_os_error().unwrap_or(0));
    let file = OpenOptions::new()
        .create(true)
        .read(true)
        .write(true)
        .truncate(false)
        .mode(0o600)
        // A link could make us empty another file of this user.
        .custom_flags((OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK).bits())
        .open(path)
        .map_err(errno);
    let file = match file {
        // A read-only file can be locked too.
        Err(Errno::EROFS | Errno::EACCES) => {
            let opened =
                OpenOptions::new().read(true).custom_flags(OFlag::O_NOFOLLOW.bits()).open(path);
            match opened.map_err(errno) {
                Err(Errno::ENOENT) => return Ok(Lock { _file: None }),
                opened => opened?,
            }
        }
        file => file?,
    };
    if !file.metadata().is_ok_and(|metadata| metadata.is_file()) {
        return Err(Errno::EINVAL);
    }
    let mut file =
        Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno)?;
    // Errors are ignored: the process id is only information for people.
    let _ = file
        .set_len(0)
        .and_then(|()| file.rewind())
        .and_then(|()| writeln!(file, "{}", std::process::id()));
    Ok(Lock { _file: Some(file) })
}

/// Returns the lock file of a database. It guards the database even if two socket folders belong to it.
#[must_use]
pub fn database_lock(db: &Path) -> PathBuf {
    let mut name = db.file_name().unwrap_or_default().to_os_string();
    name.push(".lock");
    db.with_file_name(name)
}

/// Creates and checks every folder that the daemon writes to.
///
/// # Errors
/// As [`private_folder`].
pub fn prepare_folders(paths: &Paths, db: &Path) -> Result<(), Failure> {
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
    fn a_folder_open_to_others_is_refused_with_the_command_that_makes_it_private() {
        let home = tempfile::tempdir().expect("a temporary folder is created");
        let open = home.path().join("open");
        std::fs::create_dir(&open).expect("the folder is created");
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o755))
            .expect("the mode is set");
        assert!(
            private_folder(&open)
                .expect_err("the path is refused")
                .to_string()
                .contains("chmod 700")
        );
        let file = home.path().join("file");
        std::fs::write(&file, "").expect("the file is written");
        assert!(
            private_folder(&file)
                .expect_err("the path is refused")
                .to_string()
                .contains("not a folder")
        );
        assert!(private_folder(&home.path().join("new/deep")).is_ok());
    }

    #[tokio::test]
    async fn a_lock_has_one_holder() {
        let home = tempfile::tempdir().expect("a temporary folder is created");
        let path = home.path().join("locid.lock");
        let first = lock(&path).await.expect("the lock is free");
        assert_eq!(lock(&path).await.expect_err("the lock is taken").exit, Exit::AlreadyRunning);
        drop(first);
        assert!(lock(&path).await.is_ok());
    }
}
