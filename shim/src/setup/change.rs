//! One change of one file, as it is shown before it is made.

use super::client::{Client, Scope};
use super::edit::{EditError, Format};
use super::manifest::WrittenFile;
use crate::output::Problem;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// A change of a file.
#[derive(Debug, Clone)]
pub struct Change {
    /// The client that reads the file.
    pub client: Client,
    /// Whose file it is.
    pub scope: Scope,
    /// The file.
    pub path: PathBuf,
    /// The text; `None` if the file does not exist.
    pub before: Option<String>,
    /// The new text; `None` deletes the file.
    pub after: Option<String>,
    /// What changes, one sentence each.
    pub words: Vec<String>,
    /// The record of the file after the change; without entries it is forgotten.
    pub record: WrittenFile,
}

/// Whose file is drafted.
#[derive(Debug, Clone, Copy)]
pub struct Owner {
    /// The client.
    pub client: Client,
    /// Whose configuration it is.
    pub scope: Scope,
    /// Overwrite entries that somebody has changed.
    pub force: bool,
    /// Whether another file of the client had entries of loci without a record: then a permission is theirs too.
    pub is_adopting: bool,
}

/// What a file needs.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The change, if there is one.
    pub change: Option<Change>,
    /// What was left as it is, and why.
    pub notes: Vec<String>,
    /// Whether the file had entries of loci without a record.
    pub is_adopting: bool,
}

impl Change {
    /// Returns `create`, `change`, `delete` or `record`; the last one writes only the manifest.
    #[must_use]
    pub fn action(&self) -> &'static str {
        match (&self.before, &self.after) {
            (None, Some(_)) => "create",
            (Some(_), None) => "delete",
            (before, after) if before == after => "record",
            _ => "change",
        }
    }
}

/// Returns the error of a file that cannot be edited.
#[must_use]
pub fn refuse(path: &Path, format: Format, error: &EditError) -> Problem {
    let kind = if format == Format::Toml { "TOML" } else { "JSON" };
    let (message, hint) = match error {
        EditError::Syntax { .. } => (
            format!("{} is not valid {kind}", path.display()),
            "Nothing was written to it. Correct that place, then run the command again",
        ),
        EditError::Shape { .. } | EditError::Unsafe { .. } => (
            format!("{} has no place for an entry of loci", path.display()),
            "Nothing was written to it. loci setup --print shows what to add by hand",
        ),
    };
    Problem::new(message).because(error).hint(hint)
}

/// Returns whether a text has no content: blanks, or an empty object.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    let text: String = text.trim_start_matches('\u{feff}').split_whitespace().collect();
    text.is_empty() || text == "{}"
}

/// Returns whether a server's entry starts `loci mcp`, from any folder.
#[must_use]
pub fn starts_loci(entry: &Json) -> bool {
    server_command(entry).is_some_and(|(program, arguments)| {
        let name = Path::new(&program).file_stem().map(|name| name.to_string_lossy().into_owned());
        let is_relay = arguments.first().is_some_and(|first| first == "mcp" || first == "serve");
        name.as_deref() == Some("loci") && is_relay
    })
}

/// Returns the program and the arguments of a server's entry, in the forms that clients have.
#[must_use]
pub fn server_command(entry: &Json) -> Option<(String, Vec<String>)> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let texts = |value: &Json| value.as_array().map(|v| v.iter().filter_map(text).collect());
    match &entry["command"] {
        Json::String(program) => Some((program.clone(), texts(&entry["args"]).unwrap_or_default())),
        command @ Json::Array(_) => {
            let words: Vec<String> = texts(command)?;
            let (program, arguments) = words.split_first()?;
            Some((program.clone(), arguments.to_vec()))
        }
        _ => None,
    }
}

/// Returns the command lines of `loci hook` within a value.
#[must_use]
pub fn hook_commands(value: &Json) -> Vec<String> {
    match value {
        Json::String(text) if text.contains("loci") && text.contains(" hook ") => {
            vec![text.clone()]
        }
        Json::Array(items) => items.iter().flat_map(hook_commands).collect(),
        Json::Object(members) => members.values().flat_map(hook_commands).collect(),
        _ => Vec::new(),
    }
}

/// Returns whether the command line of a hook is one that setup could have written: a program, `hook`, a client and an event.
#[must_use]
pub fn is_plain_hook(command: &str) -> bool {
    let Some((program, event)) = command.split_once(" hook ") else { return false };
    let is_one_word = match program.chars().next() {
        Some(quote @ ('\'' | '"')) => program.len() > 1 && program.ends_with(quote),
        _ => !program.contains([' ', '=']),
    };
    is_one_word && event.split_whitespace().count() == 2
}

/// Returns the program that the command line of a hook starts, and the client with the event.
#[must_use]
pub fn hook_parts(command: &str) -> Option<(String, String)> {
    let (program, event) = command.split_once(" hook ")?;
    let program = match program.chars().next()? {
        '\'' => program.trim_matches('\'').replace(r"'\''", "'"),
        '"' => program.trim_matches('"').to_owned(),
        _ => program.rsplit(' ').next()?.to_owned(),
    };
    let event: Vec<&str> = event.split_whitespace().take(2).collect();
    Some((program, event.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_server_of_loci_is_recognised_in_every_form() {
        for entry in [
            json!({"command": "loci", "args": ["mcp"]}),
            json!({"type": "stdio", "command": "/opt/bin/loci", "args": ["mcp"], "env": {}}),
            json!({"type": "local", "command": ["C:/x/loci.exe", "serve"]}),
        ] {
            assert!(starts_loci(&entry), "{entry}");
        }
        for entry in [
            json!({"command": "npx", "args": ["loci", "mcp"]}),
            json!({"command": "loci", "args": ["search"]}),
            json!({"url": "x"}),
        ] {
            assert!(!starts_loci(&entry), "{entry}");
        }
    }

    #[test]
    fn a_hook_with_variables_or_more_arguments_is_not_one_of_setup() {
        for command in ["/opt/loci hook claude prompt", r"'/my apps/l'\''oci' hook claude prompt"] {
            assert!(is_plain_hook(command), "{command}");
        }
        for command in [
            "LOCI_HOME=/data/w /opt/loci hook claude prompt",
            "/opt/loci hook claude prompt --verbose",
            "env A=1 /opt/loci hook claude prompt",
        ] {
            assert!(!is_plain_hook(command), "{command}");
        }
        let parts = hook_parts("LOCI_HOME=/data/w /opt/loci hook claude prompt | tee x");
        assert_eq!(parts, Some(("/opt/loci".to_owned(), "claude prompt".to_owned())));
        let parts = hook_parts(r"'/my apps/l'\''oci' hook claude prompt");
        assert_eq!(parts.map(|(program, _)| program).as_deref(), Some("/my apps/l'oci"));
    }

    #[test]
    fn an_empty_object_is_blank_and_a_comment_is_not() {
        assert!(is_blank("\u{feff}{\n}\n") && is_blank(""));
        assert!(!is_blank("{ // mine\n}"));
    }
}
