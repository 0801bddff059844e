//! What each client wants in its configuration: one file per client, whose functions are called by [`Client`].
//!
//! The formats and their sources are described in docs/clients.md. Not here: how a file is edited.

pub mod claude;
mod claude_desktop;
pub mod codex;
mod copilot;
mod cursor;
mod devin;
mod gemini;
mod opencode;
mod vscode;
mod zed;

use crate::output::Problem;
use crate::setup::client::{Client, Context, Scope, Wanted, WantedFile, Wishes};
use crate::setup::environment::Environment;
use std::path::Path;

/// Returns whether a client is installed.
#[must_use]
pub fn is_installed(client: Client, environment: &Environment) -> bool {
    match client {
        Client::Claude => claude::is_installed(environment),
        Client::Codex => codex::is_installed(environment),
        Client::Cursor => cursor::is_installed(environment),
        Client::Gemini => gemini::is_installed(environment),
        Client::Vscode => vscode::is_installed(environment),
        Client::Devin => devin::is_installed(environment),
        Client::Zed => zed::is_installed(environment),
        Client::Opencode => opencode::is_installed(environment),
        Client::ClaudeDesktop => claude_desktop::is_installed(environment),
        Client::Copilot => copilot::is_installed(environment),
    }
}

/// Returns what a client wants.
///
/// # Errors
/// The client has no configuration of the scope.
pub fn wanted(client: Client, context: &Context<'_>) -> Result<Wanted, Problem> {
    Ok(match client {
        Client::Claude => claude::wanted(context),
        Client::Codex => codex::wanted(context),
        Client::Cursor => cursor::wanted(context),
        Client::Gemini => gemini::wanted(context),
        Client::Vscode => vscode::wanted(context),
        Client::Devin => devin::wanted(context),
        Client::Zed => zed::wanted(context),
        Client::Opencode => opencode::wanted(context),
        Client::ClaudeDesktop => return claude_desktop::wanted(context),
        Client::Copilot => copilot::wanted(context),
    })
}

/// Returns the files that setup would write for a client; none if it has no configuration of the scope.
#[must_use]
pub fn wanted_files(
    environment: &Environment,
    loci: &Path,
    (client, scope): (Client, Scope),
    wishes: &Wishes,
) -> Vec<WantedFile> {
    let context = Context { environment, loci, scope, wishes, vscode_has_hooks: false };
    wanted(client, &context).map(|wanted| wanted.files).unwrap_or_default()
}
