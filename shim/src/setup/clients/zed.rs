//! Zed: the server below `context_servers` of `settings.json`, and the permission of each tool. Zed has no hooks.

use crate::setup::client::{Context, Scope, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::{Environment, System};
use loci_proto::mcp::tools;
use std::path::PathBuf;

/// On macOS it follows XDG too.
fn folder(environment: &Environment) -> PathBuf {
    match environment.system {
        System::Windows => environment.application_data().join("Zed"),
        _ => environment.xdg_config().join("zed"),
    }
}

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    let programs = ["zed", "zeditor"];
    programs.iter().any(|name| environment.program(name).is_some()) || folder(environment).is_dir()
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let server = Value::table([
        ("command", Value::Text(context.program())),
        ("args", Value::texts(&["mcp"])),
        ("env", Value::table([])),
    ]);
    let mut entries = vec![WantedEntry::server(Entry::key(&["context_servers", "loci"], server))];
    // Zed ignores permissions of a project.
    if !context.wishes.no_permission && context.scope == Scope::User {
        entries.extend(tools::all().iter().map(|tool| {
            let name = format!("mcp:loci:{}", tool.name);
            let path = ["agent", "tool_permissions", "tools", name.as_str()];
            let allow = Value::table([("default", "allow".into())]);
            let words = format!("run {} without asking", tool.name);
            WantedEntry { words, ..WantedEntry::permission(Entry::key(&path, allow)) }
        }));
    }
    let path = context.choose(folder(context.environment), ".zed").join("settings.json");
    let notes = vec!["Zed has no hooks: it recalls when the model calls a tool of loci".to_owned()];
    Wanted { files: vec![WantedFile::entries(path, Format::Jsonc, entries)], notes }
}
