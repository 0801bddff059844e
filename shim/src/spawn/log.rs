//! The daemon's log file during its start: the daemon's standard output and error are appended to it, and the error of a failed start
//! quotes its last lines.

use crate::spawn::folders;
use loci_proto::paths::Paths;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

/// Lines of the log that an error quotes.
const QUOTED_LINES: usize = 5;
/// Bytes at the end of the log that are searched for these lines.
const QUOTED_BYTES: u64 = 4 * 1024;

/// The log file during the start of a daemon.
pub struct Log {
    /// The open log, or `/dev/null`.
    pub file: File,
    path: PathBuf,
    /// Length of the log in bytes when it was opened, before the daemon started.
    start: u64,
    /// Why the log cannot be opened; `file` is `/dev/null` then.
    open_error: Option<io::Error>,
}

impl Log {
    /// Opens the log, or `/dev/null` if it cannot be written: on a read-only or full disk the daemon can still recall.
    pub fn open(paths: &Paths) -> Result<Self, String> {
        let path = paths.logs.join("locid.log");
        let opened =
            folders::create(&paths.logs).and_then(|()| folders::private_file().open(&path));
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

    /// Returns why the log cannot be written, which is probably also why the daemon exited; `None` if it can be written.
    pub fn write_error(&self) -> Option<String> {
        let written = match &self.open_error {
            Some(error) => Err(error.to_string()),
            None => (&self.file).write_all(b"\n").map_err(|error| error.to_string()),
        };
        written
            .err()
            .map(|reason| format!("its log {} cannot be written: {reason}", self.path.display()))
    }

    /// Returns the last lines that the daemon has written since it was started; empty if the log cannot be read.
    pub fn last_lines(&self) -> String {
        let Ok(bytes) = self.read_end() else { return String::new() };
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<_> =
            text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(QUOTED_LINES)..].join("\n")
    }

    /// Reads the last [`QUOTED_BYTES`] that were written since the log was opened.
    fn read_end(&self) -> io::Result<Vec<u8>> {
        let mut file = File::open(&self.path)?;
        let end = file.metadata()?.len();
        file.seek(SeekFrom::Start(self.start.max(end.saturating_sub(QUOTED_BYTES))))?;
        let mut bytes = Vec::new();
        file.take(QUOTED_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
