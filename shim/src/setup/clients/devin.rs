//! Devin Desktop and the Devin CLI: server, permission and hooks in one `config.json`.

use crate::setup::client::{Client, Context, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::{Environment, System};
use crate::setup::event::Event;
use crate::setup::hooks::{self, Hook, HookFormat};
use std::path::PathBuf;

const HOOKS: [Hook; 5] = [
    Hook { name: "SessionStart", event: Event::SessionStart },
    Hook { name: "UserPromptSubmit", event: Event::Prompt },
    Hook { name: "PreToolUse", event: Event::PreTool },
    Hook { name: "Stop", event: Event::Stop },
    Hook { name: "SessionEnd", event: Event::SessionEnd },
];

/// On macOS it follows XDG too.
fn folder(environment: &Environment) -> PathBuf {
    let parent = match environment.system {
        System::Windows => environment.application_data(),
        _ => environment.xdg_config(),
    };
    parent.join("devin")
}

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    environment.program("devin").is_some() || folder(environment).is_dir()
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let server = Value::table([
        ("command", Value::Text(context.program())),
        ("args", Value::texts(&["mcp"])),
    ]);
    let mut entries = vec![WantedEntry::server(Entry::key(&["mcpServers", "loci"], server))];
    if !context.wishes.no_permission {
        let entry = Entry::element(&["permissions", "allow"], "mcp__loci__*".into());
        entries.push(WantedEntry::permission(entry));
    }
    let format = HookFormat::Groups { tools: "edit|exec" };
    entries.extend(hooks::entries(context, Client::Devin, format, &HOOKS));
    let path = context.choose(folder(context.environment), ".devin");
    // In a project, hooks are in a file of their own: the events are its top level.
    let file = WantedFile::entries(path.join("config.json"), Format::Jsonc, entries);
    Wanted { files: vec![file], notes: Vec::new() }
}
