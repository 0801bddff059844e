//! `loci ctl install`: installs the daemon as a service of this user, prints its files, or removes it.
//!
//! Not here: the files (`installation::service_files`) and the service managers (`installation::service`).

use crate::cli::installation::Install;
use crate::commands::ctl::{restart, stop};
use crate::installation::origin;
use crate::installation::service::{Manager, Outcome, Removal};
use crate::installation::service_files::{Installed, ServiceFile};
use crate::output::{Problem, print_line, print_note};
use crate::spawn::find_locid;
use loci_proto::paths::Paths;
use std::path::{Path, PathBuf};

/// Variables that decide about paths of the daemon: a service gets none of the agents' variables.
const VARIABLES: [&str; 6] =
    ["LOCI_HOME", "LOCI_DB", "LOCI_CONFIG", "LOCI_MODELS", "LOCI_ORT_LIB", "LOCI_LOG_LEVEL"];
const AUTO_START: &str = "Agents start the daemon by themselves, so nothing else is needed";

/// Installs, prints or removes the service.
///
/// # Errors
/// A file that loci did not write, or an error of the service manager.
pub async fn run(paths: &Paths, args: &Install) -> Result<(), Problem> {
    let manager = manager()?;
    if args.print {
        return print(&manager.files(&installed(paths, &locid()?, &variables())));
    }
    if args.uninstall {
        return uninstall(paths, &manager).await;
    }
    install(paths, &manager).await
}

/// Returns the service manager of this system.
///
/// # Errors
/// No home folder is known.
pub fn manager() -> Result<Manager, Problem> {
    let home = directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf());
    home.map(|home| Manager::of_system(&home))
        .ok_or_else(|| Problem::new("HOME is not set, so the folder of services is unknown"))
}

/// Removes the service, but no file that loci did not write.
///
/// # Errors
/// A file cannot be removed.
pub fn remove(paths: &Paths, manager: &Manager) -> Result<Removal, Problem> {
    // Only the paths of the files count here, not the daemon in them.
    manager.uninstall(&manager.files(&installed(paths, Path::new("/locid"), &[])))
}

/// Returns the files of the service that exist.
#[must_use]
pub fn present(paths: &Paths, manager: &Manager) -> Vec<PathBuf> {
    let files = manager.files(&installed(paths, Path::new("/locid"), &[]));
    files.into_iter().map(|file| file.path).filter(|path| path.exists()).collect()
}

fn installed<'a>(
    paths: &'a Paths,
    locid: &'a Path,
    variables: &'a [(String, String)],
) -> Installed<'a> {
    Installed { locid, paths, variables }
}

fn variables() -> Vec<(String, String)> {
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect()
}

/// Returns the path of the daemon that stays the same over updates.
fn locid() -> Result<PathBuf, Problem> {
    let origin = origin::of_process();
    if origin.installer.is_temporary() {
        let message = format!("{} keeps loci in a cache", origin.installer.name());
        return Err(Problem::new(message).hint(format!(
            "Install it first: npm install --global {0}, or uv tool install {0}",
            origin::PACKAGE
        )));
    }
    let found = find_locid().map_err(Problem::new)?;
    Ok(linked_by_homebrew(&found).unwrap_or(found))
}

/// Homebrew's folders have the version in their name, and `opt` has a link to the newest.
fn linked_by_homebrew(locid: &Path) -> Option<PathBuf> {
    let cellar =
        locid.ancestors().find(|path| path.file_name().is_some_and(|name| name == "Cellar"))?;
    let formula = locid.strip_prefix(cellar).ok()?.components().next()?;
    let link = cellar.parent()?.join("opt").join(formula).join("bin/locid");
    link.is_file().then_some(link)
}

fn print(files: &[ServiceFile]) -> Result<(), Problem> {
    let texts = files.iter().map(|file| format!("# {}\n{}", file.path.display(), file.text));
    print_line(texts.collect::<Vec<_>>().join("\n").trim_end())
}

async fn install(paths: &Paths, manager: &Manager) -> Result<(), Problem> {
    let locid = locid()?;
    let files = manager.files(&installed(paths, &locid, &variables()));
    if let Some(reason) = manager.unavailable() {
        print_note("Note:", &format!("{} does not answer: {reason}", manager.name()));
        return print_line(format!("Nothing was changed. {AUTO_START}"));
    }
    restart::check_configuration().await?;
    // A daemon that an agent has started has the socket.
    let was_running = stop::stop(paths).await?;
    let outcome = manager.install(&files)?;
    let what = match outcome {
        Outcome::Installed => "Installed",
        Outcome::Unchanged => "Installed already",
    };
    for file in &files {
        print_line(format!("{what}: {}", file.path.display()))?;
    }
    if was_running == stop::StopOutcome::Exited {
        print_line("locid was stopped; the next call of an agent starts it as a service")?;
    }
    print_note(
        "Note:",
        "The service has no network. Run loci model download if the model is missing",
    );
    Ok(())
}

async fn uninstall(paths: &Paths, manager: &Manager) -> Result<(), Problem> {
    let Removal { removed, kept } = remove(paths, manager)?;
    if !removed.is_empty() {
        // The service manager has stopped its own daemon; this is for one that an agent has started meanwhile.
        stop::stop(paths).await?;
    }
    for path in &kept {
        print_note("Kept:", &format!("{}: loci did not write it like this", path.display()));
    }
    for path in &removed {
        print_line(format!("Removed: {}", path.display()))?;
    }
    if removed.is_empty() {
        print_line(format!("No service of loci is installed. {AUTO_START}"))?;
    }
    Ok(())
}
