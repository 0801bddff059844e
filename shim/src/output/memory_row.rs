//! The one way in which a memory is printed as a row: id, type, day, project, perhaps a bar, and its text wrapped at words. Wide terminals get
//! columns; others one line of details with the text below it. A pipe gets the same without colours, with numbers instead of bars.
//!
//! A command makes a [`MemoryRow`] of each memory, for most from a [`ListedMemory`], and prints them with [`Rows`].

use crate::output::escape::{escape_line, escape_lines};
use crate::output::local_time;
use crate::output::marked_text::MarkedText;
use crate::output::passage::{Terms, passage};
use crate::output::style::Ink;
use crate::output::table::{Screen, fit};
use crate::output::wrap::collapse_spaces;
use loci_proto::memory::MemoryType;
use loci_proto::requests::list::ListedMemory;
use unicode_width::UnicodeWidthStr;

/// From this width on, rows are columns.
const MIN_WIDTH_OF_COLUMNS: usize = 110;
/// Width of a project's name, by layout.
const MAX_PROJECT: usize = 24;
/// Number of characters of an id that a row shows. Ids of the same time begin alike, so it is the end.
const ID_CHARS: usize = 8;
/// Width of a bar.
pub const BAR_WIDTH: usize = 6;

/// A memory as rows show it.
#[derive(Debug, Clone, Default)]
pub struct MemoryRow {
    /// Its id.
    pub id: String,
    /// Its type.
    pub kind: Option<MemoryType>,
    /// When it was stored, RFC 3339.
    pub at: Option<String>,
    /// Display name of its project.
    pub project: Option<String>,
    /// A number from 0 to 1, shown as a bar.
    pub share: Option<f64>,
    /// What is special about it, for example `pinned`.
    pub marks: Vec<String>,
    /// Its text, or the beginning of it.
    pub text: String,
    /// Lines below the text, escaped already.
    pub below: Vec<String>,
}

impl From<&ListedMemory> for MemoryRow {
    fn from(memory: &ListedMemory) -> Self {
        let mut marks = Vec::new();
        if memory.status != "active" {
            marks.push(memory.status.clone());
        }
        marks.extend(memory.category.clone());
        if memory.pinned {
            marks.push("pinned".to_owned());
        }
        marks.extend(memory.unasked.as_ref().map(|said| format!("unasked: {said}")));
        if !memory.provenance.flags.is_empty() {
            marks.push(format!("flags: {}", memory.provenance.flags.join(", ")));
        }
        match (&memory.event_date, &memory.event_date_derived) {
            (Some(given), _) => marks.push(format!("day {given}")),
            (None, Some(derived)) => marks.push(format!("day {derived}*")),
            (None, None) => {}
        }
        match (&memory.valid_from, &memory.valid_to) {
            (Some(from), Some(to)) => marks.push(format!("valid {from} to {to}")),
            (Some(from), None) => marks.push(format!("valid from {from}")),
            (None, Some(to)) => marks.push(format!("valid to {to}")),
            (None, None) => {}
        }
        Self {
            id: memory.id.to_string(),
            kind: Some(memory.kind),
            at: Some(memory.created_at.clone()),
            project: memory.group.clone(),
            share: None,
            marks,
            text: memory.content.clone().unwrap_or_else(|| memory.preview.clone()),
            below: Vec::new(),
        }
    }
}

impl MemoryRow {
    /// Returns whether a mark is a day that comes from the text, which [`DERIVED_DAY`] explains.
    #[must_use]
    pub fn has_derived_day(&self) -> bool {
        self.marks.iter().any(|mark| mark.starts_with("day ") && mark.ends_with('*'))
    }
}

/// What the asterisk of a day means; printed below rows that have one.
pub const DERIVED_DAY: &str = "* day that the text names";

/// How much of each text is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The passage that fits this many lines.
    Lines(usize),
    /// Everything, with its line breaks.
    Whole,
}

/// Prints memories as rows.
#[derive(Debug, Clone)]
pub struct Rows {
    /// Where they are printed.
    pub screen: Screen,
    /// The searched words; they choose the passage, and are bold.
    pub terms: Terms,
    /// Heading of the bar.
    pub meter: &'static str,
    /// Numbers instead of bars.
    pub numbers: bool,
    /// How much of each text is shown.
    pub extent: Extent,
}

/// The widths of the columns before the text.
struct Widths {
    kind: usize,
    project: usize,
    meter: usize,
}

impl Widths {
    /// Returns the width of all columns with the spaces before and between them.
    fn total(&self) -> usize {
        let columns = [ID_CHARS, self.kind, "2026-11-22".len(), self.project, self.meter];
        columns.iter().filter(|width| **width > 0).map(|width| width + 2).sum()
    }
}

impl Rows {
    /// Returns rows of two lines of text, without searched words.
    #[must_use]
    pub fn new(screen: Screen) -> Self {
        Self {
            screen,
            terms: Terms::default(),
            meter: "",
            numbers: !screen.is_terminal,
            extent: Extent::Lines(2),
        }
    }

    /// Returns the rows as text, with headings.
    #[must_use]
    pub fn text(&self, rows: &[MemoryRow]) -> String {
        if rows.is_empty() {
            return String::new();
        }
        let widths = self.widths(rows);
        let is_wide = self.screen.width >= MIN_WIDTH_OF_COLUMNS;
        let mut text = String::new();
        let mut heading = Self::details(&widths, ["ID", "TYPE", "DATE", "PROJECT", self.meter]);
        if is_wide {
            heading.push_str("MEMORY");
        }
        text.push_str(&self.screen.style.bold(heading.trim_end()));
        text.push('\n');
        let indent = if is_wide { heading.width() - "MEMORY".len() } else { 4 };
        for row in rows {
            let lines = self.lines(row, self.screen.width - indent);
            let details = self.painted_details(&widths, row);
            if is_wide {
                let (first, rest) = lines.split_first().map_or(("", &[][..]), |(f, r)| (f, r));
                text.push_str(format!("{details}{first}").trim_end());
                text.push('\n');
                push_indented(&mut text, indent, rest);
            } else {
                text.push_str(details.trim_end());
                text.push('\n');
                push_indented(&mut text, indent, &lines);
            }
        }
        text
    }

    fn widths(&self, rows: &[MemoryRow]) -> Widths {
        let widest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or_default();
        let kind = widest(&mut rows.iter().filter_map(|row| row.kind).map(|k| k.as_str().len()));
        let project = widest(&mut rows.iter().map(|row| project_name(row).width()));
        let has_meter = rows.iter().any(|row| row.share.is_some());
        let mut widths = Widths {
            kind: if kind == 0 { 0 } else { kind.max("TYPE".len()) },
            project: project.max("PROJECT".len()).min(MAX_PROJECT.min(self.screen.width / 4)),
            meter: if has_meter { BAR_WIDTH.max(self.meter.len()) } else { 0 },
        };
        // In a very narrow terminal the bar goes first, then the project is cut.
        if widths.total() > self.screen.width {
            widths.meter = 0;
        }
        let excess = widths.total().saturating_sub(self.screen.width);
        widths.project = widths.project.saturating_sub(excess);
        widths
    }

    /// Returns the cells before the text, padded.
    fn details(widths: &Widths, cells: [&str; 5]) -> String {
        let columns = [ID_CHARS, widths.kind, "2026-11-22".len(), widths.project, widths.meter];
        cells
            .iter()
            .zip(columns)
            .filter(|(_, width)| *width > 0)
            .fold("  ".to_owned(), |line, (cell, width)| line + &fit(cell, width, false) + "  ")
    }

    fn painted_details(&self, widths: &Widths, row: &MemoryRow) -> String {
        let style = self.screen.style;
        let kind = row.kind.map_or("-", MemoryType::as_str);
        let day = row.at.as_deref().map_or_else(|| "-".to_owned(), local_time::date);
        let cells = [
            (short_id(&row.id), ID_CHARS, Some(Ink::Dim)),
            (kind.to_owned(), widths.kind, row.kind.map(Ink::Type)),
            (day, "2026-11-22".len(), Some(Ink::Dim)),
            (project_name(row), widths.project, None),
            (self.meter_cell(row.share), widths.meter, Some(Ink::Green)),
        ];
        cells.into_iter().filter(|(_, width, _)| *width > 0).fold(
            "  ".to_owned(),
            |line, (cell, width, ink)| {
                let cell = fit(&cell, width, false);
                line + &ink.map_or_else(|| cell.clone(), |ink| style.paint(ink, &cell)) + "  "
            },
        )
    }

    fn meter_cell(&self, share: Option<f64>) -> String {
        match share {
            None => "-".to_owned(),
            Some(share) if self.numbers => format!("{share:.2}"),
            Some(share) => bar(share, BAR_WIDTH),
        }
    }

    /// Returns the lines of the text, painted.
    fn lines(&self, row: &MemoryRow, width: usize) -> Vec<String> {
        let marks: Vec<String> = row.marks.iter().map(|mark| escape_line(mark)).collect();
        let marks =
            if marks.is_empty() { String::new() } else { format!("({}) ", marks.join(", ")) };
        let shown = match self.extent {
            Extent::Whole => escape_lines(row.text.trim_end()).replace('\t', "    "),
            Extent::Lines(lines) => {
                // Lines break at words, so a few columns of each stay free.
                let room = (width * lines).saturating_sub(marks.width() + (lines - 1) * 8);
                row_passage(&row.text, &self.terms, room.max(width / 2))
            }
        };
        let mut text = MarkedText::new(marks.clone() + &shown);
        text.mark(0..marks.len(), Ink::Yellow);
        for range in self.terms.ranges(&shown) {
            text.mark(range.start + marks.len()..range.end + marks.len(), Ink::Bold);
        }
        let mut lines = text.lines(width, self.screen);
        if let Extent::Lines(limit) = self.extent
            && lines.len() > limit
        {
            lines.truncate(limit);
        }
        lines.extend(
            row.below
                .iter()
                .flat_map(|below| MarkedText::new(below.clone()).lines(width, self.screen)),
        );
        lines
    }
}

fn push_indented(text: &mut String, indent: usize, lines: &[String]) {
    for line in lines {
        text.push_str(format!("{}{line}", " ".repeat(indent)).trim_end());
        text.push('\n');
    }
}

fn project_name(row: &MemoryRow) -> String {
    row.project.as_deref().map_or_else(|| "-".to_owned(), escape_line)
}

/// Returns the passage of a text that a row of one line shows, without line breaks and control characters.
#[must_use]
pub fn row_passage(text: &str, terms: &Terms, width: usize) -> String {
    passage(&escape_line(&collapse_spaces(text)), terms, width)
}

/// Returns the end of an id.
#[must_use]
pub fn short_id(id: &str) -> String {
    let start = id.len().saturating_sub(ID_CHARS);
    escape_line(id.get(start..).unwrap_or(id))
}

/// Returns a bar for a number from 0 to 1; at least its thinnest form if the number is above 0.
#[must_use]
pub fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let total = (share.clamp(0.0, 1.0) * width as f64 * 8.0).ceil();
    let (mut bar, mut left) = (String::new(), total);
    while left >= 8.0 {
        bar.push('█');
        left -= 8.0;
    }
    let part = EIGHTHS.iter().enumerate().rfind(|(eighths, _)| *eighths as f64 <= left);
    bar + part.map_or("", |(_, part)| part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, text: &str) -> MemoryRow {
        MemoryRow {
            id: id.to_owned(),
            kind: Some(MemoryType::Semantic),
            at: Some("2026-11-22".to_owned()),
            project: Some("shop".to_owned()),
            share: Some(0.5),
            marks: Vec::new(),
            text: text.to_owned(),
            below: Vec::new(),
        }
    }

    #[test]
    fn a_narrow_row_has_its_text_below_and_a_wide_one_beside() {
        let text = "The staging server of the shop is called heron, and whoever looks for it finds it in the second rack, behind the printer that nobody uses any more";
        let rows = |width| Rows { meter: "FIT", ..Rows::new(Screen::plain(width)) };
        let narrow = rows(80).text(&[row("01234567-90123456", text)]);
        assert_eq!(
            narrow,
            "  ID        TYPE      DATE        PROJECT  FIT\n  90123456  semantic  2026-11-22  shop     0.50\n    The staging server of the shop is called heron, and whoever looks for it\n    finds it in the second rack, behind the printer that nobody uses any …\n"
        );
        let wide = rows(140).text(&[row("01234567-90123456", text)]);
        assert_eq!(wide.lines().count(), 3, "{wide}");
        assert!(
            wide.lines().nth(1).is_some_and(|line| line.contains("0.50    The staging")),
            "{wide}"
        );
    }

    #[test]
    fn no_line_is_wider_than_the_screen_for_any_script() {
        let texts = [
            "日本語のメモは長いので切らなければならない。そしてまだ続く。".repeat(3),
            "👩‍👧 ".repeat(60),
            "word ".repeat(60),
            "x".repeat(300),
        ];
        for width in 40..150 {
            for extent in [Extent::Lines(2), Extent::Whole] {
                let rows = Rows { extent, ..Rows::new(Screen::plain(width)) };
                for text in &texts {
                    let mut row = row("01234567-90123456", text);
                    row.marks.push("day 2026-01-01*".to_owned());
                    let printed = rows.text(&[row]);
                    assert!(
                        printed.lines().all(|line| line.width() <= width),
                        "{width}:\n{printed}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_bar_grows_with_its_number() {
        assert_eq!(["", "▏", "███", "██████"], [0.0, 0.001, 0.5, 1.0].map(|share| bar(share, 6)));
    }
}
