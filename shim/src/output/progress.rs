//! How far a file has come, on standard error, where a person is looking.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// How often a person is told.
const PAUSE: Duration = Duration::from_millis(100);

/// One line that is written anew as work goes on, and taken away at its end.
#[derive(Debug)]
pub struct Progress {
    verb: &'static str,
    total: Option<u64>,
    done: u64,
    told: Option<Instant>,
    shown: bool,
}

impl Progress {
    /// Of work on so many bytes, where that is known.
    #[must_use]
    pub fn new(verb: &'static str, total: Option<u64>) -> Self {
        Self {
            verb,
            total: total.filter(|total| *total > 0),
            done: 0,
            told: None,
            shown: io::stderr().is_terminal(),
        }
    }

    /// So many bytes more.
    pub fn add(&mut self, bytes: usize) {
        self.done += bytes as u64;
        if !self.shown || self.told.is_some_and(|told| told.elapsed() < PAUSE) {
            return;
        }
        self.told = Some(Instant::now());
        // Nobody misses a line that cannot be written.
        let _ = write!(io::stderr(), "\r\x1b[K{}", line(self.verb, self.done, self.total));
    }

    /// Says what goes on now, without a number.
    pub fn say(&self, what: &str) {
        if self.shown {
            let _ = write!(io::stderr(), "\r\x1b[K{what}");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
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
    fn the_line_says_how_far_it_is() {
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
