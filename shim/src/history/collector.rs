//! Collects what was found in all sessions: each statement once, with its first source, within bounds.

use crate::history::command_line::CommandLine;
use crate::project::{Environment, find};
use loci_proto::error_text;
use loci_proto::group::{Group, GroupHint};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::path::PathBuf;

/// Findings that are held in memory; further ones are counted.
const MAX_FINDINGS: usize = 20_000;
/// How often a command must have worked.
const MIN_USES: usize = 2;
/// Commands of one project that are taken, those that worked most often.
const MAX_COMMANDS: usize = 12;
/// Other findings of one project and kind that are taken, the newest.
const MAX_OF_KIND: usize = 60;
/// What makes a text look like a secret or what stands beside one; such a text is not taken.
const SECRET_MARKS: [&str; 12] = [
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "authorization",
    "bearer ",
    "private key",
    "credential",
    "://user",
];
/// Characters of a word from which it may be a key.
const KEY_CHARS: usize = 24;

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
            Self::Preference(text) | Self::Decision(text) => plain(text),
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
            Self::Decision(text) => text.clone(),
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

/// A finding with its source.
#[derive(Debug, Clone)]
pub struct Found {
    /// What was found.
    pub finding: Finding,
    /// The project.
    pub group: Group,
    /// Where it was found first.
    pub pointer: Pointer,
    /// How often it was found.
    pub count: usize,
}

impl Found {
    /// Returns the metadata of the memory, with the pointer to its source.
    #[must_use]
    pub fn metadata(&self) -> Map<String, Value> {
        let Pointer { client, file, line, message, session, .. } = &self.pointer;
        let mut metadata = self.finding.metadata();
        let history = json!({"client": client, "file": file, "line": line, "message": message, "session": session});
        metadata.insert("kind".to_owned(), json!(self.finding.kind()));
        metadata.insert("history".to_owned(), history);
        metadata
    }

    /// Returns what identifies the finding in every run.
    #[must_use]
    pub fn identity(&self) -> String {
        format!("{}\n{}\n{}", self.group.id, self.finding.kind(), self.finding.identity())
    }
}

/// Collects the findings.
#[derive(Debug, Default)]
pub struct Collector {
    found: HashMap<String, Found>,
    /// The project of each folder; `None` for one that is switched off.
    groups: HashMap<String, Option<Group>>,
    /// The project of sessions outside any project.
    outside: String,
    /// Findings earlier than this are left out.
    since: i64,
    /// Findings that were left out because they may hold a secret.
    pub with_secrets: usize,
    /// Findings that were left out because there were too many.
    pub over_limit: usize,
}

impl Collector {
    /// Creates a collector of findings from a time on.
    #[must_use]
    pub fn new(since: i64, outside: String) -> Self {
        Self { outside, since, ..Self::default() }
    }

    /// Finds the project of a folder.
    pub fn know_folder(&mut self, folder: &str) {
        if !self.groups.contains_key(folder) {
            let group = self.group_of(folder);
            self.groups.insert(folder.to_owned(), group);
        }
    }

    fn group_of(&self, folder: &str) -> Option<Group> {
        let path = PathBuf::from(folder);
        if !path.is_dir() {
            // The project has been moved or deleted; what is known of it is its path.
            return Some(Group::of_folder(folder));
        }
        let mut environment = Environment::at(path);
        (environment.loci_group, environment.project_dir) = (None, None);
        let found = find(&environment);
        if found.off {
            return None;
        }
        Some(match found.hint {
            GroupHint::Folder(path) => Group::of_folder(&path),
            GroupHint::ProjectNamed { folder, name } => Group::of_named_project(&folder, &name),
            GroupHint::Named(name) => Group::named(&name),
            GroupHint::Default => Group { id: self.outside.clone(), name: self.outside.clone() },
        })
    }

    /// Adds a finding of a session in a folder.
    pub fn add(&mut self, folder: &str, finding: Finding, pointer: Pointer) {
        if pointer.at < self.since {
            return;
        }
        let Some(Some(group)) = self.groups.get(folder).cloned() else { return };
        if may_hold_secret(&finding.text()) {
            self.with_secrets += 1;
            return;
        }
        let new = Found { finding, group, pointer, count: 1 };
        let key = new.identity();
        let is_full = self.found.len() >= MAX_FINDINGS;
        match self.found.get_mut(&key) {
            Some(known) => {
                known.count += 1;
                if new.pointer.at < known.pointer.at {
                    *known = Found { count: known.count, ..new };
                }
            }
            None if is_full => self.over_limit += 1,
            None => {
                self.found.insert(key, new);
            }
        }
    }

    /// Returns what is worth a person's look: by project, then kind, then time.
    #[must_use]
    pub fn finish(self) -> Vec<Found> {
        let mut by_kind: HashMap<(String, &'static str), Vec<Found>> = HashMap::new();
        for found in self.found.into_values() {
            let is_command = matches!(found.finding, Finding::Command { .. });
            if !is_command || found.count >= MIN_USES {
                by_kind
                    .entry((found.group.id.clone(), found.finding.kind()))
                    .or_default()
                    .push(found);
            }
        }
        let mut taken = Vec::new();
        for ((_, kind), mut list) in by_kind {
            let newest_first = |one: &Found, other: &Found| {
                other
                    .pointer
                    .at
                    .cmp(&one.pointer.at)
                    .then_with(|| one.identity().cmp(&other.identity()))
            };
            list.sort_by(newest_first);
            if kind == "command" {
                list.sort_by_key(|found| std::cmp::Reverse(found.count));
                list.truncate(MAX_COMMANDS);
            }
            list.truncate(MAX_OF_KIND);
            taken.extend(list);
        }
        taken.sort_by_cached_key(|found| {
            (found.group.name.clone(), found.finding.kind(), found.pointer.at, found.identity())
        });
        taken
    }
}

/// Returns whether a text may hold a secret. The daemon checks by its own rules, too.
fn may_hold_secret(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_key = |word: &str| {
        let plain = word.chars().all(|c| c.is_ascii_alphanumeric() || "+/=_-".contains(c));
        let (digits, letters) =
            (word.chars().any(|c| c.is_ascii_digit()), word.chars().any(char::is_alphabetic));
        word.len() >= KEY_CHARS && plain && digits && letters && !word.contains('/')
    };
    SECRET_MARKS.iter().any(|mark| lower.contains(mark))
        || text.split(|c: char| c.is_whitespace() || "'\"`=:,;()".contains(c)).any(is_key)
}
