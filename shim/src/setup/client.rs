//! The clients that setup knows, and what a client can want in its configuration files.
//!
//! Not here: what each client wants (`clients`).

use super::edit::{Entry, Format};
use super::environment::Environment;
use super::event::Event;
use super::switches::Switches;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// Visual Studio Code.
    Vscode,
    /// Devin Desktop and the Devin CLI, once Windsurf.
    Devin,
    /// Zed.
    Zed,
    /// `OpenCode`, version 1 or 2.
    Opencode,
    /// Claude Desktop, which Cowork is part of.
    ClaudeDesktop,
    /// GitHub Copilot CLI.
    Copilot,
}

impl Client {
    /// Returns the name as it is typed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Cursor => "cursor",
            Self::Gemini => "gemini",
            Self::Vscode => "vscode",
            Self::Devin => "devin",
            Self::Zed => "zed",
            Self::Opencode => "opencode",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Copilot => "copilot",
        }
    }

    /// Returns the name of the product.
    #[must_use]
    pub fn product(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
            Self::Cursor => "Cursor",
            Self::Gemini => "Gemini CLI",
            Self::Vscode => "VS Code",
            Self::Devin => "Devin",
            Self::Zed => "Zed",
            Self::Opencode => "OpenCode",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Copilot => "Copilot CLI",
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an entry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The client starts `loci mcp`.
    Server,
    /// The client runs loci's tools without asking.
    Permission,
    /// The client runs `loci hook`.
    Hook,
}

/// Whose configuration is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The user's, for all projects.
    User,
    /// That of the project in the current folder.
    Project,
}

/// What the user wants written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wishes {
    /// Leave out the hooks.
    pub no_hooks: bool,
    /// Leave out the permission.
    pub no_permission: bool,
    /// Hooks that are not written by default.
    pub with: Vec<Event>,
    /// What the configuration switches on or off.
    pub switches: Switches,
    /// Overwrite entries that somebody has changed.
    pub force: bool,
}

/// What a client's table is computed from.
#[derive(Debug)]
pub struct Context<'a> {
    /// The machine.
    pub environment: &'a Environment,
    /// The program that clients start.
    pub loci: &'a Path,
    /// Whose configuration is written.
    pub scope: Scope,
    /// What the user wants.
    pub wishes: &'a Wishes,
    /// Whether another client's hooks reach VS Code already.
    pub vscode_has_hooks: bool,
}

impl Context<'_> {
    /// Returns the program as a text.
    #[must_use]
    pub fn program(&self) -> String {
        self.loci.to_string_lossy().into_owned()
    }

    /// Returns whether a hook is wanted: one that is asked for, else as the configuration says, else by default.
    #[must_use]
    pub fn wants(&self, event: Event) -> bool {
        let is_on = || self.wishes.switches.is_on(event).unwrap_or(event.is_default());
        !self.wishes.no_hooks && (self.wishes.with.contains(&event) || is_on())
    }

    /// Returns the folder of a scope: `user` for the user's, else `project` in the project.
    #[must_use]
    pub fn choose(&self, user: PathBuf, project: &str) -> PathBuf {
        match self.scope {
            Scope::User => user,
            Scope::Project => self.environment.project.join(project),
        }
    }
}

/// What a client wants.
#[derive(Debug, Default)]
pub struct Wanted {
    /// Its files.
    pub files: Vec<WantedFile>,
    /// What the user must know or do.
    pub notes: Vec<String>,
}

/// A file of a client.
#[derive(Debug)]
pub struct WantedFile {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub content: Content,
}

/// What is wanted in a file.
#[derive(Debug)]
pub enum Content {
    /// Entries among others.
    Entries(Format, Vec<WantedEntry>),
    /// The whole file.
    Whole(String),
    /// No file of setup's. The texts are those that setup would write with other wishes.
    Nothing(Vec<String>),
}

/// An entry of a file.
#[derive(Debug, Clone)]
pub struct WantedEntry {
    /// What it is for.
    pub part: Part,
    /// The entry.
    pub entry: Entry,
    /// What it does, as a sentence without a full stop.
    pub words: String,
}

impl WantedEntry {
    /// Creates the entry that starts `loci mcp`.
    #[must_use]
    pub fn server(entry: Entry) -> Self {
        Self { part: Part::Server, entry, words: "start loci mcp as the server loci".to_owned() }
    }

    /// Creates a permission.
    #[must_use]
    pub fn permission(entry: Entry) -> Self {
        let words = "run the tools of loci without asking".to_owned();
        Self { part: Part::Permission, entry, words }
    }
}

impl WantedFile {
    /// Creates a file with entries.
    #[must_use]
    pub fn entries(path: PathBuf, format: Format, entries: Vec<WantedEntry>) -> Self {
        Self { path, content: Content::Entries(format, entries) }
    }
}
