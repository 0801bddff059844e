//! How a plan looks: sentences, a unified diff, or JSON. Not here: what is planned.

use super::change::Change;
use super::client::{Client, Content, Context};
use super::edit::{self, Entry, Format, Ledger, Value};
use super::plan::Plan;
use super::{clients, files};
use crate::output::{Problem, Style, escape_line};
use serde_json::{Value as Json, json};
use similar::TextDiff;
use std::fmt::Write as _;
use std::path::Path;

/// Returns the plan in sentences.
#[must_use]
pub fn text(plan: &Plan, home: &Path, style: Style) -> String {
    let mut text = String::new();
    let mut clients: Vec<Client> = plan.clients.clone();
    clients.extend(plan.changes.iter().map(|change| change.client));
    clients.sort_unstable();
    clients.dedup();
    for client in clients {
        let _ = writeln!(text, "{} ({client})", style.bold(client.product()));
        let changes = plan.changes.iter().filter(|change| change.client == client);
        let mut is_changed = false;
        for change in changes.filter(|change| change.action() != "record") {
            is_changed = true;
            let path = shown(&change.path, home);
            let target = files::leads_to(&change.path, home).map(|path| shown(&path, home));
            let target = target.map(|path| format!(" -> {path}")).unwrap_or_default();
            let place = escape_line(&format!("{path}{target}"));
            let _ = writeln!(text, "  {} {place}", change.action());
            for words in &change.words {
                let _ = writeln!(text, "    {}", escape_line(words));
            }
        }
        let problems: Vec<_> = plan.problems.iter().filter(|(of, _)| *of == client).collect();
        for (_, problem) in &problems {
            let _ =
                writeln!(text, "  {} {}", style.bold("Error:"), escape_line(&problem.message()));
            if let Some(hint) = problem.next_step() {
                let _ = writeln!(text, "  {} {}", style.bold("Hint:"), escape_line(hint));
            }
        }
        if !is_changed && problems.is_empty() {
            let _ = writeln!(text, "  nothing to change");
        }
        for (_, note) in plan.notes.iter().filter(|(of, _)| *of == client) {
            let _ = writeln!(text, "  {} {}", style.bold("Note:"), escape_line(&short(note, home)));
        }
    }
    text
}

/// Returns a unified diff of all changes.
#[must_use]
pub fn diff(plan: &Plan) -> String {
    let mut text = String::new();
    for change in plan.changes.iter().filter(|change| change.action() != "record") {
        let (before, after) = (change.before.as_deref(), change.after.as_deref());
        let path = change.path.to_string_lossy();
        let name = |side: Option<&str>| if side.is_some() { path.as_ref() } else { "/dev/null" };
        let lines = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
        text.push_str(&lines.unified_diff().header(name(before), name(after)).to_string());
    }
    text
}

/// Returns the plan as JSON. `home` is the user's home folder; `written` tells whether the changes were made.
#[must_use]
pub fn json(plan: &Plan, home: &Path, written: bool) -> Json {
    let change = |change: &Change| {
        json!({
            "client": change.client,
            "scope": change.scope,
            "path": change.path,
            "target": files::leads_to(&change.path, home),
            "action": change.action(),
            "what": change.words,
        })
    };
    let note = |(client, note): &(Client, String)| json!({"client": client, "note": note});
    let problem = |(client, problem): &(Client, Problem)| json!({"client": client, "message": problem.message(), "hint": problem.next_step()});
    json!({
        "clients": plan.clients,
        "changes": plan.changes.iter().map(change).collect::<Vec<_>>(),
        "notes": plan.notes.iter().map(note).collect::<Vec<_>>(),
        "problems": plan.problems.iter().map(problem).collect::<Vec<_>>(),
        "written": written,
    })
}

/// Returns what would be put into the configuration of a client, each file below its path.
///
/// # Errors
/// The client has no configuration of the scope.
pub fn configuration(client: Client, context: &Context<'_>) -> Result<String, Problem> {
    let mut text = String::new();
    for file in clients::wanted(client, context)?.files {
        let written = match file.content {
            Content::Whole(whole) => whole,
            Content::Nothing(_) => continue,
            Content::Entries(format, entries) => {
                let mut ledger = Ledger::default();
                let inserted = entries.iter().try_fold(String::new(), |text, wanted| {
                    edit::insert(&text, format, &wanted.entry, &mut ledger)
                });
                inserted.map_err(|error| Problem::new(error.to_string()))?
            }
        };
        if !written.is_empty() {
            let _ = write!(text, "{}\n{written}\n", file.path.display());
        }
    }
    Ok(text)
}

/// Returns the server in the form that most clients read.
#[must_use]
pub fn generic(loci: &Path) -> String {
    let server = Value::table([
        ("command", Value::Text(loci.to_string_lossy().into_owned())),
        ("args", Value::texts(&["mcp"])),
    ]);
    let entry = Entry::key(&["mcpServers", "loci"], server);
    edit::insert("", Format::Json, &entry, &mut Ledger::default()).unwrap_or_default()
}

/// Returns a path with `~` for the home folder.
fn shown(path: &Path, home: &Path) -> String {
    match path.strip_prefix(home) {
        Ok(rest) => format!("~/{}", rest.display()),
        Err(_) => path.display().to_string(),
    }
}

fn short(text: &str, home: &Path) -> String {
    text.replace(&format!("{}/", home.display()), "~/")
}
