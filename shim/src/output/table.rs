//! Tables that fit the terminal: columns as wide as what is in them, the widest column of text cut where they would be too wide.
//!
//! Widths are those of a terminal, in which a Chinese character takes two places and an accent none.

use crate::output::Style;
use std::io;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Columns of output that is no terminal.
const USUAL: usize = 80;
/// A narrower terminal gets lines of this width, which it breaks.
const NARROWEST: usize = 40;
/// A column of text is not cut to less.
const LEAST: usize = 8;

/// Where a table is shown.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Places in a line.
    pub width: usize,
    /// Whether the head may be painted.
    pub style: Style,
}

impl Screen {
    /// Standard output.
    #[must_use]
    pub fn of_stdout() -> Self {
        let stdout = io::stdout();
        let width = terminal_size::terminal_size_of(&stdout)
            .map_or(USUAL, |(width, _)| usize::from(width.0));
        Self { width: width.max(NARROWEST), style: Style::of(&stdout) }
    }
}

/// Heads of columns that hold words, even where all of them happen to be digits.
const WORDS: [&str; 4] = ["ID", "MEMORY", "TEXT", "PROJECT"];

/// Rows in columns, for standard output. The first row is the head; columns of numbers stand to the right.
#[must_use]
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    table_on(Screen::of_stdout(), rows)
}

/// The same for any number of columns.
#[must_use]
pub fn table_on(screen: Screen, rows: &[impl AsRef<[String]>]) -> String {
    let rows: Vec<&[String]> = rows.iter().map(AsRef::as_ref).collect();
    let Some(columns) = rows.iter().map(|row| row.len()).max() else { return String::new() };
    let numbers = |column: usize| {
        !WORDS.contains(&rows[0][column].as_str())
            && rows.iter().skip(1).all(|row| is_number(&row[column]))
    };
    let numeric: Vec<bool> = (0..columns).map(numbers).collect();
    let widths = widths(&rows, &numeric, screen.width);
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        let cells = row
            .iter()
            .zip(&widths)
            .zip(&numeric)
            .map(|((cell, width), numeric)| fitted(cell, *width, *numeric));
        let line = format!("  {}", cells.collect::<Vec<_>>().join("  "));
        let line = line.trim_end();
        text.push_str(&if at == 0 { screen.style.paint(line) } else { line.to_owned() });
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

/// How wide each column is: as wide as what is in it, and the widest column of text less by what would be too much.
fn widths(rows: &[&[String]], numeric: &[bool], screen: usize) -> Vec<usize> {
    let mut widths: Vec<usize> = (0..numeric.len())
        .map(|column| rows.iter().map(|row| row[column].width()).max().unwrap_or(0))
        .collect();
    loop {
        let all: usize = widths.iter().map(|width| width + 2).sum();
        let widest = (0..widths.len())
            .filter(|column| !numeric[*column])
            .max_by_key(|column| widths[*column]);
        match widest {
            Some(column) if all > screen && widths[column] > LEAST => {
                // Not below the next one, so that two long columns share the loss.
                let next = (0..widths.len())
                    .filter(|other| *other != column && !numeric[*other])
                    .map(|other| widths[other])
                    .max();
                let floor = next
                    .filter(|next| *next < widths[column])
                    .unwrap_or(widths[column] - 1)
                    .max(LEAST);
                widths[column] -= (all - screen).min(widths[column] - floor).max(1);
            }
            _ => return widths,
        }
    }
}

fn fitted(cell: &str, width: usize, numeric: bool) -> String {
    let cell = cut(cell, width);
    let blanks = " ".repeat(width.saturating_sub(cell.width()));
    if numeric { blanks + &cell } else { cell + &blanks }
}

/// The text in at most so many places; what is cut off is marked by `…`.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut cut = String::new();
    for grapheme in text.graphemes(true) {
        if cut.width() + grapheme.width() + 1 > width {
            break;
        }
        cut.push_str(grapheme);
    }
    cut.truncate(cut.trim_end().len());
    cut + "…"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(width: usize, rows: &[[&str; 3]]) -> String {
        let rows: Vec<[String; 3]> = rows.iter().map(|row| row.map(str::to_owned)).collect();
        table_on(Screen { width, style: Style::Plain }, &rows)
    }

    #[test]
    fn columns_line_up_whatever_is_in_them() {
        let table = on(
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
    fn the_widest_text_is_cut_and_numbers_never_are() {
        let long = "a memory that says rather a lot, and then goes on for a while";
        let table = on(40, &[["SCORE", "TYPE", "MEMORY"], ["0.912345", "procedural", long]]);
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
                    let table = on(width, &[["HEAD", "MIDDLE", "LAST"], [a, b, a], [b, a, b]]);
                    assert!(table.lines().all(|line| line.width() <= width), "{width}:\n{table}");
                }
            }
        }
    }

    #[test]
    fn a_cut_never_splits_what_belongs_together() {
        assert_eq!(cut("e\u{301}e\u{301}e\u{301}", 2), "e\u{301}…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("short", 5), "short");
    }
}
