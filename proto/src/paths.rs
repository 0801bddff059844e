//! The paths of sockets, locks and data, resolved in the same way by the shim and the daemon.
//!
//! The data folder is `~/.loci`, or `LOCI_HOME`; `LOCI_DB`, `LOCI_CONFIG` and `LOCI_MODELS` move the database, the configuration and the
//! models. Sockets are in the runtime folder. One daemon serves one database: for a database other than the default one the names of the
//! sockets contain a hash of its canonical path. Not here: creating folders, checking their permissions.

use crate::error::{Code, Failure};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// Maximum length of a socket path, in bytes: the size of `sun_path` (108 on Linux, 104 on macOS) without the final NUL.
pub const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "macos") { 103 } else { 107 };

/// The environment variables that determine the paths.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// `LOCI_HOME`: replaces `~/.loci`.
    pub home: Option<PathBuf>,
    /// `LOCI_DB`: the database file.
    pub db: Option<PathBuf>,
    /// `LOCI_CONFIG`: the configuration file.
    pub config: Option<PathBuf>,
    /// `LOCI_MODELS`: the model cache.
    pub models: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`.
    pub runtime: Option<PathBuf>,
    /// The user's home folder.
    pub user_home: Option<PathBuf>,
}

impl Variables {
    /// Reads the variables of this process. An empty variable counts as not set, but an empty `XDG_RUNTIME_DIR` means that there is no
    /// such folder.
    #[must_use]
    pub fn of_process() -> Self {
        let path = |name: &str| {
            std::env::var_os(name).filter(|v: &OsString| !v.is_empty()).map(PathBuf::from)
        };
        Self {
            home: path("LOCI_HOME"),
            db: path("LOCI_DB"),
            config: path("LOCI_CONFIG"),
            models: path("LOCI_MODELS"),
            runtime: match std::env::var_os("XDG_RUNTIME_DIR") {
                Some(_) => path("XDG_RUNTIME_DIR"),
                None => runtime_folder(Path::new("/run/user"), Path::new("/proc/self")),
            },
            user_home: directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()),
        }
    }
}

/// Returns the user's folder in `/run/user`, which `XDG_RUNTIME_DIR` names in a login session. Some clients start their servers with few
/// variables; without this they would use other sockets than the command line. `process` is the folder of this process in `/proc`, which
/// belongs to its user.
fn runtime_folder(all: &Path, process: &Path) -> Option<PathBuf> {
    let user = process.metadata().ok()?.uid();
    let folder = all.join(user.to_string());
    let found = folder.symlink_metadata().ok()?;
    let is_open = found.mode() & 0o077 != 0;
    (found.is_dir() && found.uid() == user && !is_open).then_some(folder)
}

/// All paths of one installation: absolute, and the same for the shim and its daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The data folder, by default `~/.loci`.
    pub home: PathBuf,
    /// The configuration file.
    pub config: PathBuf,
    /// The database, unless the key `storage.db_path` of the configuration sets another.
    pub db: PathBuf,
    /// True if `LOCI_DB` set the database; it takes precedence over the configuration.
    pub db_from_environment: bool,
    /// The model cache.
    pub models: PathBuf,
    /// Logs of the daemon.
    pub logs: PathBuf,
    /// Folder of sockets and locks, mode 0700.
    pub runtime: PathBuf,
    /// The agents' socket.
    pub socket: PathBuf,
    /// The admin socket (HTTP).
    pub admin_socket: PathBuf,
    /// Lock file, held by the daemon while it runs.
    pub lock: PathBuf,
    /// Lock file, held by a shim while it starts the daemon.
    pub spawn_lock: PathBuf,
    /// What hooks could not deliver; the daemon reads and removes it.
    pub missed_hooks: PathBuf,
    /// While this file exists no shim starts a daemon (`loci ctl stop --hold`).
    pub hold: PathBuf,
}

impl Paths {
    /// Resolves the paths of this process.
    ///
    /// # Errors
    /// As [`Paths::resolve`].
    pub fn of_process() -> Result<Self, Failure> {
        Self::resolve(&Variables::of_process())
    }

    /// Resolves every path.
    ///
    /// # Errors
    /// `invalid` if no home folder is known, a variable is a relative path, or the socket paths are too long.
    pub fn resolve(variables: &Variables) -> Result<Self, Failure> {
        let default_home = variables
            .user_home
            .as_ref()
            .filter(|home| home.is_absolute())
            .map(|home| home.join(".loci"));
        let home = match absolute_path("LOCI_HOME", variables.home.as_ref())? {
            Some(home) => home,
            None => default_home.clone().ok_or_else(|| {
                Failure::invalid("HOME", "is not set, so the data folder is unknown")
                    .hint("Set HOME or LOCI_HOME")
            })?,
        };
        let chosen_db = absolute_path("LOCI_DB", variables.db.as_ref())?;
        let db = chosen_db.clone().unwrap_or_else(|| home.join("memory.db"));
        let runtime = match absolute_path("XDG_RUNTIME_DIR", variables.runtime.as_ref())? {
            Some(runtime) => runtime.join("loci"),
            None => home.join("run"),
        };
        let suffix = socket_suffix(&db, default_home.as_deref());
        let paths = Self {
            config: absolute_path("LOCI_CONFIG", variables.config.as_ref())?
                .unwrap_or_else(|| home.join("config.toml")),
            db_from_environment: chosen_db.is_some(),
            models: absolute_path("LOCI_MODELS", variables.models.as_ref())?
                .unwrap_or_else(|| home.join("models")),
            logs: home.join("logs"),
            socket: runtime.join(format!("locid{suffix}.sock")),
            admin_socket: runtime.join(format!("admin{suffix}.sock")),
            lock: runtime.join(format!("locid{suffix}.lock")),
            spawn_lock: runtime.join(format!("spawn{suffix}.lock")),
            hold: home.join(format!("hold{suffix}")),
            missed_hooks: home.join(format!("missed-hooks{suffix}")),
            home,
            db,
            runtime,
        };
        paths.check_lengths()?;
        Ok(paths)
    }

    fn check_lengths(&self) -> Result<(), Failure> {
        let longest = self.socket.as_os_str().len().max(self.admin_socket.as_os_str().len());
        if longest <= SOCKET_PATH_BYTES {
            return Ok(());
        }
        let message = format!(
            "the socket path is too long ({longest} > {SOCKET_PATH_BYTES} bytes): {}",
            self.socket.display()
        );
        Err(Failure::new(Code::Invalid, message)
            .hint("Set XDG_RUNTIME_DIR (or LOCI_HOME if it is not set) to a shorter path"))
    }
}

/// Refuses to run as root with another user's home folder, because files owned by root would be created there (`sudo` keeps `HOME`).
/// `data` is the data folder, `user` the effective user id.
///
/// # Errors
/// `invalid` with the field `HOME`.
pub fn refuse_foreign_home(data: &Path, user: u32) -> Result<(), Failure> {
    let Some(home) = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()) else {
        return Ok(());
    };
    let owner = home.metadata().map_or(user, |metadata| metadata.uid());
    if user != 0 || owner == user || !data.starts_with(&home) {
        return Ok(());
    }
    let failure = Failure::invalid(
        "HOME",
        format!("belongs to another user (uid {owner}), and root would create files there"),
    );
    Err(failure.hint("Run without sudo, or with sudo -H"))
}

/// Returns the path that the variable `name` sets; refuses a relative path and control characters.
fn absolute_path(name: &str, value: Option<&PathBuf>) -> Result<Option<PathBuf>, Failure> {
    match value {
        None => Ok(None),
        Some(path) if path.to_string_lossy().chars().any(char::is_control) => {
            Err(Failure::invalid(name, "must not contain control characters"))
        }
        Some(path) if path.is_absolute() => Ok(Some(path.clone())),
        Some(path) => {
            Err(Failure::invalid(name, format!("must be an absolute path, not {}", path.display())))
        }
    }
}

/// Returns the suffix of the socket names: empty for the default database, otherwise `-` and 8 hexadecimal digits of the SHA-256 of its
/// canonical path.
fn socket_suffix(db: &Path, default_home: Option<&Path>) -> String {
    let db = canonical(db);
    if default_home.is_some_and(|home| db == canonical(&home.join("memory.db"))) {
        return String::new();
    }
    let digest = Sha256::digest(db.as_os_str().as_encoded_bytes());
    format!("-{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3])
}

/// Returns the canonical path; its last components need not exist.
#[must_use]
pub fn canonical(path: &Path) -> PathBuf {
    if let Ok(resolved) = path.canonicalize() {
        return resolved;
    }
    match (path.parent(), path.components().next_back()) {
        (Some(parent), Some(Component::Normal(name))) => canonical(parent).join(name),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn variables() -> Variables {
        Variables {
            user_home: Some("/home/anna".into()),
            runtime: Some("/run/user/7".into()),
            ..Variables::default()
        }
    }

    #[test]
    fn the_default_database_has_the_socket_without_suffix() {
        let paths = Paths::resolve(&variables()).expect("the paths are resolved");
        assert_eq!(paths.db, Path::new("/home/anna/.loci/memory.db"));
        assert_eq!(paths.socket, Path::new("/run/user/7/loci/locid.sock"));
        assert_eq!(paths.admin_socket, Path::new("/run/user/7/loci/admin.sock"));
    }

    #[test]
    fn the_runtime_folder_of_the_user_is_found_if_it_is_private() {
        let all = std::env::temp_dir().join(format!("loci-run-user-{}", std::process::id()));
        let process = std::env::current_dir().expect("a folder of this user");
        let user = process.metadata().expect("it exists").uid();
        let folder = all.join(user.to_string());
        assert_eq!(runtime_folder(&all, &process), None);
        std::fs::create_dir_all(&folder).expect("the folder is created");
        let set_mode = |mode| {
            std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode))
                .expect("the mode is set");
        };
        set_mode(0o755);
        assert_eq!(runtime_folder(&all, &process), None);
        set_mode(0o700);
        assert_eq!(runtime_folder(&all, &process), Some(folder.clone()));
        std::fs::remove_dir_all(&all).expect("the folder is removed");
    }

    #[test]
    fn another_database_has_other_sockets() {
        let socket_of = |db: &str| {
            Paths::resolve(&Variables { db: Some(db.into()), ..variables() })
                .expect("the paths are resolved")
                .socket
        };
        assert_ne!(socket_of("/tmp/a.db"), socket_of("/tmp/b.db"));
        assert_eq!(
            socket_of("/home/anna/.loci/memory.db"),
            Path::new("/run/user/7/loci/locid.sock")
        );
    }

    #[test]
    fn without_a_runtime_folder_the_sockets_are_in_the_data_folder() {
        let paths = Paths::resolve(&Variables {
            runtime: None,
            home: Some("/data/loci".into()),
            ..variables()
        })
        .expect("the paths are resolved");
        assert_eq!(paths.runtime, Path::new("/data/loci/run"));
    }

    #[test]
    fn a_relative_or_overlong_path_is_refused_by_name() {
        let relative = Paths::resolve(&Variables { db: Some("memory.db".into()), ..variables() })
            .expect_err("the path is refused");
        assert_eq!(relative.field.as_deref(), Some("LOCI_DB"));
        let long = Paths::resolve(&Variables {
            runtime: Some(format!("/{}", "x".repeat(120)).into()),
            ..variables()
        })
        .expect_err("the path is refused");
        assert!(long.message.contains("too long"), "{long}");
    }
}
