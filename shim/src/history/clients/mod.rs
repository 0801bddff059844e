//! The formats of the clients: where each leaves its transcripts, and how to read one.

mod claude;
mod codex;
mod gemini;

use crate::history::transcript::{Step, What, each_line};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};

/// Folders below the folder of transcripts that are searched.
const MAX_DEPTH: usize = 6;
/// Transcripts of one client that are read.
const MAX_FILES: usize = 20_000;

/// A client that leaves transcripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Client {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
}

/// What could not be read of a transcript.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Lines that are not JSON, or too long.
    pub lines: usize,
}

impl Client {
    /// All clients.
    pub const ALL: [Self; 3] = [Self::Claude, Self::Codex, Self::Gemini];

    /// Returns the name of the client.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
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
        };
        let mut files = Vec::new();
        collect(&folder, extension, MAX_DEPTH, &mut files);
        files.sort();
        files
    }

    /// Calls `visit` with each step of a transcript.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(self, file: &Path, mut visit: impl FnMut(Step)) -> io::Result<Skipped> {
        let steps = match self {
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

/// Collects the files with an extension; links are not followed.
fn collect(folder: &Path, extension: &str, depth: usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = folder.read_dir() else { return };
    for entry in entries.flatten() {
        let (Ok(kind), path) = (entry.file_type(), entry.path()) else { continue };
        if kind.is_dir() && depth > 0 {
            collect(&path, extension, depth - 1, files);
        } else if kind.is_file()
            && path.extension().is_some_and(|found| found == extension)
            && files.len() < MAX_FILES
        {
            files.push(path);
        }
    }
}
