//! What setup is going to change: the changes of all files of the clients, shown before anything is written.
//!
//! Not here: how it looks (`report`).

use super::change::{Change, Owner, hook_commands};
use super::client::{Client, Context, Part, Scope};
use super::draft::draft;
use super::edit::{self, Format};
use super::environment::Environment;
use super::manifest::Manifest;
use super::unrecorded::{self, Search, Unrecorded};
use super::{clients, files, removal};
use crate::output::Problem;
use std::path::Path;

/// The changes of all clients.
#[derive(Debug, Default)]
pub struct Plan {
    /// The clients that it is about.
    pub clients: Vec<Client>,
    /// The changes.
    pub changes: Vec<Change>,
    /// What the user must know or do.
    pub notes: Vec<(Client, String)>,
    /// Clients of which nothing is changed, and why.
    pub problems: Vec<(Client, Problem)>,
}

/// Plans to set up clients.
#[must_use]
pub fn set_up(clients: &[Client], context: &Context<'_>, manifest: &Manifest) -> Plan {
    let mut plan = Plan { clients: clients.to_vec(), ..Plan::default() };
    for client in clients {
        let mut part = Plan::default();
        match add_client(&mut part, *client, context, manifest) {
            Ok(()) => {
                plan.changes.extend(part.changes);
                plan.notes.extend(part.notes);
            }
            Err(problem) => plan.problems.push((*client, problem)),
        }
    }
    // Hooks of VS Code's own were written before a client whose hooks it runs too.
    let reaches_vscode = plan.changes.iter().any(|change| {
        [Client::Claude, Client::Copilot].contains(&change.client)
            && change.scope == Scope::User
            && change.record.entries.iter().any(|entry| entry.part == Part::Hook)
    });
    if reaches_vscode && !clients.contains(&Client::Vscode) {
        remove_vscode_hooks(&mut plan, manifest);
    }
    plan
}

fn add_client(
    plan: &mut Plan,
    client: Client,
    context: &Context<'_>,
    manifest: &Manifest,
) -> Result<(), Problem> {
    let wanted = clients::wanted(client, context)?;
    let (scope, force) = (context.scope, context.wishes.force);
    let mut owner = Owner { client, scope, force, is_adopting: false };
    for file in &wanted.files {
        check_place(&file.path, context)?;
        let outcome = draft(manifest, owner, file)?;
        outcome.change.as_ref().map_or(Ok(()), check_change)?;
        owner.is_adopting |= outcome.is_adopting;
        plan.changes.extend(outcome.change);
        plan.notes.extend(outcome.notes.into_iter().map(|note| (client, note)));
    }
    plan.notes.extend(wanted.notes.into_iter().map(|note| (client, note)));
    Ok(())
}

/// Refuses a file of a project that is somewhere else: a link in a repository must not lead a change out of it.
fn check_place(path: &Path, context: &Context<'_>) -> Result<(), Problem> {
    let project = files::real(&context.environment.project);
    let real = files::real(path);
    if context.scope == Scope::User || real.starts_with(project) {
        return Ok(());
    }
    let reason = format!("it leads to {}", real.display());
    Err(Problem::new(format!("{} leads out of the project", path.display())).because(&reason).hint(
        "Nothing was written to it. Replace the link by a file, or leave out --scope project",
    ))
}

/// Refuses a change that could not be made.
fn check_change(change: &Change) -> Result<(), Problem> {
    if change.action() == "record" { Ok(()) } else { files::check_writable(&change.path) }
}

fn remove_vscode_hooks(plan: &mut Plan, manifest: &Manifest) {
    let is_hooks = |file: &&super::manifest::WrittenFile| {
        file.client == Client::Vscode
            && file.scope == Scope::User
            && file.entries.iter().all(|entry| entry.part == Part::Hook)
    };
    for file in manifest.files.iter().filter(is_hooks) {
        match removal::remove(file, false) {
            Ok(outcome) => {
                plan.changes.extend(outcome.change);
                let notes = outcome.notes.into_iter().map(|note| (Client::Vscode, note));
                plan.notes.extend(notes);
                let note = "VS Code runs the hooks of Claude Code or Copilot CLI, so its own go";
                plan.notes.push((Client::Vscode, note.to_owned()));
            }
            Err(problem) => plan.problems.push((Client::Vscode, problem)),
        }
    }
}

/// Plans to remove what the manifest has of a client, or of all clients, and what starts this program without being in the manifest.
#[must_use]
pub fn take_down(manifest: &Manifest, search: &Search<'_>) -> Plan {
    let Unrecorded { manifest, notes, .. } = unrecorded::find(manifest, search);
    let mut plan = Plan { notes, ..Plan::default() };
    plan.clients.extend(plan.notes.iter().map(|(client, _)| *client));
    plan.clients.dedup();
    let is_chosen = |file: &&super::manifest::WrittenFile| {
        search.client.is_none_or(|client| file.client == client)
            && search.scope.is_none_or(|scope| file.scope == scope)
    };
    for file in manifest.files.iter().filter(is_chosen).rev() {
        if !plan.clients.contains(&file.client) {
            plan.clients.push(file.client);
        }
        let outcome = removal::remove(file, search.force).and_then(|outcome| {
            outcome.change.as_ref().map_or(Ok(()), check_change)?;
            Ok(outcome)
        });
        match outcome {
            Ok(mut outcome) => {
                let is_hooks = file.entries.iter().any(|entry| entry.part == Part::Hook);
                if file.client == Client::Codex && is_hooks {
                    let words = "Codex keeps your approvals of the hooks in config.toml";
                    outcome
                        .change
                        .iter_mut()
                        .for_each(|change| change.words.push(words.to_owned()));
                }
                plan.changes.extend(outcome.change);
                let notes = outcome.notes.into_iter().map(|note| (file.client, note));
                plan.notes.extend(notes);
            }
            Err(problem) => plan.problems.push((file.client, problem)),
        }
    }
    plan.clients.sort_unstable();
    plan
}

/// Returns the clients that are installed.
#[must_use]
pub fn installed(environment: &Environment) -> Vec<Client> {
    let all = <Client as clap::ValueEnum>::value_variants();
    all.iter().copied().filter(|client| clients::is_installed(*client, environment)).collect()
}

/// Returns whether hooks of loci that other clients have reach VS Code, now or after setting up `clients`.
#[must_use]
pub fn vscode_has_hooks(
    clients: &[Client],
    no_hooks: bool,
    environment: &Environment,
    manifest: &Manifest,
) -> bool {
    let reaching = [Client::Claude, Client::Copilot];
    let is_planned = !no_hooks && clients.iter().any(|client| reaching.contains(client));
    let is_written = manifest.files.iter().any(|file| {
        reaching.contains(&file.client)
            && !clients.contains(&file.client)
            && file.scope == Scope::User
            && file.entries.iter().any(|entry| entry.part == Part::Hook)
    });
    let settings = clients::claude::folder(environment).join("settings.json");
    let is_by_hand = !clients.contains(&Client::Claude) && has_hooks(&settings);
    is_planned || is_written || is_by_hand
}

fn has_hooks(settings: &Path) -> bool {
    let text = std::fs::read_to_string(settings).unwrap_or_default();
    let document = edit::parse(&text, Format::Jsonc).unwrap_or_default();
    !hook_commands(&document["hooks"]).is_empty()
}
