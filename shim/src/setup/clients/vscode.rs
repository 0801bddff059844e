//! VS Code: the server in the user's `mcp.json`. VS Code also runs the hooks of Claude Code and Copilot CLI, so it gets hooks of its
//! own only if neither has any.

use crate::setup::client::{Client, Context, Scope, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::Environment;
use crate::setup::event::Event;
use crate::setup::hooks::{self, Hook, HookFormat};
use std::path::PathBuf;

// Its prompt hook cannot add a text to the conversation.
const HOOKS: [Hook; 4] = [
    Hook { name: "SessionStart", event: Event::SessionStart },
    Hook { name: "SubagentStart", event: Event::SubagentStart },
    Hook { name: "PreToolUse", event: Event::PreTool },
    Hook { name: "Stop", event: Event::Stop },
];

fn folder(environment: &Environment) -> PathBuf {
    environment.application_data().join("Code/User")
}

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    environment.program("code").is_some() || folder(environment).is_dir()
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let server = Value::table([
        ("type", "stdio".into()),
        ("command", Value::Text(context.program())),
        ("args", Value::texts(&["mcp"])),
    ]);
    let server = WantedEntry::server(Entry::key(&["servers", "loci"], server));
    let environment = context.environment;
    let servers = context.choose(folder(environment).join("mcp.json"), ".vscode/mcp.json");
    let mut files = vec![WantedFile::entries(servers, Format::Jsonc, vec![server])];
    let mut notes =
        vec!["VS Code asks before a tool of loci runs; choose Always Allow there".to_owned()];
    if context.vscode_has_hooks {
        notes.push(
            "VS Code runs the hooks of Claude Code or Copilot CLI, so it gets none of its own"
                .to_owned(),
        );
    }
    let hooks = if context.vscode_has_hooks {
        Vec::new()
    } else {
        hooks::entries(context, Client::Vscode, HookFormat::TypedCommands, &HOOKS)
    };
    let user = environment.folder("COPILOT_HOME", ".copilot").join("hooks/loci-vscode.json");
    let path = match context.scope {
        Scope::User => user,
        Scope::Project => environment.project.join(".github/hooks/loci-vscode.json"),
    };
    files.push(WantedFile::entries(path, Format::Json, hooks));
    Wanted { files, notes }
}
