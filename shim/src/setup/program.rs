//! Runs another program for a short time and reads its answer: a client's version, or that of `loci`.
//!
//! Not here: finding a program.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// Maximum time until a program has answered.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Runs a program and returns the first line of its output; `None` if it cannot be run or does not answer in time.
#[must_use]
pub fn first_line(program: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let line = read_in_time(stdout, |lines| lines.next());
    end(child);
    line
}

/// Reads lines on a thread of their own; `None` if `read` does not return in time.
pub fn read_in_time<T: Send + 'static>(
    stdout: std::process::ChildStdout,
    read: impl FnOnce(&mut dyn Iterator<Item = String>) -> Option<T> + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
        // The receiver may have given up.
        let _ = sender.send(read(&mut lines));
    });
    receiver.recv_timeout(TIMEOUT).ok().flatten()
}

/// Ends a program that has answered or was given up.
pub fn end(mut child: Child) {
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_returned_and_a_missing_program_is_no_error() {
        assert_eq!(first_line(Path::new("/bin/echo"), &["1.2.3"]).as_deref(), Some("1.2.3"));
        assert_eq!(first_line(Path::new("/nowhere/at/all"), &[]), None);
    }
}
