//! The entries of hooks, in the formats that clients have.
//!
//! The command line contains no version: Codex trusts a hook by the hash of its command line.

use super::client::{Client, Context, Part, WantedEntry};
use super::edit::{Entry, Value};
use super::event::Event;
use std::path::Path;

/// A hook of a client.
#[derive(Debug, Clone, Copy)]
pub struct Hook {
    /// The client's name of the event.
    pub name: &'static str,
    /// The event.
    pub event: Event,
}

/// The format of a client's hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookFormat {
    /// Claude Code's: groups of hooks with an optional matcher, timeout in seconds.
    Groups {
        /// The tools before which `pre-tool` runs.
        tools: &'static str,
    },
    /// Gemini's: like Claude's, with a name, timeout in milliseconds.
    NamedGroups {
        /// The tools before which `pre-tool` runs.
        tools: &'static str,
    },
    /// Cursor's: commands alone.
    Commands,
    /// VS Code's: commands with a type and a timeout in seconds.
    TypedCommands,
    /// Copilot's: a command for each shell.
    Shells,
}

/// Returns the entries of the hooks that are wanted, below the key `hooks`.
#[must_use]
pub fn entries(
    context: &Context<'_>,
    client: Client,
    format: HookFormat,
    hooks: &[Hook],
) -> Vec<WantedEntry> {
    let wanted = hooks.iter().filter(|hook| context.wants(hook.event));
    let entry = |hook: &Hook| WantedEntry {
        part: Part::Hook,
        entry: Entry::element(&["hooks", hook.name], value(context, client, format, hook.event)),
        words: format!("{} ({})", hook.event.words(), hook.name),
    };
    wanted.map(entry).collect()
}

fn value(context: &Context<'_>, client: Client, format: HookFormat, event: Event) -> Value {
    let command = Value::Text(command_line(context.loci, client, event));
    let timeout = event.timeout_s();
    let group = |hook: Value, tools: &str| match event {
        Event::PreTool => {
            Value::table([("matcher", tools.into()), ("hooks", Value::List(vec![hook]))])
        }
        _ => Value::table([("hooks", Value::List(vec![hook]))]),
    };
    match format {
        HookFormat::Groups { tools } => {
            let timeout = ("timeout", timeout.into());
            group(Value::table([("type", "command".into()), ("command", command), timeout]), tools)
        }
        HookFormat::NamedGroups { tools } => {
            let (name, timeout) = (("name", "loci".into()), ("timeout", (timeout * 1000).into()));
            let hook = [name, ("type", "command".into()), ("command", command), timeout];
            group(Value::table(hook), tools)
        }
        HookFormat::Commands => Value::table([("command", command)]),
        HookFormat::TypedCommands => Value::table([
            ("type", "command".into()),
            ("command", command),
            ("timeout", timeout.into()),
        ]),
        HookFormat::Shells => Value::table([
            ("type", "command".into()),
            ("bash", command.clone()),
            ("powershell", command),
            ("timeoutSec", timeout.into()),
        ]),
    }
}

/// Returns the command line of a hook for a shell.
#[must_use]
pub fn command_line(loci: &Path, client: Client, event: Event) -> String {
    format!("{} hook {} {}", shell_word(&loci.to_string_lossy()), client.name(), event.name())
}

/// Quotes a word for a shell if it has to be.
fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:\\".contains(c);
    if word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_has_no_version_and_is_quoted_for_a_shell() {
        let line = |path: &str| command_line(Path::new(path), Client::Codex, Event::SessionStart);
        assert_eq!(line("/opt/loci"), "/opt/loci hook codex session-start");
        assert_eq!(line("/my apps/l'oci"), r"'/my apps/l'\''oci' hook codex session-start");
    }
}
