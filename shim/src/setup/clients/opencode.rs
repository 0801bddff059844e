//! `OpenCode`: the server in `opencode.json`, and a plugin in place of hooks. Versions 1 and 2 load different plugins, so the version is
//! asked.

use crate::setup::client::{Content, Context, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{self, Entry, Format, Value};
use crate::setup::environment::Environment;
use crate::setup::event::Event;
use crate::setup::program;
use std::path::{Path, PathBuf};

const PLUGIN_1: &str = include_str!("../../../../plugin/opencode/loci-v1.js");
const PLUGIN_2: &str = include_str!("../../../../plugin/opencode/loci-v2.js");
/// What stands for the path of the program in a plugin, with its quotation marks.
const PLACEHOLDER: &str = "\"@LOCI@\"";

fn folder(environment: &Environment) -> PathBuf {
    let default = || environment.xdg_config().join("opencode");
    environment.variables.get("OPENCODE_CONFIG_DIR").cloned().unwrap_or_else(default)
}

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    environment.program("opencode").is_some() || folder(environment).is_dir()
}

/// What it wants.
#[must_use]
pub fn wanted(context: &Context<'_>) -> Wanted {
    let server = Value::table([
        ("type", "local".into()),
        ("command", Value::List(vec![Value::Text(context.program()), "mcp".into()])),
        ("enabled", true.into()),
    ]);
    let mut entries = vec![WantedEntry::server(Entry::key(&["mcp", "loci"], server))];
    let environment = context.environment;
    let user = folder(environment);
    let moved = environment.variables.get("OPENCODE_CONFIG").cloned();
    let path = context.choose(moved.unwrap_or_else(|| config_file(&user)), "opencode.json");
    let mut notes = Vec::new();
    if !context.wishes.no_permission && has_permissions(&path) {
        let entry = Entry::key(&["permission", "loci_*"], "allow".into());
        entries.push(WantedEntry::permission(entry));
    }
    let mut files = vec![WantedFile::entries(path.clone(), Format::Jsonc, entries)];
    let plugin = context.choose(user, ".opencode").join("plugins/loci.js");
    let program = Value::Text(context.program()).to_line(false);
    let text = |source: &str| source.replace(PLACEHOLDER, &program);
    let written = if context.wants(Event::SessionStart) {
        let version = major_version(environment, &path, &mut notes);
        Content::Whole(text(if version == 1 { PLUGIN_1 } else { PLUGIN_2 }))
    } else {
        Content::Nothing(vec![text(PLUGIN_1), text(PLUGIN_2)])
    };
    files.push(WantedFile { path: plugin, content: written });
    Wanted { files, notes }
}

/// Returns the configuration file that exists, else the one to create.
fn config_file(folder: &Path) -> PathBuf {
    let names = ["opencode.jsonc", "opencode.json"].map(|name| folder.join(name));
    let [jsonc, json] = names;
    if jsonc.is_file() { jsonc } else { json }
}

fn document(path: &Path) -> Option<serde_json::Value> {
    edit::parse(&std::fs::read_to_string(path).ok()?, Format::Jsonc).ok()
}

/// Without rules of the user's own, `OpenCode` runs every tool of a server without asking.
fn has_permissions(path: &Path) -> bool {
    document(path).is_some_and(|document| document["permission"].is_object())
}

/// Returns 1 or 2: what the program says, else what the configuration looks like.
fn major_version(environment: &Environment, config: &Path, notes: &mut Vec<String>) -> u32 {
    let programs = ["opencode", "opencode2"];
    let found = programs.iter().find_map(|name| environment.program(name));
    let answer = found.and_then(|path| program::first_line(&path, &["--version"]));
    let digits = answer.as_deref().and_then(|text| text.trim_start_matches('v').split('.').next());
    if let Some(version) = digits.and_then(|digits| digits.parse().ok()) {
        return version;
    }
    let version = if document(config).is_some_and(|d| d.get("plugins").is_some()) { 2 } else { 1 };
    notes.push(format!(
        "opencode --version gave no answer: the plugin for OpenCode {version} is written; run loci setup opencode again after an update"
    ));
    version
}
