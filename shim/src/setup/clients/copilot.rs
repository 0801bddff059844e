//! Copilot CLI: the server in `mcp-config.json` as `copilot mcp add` writes it, hooks in a file of their own. Only its hook at the start
//! of a session can add a text.

use crate::setup::client::{Client, Context, Part, Scope, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::Environment;
use crate::setup::event::Event;
use crate::setup::hooks::{self, Hook, HookFormat};
use std::path::PathBuf;

const HOOKS: [Hook; 1] = [Hook { name: "sessionStart", event: Event::SessionStart }];

fn folder(environment: &Environment) -> PathBuf {
    environment.folder("COPILOT_HOME", ".copilot")
}

/// Whether it is installed. The folder alone does not tell: VS Code keeps hooks in it.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    let files = ["config.json", "settings.json", "mcp-config.json"];
    environment.program("copilot").is_some()
        || files.iter().any(|name| folder(environment).join(name).is_file())
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let server = Value::table([
        ("tools", Value::texts(&["*"])),
        ("type", "local".into()),
        ("command", Value::Text(context.program())),
        ("args", Value::texts(&["mcp"])),
    ]);
    let server = WantedEntry::server(Entry::key(&["mcpServers", "loci"], server));
    let mut hooks = hooks::entries(context, Client::Copilot, HookFormat::Shells, &HOOKS);
    if !hooks.is_empty() {
        let entry = Entry::key(&["version"], Value::Number(1));
        let words = "name the version of the format".to_owned();
        hooks.insert(0, WantedEntry { part: Part::Hook, entry, words });
    }
    let folder = folder(context.environment);
    let servers = context.choose(folder.join("mcp-config.json"), ".github/mcp.json");
    let file = match context.scope {
        Scope::User => folder.join("hooks/loci.json"),
        Scope::Project => context.environment.project.join(".github/hooks/loci.json"),
    };
    let mut notes = Vec::new();
    if !context.wishes.no_permission {
        let note = "Copilot CLI asks before a tool of loci runs, unless it is started with --allow-tool loci";
        notes.push(note.to_owned());
    }
    let files = vec![
        WantedFile::entries(servers, Format::Json, vec![server]),
        WantedFile::entries(file, Format::Json, hooks),
    ];
    Wanted { files, notes }
}
