//! `loci ctl logs`: prints the last lines of the daemon's log, and follows it with `--follow`.

use crate::output::{Problem, print_bytes};
use loci_proto::paths::Paths;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

/// Maximum number of bytes at the end of the log that are searched for the last lines.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Time between two reads of a followed log.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Prints the last `lines` lines; with `follow` also new ones, until interrupted.
///
/// # Errors
/// When there is no log, or it cannot be read.
pub async fn run(paths: &Paths, lines: usize, follow: bool) -> Result<(), Problem> {
    let path = paths.logs.join("locid.log");
    let mut file = open(&path)?;
    let text = read_end(&mut file)?;
    print_bytes(last_lines(&text, lines))?;
    if !follow {
        return Ok(());
    }
    loop {
        sleep(POLL_INTERVAL).await;
        if was_rotated_or_truncated(&file, &path)? {
            file = open(&path)?;
        }
        let mut new = Vec::new();
        (&file).take(MAX_BYTES).read_to_end(&mut new)?;
        print_bytes(&new)?;
    }
}

fn open(path: &Path) -> Result<File, Problem> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Problem::new("The log does not exist yet")
            .hint("locid creates it when it first starts: `loci ctl start`"),
        _ => Problem::new(format!("Cannot read {}", path.display())).because(&error),
    })
}

fn read_end(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_BYTES)))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok(text)
}

/// Returns true when `path` is another file now, or the file is shorter than our read position.
fn was_rotated_or_truncated(mut file: &File, path: &Path) -> io::Result<bool> {
    let opened = file.metadata()?;
    let is_truncated = opened.len() < file.stream_position()?;
    let is_rotated = path.metadata().is_ok_and(|current| current.ino() != opened.ino());
    Ok(is_truncated || is_rotated)
}

fn last_lines(text: &[u8], lines: usize) -> &[u8] {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let newlines = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match lines {
        0 => &[],
        _ => {
            newlines.map(|(index, _)| index).nth(lines - 1).map_or(text, |index| &text[index + 1..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_lines_returns_whole_lines() {
        let text = b"one\ntwo\nthree\n";
        assert_eq!(last_lines(text, 2), b"two\nthree\n");
        assert_eq!(last_lines(text, 3), text);
        assert_eq!(last_lines(text, 9), text);
        assert_eq!(last_lines(text, 0), b"");
        assert_eq!(last_lines(b"one\ntwo", 1), b"two");
    }
}
