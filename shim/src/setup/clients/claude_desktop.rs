//! Claude Desktop and Cowork: the server in `claude_desktop_config.json`. There are no hooks and no permissions in files.

use crate::output::Problem;
use crate::setup::client::{Context, Scope, Wanted, WantedEntry, WantedFile};
use crate::setup::edit::{Entry, Format, Value};
use crate::setup::environment::Environment;
use std::path::PathBuf;

fn folder(environment: &Environment) -> PathBuf {
    environment.application_data().join("Claude")
}

/// Whether it is installed.
#[must_use]
pub fn is_installed(environment: &Environment) -> bool {
    folder(environment).is_dir()
}

/// What it wants.
///
/// # Errors
/// It has no configuration for a project.
pub fn wanted(context: &Context<'_>) -> Result<Wanted, Problem> {
    if context.scope == Scope::Project {
        let problem = Problem::usage("Claude Desktop has no configuration for a project");
        return Err(problem.hint("Run loci setup claude-desktop"));
    }
    let server = Value::table([
        ("command", Value::Text(context.program())),
        ("args", Value::texts(&["mcp"])),
    ]);
    let server = WantedEntry::server(Entry::key(&["mcpServers", "loci"], server));
    let path = folder(context.environment).join("claude_desktop_config.json");
    let notes = vec![
        "Quit Claude Desktop and start it again; it asks before a tool runs for the first time"
            .to_owned(),
    ];
    Ok(Wanted { files: vec![WantedFile::entries(path, Format::Json, vec![server])], notes })
}
