//! Splits Markdown into single statements: one for each paragraph, list item and row of a table,
//! with the headings above it. Pure.
//!
//! A numbered list and a code block stay whole, with the sentence that introduces them, because
//! their order matters. Comments, images alone and lines that only point to a file are left out.

use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;

/// A list item up to this size keeps its nested list, in bytes.
const WHOLE_ITEM_BYTES: usize = 600;
/// A numbered list up to this size stays whole, in bytes.
const WHOLE_LIST_BYTES: usize = 4000;
/// A longer paragraph is split at the ends of sentences, in bytes.
const PARAGRAPH_BYTES: usize = 1200;
/// Deeper lists and quotes stay whole: nobody writes them, and each level costs stack and time.
const MAX_DEPTH: usize = 12;

/// Code blocks that only ask a program for a list of other notes.
const QUERY_LANGUAGES: [&str; 4] = ["dataview", "dataviewjs", "query", "tasks"];
/// The boxes of a list of tasks, and what they mean.
const TASKS: [(&str, &str); 3] = [("[ ] ", "To do: "), ("[x] ", "Done: "), ("[X] ", "Done: ")];

/// One statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Statement {
    /// The headings above it, outermost first, joined by ` > `.
    pub place: String,
    /// Its text.
    pub text: String,
    /// It is a sequence of steps, or a command.
    pub is_procedure: bool,
    /// Its bytes in the text that was split; without what introduces it, if that is about others too.
    pub bytes: Range<usize>,
}

impl Statement {
    /// Returns the text of the memory: without its headings a statement is often not understood.
    pub fn content(&self) -> String {
        if self.place.is_empty() {
            self.text.clone()
        } else {
            format!("{}: {}", self.place, self.text)
        }
    }
}

/// Splits a text. A heading that is one of `titles` (in lower case) says nothing and is left out.
pub(crate) fn split(text: &str, titles: &[&str]) -> Vec<Statement> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS | Options::ENABLE_FOOTNOTES;
    let events: Vec<(Event<'_>, Range<usize>)> =
        Parser::new_ext(text, options).into_offset_iter().collect();
    let mut splitter = Splitter {
        source: text,
        titles,
        headings: Vec::new(),
        intro: None,
        can_extend: false,
        depth: 0,
        found: Vec::new(),
    };
    splitter.blocks(&events);
    splitter.flush_intro();
    splitter.found
}

type Events<'e, 'a> = &'e [(Event<'a>, Range<usize>)];

struct Splitter<'a> {
    source: &'a str,
    titles: &'a [&'a str],
    headings: Vec<(HeadingLevel, String)>,
    /// A sentence that introduces the next block, and its bytes.
    intro: Option<(String, Range<usize>)>,
    /// The last statement is a paragraph just above, to which a code block belongs.
    can_extend: bool,
    /// The number of lists and quotes around the block.
    depth: usize,
    found: Vec<Statement>,
}

impl Splitter<'_> {
    /// Visits each block of a sequence of events.
    fn blocks(&mut self, events: Events<'_, '_>) {
        let mut at = 0;
        while at < events.len() {
            let end = end_of(events, at);
            if let (Event::Start(tag), range) = &events[at] {
                self.block(tag, range, &events[at + 1..end]);
            }
            at = end + 1;
        }
    }

    fn block(&mut self, tag: &Tag<'_>, range: &Range<usize>, inner: Events<'_, '_>) {
        match tag {
            Tag::Heading { level, .. } => self.heading(*level, inner),
            Tag::Paragraph => self.paragraph(range),
            Tag::List(first) => self.list(first.is_some(), range, inner),
            Tag::CodeBlock(CodeBlockKind::Fenced(language))
                if QUERY_LANGUAGES.contains(&language.trim()) =>
            {
                self.can_extend = false;
            }
            Tag::CodeBlock(_) => self.code(range),
            Tag::Table(_) => self.table(inner),
            Tag::BlockQuote(_) | Tag::FootnoteDefinition(_) => {
                self.nested(range, inner);
                self.can_extend = false;
            }
            // Comments and other HTML say nothing to a reader.
            _ => self.can_extend = false,
        }
    }

    /// Visits the blocks of a list item or a quote.
    fn nested(&mut self, range: &Range<usize>, inner: Events<'_, '_>) {
        if self.depth == MAX_DEPTH {
            self.paragraph(range);
            return;
        }
        self.depth += 1;
        self.blocks(inner);
        self.depth -= 1;
    }

    fn heading(&mut self, level: HeadingLevel, inner: Events<'_, '_>) {
        self.flush_intro();
        self.can_extend = false;
        self.headings.retain(|(above, _)| *above < level);
        let title = plain_text(inner);
        if !title.is_empty() && !self.titles.contains(&title.to_lowercase().as_str()) {
            self.headings.push((level, title));
        }
    }

    fn paragraph(&mut self, range: &Range<usize>) {
        self.flush_intro();
        let text = self.source[range.clone()].trim();
        if text.ends_with(':') {
            self.intro = Some((text.trim_end_matches(':').trim_end().to_owned(), range.clone()));
            self.can_extend = false;
            return;
        }
        let source = self.source;
        let mut at =
            range.start + (source[range.clone()].len() - source[range.clone()].trim_start().len());
        for part in parts(text) {
            let end = at + part.len();
            self.push(&part, false, &(at..end));
            at = end;
        }
        self.can_extend = true;
    }

    fn code(&mut self, range: &Range<usize>) {
        let text = self.source[range.clone()].trim_end();
        if let Some((intro, above)) = self.intro.take() {
            self.push(&format!("{intro}:\n{text}"), true, &(above.start..range.end));
        } else if self.can_extend
            && let Some(last) = self.found.last_mut()
        {
            last.text = format!("{}\n{text}", last.text);
            last.is_procedure = true;
            last.bytes.end = range.start + text.len();
        } else {
            self.push(text, true, range);
        }
        self.can_extend = false;
    }

    fn list(&mut self, is_ordered: bool, range: &Range<usize>, inner: Events<'_, '_>) {
        let whole = self.source[range.clone()].trim_end();
        let intro = self.intro.take();
        self.can_extend = false;
        if is_ordered && whole.len() <= WHOLE_LIST_BYTES {
            let (text, start) = match intro {
                Some((intro, above)) => (format!("{intro}:\n{whole}"), above.start),
                None => (whole.to_owned(), range.start),
            };
            return self.push(&text, true, &(start..range.end));
        }
        let mut at = 0;
        while at < inner.len() {
            let end = end_of(inner, at);
            if matches!(inner[at].0, Event::Start(Tag::Item)) {
                self.item(
                    intro.as_ref().map(|(text, _)| text.as_str()),
                    &inner[at].1,
                    &inner[at + 1..end],
                );
            }
            at = end + 1;
        }
    }

    fn item(&mut self, intro: Option<&str>, range: &Range<usize>, inner: Events<'_, '_>) {
        let introduced = |text: String| match intro {
            Some(intro) => format!("{intro}: {text}"),
            None => text,
        };
        let text = item_text(&self.source[range.clone()]);
        let nested =
            inner.iter().position(|(event, _)| matches!(event, Event::Start(Tag::List(_))));
        match nested {
            Some(at) if text.len() > WHOLE_ITEM_BYTES => {
                let head = item_text(&self.source[range.start..inner[at].1.start]);
                let head_bytes = range.start..inner[at].1.start;
                self.intro = Some((introduced(head.trim_end_matches(':').to_owned()), head_bytes));
                self.nested(&(inner[at].1.start..range.end), &inner[at..]);
                self.intro = None;
            }
            _ => {
                let is_procedure =
                    inner.iter().any(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_))));
                self.push(&introduced(text), is_procedure, range);
            }
        }
    }

    /// Adds each row with the names of its columns.
    fn table(&mut self, inner: Events<'_, '_>) {
        let intro = self.intro.take();
        let (mut names, mut at) = (Vec::new(), 0);
        while at < inner.len() {
            let end = end_of(inner, at);
            let cells = cells(&inner[at + 1..end.max(at + 1)]);
            match inner[at].0 {
                Event::Start(Tag::TableHead) => names = cells,
                Event::Start(Tag::TableRow) => {
                    let filled = cells.iter().enumerate().filter(|(_, cell)| !cell.is_empty()).map(
                        |(column, cell)| match names.get(column).filter(|name| !name.is_empty()) {
                            Some(name) => format!("{name}: {cell}"),
                            None => cell.clone(),
                        },
                    );
                    let row = filled.collect::<Vec<_>>().join("; ");
                    let text =
                        intro.as_ref().map_or(row.clone(), |(intro, _)| format!("{intro}: {row}"));
                    self.push(&text, false, &inner[at].1);
                }
                _ => {}
            }
            at = end + 1;
        }
        self.can_extend = false;
    }

    fn flush_intro(&mut self) {
        if let Some((intro, bytes)) = self.intro.take() {
            self.push(&intro, false, &bytes);
        }
    }

    fn push(&mut self, text: &str, is_procedure: bool, range: &Range<usize>) {
        let text = text.trim();
        if !text.chars().any(char::is_alphanumeric) || is_image(text) {
            return;
        }
        let titles: Vec<&str> = self.headings.iter().map(|(_, title)| title.as_str()).collect();
        let (place, text) = (titles.join(" > "), text.to_owned());
        let bytes = range.start..range.start + self.source[range.clone()].trim_end().len();
        self.found.push(Statement { place, text, is_procedure, bytes });
    }
}

/// Returns the index of the event that ends the element at `at`; `at` itself for any other event.
fn end_of(events: Events<'_, '_>, at: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, (event, _)) in events[at..].iter().enumerate() {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + offset;
        }
    }
    events.len() - 1
}

/// Returns the text of the inline elements of a block.
fn plain_text(events: Events<'_, '_>) -> String {
    let mut text = String::new();
    for (event, _) in events {
        match event {
            Event::Text(part) | Event::Code(part) => text.push_str(part),
            Event::SoftBreak | Event::HardBreak => text.push(' '),
            _ => {}
        }
    }
    text.trim().to_owned()
}

fn cells(row: Events<'_, '_>) -> Vec<String> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < row.len() {
        let end = end_of(row, at);
        if matches!(row[at].0, Event::Start(Tag::TableCell)) {
            found.push(plain_text(&row[at + 1..end]));
        }
        at = end + 1;
    }
    found
}

/// Returns the text of a list item without its marker and the indentation of its other lines.
fn item_text(source: &str) -> String {
    let source = source.trim_end();
    let marker = source.len()
        - source
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .trim_start_matches(['-', '*', '+', '.', ')'])
            .trim_start_matches(' ')
            .len();
    let first = source.get(marker..).unwrap_or_default();
    let mut lines = first.lines();
    let first = lines.next().unwrap_or_default();
    let task = TASKS.iter().find_map(|(mark, state)| Some((state, first.strip_prefix(mark)?)));
    let mut text = task.map_or(first.to_owned(), |(state, rest)| format!("{state}{rest}"));
    for line in lines {
        let indent = line.len() - line.trim_start_matches(' ').len();
        text.push('\n');
        text.push_str(&line[indent.min(marker)..]);
    }
    text.trim().to_owned()
}

/// Splits a long paragraph at the ends of sentences.
fn parts(text: &str) -> Vec<String> {
    if text.len() <= PARAGRAPH_BYTES {
        return vec![text.to_owned()];
    }
    let mut parts: Vec<String> = Vec::new();
    for sentence in text.split_sentence_bounds() {
        match parts.last_mut() {
            Some(part) if part.len() + sentence.len() <= PARAGRAPH_BYTES => part.push_str(sentence),
            _ => parts.push(sentence.to_owned()),
        }
    }
    parts
}

/// Returns whether a text is only images, in the form of Markdown or of Obsidian.
fn is_image(text: &str) -> bool {
    let mut rest = text.trim();
    while !rest.is_empty() {
        let wiki = rest.strip_prefix("![[").and_then(|inner| inner.split_once("]]"));
        let plain = rest.strip_prefix("![").and_then(|inner| inner.split_once("]("));
        let plain = plain.and_then(|(_, target)| target.split_once(')'));
        let Some((_, after)) = wiki.or(plain) else { return false };
        rest = after.trim_start();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(text: &str) -> Vec<String> {
        split(text, &["claude.md"]).iter().map(Statement::content).collect()
    }

    #[test]
    fn each_statement_has_the_headings_above_it() {
        let text = "# CLAUDE.md\n\nThe shop sells pots.\n\n## Build\n\n- Use `just build`\n- Never commit\n  generated files\n\n### Tests\n\n* [ ] Run them twice\n\n## Style\n\nTabs, not spaces.\n";
        assert_eq!(
            contents(text),
            [
                "The shop sells pots.",
                "Build: Use `just build`",
                "Build: Never commit\ngenerated files",
                "Build > Tests: To do: Run them twice",
                "Style: Tabs, not spaces."
            ]
        );
    }

    #[test]
    fn steps_and_code_stay_whole_with_their_introduction() {
        let text = "To deploy:\n\n1. Push the tag\n2. Wait\n\nRun the server.\n\n```sh\njust serve\n```\n\nPrefer:\n\n- tabs\n- short names\n";
        let found = split(text, &[]);
        assert_eq!(found[0].text, "To deploy:\n1. Push the tag\n2. Wait");
        assert_eq!(found[1].text, "Run the server.\n```sh\njust serve\n```");
        assert!(found[0].is_procedure && found[1].is_procedure);
        assert_eq!(found[2].text, "Prefer: tabs");
        assert_eq!(found[3].text, "Prefer: short names");
        assert!(!found[2].is_procedure);
    }

    #[test]
    fn rows_name_their_columns_and_comments_are_left_out() {
        let text = "<!-- a comment -->\n\n| host | port |\n|---|---|\n| heron | 80 |\n| egret | |\n\n![logo](a.png)\n";
        assert_eq!(contents(text), ["host: heron; port: 80", "host: egret"]);
    }

    #[test]
    fn tasks_keep_their_state_and_embeds_and_queries_are_left_out() {
        let text = "- [ ] order the door\n- [x] pour the slab\n\n> Warm wood floats\n\n```dataview\nLIST\n```\n\n![[boat.jpg]]\n\n![a](a.png) ![[b.png]]\n\nA picture ![c](c.png)\n";
        assert_eq!(
            contents(text),
            [
                "To do: order the door",
                "Done: pour the slab",
                "Warm wood floats",
                "A picture ![c](c.png)"
            ]
        );
        assert!(split(text, &[]).iter().all(|statement| !statement.is_procedure));
    }

    #[test]
    fn a_long_item_is_split_into_its_nested_items() {
        let long = "word ".repeat(130);
        let text = format!("- Servers:\n  - heron {long}\n  - egret\n");
        let found = contents(&text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].starts_with("Servers: heron word") && found[1] == "Servers: egret");
        let short = contents("- Servers:\n  - heron\n  - egret\n");
        assert_eq!(short, ["Servers:\n- heron\n- egret"]);
    }

    #[test]
    fn a_long_paragraph_is_split_at_sentences() {
        let text = "This sentence is one of many in a long paragraph. ".repeat(60);
        let found = contents(&text);
        assert!(found.len() > 2 && found.iter().all(|part| part.len() <= PARAGRAPH_BYTES));
        assert!(found.iter().all(|part| part.ends_with('.')));
    }

    #[test]
    fn texts_without_structure_and_hostile_ones_are_read() {
        assert!(contents("").is_empty() && contents("\n\n---\n\n***\n").is_empty());
        for text in [
            "# ",
            "- ",
            "-",
            "1.",
            "- \n  - \n    - x",
            "> > > x",
            "|a|\n|-|",
            "```\n",
            "[x",
            "- ー日本\n 語",
        ] {
            let _ = contents(text);
        }
        assert_eq!(contents("> quoted"), ["quoted"]);
    }
}
