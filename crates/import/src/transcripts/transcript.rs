//! What all transcripts have in common: steps of a session, finding the files, and reading one line by line within bounded memory.
//!
//! Not here: the format of each client (`clients`).

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Longest line that is read, in bytes; a longer one, usually with an image, is skipped and counted.
const MAX_LINE_BYTES: usize = 8 << 20;
/// Bytes of a command's output that are looked at, from its beginning and from its end each.
const OUTPUT_BYTES: usize = 8 << 10;

/// Transcripts of one client that are read.
const MAX_FILES: usize = 20_000;

/// One step of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Line in the file, or number of the message, from 1.
    pub line: usize,
    /// The client's id of the message.
    pub message: Option<String>,
    /// Milliseconds since 1970.
    pub at: Option<i64>,
    /// What happened.
    pub what: What,
}

/// What happened in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// Another session begins, in the same transcript.
    Began,
    /// The session works in this folder from now on.
    Folder(String),
    /// The session has this id.
    Session(String),
    /// The user wrote.
    UserSaid(String),
    /// The agent wrote to the user.
    AgentSaid(String),
    /// The agent called a tool.
    Called {
        /// Id of the call.
        call: String,
        /// What the tool does.
        action: Action,
    },
    /// A tool returned.
    Returned {
        /// Id of the call.
        call: String,
        /// `None` if the transcript does not say.
        failed: Option<bool>,
        /// Its output, cut in the middle.
        output: String,
    },
}

/// What a tool does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Runs a command of the shell.
    Command {
        /// The command line.
        text: String,
        /// What it is for, in the agent's words.
        title: Option<String>,
    },
    /// Changes a file.
    Edit(String),
}

/// Returns beginning and end of a long output.
#[must_use]
pub fn cut_output(output: &str) -> String {
    if output.len() <= 2 * OUTPUT_BYTES {
        return output.to_owned();
    }
    let end = output.floor_char_boundary(OUTPUT_BYTES);
    let start = output.ceil_char_boundary(output.len() - OUTPUT_BYTES);
    format!("{}\n{}", &output[..end], &output[start..])
}

/// Calls `visit` with each line and its number; returns how many lines were too long.
///
/// # Errors
/// The file cannot be read.
pub fn each_line(path: &Path, visit: impl FnMut(usize, &[u8])) -> io::Result<usize> {
    each_line_of(BufReader::with_capacity(64 << 10, File::open(path)?), visit)
}

/// The same for what another program prints.
///
/// # Errors
/// As [`each_line`].
pub fn each_line_of(
    mut reader: impl BufRead,
    mut visit: impl FnMut(usize, &[u8]),
) -> io::Result<usize> {
    let (mut line, mut number, mut skipped) = (Vec::new(), 0, 0);
    loop {
        line.clear();
        let limit = MAX_LINE_BYTES as u64 + 1;
        let read = reader.by_ref().take(limit).read_until(b'\n', &mut line)?;
        if read == 0 {
            return Ok(skipped);
        }
        number += 1;
        if line.len() > MAX_LINE_BYTES {
            skipped += 1;
            if !line.ends_with(b"\n") {
                reader.skip_until(b'\n')?;
            }
            continue;
        }
        visit(number, line.trim_ascii());
    }
}

/// Collects the files with an extension; links are not followed.
pub fn collect(folder: &Path, extension: &str, depth: usize, files: &mut Vec<PathBuf>) {
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

/// Returns the milliseconds of a time in RFC 3339.
#[must_use]
pub fn milliseconds(text: &str) -> Option<i64> {
    chrono::DateTime::parse_from_rfc3339(text).ok().map(|at| at.timestamp_millis())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_skipped_and_the_next_one_is_read() {
        let folder = tempfile::tempdir().expect("the folder is created");
        let path = folder.path().join("transcript.jsonl");
        let mut bytes = b"one\n".to_vec();
        bytes.extend(vec![b'x'; MAX_LINE_BYTES + 10]);
        bytes.extend(b"\nthree");
        std::fs::write(&path, bytes).expect("the file is written");
        let mut seen = Vec::new();
        let skipped = each_line(&path, |number, line| seen.push((number, line.to_vec())));
        assert_eq!(skipped.ok(), Some(1));
        assert_eq!(seen, [(1, b"one".to_vec()), (3, b"three".to_vec())]);
    }

    #[test]
    fn a_long_output_keeps_its_beginning_and_its_end() {
        let long = format!("begin{}end", "é".repeat(2 * OUTPUT_BYTES));
        let cut = cut_output(&long);
        assert!(cut.starts_with("begin") && cut.ends_with("end") && cut.len() < long.len());
    }
}
