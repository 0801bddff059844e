//! One change of one file, as it is shown before it is made.

use super::client::{Client, Scope};
use super::edit::{EditError, Format};
use super::manifest::WrittenFile;
use crate::output::Problem;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// A change of a file.
#[derive(Debug)]
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

/// What a file needs.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The change, if there is one.
    pub change: Option<Change>,
    /// What was left as it is, and why.
    pub notes: Vec<String>,
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
        EditError::Shape { .. } => (
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
    fn an_empty_object_is_blank_and_a_comment_is_not() {
        assert!(is_blank("\u{feff}{\n}\n") && is_blank(""));
        assert!(!is_blank("{ // mine\n}"));
    }
}
