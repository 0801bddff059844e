//! Splits Markdown into single statements: one for each paragraph, list item and row of a table,
//! with the headings above it. Pure.
//!
//! A numbered list and a code block stay whole, with the sentence that introduces them, because
//! their order matters. A heading without a body is a statement. Texts are taken as they are written,
//! so that no address and no sign is lost; what is no statement is returned as left out.

mod inline;
mod tables;
#[cfg(test)]
mod tests;

use crate::markup::{self, FILLER, LeftOut, OPTIONS, Plain};
use inline::{Addresses, Events, end_of, faithful, is_image, is_json, item_text, parts, unquoted};
pub(crate) use inline::{data, letters, without_blanks};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Parser, Tag};
use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

/// A list item up to this size keeps its nested list, in bytes.
const WHOLE_ITEM_BYTES: usize = 600;
/// A numbered list up to this size stays whole, in bytes.
const WHOLE_LIST_BYTES: usize = 4000;
/// How much the footnotes and addresses that are added to statements may come to, at least, in bytes.
const ADDED_BYTES: usize = 1 << 20;
/// Deeper lists and quotes stay whole: nobody writes them, and each level costs stack and time.
const MAX_DEPTH: usize = 12;

/// Code blocks that only ask a program for a list of other notes.
const QUERY_LANGUAGES: [&str; 4] = ["dataview", "dataviewjs", "query", "tasks"];
/// A heading that only repeats what the file is.
pub(crate) const TITLE: &str = "a title that says nothing";
/// A heading that is above nothing else.
pub(crate) const HEADING: &str = "a heading of what is left out";

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

/// What a text states, and what of it is no statement.
#[derive(Debug, Default)]
pub(crate) struct Split {
    pub statements: Vec<Statement>,
    /// In order.
    pub left_out: Vec<LeftOut>,
}

/// Why a statement is left out.
pub(crate) type Filter<'a> = &'a dyn Fn(&Statement) -> Option<Cow<'static, str>>;

/// Splits a text from a byte on. A heading that is one of `titles` (in lower case) says nothing and is left out.
pub(crate) fn split(text: &str, from: usize, titles: &[&str]) -> Split {
    split_with(text, from, titles, &|_| None)
}

/// As [`split`], without the statements for which `filter` has a reason.
pub(crate) fn split_with(text: &str, from: usize, titles: &[&str], filter: Filter<'_>) -> Split {
    let plain = markup::plain(&text[from..]);
    let source = plain.text.as_str();
    let mut parser = Parser::new_ext(source, OPTIONS).into_offset_iter();
    let definitions: Vec<_> = parser
        .reference_definitions()
        .iter()
        .map(|(label, definition)| (label.to_lowercase(), definition.span.clone()))
        .collect();
    let events: Vec<(Event<'_>, Range<usize>)> = parser.by_ref().collect();
    let mut splitter = Splitter {
        source,
        plain: &plain,
        titles,
        filter,
        addresses: Addresses::new(definitions, &events, ADDED_BYTES.max(2 * source.len())),
        headings: Vec::new(),
        sections: Sections::default(),
        intro: None,
        can_extend: false,
        depth: 0,
        quotes: 0,
        columns: Columns::default(),
        split: Split::default(),
    };
    splitter.blocks(&events);
    splitter.flush_intro();
    splitter.close_html_table();
    splitter.close_headings(HeadingLevel::H1, source.len());
    splitter.finish(from)
}

/// A heading above the next blocks.
struct Heading {
    level: HeadingLevel,
    title: String,
    bytes: Range<usize>,
    /// Something is below it.
    has_body: bool,
    /// It is in the place of a statement.
    is_used: bool,
    /// Where the tag around it ends.
    end: usize,
}

/// The tags with a name around a place in the text.
#[derive(Default)]
struct Sections {
    next: usize,
    open: Vec<usize>,
    /// Those that are in the place of a statement.
    used: HashSet<usize>,
}

/// The columns of a table of HTML whose rows follow.
#[derive(Default)]
struct Columns {
    names: Vec<String>,
    used: Vec<bool>,
    head: Range<usize>,
}

struct Splitter<'a> {
    source: &'a str,
    plain: &'a Plain,
    titles: &'a [&'a str],
    filter: Filter<'a>,
    addresses: Addresses,
    headings: Vec<Heading>,
    sections: Sections,
    /// A sentence that introduces the next block, and its bytes.
    intro: Option<(String, Range<usize>)>,
    /// The last statement is a paragraph just above, to which a code block belongs.
    can_extend: bool,
    /// The number of lists and quotes around the block.
    depth: usize,
    /// The number of quotes among them.
    quotes: usize,
    columns: Columns,
    split: Split,
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
        if self.headings.iter().any(|heading| heading.end <= range.start) {
            self.flush_intro();
            self.close_sections(range.start);
        }
        if !matches!(tag, Tag::Paragraph) {
            self.close_html_table();
        }
        match tag {
            Tag::Heading { level, .. } => self.heading(*level, range, inner),
            Tag::List(first) => self.list(first.is_some(), range, inner),
            Tag::CodeBlock(CodeBlockKind::Fenced(language))
                if QUERY_LANGUAGES.contains(&language.trim()) =>
            {
                self.leave_out(range, "a query for other notes");
            }
            Tag::CodeBlock(CodeBlockKind::Fenced(language)) if language.contains("compressed") => {
                self.leave_out(range, "a drawing");
            }
            Tag::CodeBlock(_) => self.code(range),
            Tag::HtmlBlock if self.source[range.clone()].trim_start().starts_with("<pre") => {
                self.code(range);
            }
            Tag::Table(_) => self.table(inner),
            Tag::BlockQuote(_) => {
                self.quotes += 1;
                self.nested(range, inner);
                self.quotes -= 1;
                self.can_extend = false;
            }
            // It stands with the statement that refers to it.
            Tag::FootnoteDefinition(_) if self.addresses.is_added(range) => {}
            Tag::FootnoteDefinition(_) => {
                self.flush_intro();
                self.push(&self.source[range.clone()], false, range);
                self.can_extend = false;
            }
            _ => self.paragraph(range),
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

    fn heading(&mut self, level: HeadingLevel, range: &Range<usize>, inner: Events<'_, '_>) {
        self.flush_intro();
        self.can_extend = false;
        self.close_headings(level, range.start);
        let title = faithful(self.source, inner);
        if self.titles.contains(&title.to_lowercase().as_str()) {
            return self.leave_out(range, TITLE);
        }
        if title.is_empty() {
            return;
        }
        if let Some(above) = self.headings.last_mut() {
            above.has_body = true;
        }
        self.open_sections(range.start);
        let tags = self.sections.open.iter().map(|index| self.plain.sections[*index].bytes.end);
        let end = tags.min().unwrap_or(usize::MAX);
        self.headings.push(Heading {
            level,
            title,
            bytes: range.clone(),
            has_body: false,
            is_used: false,
            end,
        });
    }

    /// Ends the headings of a level and below, at a place.
    fn close_headings(&mut self, level: HeadingLevel, at: usize) {
        while let Some(last) = self.headings.pop_if(|last| last.level >= level) {
            self.close(&last, at);
        }
    }

    /// Ends the headings inside tags that end before a place.
    fn close_sections(&mut self, at: usize) {
        while self.headings.iter().any(|heading| heading.end <= at)
            && let Some(last) = self.headings.pop()
        {
            self.close(&last, at);
        }
    }

    /// Ends a heading. One without a body is a statement; one above nothing but what is left out is left out.
    fn close(&mut self, last: &Heading, at: usize) {
        if last.is_used {
            return;
        }
        let left_out = &self.plain.left_out;
        let next = left_out.partition_point(|part| part.bytes.start < last.bytes.end);
        let mut below = left_out[next..].iter().take_while(|part| part.bytes.start < at);
        let has_markup = below.any(|part| part.reason != markup::TAGS);
        if last.has_body || has_markup {
            self.leave_out(&last.bytes, HEADING);
        } else {
            self.push(&last.title, false, &last.bytes);
        }
    }

    fn paragraph(&mut self, range: &Range<usize>) {
        self.flush_intro();
        let is_blank = |c: char| c.is_whitespace() || c == FILLER;
        let written = unquoted(self.source, range.clone(), self.quotes);
        let mut text = written.trim_matches(is_blank);
        if self.html_row(text, range) {
            return;
        }
        let callout = inline::callout(text).filter(|_| self.quotes > 0);
        match &callout {
            Some((head, None)) => return self.introduce(head.clone(), range),
            Some((_, Some(whole))) => text = whole,
            None if text.ends_with(':') => {
                return self.introduce(text.trim_end_matches(':').trim_end().to_owned(), range);
            }
            None => {}
        }
        let reason = if is_image(text) {
            Some("an image")
        } else if is_json(text) {
            Some("JSON of a program")
        } else if text.starts_with('<') && markup::is_tags(text) {
            Some(markup::TAGS)
        } else {
            None
        };
        if let Some(reason) = reason {
            return self.leave_out(range, reason);
        }
        let as_written = matches!(written, Cow::Borrowed(_));
        let mut at = range.start + (written.len() - written.trim_start_matches(is_blank).len());
        for part in parts(text) {
            let end = if as_written { at + part.len() } else { range.end };
            self.push(&part, false, &(at..end));
            at = if as_written { end } else { at };
        }
        self.can_extend = true;
    }

    /// Keeps a sentence for the next block.
    fn introduce(&mut self, intro: String, range: &Range<usize>) {
        self.intro = Some((intro, range.clone()));
        self.can_extend = false;
    }

    fn code(&mut self, range: &Range<usize>) {
        let text = unquoted(self.source, range.clone(), self.quotes);
        let text = text.trim_end();
        if let Some((intro, above)) = self.intro.take() {
            self.push(&format!("{intro}:\n{text}"), true, &(above.start..range.end));
        } else if self.can_extend
            && let Some(last) = self.split.statements.last_mut()
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
        let whole = unquoted(self.source, range.clone(), self.quotes);
        let whole = whole.trim_end();
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
        let mut items = 0;
        while at < inner.len() {
            let end = end_of(inner, at);
            if matches!(inner[at].0, Event::Start(Tag::Item)) {
                let before = self.split.statements.len();
                let text = intro.as_ref().map(|(text, _)| text.as_str());
                self.item(text, is_ordered, &inner[at].1, &inner[at + 1..end]);
                items += self.split.statements.len() - before;
            }
            at = end + 1;
        }
        if items == 0 {
            self.intro = intro;
            self.flush_intro();
        }
    }

    fn item(
        &mut self,
        intro: Option<&str>,
        is_ordered: bool,
        range: &Range<usize>,
        inner: Events<'_, '_>,
    ) {
        let (source, quotes) = (self.source, self.quotes);
        let text_of = |range| match (is_ordered, unquoted(source, range, quotes)) {
            // Its number says where it is in the order.
            (true, text) => text.trim().to_owned(),
            (false, text) => item_text(&text),
        };
        let introduced = |text: String| match intro {
            Some(intro) => format!("{intro}: {text}"),
            None => text,
        };
        let text = text_of(range.clone());
        let nested =
            inner.iter().position(|(event, _)| matches!(event, Event::Start(Tag::List(_))));
        match nested {
            Some(at) if text.len() > WHOLE_ITEM_BYTES => {
                let head_bytes = range.start..inner[at].1.start;
                let head = text_of(head_bytes.clone());
                self.intro = Some((introduced(head.trim_end_matches(':').to_owned()), head_bytes));
                self.nested(&(inner[at].1.start..range.end), &inner[at..]);
                self.flush_intro();
            }
            _ if is_image(&text) => self.leave_out(range, "an image"),
            _ => {
                let is_procedure =
                    inner.iter().any(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_))));
                self.push(&introduced(text), is_procedure, range);
            }
        }
    }

    fn flush_intro(&mut self) {
        if let Some((intro, bytes)) = self.intro.take() {
            self.push(&intro, false, &bytes);
        }
    }

    fn push(&mut self, text: &str, is_procedure: bool, range: &Range<usize>) {
        let text = text.trim();
        if !text.chars().any(char::is_alphanumeric) {
            return;
        }
        let mut text = inline::without_marks(text);
        if !is_procedure && self.has_markup(range) {
            text = without_blanks(&text);
        }
        for definition in self.addresses.of(range) {
            text = format!("{text}\n{}", self.source[definition].trim());
        }
        let place = self.place(range.start);
        let bytes = range.start..range.start + self.source[range.clone()].trim_end().len();
        let statement = Statement { place, text, is_procedure, bytes };
        if let Some(reason) = (self.filter)(&statement) {
            return self.leave_out(range, reason);
        }
        self.headings.iter_mut().for_each(|heading| heading.is_used = true);
        self.split.statements.push(statement);
    }

    /// Finds the tags around a place, which is after the last one.
    fn open_sections(&mut self, at: usize) {
        let (sections, Sections { next, open, .. }) = (&self.plain.sections, &mut self.sections);
        while sections.get(*next).is_some_and(|section| section.bytes.start <= at) {
            open.push(*next);
            *next += 1;
        }
        open.retain(|index| sections[*index].bytes.end > at);
    }

    /// Returns the headings above a place and the tags around it, outermost first.
    fn place(&mut self, at: usize) -> String {
        self.open_sections(at);
        self.sections.used.extend(self.sections.open.iter().copied());
        let titles = self.headings.iter().map(|heading| (heading.bytes.start, &heading.title));
        let tags = self.sections.open.iter().map(|index| &self.plain.sections[*index]);
        let tags = tags.map(|section| (section.bytes.start, &section.name));
        let mut parts: Vec<(usize, &String)> = titles.chain(tags).collect();
        parts.sort_by_key(|(start, _)| *start);
        parts.into_iter().map(|(_, part)| part.as_str()).collect::<Vec<_>>().join(" > ")
    }

    fn has_markup(&self, range: &Range<usize>) -> bool {
        let left_out = &self.plain.left_out;
        let next = left_out.partition_point(|part| part.bytes.end <= range.start);
        left_out.get(next).is_some_and(|part| part.bytes.start < range.end)
    }

    fn leave_out(&mut self, range: &Range<usize>, reason: impl Into<Cow<'static, str>>) {
        self.flush_intro();
        self.can_extend = false;
        if let Some(heading) = self.headings.last_mut() {
            heading.has_body = true;
        }
        self.split.left_out.push(LeftOut { bytes: range.clone(), reason: reason.into() });
    }

    /// Returns the result, with the bytes of the whole text.
    fn finish(self, from: usize) -> Split {
        let Split { mut statements, mut left_out } = self.split;
        for (index, section) in self.plain.sections.iter().enumerate() {
            if !self.sections.used.contains(&index) {
                let tag = |bytes: &Range<usize>| LeftOut {
                    bytes: bytes.clone(),
                    reason: markup::TAGS.into(),
                };
                left_out.extend(section.tags.iter().map(tag));
            }
        }
        let unused = self.addresses.unused();
        left_out.extend(unused.map(|bytes| LeftOut { bytes, reason: "an address".into() }));
        left_out.extend(self.plain.left_out.iter().cloned());
        let bytes = left_out.iter_mut().map(|part| &mut part.bytes);
        for bytes in bytes.chain(statements.iter_mut().map(|statement| &mut statement.bytes)) {
            *bytes = bytes.start + from..bytes.end + from;
        }
        left_out.sort_by_key(|part| part.bytes.start);
        Split { statements, left_out }
    }
}
