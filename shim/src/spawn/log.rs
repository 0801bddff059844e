//! The daemon's log file as seen by the process that starts it: standard output and error go there, and a failed start quotes its end.

use crate::spawn::folders;
use loci_proto::paths::Paths;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Lines of the log that an error quotes.
const QUOTED_LINES: usize = 5;
/// Bytes at the end of the log that are searched for these lines.
const QUOTED_BYTES: u64 = 4 * 1024;

/// The log file, and its length before the daemon was started.
pub struct Log {
    /// The open log, or `/dev/null`.
    pub file: File,
    path: PathBuf,
    start: u64,
    /// Why the log cannot be opened; `file` is `/dev/null` then.
    open_error: Option<io::Error>,
}

impl Log {
    /// Opens the log, or `/dev/null` if it cannot be written: on a read-only or full disk the daemon can still recall.
    pub fn open(paths: &Paths) -> Result<Self, String> {
        let path = paths.logs.join("locid.log");
        let opened = folders::make(&paths.logs).and_then(|()| folders::private_file().open(&path));
        let (file, open_error) = match opened {
            Ok(file) => (file, None),
            Err(error) => (
                OpenOptions::new()
                    .write(true)
                    .open("/dev/null")
                    .map_err(|e| format!("/dev/null: {e}"))?,
                Some(error),
            ),
        };
        let start = file.metadata().map_or(0, |meta| meta.len());
        Ok(Self { file, path, start, open_error })
    }

    /// Returns why the log cannot be written, which is probably also why the daemon exited; `None` if it can be.
    pub fn write_error(&self) -> Option<String> {
        let written = match &self.open_error {
            Some(error) => Err(error.to_string()),
            None => (&self.file).write_all(b"\n").map_err(|error| error.to_string()),
        };
        written.err().map(|why| format!("its log {} cannot be written: {why}", self.path.display()))
    }

    /// Returns the last lines that the daemon has written since it was started.
    pub fn last_lines(&self) -> String {
        let mut text = Vec::new();
        let read = || -> io::Result<()> {
            let mut file = File::open(&self.path)?;
            let end = file.metadata()?.len();
            file.seek(SeekFrom::Start(self.start.max(end.saturating_sub(QUOTED_BYTES))))?;
            file.take(QUOTED_BYTES).read_to_end(&mut text).map(drop)
        };
        if { read }().is_err() {
            return String::new();
        }
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<_> =
            text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
    }
}
