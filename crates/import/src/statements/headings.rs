//! The headings above a statement, and the tags around it. Pure.

use super::inline::faithful;
use super::{Events, HEADING, Splitter, TITLE};
use crate::markup;
use pulldown_cmark::HeadingLevel;
use std::collections::HashSet;
use std::ops::Range;

/// A heading above the next blocks.
pub(super) struct Heading {
    pub(super) level: HeadingLevel,
    pub(super) title: String,
    pub(super) bytes: Range<usize>,
    /// Something is below it.
    pub(super) has_body: bool,
    /// It is in the place of a statement.
    pub(super) is_used: bool,
    /// Where the tag around it ends.
    pub(super) end: usize,
}

/// The tags with a name around a place in the text.
#[derive(Default)]
pub(super) struct Sections {
    pub(super) next: usize,
    pub(super) open: Vec<usize>,
    /// Those that are in the place of a statement.
    pub(super) used: HashSet<usize>,
}

impl Splitter<'_> {
    pub(super) fn heading(
        &mut self,
        level: HeadingLevel,
        range: &Range<usize>,
        inner: Events<'_, '_>,
    ) {
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
    pub(super) fn close_headings(&mut self, level: HeadingLevel, at: usize) {
        while let Some(last) = self.headings.pop_if(|last| last.level >= level) {
            self.close(&last, at);
        }
    }

    /// Ends the headings inside tags that end before a place.
    pub(super) fn close_sections(&mut self, at: usize) {
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
    pub(super) fn place(&mut self, at: usize) -> String {
        self.open_sections(at);
        self.sections.used.extend(self.sections.open.iter().copied());
        let titles = self.headings.iter().map(|heading| (heading.bytes.start, &heading.title));
        let tags = self.sections.open.iter().map(|index| &self.plain.sections[*index]);
        let tags = tags.map(|section| (section.bytes.start, &section.name));
        let mut parts: Vec<(usize, &String)> = titles.chain(tags).collect();
        parts.sort_by_key(|(start, _)| *start);
        parts.into_iter().map(|(_, part)| part.as_str()).collect::<Vec<_>>().join(" > ")
    }
}
