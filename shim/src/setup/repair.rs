//! Writes entries of the manifest again that are missing, for `loci doctor --fix`. Entries that somebody has changed stay.

use super::apply::apply;
use super::change::server_command;
use super::client::{Client, Context, Part, Scope, Wishes};
use super::environment::{self, Environment, is_executable};
use super::event::Event;
use super::lock::SetupLock;
use super::manifest::{Manifest, WrittenEntry};
use super::switches::Switches;
use super::{files, plan, unrecorded};
use crate::output::Problem;
use clap::ValueEnum;
use loci_proto::paths::Paths;
use std::path::{Path, PathBuf};

/// Sets the clients of the manifest up again, as they were set up. Returns the files that were changed and the problems.
///
/// # Errors
/// Another command is changing clients' files, or the manifest cannot be read.
pub fn repair(
    home: &Path,
    environment: &Environment,
    own_path: &Path,
) -> Result<(Vec<PathBuf>, Vec<Problem>), Problem> {
    let _lock = SetupLock::take(&environment.home)?;
    let mut manifest = Manifest::read(home)?;
    environment::check_text(own_path)?;
    let folders = unrecorded::folders(&manifest, environment, own_path);
    files::remove_leftovers(folders.iter().chain([&home.to_path_buf()]));
    let config =
        Paths::of_process().ok().and_then(|paths| files::read(&paths.config).ok().flatten());
    let switches = Switches::of(&config.unwrap_or_default());
    let (mut changed, mut problems) = (Vec::new(), Vec::new());
    for client in Client::value_variants() {
        let entries: Vec<WrittenEntry> = entries_of(&manifest, *client).cloned().collect();
        if entries.is_empty() {
            continue;
        }
        let written = entries.iter().find_map(|entry| server_command(&entry.target.value));
        let program = written.map(|(program, _)| PathBuf::from(program));
        let program = program.filter(|path| is_executable(path));
        let context = Context {
            environment,
            loci: program.as_deref().unwrap_or(own_path),
            scope: Scope::User,
            wishes: &Wishes { switches: switches.clone(), ..wishes_of(&entries) },
            vscode_has_hooks: plan::vscode_has_hooks(&[*client], true, environment, &manifest),
        };
        let plan = plan::set_up(&[*client], &context, &manifest);
        problems.extend(plan.problems.into_iter().map(|(_, problem)| problem));
        for change in plan.changes {
            match apply(&change, &mut manifest, home) {
                Ok(()) => changed.push(change.path),
                Err(problem) => problems.push(problem),
            }
        }
    }
    Ok((changed, problems))
}

fn entries_of(manifest: &Manifest, client: Client) -> impl Iterator<Item = &WrittenEntry> {
    let files = manifest.files.iter();
    let files = files.filter(move |file| file.client == client && file.scope == Scope::User);
    files.flat_map(|file| &file.entries)
}

/// Returns the wishes by which entries were written.
fn wishes_of(entries: &[WrittenEntry]) -> Wishes {
    let has = |part: Part| entries.iter().any(|entry| entry.part == part);
    let in_server = |key: &str| entries.iter().any(|entry| entry.target.value.get(key).is_some());
    let is_written = |event: &Event| {
        let command = format!(" {}\"", event.name());
        let values = entries.iter().filter(|entry| entry.part == Part::Hook);
        values.map(|entry| entry.target.value.to_string()).any(|text| text.contains(&command))
    };
    Wishes {
        no_hooks: !has(Part::Hook),
        no_permission: !has(Part::Permission)
            && !in_server("trust")
            && !in_server("default_tools_approval_mode"),
        with: Event::value_variants().iter().copied().filter(is_written).collect(),
        ..Wishes::default()
    }
}
