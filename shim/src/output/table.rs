//! Tables that fit the terminal: columns are as wide as their content; if a row is too wide, the widest text columns are truncated.
//!
//! Widths are display columns: a Chinese character has width 2, a combining accent width 0.

use crate::output::style::{Style, has_hyperlinks};
use std::io::{self, IsTerminal};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Width of output that is not a terminal.
const DEFAULT_WIDTH: usize = 80;
/// Minimum width; a narrower terminal wraps the lines.
const MIN_WIDTH: usize = 40;
/// Minimum width of a truncated column.
const MIN_COLUMN: usize = 8;

/// The output that a table is printed on.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Width in display columns.
    pub width: usize,
    /// Whether bold text and colours are allowed.
    pub style: Style,
    /// Whether it is a terminal.
    pub is_terminal: bool,
    /// Whether the terminal opens links.
    pub links: bool,
}

impl Screen {
    /// Returns the width and style of standard output.
    #[must_use]
    pub fn of_stdout() -> Self {
        let stdout = io::stdout();
        let width = terminal_size::terminal_size_of(&stdout)
            .map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        Self {
            width: width.max(MIN_WIDTH),
            style: Style::of(&stdout),
            is_terminal: stdout.is_terminal(),
            links: stdout.is_terminal() && has_hyperlinks(),
        }
    }

    /// Returns a screen without colours and links, as of a pipe.
    #[must_use]
    pub fn plain(width: usize) -> Self {
        Self { width, style: Style::Plain, is_terminal: false, links: false }
    }

    /// Returns a line that fits the width; `…` marks a truncation.
    #[must_use]
    pub fn cut(&self, line: &str) -> String {
        truncate(line, self.width)
    }
}

/// Headings of columns that count as text even if all their cells look like numbers.
const TEXT_COLUMNS: [&str; 4] = ["ID", "MEMORY", "TEXT", "PROJECT"];

/// Formats rows for standard output. The first row contains the headings; columns of numbers are right-aligned.
#[must_use]
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    table_on(Screen::of_stdout(), rows)
}

/// Formats rows with any number of columns for `screen`.
#[must_use]
pub fn table_on(screen: Screen, rows: &[impl AsRef<[String]>]) -> String {
    let rows: Vec<&[String]> = rows.iter().map(AsRef::as_ref).collect();
    let Some(columns) = rows.iter().map(|row| row.len()).max() else { return String::new() };
    let is_numeric = |column: usize| {
        !TEXT_COLUMNS.contains(&rows[0][column].as_str())
            && rows.iter().skip(1).all(|row| is_number(&row[column]))
    };
    let numeric: Vec<bool> = (0..columns).map(is_numeric).collect();
    let widths = widths(&rows, &numeric, screen.width);
    let mut text = String::new();
    for (index, row) in rows.iter().enumerate() {
        let cells = row
            .iter()
            .zip(&widths)
            .zip(&numeric)
            .map(|((cell, width), numeric)| fit(cell, *width, *numeric));
        let line = format!("  {}", cells.collect::<Vec<_>>().join("  "));
        let line = line.trim_end();
        text.push_str(&if index == 0 { screen.style.bold(line) } else { line.to_owned() });
        text.push('\n');
    }
    text
}

fn is_number(cell: &str) -> bool {
    let number = cell.trim_start_matches('-');
    cell == "-"
        || number.bytes().all(|b| b.is_ascii_digit() || b == b'.')
            && number.bytes().any(|b| b.is_ascii_digit())
}

/// Returns the width of each column: its widest cell, reduced for the widest text columns until a row fits `screen_width`.
fn widths(rows: &[&[String]], numeric: &[bool], screen_width: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = (0..numeric.len())
        .map(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0))
        .collect();
    loop {
        let row_width: usize = widths.iter().map(|width| width + 2).sum();
        let widest = (0..widths.len())
            .filter(|column| !numeric[*column])
            .max_by_key(|column| widths[*column]);
        match widest {
            Some(column) if row_width > screen_width && widths[column] > MIN_COLUMN => {
                // Do not shrink below the second widest column, so that two long columns shrink together.
                let second_widest = (0..widths.len())
                    .filter(|other| *other != column && !numeric[*other])
                    .map(|other| widths[other])
                    .max();
                let min_width = second_widest
                    .filter(|width| *width < widths[column])
                    .unwrap_or(widths[column] - 1)
                    .max(MIN_COLUMN);
                widths[column] -= (row_width - screen_width).min(widths[column] - min_width).max(1);
            }
            _ => return widths,
        }
    }
}

/// Returns a cell of exactly `width` columns.
pub(super) fn fit(cell: &str, width: usize, numeric: bool) -> String {
    let cell = truncate(cell, width);
    let padding = " ".repeat(width.saturating_sub(cell.width()));
    if numeric { padding + &cell } else { cell + &padding }
}

/// Truncates text to `width` display columns and marks the truncation with `…`.
pub(super) fn truncate(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut truncated = String::new();
    for grapheme in text.graphemes(true) {
        if truncated.width() + grapheme.width() + 1 > width {
            break;
        }
        truncated.push_str(grapheme);
    }
    truncated.truncate(truncated.trim_end().len());
    truncated + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table_of_width(width: usize, rows: &[[&str; 3]]) -> String {
        let rows: Vec<[String; 3]> = rows.iter().map(|row| row.map(str::to_owned)).collect();
        table_on(Screen::plain(width), &rows)
    }

    #[test]
    fn columns_align_for_any_script() {
        let table = table_of_width(
            80,
            &[
                ["N", "TYPE", "MEMORY"],
                ["7", "semantic", "日本語のメモ"],
                ["12", "entity", "Zoe\u{301}"],
            ],
        );
        assert_eq!(
            table,
            "   N  TYPE      MEMORY\n   7  semantic  日本語のメモ\n  12  entity    Zoe\u{301}\n"
        );
    }

    #[test]
    fn only_the_widest_text_is_truncated_and_never_a_number() {
        let long = "a memory that says rather a lot, and then goes on for a while";
        let table =
            table_of_width(40, &[["SCORE", "TYPE", "MEMORY"], ["0.912345", "procedural", long]]);
        assert_eq!(
            table,
            "     SCORE  TYPE        MEMORY\n  0.912345  procedural  a memory that s…\n"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_screen() {
        let cells = [
            "x",
            "日本語日本語日本語日本語",
            "word word word word word word",
            "👩‍👧👩‍👧👩‍👧👩‍👧👩‍👧👩‍👧👩‍👧",
            "",
        ];
        for width in 40..120 {
            for a in cells {
                for b in cells {
                    let table =
                        table_of_width(width, &[["HEAD", "MIDDLE", "LAST"], [a, b, a], [b, a, b]]);
                    assert!(table.lines().all(|line| line.width() <= width), "{width}:\n{table}");
                }
            }
        }
    }

    #[test]
    fn truncation_never_splits_a_grapheme() {
        assert_eq!(truncate("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(truncate("日本語", 4), "日…");
        assert_eq!(truncate("short", 5), "short");
    }
}
