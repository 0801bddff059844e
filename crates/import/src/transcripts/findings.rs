//! What a session teaches: a finding, its text, its metadata and where it stands.

use crate::transcripts::command_line::CommandLine;
use loci_proto::error_text;
use loci_proto::group::{Group, GroupHint};
use serde_json::{Map, Value, json};

/// Where a finding comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer {
    /// The client that wrote the transcript.
    pub client: &'static str,
    /// The transcript.
    pub file: String,
    /// Its line, or the number of the message.
    pub line: usize,
    /// The client's id of the message.
    pub message: Option<String>,
    /// The client's id of the session.
    pub session: String,
    /// Milliseconds since 1970.
    pub at: i64,
}

/// An error and what mended it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedError {
    /// The command that failed.
    pub command: CommandLine,
    /// Its line of the output that states the error.
    pub error: String,
    /// Files that were changed until it worked.
    pub files: Vec<String>,
    /// Commands that were run until it worked.
    pub commands: Vec<String>,
}

/// What a session teaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// What the user wants in general.
    Preference(String),
    /// What was decided.
    Decision(String),
    /// What was tried and given up.
    Attempt {
        /// The sentence.
        text: String,
        /// Why it was given up.
        why: String,
    },
    /// A command that worked.
    Command {
        /// The command.
        command: CommandLine,
        /// What it is for.
        title: Option<String>,
    },
    /// An error that was mended.
    Fix(FixedError),
}

impl Finding {
    /// Returns the name of the kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Preference(_) => "preference",
            Self::Decision(_) => "decision",
            Self::Attempt { .. } => "attempt",
            Self::Command { .. } => "command",
            Self::Fix(_) => "fix",
        }
    }

    /// Returns what makes two findings the same.
    fn identity(&self) -> String {
        let plain = |text: &str| {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
            words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
        };
        match self {
            Self::Preference(text) | Self::Decision(text) | Self::Attempt { text, .. } => {
                plain(text)
            }
            Self::Command { command, .. } => command.text.clone(),
            Self::Fix(fix) => {
                format!(
                    "{}\n{}",
                    fix.command.program,
                    error_text::key(&fix.error).unwrap_or_default()
                )
            }
        }
    }

    /// Returns the text of the memory.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Preference(text) => {
                let mut characters = text.chars();
                let first = characters.next().map(|c| c.to_uppercase().to_string());
                first.unwrap_or_default() + characters.as_str()
            }
            Self::Decision(text) | Self::Attempt { text, .. } => text.clone(),
            Self::Command { command, title: Some(title) } => format!("{title}: `{}`", command.text),
            Self::Command { command, title: None } => {
                format!("`{}` works in this project", command.text)
            }
            Self::Fix(FixedError { command, error, files, commands }) => {
                let commands = commands.iter().map(|command| format!("running `{command}`"));
                let files = (!files.is_empty()).then(|| format!("changing {}", files.join(", ")));
                let mended: Vec<String> = files.into_iter().chain(commands).collect();
                let mended = mended.join(" and ");
                format!("`{}` failed with: {error}\nMended by {mended}.", command.text)
            }
        }
    }

    /// Returns the metadata that other commands search by.
    fn metadata(&self) -> Map<String, Value> {
        let fields = match self {
            Self::Preference(_) | Self::Decision(_) => json!({}),
            Self::Attempt { why, .. } => json!({ "rejected": why }),
            Self::Command { command, .. } => {
                json!({"tool": command.program, "command": command.text})
            }
            Self::Fix(fix) => {
                json!({"error": fix.error, "tool": fix.command.program, "command": fix.command.text})
            }
        };
        fields.as_object().cloned().unwrap_or_default()
    }
}

/// The project of a finding.
#[derive(Debug, Clone)]
pub struct Project {
    /// The group of a session in its folder.
    pub group: Group,
    /// By what the daemon finds it.
    pub hint: GroupHint,
    /// It has a `.loci.toml`.
    pub opted_in: bool,
}

/// A finding with its source.
#[derive(Debug, Clone)]
pub struct Found {
    /// What was found.
    pub finding: Finding,
    /// The project.
    pub project: Project,
    /// Where it was found first.
    pub pointer: Pointer,
    /// The folder that it was found in.
    pub folder: String,
    /// How often it was found.
    pub count: usize,
    /// In how many sessions it was found.
    pub sessions: usize,
    /// The files of the checkout that it speaks of, with the ids of their contents now.
    pub files: Map<String, Value>,
}

impl Found {
    /// Returns the metadata of the memory, with the pointer to its source.
    #[must_use]
    pub fn metadata(&self) -> Map<String, Value> {
        let Pointer { client, file, line, message, session, .. } = &self.pointer;
        let mut metadata = self.finding.metadata();
        let history = json!({
            "client": client, "file": file, "line": line, "message": message, "session": session,
            "count": self.count,
        });
        metadata.insert("kind".to_owned(), json!(self.finding.kind()));
        metadata.insert("history".to_owned(), history);
        if !self.files.is_empty() {
            metadata.insert("files".to_owned(), Value::Object(self.files.clone()));
        }
        metadata
    }

    /// Returns what identifies the finding in every run.
    #[must_use]
    pub fn identity(&self) -> String {
        let kind = match &self.finding {
            // Attempts were imported as decisions before.
            Finding::Attempt { .. } => "decision",
            finding => finding.kind(),
        };
        format!("{}\n{}\n{}", self.project.group.id, kind, self.finding.identity())
    }
}
