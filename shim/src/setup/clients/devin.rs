//! Devin Desktop and the Devin CLI: server, permission and hooks of the user in one `config.json`; hooks of a project in a file of their
//! own, whose top level has the events.

use crate::setup::client::{Client, Context, Scope, Wanted, WantedEntry, WantedFile};
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
    let mut hooks = hooks::entries(context, Client::Devin, format, &HOOKS);
    let path = context.choose(folder(context.environment), ".devin");
    let config = path.join("config.json");
    let files = match context.scope {
        Scope::User => {
            entries.extend(hooks);
            vec![WantedFile::entries(config, Format::Jsonc, entries)]
        }
        Scope::Project => {
            for hook in &mut hooks {
                hook.entry.path.remove(0);
            }
            vec![
                WantedFile::entries(config, Format::Jsonc, entries),
                WantedFile::entries(path.join("hooks.v1.json"), Format::Jsonc, hooks),
            ]
        }
    };
    Wanted { files, notes: Vec::new() }
}
