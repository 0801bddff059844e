//! The formats of the clients: where each leaves its transcripts, and how to read one.

mod claude;
mod codex;
mod gemini;
mod opencode;

use crate::history::transcript::{Step, What, collect, each_line};
use serde_json::Value;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Folders below the folder of transcripts that are searched.
const MAX_DEPTH: usize = 6;

/// A client that leaves transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// `OpenCode`.
    Opencode,
}

/// What could not be read of a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines that are not JSON, or too long.
    pub lines: usize,
}

impl Client {
    /// All clients.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Opencode];

    /// Returns the name of the client.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
        }
    }

    /// Returns whether a transcript may have content from a time on, without opening it.
    #[must_use]
    pub fn may_have_changed(self, file: &Path, since: i64) -> bool {
        // The newest rows of a database are in its log.
        (self == Self::Opencode && opencode::is_store(file)) || is_changed_since(file, since)
    }

    /// Returns whether a transcript is one of these sessions, which were read from another transcript.
    #[must_use]
    pub fn is_one_of(self, file: &Path, sessions: &HashSet<String>) -> bool {
        self == Self::Opencode && opencode::is_one_of(file, sessions)
    }

    /// Returns the transcripts of the client, in the order of their paths.
    #[must_use]
    pub fn transcripts(self, home: &Path) -> Vec<PathBuf> {
        let variable = |name: &str, default: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map_or_else(|| home.join(default), PathBuf::from)
        };
        let (folder, extension) = match self {
            Self::Claude => (variable("CLAUDE_CONFIG_DIR", ".claude").join("projects"), "jsonl"),
            Self::Codex => (variable("CODEX_HOME", ".codex").join("sessions"), "jsonl"),
            Self::Gemini => (home.join(".gemini/tmp"), "jsonl"),
            Self::Opencode => {
                let data = variable("XDG_DATA_HOME", ".local/share");
                return opencode::transcripts(&data.join("opencode"));
            }
        };
        let mut files = Vec::new();
        collect(&folder, extension, MAX_DEPTH, &mut files);
        files.sort();
        files
    }

    /// Calls `visit` with each step of a transcript. Sessions of a database that were not changed since a time are left out.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(self, file: &Path, since: i64, mut visit: impl FnMut(Step)) -> io::Result<Skipped> {
        let steps = match self {
            Self::Opencode => {
                return opencode::read(file, since, visit).map(|lines| Skipped { lines });
            }
            Self::Claude => claude::steps,
            Self::Codex => codex::steps,
            Self::Gemini => gemini::steps,
        };
        if let Some(folder) = (self == Self::Gemini).then(|| gemini::folder(file)).flatten() {
            visit(Step { line: 0, message: None, at: None, what: What::Folder(folder) });
        }
        let mut broken = 0;
        let too_long =
            each_line(file, |number, line| match serde_json::from_slice::<Value>(line) {
                Ok(record) => steps(number, &record).into_iter().for_each(&mut visit),
                Err(_) => broken += usize::from(!line.is_empty()),
            })?;
        Ok(Skipped { lines: broken + too_long })
    }
}

/// Returns whether a file may have content from a time on.
fn is_changed_since(file: &Path, since: i64) -> bool {
    let since = UNIX_EPOCH + Duration::from_millis(since.max(0).cast_unsigned());
    let changed: Option<SystemTime> = file.metadata().ok().and_then(|data| data.modified().ok());
    changed.is_none_or(|changed| changed >= since)
}
