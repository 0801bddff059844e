//! Codex: the server in `config.toml` as `codex mcp add` writes it, with the approval of its tools; hooks in `hooks.json`. The user
//! approves each hook in Codex; setup never writes a hash that Codex trusts.

use crate::setup::client::{Client, Context, Scope, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::Environment;
use crate::setup::event::Event;
use crate::setup::hooks::{self, Hook, HookFormat};
use crate::setup::plugin;
use std::path::PathBuf;

const HOOKS: [Hook; 7] = [
    Hook { name: "SessionStart", event: Event::SessionStart },
    Hook { name: "UserPromptSubmit", event: Event::Prompt },
    Hook { name: "SubagentStart", event: Event::SubagentStart },
    Hook { name: "PreToolUse", event: Event::PreTool },
    Hook { name: "PostCompact", event: Event::PostCompact },
    Hook { name: "Stop", event: Event::Stop },
    Hook { name: "SessionEnd", event: Event::SessionEnd },
];

/// Returns the folder of the configuration.
#[must_use]
pub fn folder(environment: &Environment) -> PathBuf {
    environment.folder("CODEX_HOME", ".codex")
}

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    environment.program("codex").is_some() || folder(environment).is_dir()
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let mut server = vec![
        ("command".to_owned(), Value::Text(context.program())),
        ("args".to_owned(), Value::texts(&["mcp"])),
    ];
    // Codex gives a server few variables, but all to a hook: without this the two could use different databases.
    let variables = context.environment.own_variables();
    if !variables.is_empty() {
        server.push(("env_vars".to_owned(), Value::texts(&variables)));
    }
    let mut words = "start loci mcp as the server loci".to_owned();
    if !context.wishes.no_permission {
        server.push(("default_tools_approval_mode".to_owned(), "approve".into()));
        words.push_str(", and run its tools without asking");
    }
    let entry = Entry::key(&["mcp_servers", "loci"], Value::Table(server));
    let server = WantedEntry { words, ..WantedEntry::server(entry) };
    let format = HookFormat::Groups { tools: "apply_patch|Bash" };
    let mut notes = Vec::new();
    let own = folder(context.environment);
    let hooks = if plugin::is_on(Client::Codex, &own) {
        notes.push(plugin::NO_HOOKS.to_owned());
        Vec::new()
    } else {
        hooks::entries(context, Client::Codex, format, &HOOKS)
    };
    let folder = context.choose(own, ".codex");
    if !hooks.is_empty() {
        notes.push(
            "Codex runs a new or changed hook only after you approve it: type /hooks in Codex"
                .to_owned(),
        );
    }
    if context.scope == Scope::Project {
        notes.push("Codex reads the files of a project only if you trust the project".to_owned());
    }
    let files = vec![
        WantedFile::entries(folder.join("config.toml"), Format::Toml, vec![server]),
        WantedFile::entries(folder.join("hooks.json"), Format::Json, hooks),
    ];
    Wanted { files, notes }
}
