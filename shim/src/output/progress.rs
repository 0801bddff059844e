//! A progress bar for file transfers, on standard error if it is a terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Time between two updates of the line.
const UPDATE_INTERVAL: Duration = Duration::from_millis(100);
/// Width of the bar in characters.
const BAR_WIDTH: usize = 24;

/// One line that is updated as bytes are transferred, and erased when dropped.
#[derive(Debug)]
pub struct Progress {
    label: &'static str,
    total: Option<u64>,
    done: u64,
    last_update: Option<Instant>,
    visible: bool,
}

impl Progress {
    /// Starts a transfer of `total` bytes; `None` if the size is unknown.
    #[must_use]
    pub fn new(label: &'static str, total: Option<u64>) -> Self {
        Self {
            label,
            total: total.filter(|total| *total > 0),
            done: 0,
            last_update: None,
            visible: io::stderr().is_terminal(),
        }
    }

    /// Adds transferred bytes.
    pub fn add(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if !self.visible || self.last_update.is_some_and(|last| last.elapsed() < UPDATE_INTERVAL) {
            return;
        }
        self.last_update = Some(Instant::now());
        // A progress line that cannot be written is not an error.
        let _ =
            write!(io::stderr(), "\r\x1b[K{}", progress_text(self.label, self.done, self.total));
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

fn progress_text(label: &str, done: u64, total: Option<u64>) -> String {
    let mib = |bytes: u64| format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20));
    match total {
        None => format!("{label} {}", mib(done)),
        Some(total) => {
            let fraction = done.min(total) as f64 / total as f64;
            let filled =
                usize::try_from(done.min(total) * BAR_WIDTH as u64 / total).unwrap_or(BAR_WIDTH);
            format!(
                "{label} [{}{}] {:3.0} % of {}",
                "=".repeat(filled),
                " ".repeat(BAR_WIDTH - filled),
                fraction * 100.0,
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
        assert_eq!(progress_text("Sending", 3 << 20, None), "Sending 3.0 MiB");
        assert_eq!(
            progress_text("Sending", 1 << 20, Some(2 << 20)),
            "Sending [============            ]  50 % of 2.0 MiB"
        );
        assert_eq!(
            progress_text("Sending", 9 << 20, Some(2 << 20)),
            "Sending [========================] 100 % of 2.0 MiB"
        );
    }
}
