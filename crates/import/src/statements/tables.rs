//! Rows of tables, of Markdown and of HTML, with the names of their columns.

use super::inline::{Events, end_of, faithful, letters};
use super::{Columns, Splitter};
use crate::markup::{CELL_END, FILLER, HEAD_END, TABLE_END};
use pulldown_cmark::{Event, Tag};
use std::ops::Range;

impl Splitter<'_> {
    /// Adds each row with the names of its columns. A row with more cells than columns is taken as it is written.
    pub(super) fn table(&mut self, inner: Events<'_, '_>) {
        let intro = self.intro.take();
        let (mut names, mut used) = (Vec::new(), Vec::new());
        let (mut head, mut at) = (0..0, 0);
        while at < inner.len() {
            let (end, range) = (end_of(inner, at), &inner[at].1);
            let cells = cells_of(self.source, &inner[at + 1..end.max(at + 1)]);
            match inner[at].0 {
                Event::Start(Tag::TableHead) => {
                    used = vec![false; cells.len()];
                    (names, head) = (cells, range.clone());
                }
                Event::Start(Tag::TableRow) => {
                    let written = self.source[range.clone()].trim();
                    let row = named(written, &names, cells, &mut used);
                    let text =
                        intro.as_ref().map_or(row.clone(), |(intro, _)| format!("{intro}: {row}"));
                    self.push(&text, false, range);
                }
                _ => {}
            }
            at = end + 1;
        }
        if !used.contains(&true) {
            self.intro = intro;
            self.flush_intro();
        }
        self.close_columns(&names, &used, &head);
        self.can_extend = false;
    }

    /// Reads a paragraph that was a row of an HTML table; false if it was none.
    pub(super) fn html_row(&mut self, text: &str, range: &Range<usize>) -> bool {
        let (is_head, is_row) = (text.contains(HEAD_END), text.contains(CELL_END));
        if !is_head && !is_row {
            self.close_html_table();
            return text.contains(TABLE_END);
        }
        let cells =
            text.trim_end().trim_end_matches([HEAD_END, CELL_END]).split([HEAD_END, CELL_END]);
        let cells: Vec<String> =
            cells.map(|cell| cell.replace(FILLER, "").trim().to_owned()).collect();
        if is_row {
            let Columns { names, used, .. } = &mut self.columns;
            let row = if names.is_empty() { cells.join("; ") } else { joined(names, &cells, used) };
            self.push(&row, false, range);
        } else {
            self.close_html_table();
            let used = vec![false; cells.len()];
            self.columns = Columns { names: cells, used, head: range.clone() };
        }
        self.can_extend = false;
        true
    }

    /// Ends a table of HTML.
    pub(super) fn close_html_table(&mut self) {
        let Columns { names, used, head } = std::mem::take(&mut self.columns);
        self.close_columns(&names, &used, &head);
    }

    /// Notes the columns without a value; all of them are a statement.
    fn close_columns(&mut self, names: &[String], used: &[bool], head: &Range<usize>) {
        if !used.contains(&true) {
            self.push(&names.join("; "), false, head);
        } else if names.iter().zip(used).any(|(name, used)| !name.is_empty() && !used) {
            self.leave_out(head, "a column without a value");
        }
    }
}

/// Joins the cells of a row with the names of their columns, which are noted as used.
fn joined(names: &[String], cells: &[String], used: &mut [bool]) -> String {
    let mut found = Vec::new();
    for (column, cell) in cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
        match names.get(column).filter(|name| !name.is_empty()) {
            Some(name) => found.push(format!("{name}: {cell}")),
            None => found.push(cell.clone()),
        }
        if let Some(used) = used.get_mut(column) {
            *used = true;
        }
    }
    found.join("; ")
}

/// Returns the cells of a row.
fn cells_of(source: &str, row: Events<'_, '_>) -> Vec<String> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < row.len() {
        let end = end_of(row, at);
        if matches!(row[at].0, Event::Start(Tag::TableCell)) {
            found.push(faithful(source, &row[at + 1..end]));
        }
        at = end + 1;
    }
    found
}

/// Returns the cells of a row with the names of their columns, which are noted as used. A row with more cells than columns stays as it is
/// written.
fn named(written: &str, names: &[String], mut cells: Vec<String>, used: &mut [bool]) -> String {
    let is_cut = |cell: &String| cell.matches('`').count() % 2 == 1;
    if cells.iter().any(is_cut) || letters(&cells.concat()) != letters(written) {
        cells = cells_outside_code(written);
    }
    if cells.len() > names.len() {
        return written.trim_matches('|').trim().to_owned();
    }
    joined(names, &cells, used)
}

/// Splits a row at each `|` that is neither escaped nor in code. In code, `|` is part of the text.
fn cells_outside_code(row: &str) -> Vec<String> {
    let row = row.strip_prefix('|').unwrap_or(row);
    let row = row.strip_suffix('|').unwrap_or(row);
    let (mut cells, mut is_code, mut is_escaped) = (vec![String::new()], false, false);
    for c in row.chars() {
        is_code ^= c == '`';
        if c == '|' && !is_code && !is_escaped {
            cells.push(String::new());
        } else if let Some(cell) = cells.last_mut() {
            cell.push(c);
        }
        is_escaped = c == '\\' && !is_escaped;
    }
    cells.iter().map(|cell| cell.trim().to_owned()).collect()
}
