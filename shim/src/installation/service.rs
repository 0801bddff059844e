//! Installs the daemon as a service of this user: with systemd a socket that starts it, on macOS a launch agent.
//!
//! Where no service manager answers, nothing is written: agents start the daemon themselves. Only files that loci wrote, unchanged, are
//! replaced or removed.

use crate::installation::service_files::{Installed, LABEL, OnDisk, SERVICE, SOCKET, ServiceFile};
use crate::output::Problem;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A service manager of this user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Manager {
    /// systemd; the folder of the user's units.
    Systemd(PathBuf),
    /// launchd; the folder of the user's agents.
    Launchd(PathBuf),
}

/// What an installation did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The service was installed, or its files were updated.
    Installed,
    /// The same files were there.
    Unchanged,
}

impl Manager {
    /// Returns the manager that this system has by default, whether or not it answers. `home` is the user's home folder.
    #[must_use]
    pub fn of_system(home: &Path) -> Self {
        if cfg!(target_os = "macos") {
            return Self::Launchd(home.join("Library/LaunchAgents"));
        }
        let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = config.filter(|path| path.is_absolute());
        Self::Systemd(config.unwrap_or_else(|| home.join(".config")).join("systemd/user"))
    }

    /// Returns its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Systemd(_) => "systemd",
            Self::Launchd(_) => "launchd",
        }
    }

    /// Returns the files of the service.
    #[must_use]
    pub fn files(&self, installed: &Installed<'_>) -> Vec<ServiceFile> {
        match self {
            Self::Systemd(folder) => installed.units(folder).to_vec(),
            Self::Launchd(folder) => vec![installed.launch_agent(folder)],
        }
    }

    /// Returns why it cannot be used, or `None` if it answers.
    #[must_use]
    pub fn unavailable(&self) -> Option<String> {
        let question: &[&str] = match self {
            Self::Systemd(_) => &["systemctl", "--user", "show", "--property=Version"],
            Self::Launchd(_) => &["launchctl", "managername"],
        };
        run(question).err()
    }

    /// Writes the files that differ, and starts the service. Stops at a file that loci did not write.
    ///
    /// # Errors
    /// A foreign or changed file, a write error, or an error of the service manager; then what was written is removed again.
    pub fn install(&self, files: &[ServiceFile]) -> Result<Outcome, Problem> {
        for file in files {
            match file.on_disk() {
                OnDisk::Foreign => return Err(refuse(file, "was not written by loci")),
                OnDisk::Changed => return Err(refuse(file, "was changed after loci wrote it")),
                OnDisk::Absent | OnDisk::Same | OnDisk::Ours => {}
            }
        }
        let states: Vec<OnDisk> = files.iter().map(ServiceFile::on_disk).collect();
        let is_same = states.iter().all(|state| *state == OnDisk::Same);
        for file in files {
            write(file).map_err(|error| {
                Problem::new(format!("Cannot write {}", file.path.display())).because(&error)
            })?;
        }
        if let Err(reason) = self.start(files, is_same) {
            for (file, _) in files.iter().zip(&states).filter(|(_, s)| **s == OnDisk::Absent) {
                // The error below is the one that matters.
                let _ = fs::remove_file(&file.path);
            }
            return Err(Problem::new(format!("{} refused the service", self.name()))
                .because(&reason)
                .hint("Agents still start the daemon by themselves; nothing else is needed"));
        }
        Ok(if is_same { Outcome::Unchanged } else { Outcome::Installed })
    }

    fn start(&self, files: &[ServiceFile], is_same: bool) -> Result<(), String> {
        match self {
            Self::Systemd(_) => {
                if !is_same {
                    run(&["systemctl", "--user", "daemon-reload"])?;
                }
                run(&["systemctl", "--user", "enable", "--now", SOCKET])
            }
            Self::Launchd(_) => {
                let Some(file) = files.first() else { return Ok(()) };
                let (domain, path) = (launchd_domain(), file.path.to_string_lossy().into_owned());
                if !is_same {
                    // Fails if the agent is not loaded.
                    let _ = run(&["launchctl", "bootout", &format!("{domain}/{LABEL}")]);
                    return run(&["launchctl", "bootstrap", &domain, &path]);
                }
                Ok(())
            }
        }
    }

    /// Stops the service and removes its files, but none that loci did not write. Returns the removed and the kept files.
    ///
    /// # Errors
    /// A file cannot be removed.
    pub fn uninstall(&self, files: &[ServiceFile]) -> Result<Removal, Problem> {
        let ours = |file: &&ServiceFile| matches!(file.on_disk(), OnDisk::Same | OnDisk::Ours);
        let is_foreign =
            |file: &&ServiceFile| matches!(file.on_disk(), OnDisk::Changed | OnDisk::Foreign);
        let removed: Vec<PathBuf> =
            files.iter().filter(ours).map(|file| file.path.clone()).collect();
        let kept = files.iter().filter(is_foreign).map(|file| file.path.clone()).collect();
        if removed.is_empty() {
            return Ok(Removal { removed, kept });
        }
        let is_available = self.unavailable().is_none();
        if is_available {
            self.stop();
        }
        for path in &removed {
            remove_file(path)?;
        }
        if let Self::Systemd(folder) = self {
            let wants = folder.join("sockets.target.wants");
            remove_link(&wants.join(SOCKET))?;
            // Folders that loci may have created; each fails if something else is in it.
            for folder in [Some(wants.as_path()), Some(folder), folder.parent()] {
                let _ = folder.map(fs::remove_dir);
            }
            if is_available {
                // The files are gone; systemd forgets the units at its next start otherwise.
                let _ = run(&["systemctl", "--user", "daemon-reload"]);
            }
        }
        Ok(Removal { removed, kept })
    }

    /// Stops the service; a service that is not loaded is no error.
    fn stop(&self) {
        let _ = match self {
            Self::Systemd(_) => run(&["systemctl", "--user", "disable", "--now", SOCKET, SERVICE]),
            Self::Launchd(_) => {
                run(&["launchctl", "bootout", &format!("{}/{LABEL}", launchd_domain())])
            }
        };
    }
}

/// The files that [`Manager::uninstall`] removed, and those that it kept because loci did not write them.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Removal {
    /// Removed files.
    pub removed: Vec<PathBuf>,
    /// Files that were kept.
    pub kept: Vec<PathBuf>,
}

fn refuse(file: &ServiceFile, what: &str) -> Problem {
    Problem::new(format!("{} {what}", file.path.display()))
        .hint("Nothing was changed. Move the file away, then run loci ctl install again")
}

/// Writes a file in one step, so that no half of it is ever read.
fn write(file: &ServiceFile) -> io::Result<()> {
    if file.on_disk() == OnDisk::Same {
        return Ok(());
    }
    let folder = file.path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut temporary = tempfile::Builder::new().prefix(".locid-").tempfile_in(folder)?;
    temporary.write_all(file.text.as_bytes())?;
    temporary.persist(&file.path).map_err(|error| error.error)?;
    Ok(())
}

fn remove_file(path: &Path) -> Result<(), Problem> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Problem::new(format!("Cannot remove {}", path.display())).because(&error))
        }
        _ => Ok(()),
    }
}

/// Removes the symbolic link by which systemd enables the socket; another file stays.
fn remove_link(path: &Path) -> Result<(), Problem> {
    if path.symlink_metadata().is_ok_and(|found| found.is_symlink()) {
        remove_file(path)?;
    }
    Ok(())
}

fn launchd_domain() -> String {
    format!("gui/{}", nix::unistd::getuid())
}

/// Runs a command; the error is what it printed.
fn run(command: &[&str]) -> Result<(), String> {
    let (program, arguments) = (command[0], &command[1..]);
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    let text = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let text = text.collect::<Vec<_>>().join(" ");
    Err(if text.is_empty() { format!("{}: {}", command.join(" "), output.status) } else { text })
}
