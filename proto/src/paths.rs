//! Where everything lives: one answer for both sides.
//!
//! Data lives under `~/.loci`, moved whole by `LOCI_HOME`; the database also by `LOCI_DB`, the configuration by `LOCI_CONFIG`, the
//! models by `LOCI_MODELS`. Sockets live in the runtime folder. One daemon serves one database: with another than the usual one the
//! sockets' names carry a hash of its canonical path. Not here: making folders or checking their modes.

use crate::error::{Code, Failure};
use sha2::{Digest, Sha256};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The longest socket path that every Unix takes, in bytes (`sun_path` less the final NUL; 104 on macOS).
pub const SOCKET_PATH_BYTES: usize = if cfg!(target_os = "macos") { 103 } else { 107 };

/// The variables that decide where things live, as read from a process's environment.
#[derive(Debug, Clone, Default)]
pub struct Variables {
    /// `LOCI_HOME`: everything that `~/.loci` would hold.
    pub home: Option<PathBuf>,
    /// `LOCI_DB`: the database file.
    pub db: Option<PathBuf>,
    /// `LOCI_CONFIG`: the configuration file.
    pub config: Option<PathBuf>,
    /// `LOCI_MODELS`: the model cache.
    pub models: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`.
    pub runtime: Option<PathBuf>,
    /// The person's home folder.
    pub user_home: Option<PathBuf>,
}

impl Variables {
    /// The variables of this process. An empty variable counts as not set.
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
            runtime: path("XDG_RUNTIME_DIR"),
            user_home: directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()),
        }
    }
}

/// Every path of one loci: absolute, and the same for the shim and its daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The data folder, usually `~/.loci`.
    pub home: PathBuf,
    /// The configuration file.
    pub config: PathBuf,
    /// The database, unless `storage.db_path` of the configuration names another.
    pub db: PathBuf,
    /// True when `LOCI_DB` chose the database; it then wins over the configuration.
    pub db_from_environment: bool,
    /// The model cache.
    pub models: PathBuf,
    /// Logs of the daemon.
    pub logs: PathBuf,
    /// Folder of sockets and locks, 0700.
    pub runtime: PathBuf,
    /// The agents' socket.
    pub socket: PathBuf,
    /// The admin socket (HTTP).
    pub admin_socket: PathBuf,
    /// Held by the daemon for life.
    pub lock: PathBuf,
    /// Held by a shim while it starts the daemon.
    pub spawn_lock: PathBuf,
    /// While this file is there no shim starts a daemon (`loci ctl stop --hold`).
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
    /// `invalid` when no home folder is known, when a variable holds a relative path, or when the sockets' paths would be too long.
    pub fn resolve(variables: &Variables) -> Result<Self, Failure> {
        let usual = variables
            .user_home
            .as_ref()
            .filter(|home| home.is_absolute())
            .map(|home| home.join(".loci"));
        let home = match absolute("LOCI_HOME", variables.home.as_ref())? {
            Some(home) => home,
            None => usual.clone().ok_or_else(|| {
                Failure::invalid("HOME", "is not set, so there is no place for memories")
                    .hint("Set HOME or LOCI_HOME")
            })?,
        };
        let chosen_db = absolute("LOCI_DB", variables.db.as_ref())?;
        let db = chosen_db.clone().unwrap_or_else(|| home.join("memory.db"));
        let runtime = match absolute("XDG_RUNTIME_DIR", variables.runtime.as_ref())? {
            Some(runtime) => runtime.join("loci"),
            None => home.join("run"),
        };
        let suffix = socket_suffix(&db, usual.as_deref());
        let paths = Self {
            config: absolute("LOCI_CONFIG", variables.config.as_ref())?
                .unwrap_or_else(|| home.join("config.toml")),
            db_from_environment: chosen_db.is_some(),
            models: absolute("LOCI_MODELS", variables.models.as_ref())?
                .unwrap_or_else(|| home.join("models")),
            logs: home.join("logs"),
            socket: runtime.join(format!("locid{suffix}.sock")),
            admin_socket: runtime.join(format!("admin{suffix}.sock")),
            lock: runtime.join(format!("locid{suffix}.lock")),
            spawn_lock: runtime.join(format!("spawn{suffix}.lock")),
            hold: home.join(format!("hold{suffix}")),
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
            .hint("Set XDG_RUNTIME_DIR (or, without it, LOCI_HOME) to a shorter path"))
    }
}

/// Refuses to let root leave files in the home of somebody else, as `sudo` with that person's `HOME` would.
///
/// # Errors
/// `invalid`, naming `HOME`.
pub fn refuse_foreign_home(data: &Path, user: u32) -> Result<(), Failure> {
    let Some(home) = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()) else {
        return Ok(());
    };
    let owner = home.metadata().map_or(user, |found| found.uid());
    if user != 0 || owner == user || !data.starts_with(&home) {
        return Ok(());
    }
    let failure = Failure::invalid(
        "HOME",
        format!("belongs to another user (uid {owner}), and root would leave files there"),
    );
    Err(failure.hint("Run without sudo, or with sudo -H"))
}

fn absolute(name: &str, value: Option<&PathBuf>) -> Result<Option<PathBuf>, Failure> {
    match value {
        None => Ok(None),
        Some(path) if path.to_string_lossy().chars().any(char::is_control) => {
            Err(Failure::invalid(name, "must not hold control characters"))
        }
        Some(path) if path.is_absolute() => Ok(Some(path.clone())),
        Some(path) => {
            Err(Failure::invalid(name, format!("must be an absolute path, not {}", path.display())))
        }
    }
}

/// Empty for the usual database, else `-` and 8 hexadecimal digits of its canonical path.
fn socket_suffix(db: &Path, usual: Option<&Path>) -> String {
    let canonical = canonical(db);
    if usual.is_some_and(|usual| canonical == self::canonical(&usual.join("memory.db"))) {
        return String::new();
    }
    let digest = Sha256::digest(canonical.as_os_str().as_encoded_bytes());
    format!("-{:02x}{:02x}{:02x}{:02x}", digest[0], digest[1], digest[2], digest[3])
}

/// The canonical path, of which the last parts need not exist yet.
#[must_use]
pub fn canonical(path: &Path) -> PathBuf {
    if let Ok(found) = path.canonicalize() {
        return found;
    }
    match (path.parent(), path.components().next_back()) {
        (Some(parent), Some(Component::Normal(name))) => canonical(parent).join(name),
        _ => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Variables {
        Variables {
            user_home: Some("/home/anna".into()),
            runtime: Some("/run/user/7".into()),
            ..Variables::default()
        }
    }

    #[test]
    fn the_usual_database_has_the_plain_socket() {
        let paths = Paths::resolve(&variables()).expect("resolves");
        assert_eq!(paths.db, Path::new("/home/anna/.loci/memory.db"));
        assert_eq!(paths.socket, Path::new("/run/user/7/loci/locid.sock"));
        assert_eq!(paths.admin_socket, Path::new("/run/user/7/loci/admin.sock"));
    }

    #[test]
    fn another_database_has_sockets_of_its_own() {
        let of = |db: &str| {
            Paths::resolve(&Variables { db: Some(db.into()), ..variables() })
                .expect("resolves")
                .socket
        };
        assert_ne!(of("/tmp/a.db"), of("/tmp/b.db"));
        assert_eq!(of("/home/anna/.loci/memory.db"), Path::new("/run/user/7/loci/locid.sock"));
    }

    #[test]
    fn without_a_runtime_folder_the_sockets_live_in_the_data_folder() {
        let paths = Paths::resolve(&Variables {
            runtime: None,
            home: Some("/data/loci".into()),
            ..variables()
        })
        .expect("resolves");
        assert_eq!(paths.runtime, Path::new("/data/loci/run"));
    }

    #[test]
    fn a_relative_or_overlong_path_is_refused_by_name() {
        let relative = Paths::resolve(&Variables { db: Some("memory.db".into()), ..variables() })
            .expect_err("is refused");
        assert_eq!(relative.field.as_deref(), Some("LOCI_DB"));
        let long = Paths::resolve(&Variables {
            runtime: Some(format!("/{}", "x".repeat(120)).into()),
            ..variables()
        })
        .expect_err("is refused");
        assert!(long.message.contains("too long"), "{long}");
    }
}
