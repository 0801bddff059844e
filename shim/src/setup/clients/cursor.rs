//! Cursor: the server in `mcp.json`, hooks in `hooks.json`. A permission is written only where a list of permissions exists already:
//! a new list would replace the one in Cursor's settings.

use crate::setup::client::{Client, Context, Scope, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::Environment;
use crate::setup::event::Event;
use crate::setup::hooks::{self, Hook, HookFormat};
use std::path::Path;

const HOOKS: [Hook; 5] = [
    Hook { name: "sessionStart", event: Event::SessionStart },
    Hook { name: "beforeSubmitPrompt", event: Event::Prompt },
    Hook { name: "preToolUse", event: Event::PreTool },
    Hook { name: "stop", event: Event::Stop },
    Hook { name: "sessionEnd", event: Event::SessionEnd },
];

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    let programs = ["cursor", "cursor-agent"];
    programs.iter().any(|name| environment.program(name).is_some())
        || environment.home.join(".cursor").is_dir()
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let server = Value::table([
        ("command", Value::Text(context.program())),
        ("args", Value::texts(&["mcp"])),
    ]);
    let server = WantedEntry::server(Entry::key(&["mcpServers", "loci"], server));
    let mut hooks = hooks::entries(context, Client::Cursor, HookFormat::Commands, &HOOKS);
    let folder = context.choose(context.environment.home.join(".cursor"), ".cursor");
    let mut files = vec![WantedFile::entries(folder.join("mcp.json"), Format::Jsonc, vec![server])];
    let mut notes = Vec::new();
    if !context.wishes.no_permission && context.scope == Scope::User {
        files.extend(permission(&folder, "permissions.json", &["mcpAllowlist"], "loci:*"));
        let list = ["permissions", "allow"];
        files.extend(permission(&folder, "cli-config.json", &list, "Mcp(loci:*)"));
        if files.len() == 1 {
            notes.push(
                "Cursor asks before a tool of loci runs: allow it there, or add loci:* to its list of MCP tools".to_owned(),
            );
        }
    }
    if !hooks.is_empty() {
        let version = Entry::key(&["version"], Value::Number(1));
        let words = "name the version of the format".to_owned();
        let part = crate::setup::client::Part::Hook;
        hooks.insert(0, WantedEntry { part, entry: version, words });
    }
    files.push(WantedFile::entries(folder.join("hooks.json"), Format::Jsonc, hooks));
    Wanted { files, notes }
}

/// Returns the permission for a file that has the list.
fn permission(folder: &Path, name: &str, list: &[&str], rule: &str) -> Option<WantedFile> {
    let path = folder.join(name);
    let text = std::fs::read_to_string(&path).ok()?;
    let document = crate::setup::edit::parse(&text, Format::Jsonc).ok()?;
    list.iter().try_fold(&document, |value, name| value.get(name))?.as_array()?;
    let entry = WantedEntry::permission(Entry::element(list, rule.into()));
    Some(WantedFile::entries(path, Format::Jsonc, vec![entry]))
}
