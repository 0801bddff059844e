//! A progress bar for file transfers, on standard error if it is a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Time between two updates of the line.
const INTERVAL: Duration = Duration::from_millis(100);

/// One line that is updated as bytes are transferred, and erased when dropped.
#[derive(Debug)]
pub struct Progress {
    verb: &'static str,
    total: Option<u64>,
    done: u64,
    last_update: Option<Instant>,
    visible: bool,
}

impl Progress {
    /// Starts a transfer of `total` bytes; `None` if the size is unknown.
    #[must_use]
    pub fn new(verb: &'static str, total: Option<u64>) -> Self {
        Self {
            verb,
            total: total.filter(|total| *total > 0),
            done: 0,
            last_update: None,
            visible: io::stderr().is_terminal(),
        }
    }

    /// Adds transferred bytes.
    pub fn add(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if !self.visible || self.last_update.is_some_and(|last| last.elapsed() < INTERVAL) {
            return;
        }
        self.last_update = Some(Instant::now());
        // A progress line that cannot be written is not an error.
        let _ = write!(io::stderr(), "\r\x1b[K{}", line(self.verb, self.done, self.total));
    }

    /// Replaces the bar with a message.
    pub fn message(&self, message: &str) {
        if self.visible {
            let _ = write!(io::stderr(), "\r\x1b[K{message}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.visible {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(verb: &str, done: u64, total: Option<u64>) -> String {
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    match total {
        None => format!("{verb} {}", mib(done)),
        Some(total) => {
            let part = done.min(total) as f64 / total as f64;
            let full = usize::try_from(done.min(total) * 24 / total).unwrap_or(24);
            format!(
                "{verb} [{}{}] {:3.0} % of {}",
                "=".repeat(full),
                " ".repeat(24 - full),
                part * 100.0,
                mib(total)
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_shows_bytes_and_percent() {
        assert_eq!(line("Sending", 3 << 20, None), "Sending 3.0 MiB");
        assert_eq!(
            line("Sending", 1 << 20, Some(2 << 20)),
            "Sending [============            ]  50 % of 2.0 MiB"
        );
        assert_eq!(
            line("Sending", 9 << 20, Some(2 << 20)),
            "Sending [========================] 100 % of 2.0 MiB"
        );
    }
}
