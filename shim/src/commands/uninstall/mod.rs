//! `loci uninstall`: stops the daemon, and removes the service, the runtime files, the clients' entries, and with `--delete-data` also the
//! memories. Says what stays, and how to remove the programs.
//!
//! Not here: the programs themselves, which only their installer can remove.

mod client_entries;
mod inventory;
mod names;

use crate::cli::installation::Uninstall;
use crate::cli::store_admin::Export;
use crate::client::admin::RequestError;
use crate::client::unreachable::Unreachable;
use crate::commands::ctl::{install, status, stop};
use crate::commands::{short_lived, transfer};
use crate::installation::origin;
use crate::installation::origin::{Installer, Origin};
use crate::installation::service::Manager;
use crate::output::{Problem, confirm, confirm_typed, escape_line, print_line};
use crate::spawn;
use crate::speaker::require_person;
use client_entries::{ClientEntries, ClientFile, plan_client_entries, remove_client_entries};
use inventory::{CLIENT_ENTRIES, Inventory, Kept};
use loci_proto::admin::Places;
use loci_proto::error::Exit;
use loci_proto::paths::{self, Paths};
use serde::Serialize;
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Attempts to stop the daemon, which a service manager may start again.
const STOP_ATTEMPTS: usize = 3;

/// What was done, or with `--dry-run` would be; `--json` prints it.
#[derive(Debug, Serialize)]
struct Report {
    dry_run: bool,
    /// Whether a daemon ran.
    daemon: bool,
    /// Connected agents, which start the daemon again when they call it.
    agents: usize,
    removed: Vec<PathBuf>,
    /// Files of clients out of which the entries of loci were taken.
    clients: Vec<ClientFile>,
    /// Entries of clients that stay, and why.
    left: Vec<String>,
    kept: Vec<Kept>,
    #[serde(skip_serializing_if = "Option::is_none")]
    export: Option<PathBuf>,
    /// Commands that are left to you.
    next: Vec<String>,
    origin: Origin,
}

/// Everything that the command works with.
struct Uninstallation<'a> {
    args: &'a Uninstall,
    paths: Paths,
    manager: Manager,
    /// Where database and model are; `None` if the configuration cannot be read.
    places: Option<Places>,
}

/// Asks, then removes.
///
/// # Errors
/// No confirmation, a daemon that does not stop, a failed export, or a file that cannot be deleted.
pub async fn run(args: Uninstall) -> Result<ExitCode, Problem> {
    let paths = Paths::of_process()?;
    paths::refuse_foreign_home(&paths.home, nix::unistd::geteuid().as_raw())?;
    let _lock = if args.dry_run { None } else { client_entries::lock()? };
    let places = match short_lived::places().await {
        Err(problem) if args.delete_data => {
            return Err(Problem::new("The places of database and model are not known")
                .because(&problem.message())
                .hint("Correct the configuration, or leave out --delete-data"));
        }
        places => places.ok(),
    };
    let all = Uninstallation { args: &args, paths, manager: install::manager()?, places };
    if args.delete_data {
        all.check_deletion()?;
    } else if !args.dry_run {
        require_person("Only a person may uninstall loci", "loci uninstall")?;
    }
    let mut report = all.plan().await?;
    if args.dry_run {
        print(&report, args.json)?;
        return Ok(Exit::Ok.into());
    }
    report.export = all.ask(&report)?;
    if let Some(file) = &report.export {
        let file = Some(file.clone());
        let format = "jsonl".into();
        let export = Export { output: file, format, vectors: false, as_of: None, force: false };
        transfer::export::run(export).await?;
    }
    all.carry_out(&mut report).await?;
    print(&report, args.json)?;
    Ok(Exit::Ok.into())
}

impl Uninstallation<'_> {
    /// Refuses to delete the memories where something else would be lost, and to an agent.
    fn check_deletion(&self) -> Result<(), Problem> {
        let data = paths::canonical(&self.paths.home);
        let what = "Only a person may delete the memories of all projects";
        require_person(what, "loci uninstall --delete-data")?;
        let user_home = directories::BaseDirs::new().map(|dirs| paths::canonical(dirs.home_dir()));
        if data.parent().is_none() || user_home.is_some_and(|home| home.starts_with(&data)) {
            let problem =
                format!("The data folder {} is or contains your home folder", data.display());
            return Err(Problem::new(problem).hint("Delete the files of loci in it by hand; --dry-run without --delete-data lists them"));
        }
        self.args.export.as_ref().map_or(Ok(()), |export| self.check_export(export))
    }

    /// Refuses an export that would be deleted with the data.
    fn check_export(&self, export: &Path) -> Result<(), Problem> {
        let data = paths::canonical(&self.paths.home);
        let file = std::path::absolute(export).unwrap_or_else(|_| export.to_path_buf());
        let folder = file.parent().map(paths::canonical).unwrap_or_default();
        let models = self.places.as_ref().map(|places| paths::canonical(&places.models));
        let is_inside =
            folder.starts_with(&data) || models.is_some_and(|models| folder.starts_with(models));
        if is_inside || self.inventory().files.contains(&file) {
            let problem = format!("{} would be deleted with the data", export.display());
            return Err(Problem::new(problem)
                .hint(format!("Name a file for --export outside {}", data.display())));
        }
        Ok(())
    }

    /// Lists what would be done now.
    async fn plan(&self) -> Result<Report, Problem> {
        let agents = match status::fetch(&self.paths).await {
            Ok(status) => Some(status.sessions.len()),
            Err(RequestError::Unreachable(Unreachable::Absent)) => None,
            // Such a daemon is stopped too, or says then why it cannot be.
            Err(_) => Some(0),
        };
        let mut inventory = self.inventory();
        let mut removed = install::present(&self.paths, &self.manager);
        removed.extend(inventory.files.into_iter().chain(inventory.folders));
        let (origin, entries) = (origin::of_process(), plan_client_entries(&self.paths.home)?);
        if entries.left.is_empty() {
            inventory.kept.retain(|kept| !kept.path.ends_with(CLIENT_ENTRIES));
        }
        Ok(Report {
            dry_run: self.args.dry_run,
            daemon: agents.is_some(),
            agents: agents.unwrap_or(0),
            removed,
            kept: inventory.kept,
            export: None,
            next: next_commands(&entries, &origin),
            clients: entries.files,
            left: entries.left,
            origin,
        })
    }

    fn inventory(&self) -> Inventory {
        let mut inventory = Inventory::of_runtime(&self.paths);
        match &self.places {
            Some(places) if self.args.delete_data => inventory.add_data(&self.paths, places),
            places => inventory.keep_data(&self.paths, places.as_ref()),
        }
        inventory
    }

    /// Shows the plan and asks; returns the file of the export, if there is to be one.
    fn ask(&self, report: &Report) -> Result<Option<PathBuf>, Problem> {
        let consent = self.args.yes.into();
        if !self.args.yes {
            eprint_plan(report);
        }
        if !self.args.delete_data {
            confirm("Remove this?", consent)?;
            return Ok(self.args.export.clone());
        }
        let mut export = self.args.export.clone();
        if export.is_none() && !self.args.yes && io::stdin().is_terminal() {
            export = ask_for_export()?;
            export.as_deref().map_or(Ok(()), |file| self.check_export(file))?;
        }
        let question = "This deletes all memories and their backups. It cannot be undone.";
        confirm_typed(question, "delete", consent)?;
        Ok(export)
    }

    /// Removes everything. A daemon that does not stop is found before anything is changed; then the service goes, so that it does not
    /// start the daemon again.
    async fn carry_out(&self, report: &mut Report) -> Result<(), Problem> {
        // Until this is dropped no agent starts the daemon.
        let no_start = if self.paths.runtime.exists() {
            Some(spawn::hold_start(&self.paths).await?)
        } else {
            None
        };
        stop::stop(&self.paths).await?;
        let service = install::remove(&self.paths, &self.manager)?;
        self.stop_daemon().await?;
        let entries = remove_client_entries(&self.paths.home)?;
        report.next = next_commands(&entries, &report.origin);
        (report.clients, report.left) = (entries.files, entries.left);
        let inventory = self.inventory();
        report.removed = service.removed;
        for file in &inventory.files {
            remove(file, fs::remove_file(file))?;
            report.removed.push(file.clone());
        }
        for folder in &inventory.folders {
            match fs::remove_dir(folder) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                result => {
                    remove(folder, result)?;
                    report.removed.push(folder.clone());
                }
            }
        }
        drop(no_start);
        let why = "loci did not write this service, or it was changed";
        let service = service.kept.into_iter().map(|path| Kept { path, why: why.to_owned() });
        report.kept = inventory.kept.into_iter().chain(service).collect();
        Ok(())
    }

    async fn stop_daemon(&self) -> Result<(), Problem> {
        for _ in 0..STOP_ATTEMPTS {
            if stop::stop(&self.paths).await? != stop::StopOutcome::Restarted {
                return Ok(());
            }
        }
        Err(Problem::new("locid was started again each time it was stopped; no file was deleted")
            .hint("Stop its service, then run loci uninstall again"))
    }
}

fn remove(path: &Path, result: io::Result<()>) -> Result<(), Problem> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Problem::new(format!("Cannot delete {}", path.display()))
                .because(&error)
                .hint("Correct its permissions, then run loci uninstall again"))
        }
        _ => Ok(()),
    }
}

fn next_commands(entries: &ClientEntries, origin: &Origin) -> Vec<String> {
    let mut next = Vec::new();
    if !entries.left.is_empty() {
        next.push("loci setup --remove --force".to_owned());
    }
    if origin.installer != Installer::Build {
        next.push(origin.remove.clone());
    }
    next
}

/// Offers an export; an empty line or a no means none. A yes names no file, so it is asked again.
fn ask_for_export() -> Result<Option<PathBuf>, Problem> {
    loop {
        write!(io::stderr(), "Export all memories first? File name, or Enter for no export: ")?;
        let mut typed = String::new();
        let is_end = io::stdin().lock().read_line(&mut typed)? == 0;
        match typed.trim().to_lowercase().as_str() {
            "" | "n" | "no" | "none" => return Ok(None),
            "y" | "yes" if !is_end => {}
            _ => return Ok(Some(PathBuf::from(typed.trim()))),
        }
    }
}

fn eprint_plan(report: &Report) {
    // The question below is on standard error too; a closed one is noticed there.
    let _ = writeln!(io::stderr(), "{}", text(report, "Removes"));
}

fn print(report: &Report, json: bool) -> Result<(), Problem> {
    if json {
        return print_line(serde_json::to_string(report).map_err(io::Error::from)?);
    }
    print_line(text(report, if report.dry_run { "Would remove" } else { "Removed" }))
}

fn text(report: &Report, verb: &str) -> String {
    let shown = |path: &Path| escape_line(&path.to_string_lossy());
    let mut lines = Vec::new();
    match (report.daemon, report.agents) {
        (false, _) => lines.push("locid is not running".to_owned()),
        (true, 0) => lines.push("locid is running and is stopped".to_owned()),
        (true, agents) => lines.push(format!(
            "locid is running and is stopped; connected agents: {agents}. Close them, or they start it again"
        )),
    }
    lines.extend(report.removed.iter().map(|path| format!("{verb}: {}", shown(path))));
    let changed = match verb {
        "Removes" => "Changes",
        "Removed" => "Changed",
        _ => "Would change",
    };
    let clients = report.clients.iter();
    lines.extend(clients.map(|file| format!("{changed}: {}", escape_line(&file.line()))));
    lines.extend(report.left.iter().map(|left| format!("Keeps: {}", escape_line(left))));
    lines.extend(report.export.iter().map(|path| format!("Exported to: {}", shown(path))));
    let kept = report.kept.iter();
    lines.extend(
        kept.map(|kept| format!("Keeps: {}: {}", shown(&kept.path), escape_line(&kept.why))),
    );
    if !report.next.is_empty() {
        lines.push("Left to you:".to_owned());
        lines.extend(report.next.iter().map(|command| format!("  {}", escape_line(command))));
    }
    lines.join("\n")
}
