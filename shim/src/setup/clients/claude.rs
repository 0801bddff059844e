//! Claude Code: the server in `.claude.json`, permission and hooks in `settings.json`. The server is what `claude mcp add` writes.
//!
//! Hooks are written as command lines, not as `command` with `args`: VS Code reads the same file and knows only command lines.

use crate::setup::client::{Client, Context, Scope, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::Environment;
use crate::setup::event::Event;
use crate::setup::hooks::{self, Hook, HookFormat};
use crate::setup::plugin;
use std::path::PathBuf;

/// The permission for every tool of the server `loci`.
pub const PERMISSION: &str = "mcp__loci";
const HOOKS: [Hook; 7] = [
    Hook { name: "SessionStart", event: Event::SessionStart },
    Hook { name: "UserPromptSubmit", event: Event::Prompt },
    Hook { name: "SubagentStart", event: Event::SubagentStart },
    Hook { name: "PreToolUse", event: Event::PreTool },
    Hook { name: "PostCompact", event: Event::PostCompact },
    Hook { name: "Stop", event: Event::Stop },
    Hook { name: "SessionEnd", event: Event::SessionEnd },
];

/// Returns the folder of the settings.
#[must_use]
pub fn folder(environment: &Environment) -> PathBuf {
    environment.folder("CLAUDE_CONFIG_DIR", ".claude")
}

/// Returns the file of the user's servers.
#[must_use]
pub fn servers(environment: &Environment) -> PathBuf {
    let folder = environment.variables.get("CLAUDE_CONFIG_DIR").unwrap_or(&environment.home);
    folder.join(".claude.json")
}

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    environment.program("claude").is_some()
        || folder(environment).is_dir()
        || servers(environment).is_file()
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let server = Value::table([
        ("type", "stdio".into()),
        ("command", Value::Text(context.program())),
        ("args", Value::texts(&["mcp"])),
        ("env", Value::table([])),
    ]);
    let server = WantedEntry::server(Entry::key(&["mcpServers", "loci"], server));
    let mut settings = Vec::new();
    if !context.wishes.no_permission {
        let entry = Entry::element(&["permissions", "allow"], PERMISSION.into());
        settings.push(WantedEntry::permission(entry));
    }
    let environment = context.environment;
    let mut notes = Vec::new();
    if plugin::is_on(Client::Claude, &folder(environment)) {
        notes.push(plugin::NO_HOOKS.to_owned());
    } else {
        let format = HookFormat::Groups { tools: "Edit|MultiEdit|Write|NotebookEdit|Bash" };
        settings.extend(hooks::entries(context, Client::Claude, format, &HOOKS));
    }
    let servers = context.choose(servers(environment), ".mcp.json");
    let file =
        context.choose(folder(environment).join("settings.json"), ".claude/settings.local.json");
    if context.scope == Scope::Project {
        notes.push("Claude Code asks once whether to trust .mcp.json of this project".to_owned());
    }
    let files = vec![
        WantedFile::entries(servers, Format::Json, vec![server]),
        WantedFile::entries(file, Format::Json, settings),
    ];
    Wanted { files, notes }
}
