//! Writes the sessions in a database of `OpenCode` as lines, for `loci import --from history`.
//!
//! The texts and calls are passed on as they are stored; the rules for secrets are applied to what is
//! taken of them. Not here: SQL (`db::foreign_sessions`), what a part means (shim).

use crate::db::sessions::{MessageRow, SessionRow, SessionVisitor};
use crate::db::stores::ForeignStore;
use crate::error::Result;
use loci_proto::error::{Code, Failure};
use loci_proto::foreign_session::{MessageOfSession, SessionLine};
use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Longest part that is read, in bytes; a longer one, usually with an image, is skipped and counted.
const MAX_PART_BYTES: usize = 8 << 20;
/// The types of parts that are passed on; others are images, snapshots and the like.
const TYPES: [&str; 2] = ["text", "tool"];

/// Writes the sessions that were changed at a time or later; `since` is in milliseconds since 1970.
///
/// # Errors
/// `invalid` if the file is not a database of `OpenCode` or is damaged, or the sink fails.
pub fn write_sessions(path: &Path, since: i64, sink: &mut dyn Write) -> Result<()> {
    let store = ForeignStore::open(path)?;
    for table in ["session", "message", "part"] {
        if !store.has_table(table)? {
            let reason = format!("is not a database of OpenCode: it has no table {table}");
            return Err(invalid(path, &reason));
        }
    }
    let mut lines = Lines { sink, path: path.to_path_buf(), message: None, number: 0 };
    store.visit_sessions(since, MAX_PART_BYTES, &mut lines)?;
    lines.sink.flush().map_err(|error| invalid(path, &error.to_string()))
}

fn invalid(path: &Path, reason: &str) -> Failure {
    Failure::new(Code::Invalid, format!("{} {reason}", path.display()))
}

/// Writes each row as a line.
struct Lines<'a> {
    sink: &'a mut dyn Write,
    path: PathBuf,
    /// The message of the next parts; `None` if it cannot be read.
    message: Option<MessageOfSession>,
    number: usize,
}

impl Lines<'_> {
    fn write(&mut self, line: &SessionLine) -> Result<()> {
        let written =
            serde_json::to_vec(line).map_err(std::io::Error::other).and_then(|mut bytes| {
                bytes.push(b'\n');
                self.sink.write_all(&bytes)
            });
        written.map_err(|error| invalid(&self.path, &error.to_string()))
    }
}

impl SessionVisitor for Lines<'_> {
    fn session(&mut self, session: SessionRow) -> Result<()> {
        (self.message, self.number) = (None, 0);
        self.write(&SessionLine::Session { id: session.id, folder: session.directory })
    }

    fn message(&mut self, message: MessageRow) -> Result<()> {
        self.number += 1;
        let MessageRow { id, at, role, is_summary } = message;
        let number = self.number;
        self.message =
            role.map(|role| MessageOfSession { message: id, number, at, role, is_summary });
        if self.message.is_none() { self.write(&SessionLine::Skipped) } else { Ok(()) }
    }

    fn part(&mut self, text: Option<&str>) -> Result<()> {
        let Some(message) = &self.message else { return Ok(()) };
        let part: Option<Value> = text.and_then(|text| serde_json::from_str(text).ok());
        let Some(part) = part else { return self.write(&SessionLine::Skipped) };
        if !part["type"].as_str().is_some_and(|kind| TYPES.contains(&kind)) {
            return Ok(());
        }
        let line = SessionLine::Part { message: message.clone(), part };
        self.write(&line)
    }
}
