//! `loci ctl logs`: the daemon's log, its end first asked for, then as it grows.

use crate::output::Problem;
use loci_proto::paths::Paths;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;
use tokio::time::sleep;

/// Most bytes of the log that are searched for its last lines.
const MOST: u64 = 4 * 1024 * 1024;
/// How often a growing log is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// Prints the last lines, and with `follow` what comes after them, until interrupted.
///
/// # Errors
/// When there is no log, or it cannot be read.
pub async fn run(paths: &Paths, lines: usize, follow: bool) -> Result<(), Problem> {
    let path = paths.logs.join("locid.log");
    let mut file = open(&path)?;
    let text = end_of(&mut file)?;
    show(last_lines(&text, lines))?;
    if !follow {
        return Ok(());
    }
    loop {
        sleep(LOOK).await;
        if was_replaced(&file, &path)? {
            file = open(&path)?;
        }
        let mut grown = Vec::new();
        (&file).take(MOST).read_to_end(&mut grown)?;
        show(&grown)?;
    }
}

fn open(path: &Path) -> Result<File, Problem> {
    File::open(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Problem::new("There is no log yet")
            .hint("locid writes it when it first starts: `loci ctl start`"),
        _ => Problem::new(format!("{} cannot be read", path.display())).because(&error),
    })
}

fn end_of(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MOST)))?;
    let mut text = Vec::new();
    file.read_to_end(&mut text)?;
    Ok(text)
}

/// The log was rotated (another file), or cut (shorter than what was read of it).
fn was_replaced(file: &File, path: &Path) -> io::Result<bool> {
    let (ours, mut position) = (file.metadata()?, file);
    let cut = ours.len() < position.stream_position()?;
    Ok(cut || path.metadata().is_ok_and(|current| current.ino() != ours.ino()))
}

fn last_lines(text: &[u8], lines: usize) -> &[u8] {
    let body = text.strip_suffix(b"\n").unwrap_or(text);
    let newlines = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    match lines {
        0 => &[],
        _ => newlines.map(|(at, _)| at).nth(lines - 1).map_or(text, |at| &text[at + 1..]),
    }
}

fn show(text: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text)?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_whole_lines() {
        let text = b"one\ntwo\nthree\n";
        assert_eq!(last_lines(text, 2), b"two\nthree\n");
        assert_eq!(last_lines(text, 3), text);
        assert_eq!(last_lines(text, 9), text);
        assert_eq!(last_lines(text, 0), b"");
        assert_eq!(last_lines(b"one\ntwo", 1), b"two");
    }
}
