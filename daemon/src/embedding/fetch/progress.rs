//! How far a download is: a bar on a terminal, a few plain lines elsewhere, on standard error.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};

/// One download's progress; a bar goes away with the value.
pub(crate) struct Progress {
    label: String,
    total: u64,
    shown: Shown,
}

enum Shown {
    Bar(ProgressBar),
    /// The percentage at which the next line is due.
    Lines(u64),
}

/// Says one line, if anybody can hear it.
pub(crate) fn say(line: &str) {
    // A closed terminal is no reason to end a download.
    let _ = writeln!(std::io::stderr(), "{line}");
}

impl Progress {
    /// Begins, for example with `all-MiniLM-L6-v2` and `by pip`. `total` is in bytes.
    pub fn start(what: &str, how: &str, total: u64) -> Self {
        let label = format!("{what}: {} {how}", megabytes(total));
        let shown = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(total).with_message(format!("{what} {how}"));
            let style = ProgressStyle::with_template(
                "{msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes} {decimal_bytes_per_sec}",
            );
            Shown::Bar(style.map_or_else(|_| bar.clone(), |style| bar.clone().with_style(style)))
        } else {
            Shown::Lines(0)
        };
        let mut progress = Self { label, total, shown };
        progress.at(0);
        progress
    }

    /// So many bytes are done.
    pub fn at(&mut self, done: u64) {
        match &mut self.shown {
            Shown::Bar(bar) => bar.set_position(done.min(self.total)),
            Shown::Lines(due) => {
                let percent = (done * 100 / self.total.max(1)).min(100);
                if percent >= *due {
                    say(&format!("{} … {percent} %", self.label));
                    *due = percent - percent % 10 + 10;
                }
            }
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// A size as people read it.
pub(crate) fn megabytes(bytes: u64) -> String {
    if bytes < 1_000_000 {
        format!("{} kB", bytes.div_ceil(1000))
    } else {
        format!("{} MB", (bytes + 500_000) / 1_000_000)
    }
}
