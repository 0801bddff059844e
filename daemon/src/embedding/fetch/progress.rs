//! Progress of a download on standard error: a bar on a terminal, one line per 10 % elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// Minimum time between two updates of the bar.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Width of the bar in characters.
const BAR_WIDTH: u64 = 24;

/// Shows the progress of one download; dropping it removes the bar.
pub(crate) struct Progress {
    label: String,
    total: u64,
    display: Display,
}

enum Display {
    /// The time of the last update; `None` before the first.
    Bar(Option<Instant>),
    /// The percentage from which the next line is printed.
    Lines(u64),
}

/// Prints one line on standard error.
pub(crate) fn print_line(line: &str) {
    // A closed standard error must not end the download.
    let _ = writeln!(std::io::stderr(), "{line}");
}

impl Progress {
    /// Starts the display, for example with the label `all-MiniLM-L6-v2 by pip`. `total` is in bytes.
    pub fn start(label: &str, total: u64) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let display = if is_terminal { Display::Bar(None) } else { Display::Lines(0) };
        let mut progress = Self { label: label.to_owned(), total, display };
        progress.update(0);
        progress
    }

    /// Shows that `done` bytes are downloaded.
    pub fn update(&mut self, done: u64) {
        match &mut self.display {
            Display::Bar(last_update) => {
                if last_update.is_none_or(|last_update| last_update.elapsed() >= REDRAW_INTERVAL) {
                    *last_update = Some(Instant::now());
                    let bar = bar(&self.label, done, self.total);
                    let _ = write!(std::io::stderr(), "\r\x1b[K{bar}");
                }
            }
            Display::Lines(next_percent) => {
                let percent = percent(done, self.total);
                if percent >= *next_percent {
                    let size = format_bytes(self.total);
                    print_line(&format!("{}: {percent} % of {size}", self.label));
                    *next_percent = percent - percent % 10 + 10;
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if matches!(self.display, Display::Bar(_)) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn percent(done: u64, total: u64) -> u64 {
    (done * 100 / total.max(1)).min(100)
}

fn bar(label: &str, done: u64, total: u64) -> String {
    let percent = percent(done, total);
    let full = usize::try_from(percent * BAR_WIDTH / 100).unwrap_or(0);
    format!("{label} [{:<24}] {percent:3} % of {}", "=".repeat(full), format_bytes(total))
}

/// Formats a size for people, in kB or MB.
pub(crate) fn format_bytes(bytes: u64) -> String {
    if bytes < 1_000_000 {
        format!("{} kB", bytes.div_ceil(1000))
    } else {
        format!("{} MB", (bytes + 500_000) / 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::bar;

    #[test]
    fn the_bar_shows_percentage_and_total_size() {
        let line = |done| bar("model by pip", done, 90_000_000);
        assert_eq!(line(0), "model by pip [                        ]   0 % of 90 MB");
        assert_eq!(line(45_000_000), "model by pip [============            ]  50 % of 90 MB");
        assert_eq!(line(99_000_000), "model by pip [========================] 100 % of 90 MB");
    }
}
