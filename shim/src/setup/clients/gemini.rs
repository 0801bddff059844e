//! Gemini CLI: server, permission (`trust`) and hooks in `settings.json`. The server is what `gemini mcp add` writes.

use crate::setup::client::{Client, Context, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::Environment;
use crate::setup::event::Event;
use crate::setup::hooks::{self, Hook, HookFormat};
use std::path::PathBuf;

const HOOKS: [Hook; 5] = [
    Hook { name: "SessionStart", event: Event::SessionStart },
    Hook { name: "BeforeAgent", event: Event::Prompt },
    Hook { name: "BeforeTool", event: Event::PreTool },
    Hook { name: "AfterAgent", event: Event::Stop },
    Hook { name: "SessionEnd", event: Event::SessionEnd },
];

fn folder(environment: &Environment) -> PathBuf {
    environment.variables.get("GEMINI_CLI_HOME").unwrap_or(&environment.home).join(".gemini")
}

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    environment.program("gemini").is_some() || folder(environment).is_dir()
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let mut server = vec![
        ("command".to_owned(), Value::Text(context.program())),
        ("args".to_owned(), Value::texts(&["mcp"])),
    ];
    let mut words = "start loci mcp as the server loci".to_owned();
    if !context.wishes.no_permission {
        server.push(("trust".to_owned(), true.into()));
        words.push_str(", and run its tools without asking");
    }
    let entry = Entry::key(&["mcpServers", "loci"], Value::Table(server));
    let mut entries = vec![WantedEntry { words, ..WantedEntry::server(entry) }];
    let format = HookFormat::NamedGroups { tools: "write_file|replace|run_shell_command" };
    entries.extend(hooks::entries(context, Client::Gemini, format, &HOOKS));
    let path = context.choose(folder(context.environment), ".gemini").join("settings.json");
    Wanted { files: vec![WantedFile::entries(path, Format::Jsonc, entries)], notes: Vec::new() }
}
