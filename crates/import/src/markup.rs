//! Takes out of Markdown what is no text of it: comments of HTML and of Obsidian, private parts, scripts, and the tags around blocks. Pure.
//!
//! Everything that is taken out is replaced by blanks and line breaks of the same length, so that a place in the rest is a place in the
//! file, and what was inside a tag is Markdown again. Not here: what the rest states (`statements`).

use pulldown_cmark::{Event, Options, Parser, Tag};
use std::borrow::Cow;
use std::ops::Range;

/// The Markdown that is read.
pub(crate) const OPTIONS: Options =
    Options::ENABLE_TABLES.union(Options::ENABLE_TASKLISTS).union(Options::ENABLE_FOOTNOTES);
/// A block whose tags are taken out may have such blocks inside, up to this depth.
const MAX_PASSES: usize = 4;
/// Tags of blocks; their names say nothing.
const BLOCKS: &str = " address article aside base basefont blockquote body br caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem meta nav noframes ol optgroup option p param picture search section source summary svg table tbody td template tfoot th thead title tr track ul video ";
/// Tags inside a sentence; they stay.
const INLINE: &str = " abbr audio b bdi bdo big button cite code data del dfn em font i input ins kbd label mark meter object output q rp rt ruby s samp select slot small span strike strong sub sup time tt u var wbr pre textarea ";

/// A part of a text that is no statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOut {
    /// Its bytes.
    pub bytes: Range<usize>,
    /// What it is.
    pub reason: Cow<'static, str>,
}

/// Stands where markup was in front of a text: a text after four blanks would be code. It is in no statement.
pub(crate) const FILLER: char = '\u{1}';
/// Stands where a cell of the head of an HTML table ended, where another one did, and where the table did.
pub(crate) const HEAD_END: char = '\u{2}';
pub(crate) const CELL_END: char = '\u{3}';
pub(crate) const TABLE_END: char = '\u{4}';

/// A private part, which is never shown.
pub(crate) const PRIVATE: &str = "a private part";
/// The tags of blocks.
pub(crate) const TAGS: &str = "HTML tags";

/// A text without markup.
#[derive(Debug, Default)]
pub(crate) struct Plain {
    /// The text, of the same length.
    pub text: String,
    /// What was taken out, in order.
    pub left_out: Vec<LeftOut>,
    /// What is inside a tag whose name says something (`<bad-example>`), and the tag, in order.
    pub sections: Vec<Section>,
}

/// A part of a text between tags whose name says something.
#[derive(Debug)]
pub(crate) struct Section {
    /// What is between the tags.
    pub bytes: Range<usize>,
    /// The name and attributes.
    pub name: String,
    /// The tags.
    pub tags: [Range<usize>; 2],
}

/// A tag that was taken out and whose name says something.
struct Named {
    bytes: Range<usize>,
    /// What is between `<` or `</` and `>`.
    inner: String,
    is_end: bool,
}

/// What is taken out in one pass, and what replaces it.
#[derive(Default)]
struct Edits {
    changes: Vec<(Range<usize>, String)>,
    left_out: Vec<LeftOut>,
    named: Vec<Named>,
    keeps_tags: bool,
}

/// Returns a text from a byte on without comments, private parts and scripts, but with its tags, and what that leaves out.
pub(crate) fn without_comments(text: &str, from: usize) -> (String, Vec<LeftOut>) {
    let body = &text[from..];
    let mut found = Edits { keeps_tags: true, ..Edits::default() };
    private_parts(body, &mut found);
    let plain = replaced(body, &found.changes);
    found.changes.clear();
    markup(&plain, &mut found);
    if found.left_out.is_empty() {
        return (body.to_owned(), Vec::new());
    }
    let plain = replaced(&plain, &found.changes);
    // A line that had nothing else is gone.
    let lines = plain.split('\n').zip(body.split('\n'));
    let kept = lines.filter(|(now, then)| !now.trim().is_empty() || then.trim().is_empty());
    let text = kept.map(|(now, _)| now.trim_end()).collect::<Vec<_>>().join("\n");
    for part in &mut found.left_out {
        part.bytes = part.bytes.start + from..part.bytes.end + from;
    }
    (text, found.left_out)
}

/// Returns a text without its markup.
pub(crate) fn plain(text: &str) -> Plain {
    let mut all = Edits::default();
    private_parts(text, &mut all);
    let mut text = replaced(text, &all.changes);
    for _ in 0..MAX_PASSES {
        let mut found = Edits::default();
        markup(&text, &mut found);
        if found.changes.is_empty() {
            break;
        }
        text = replaced(&text, &found.changes);
        all.left_out.append(&mut found.left_out);
        all.named.append(&mut found.named);
    }
    let sections = sections(all.named, &mut all.left_out);
    all.left_out.sort_by_key(|part| part.bytes.start);
    Plain { text, left_out: all.left_out, sections }
}

/// Finds the parts between `<private>` and `</private>`, wherever they are; one that is not closed ends with the text.
fn private_parts(text: &str, found: &mut Edits) {
    let (mut start, mut depth) = (0, 0_usize);
    for (at, _) in text.match_indices('<') {
        let Some((length, is_end)) = private_tag(&text[at..]) else { continue };
        if !is_end {
            start = if depth == 0 { at } else { start };
            depth += 1;
        } else if depth > 0 {
            depth -= 1;
            if depth == 0 {
                found.take_out(text, start..at + length, PRIVATE);
            }
        }
    }
    if depth > 0 {
        found.take_out(text, start..text.len(), PRIVATE);
    }
}

/// Returns the length of the tag `private` at the beginning of a text, and whether it is the closing one.
fn private_tag(text: &str) -> Option<(usize, bool)> {
    let rest = text.strip_prefix('<')?.trim_start();
    let is_end = rest.starts_with('/');
    let rest = rest.strip_prefix('/').unwrap_or(rest).trim_start();
    let name = rest.get(.."private".len()).filter(|name| name.eq_ignore_ascii_case("private"))?;
    let rest = &rest[name.len()..];
    let end = rest.find(['<', '>']).filter(|end| rest[*end..].starts_with('>'))?;
    let is_whole = end == 0 || rest.starts_with(char::is_whitespace);
    is_whole.then(|| (text.len() - rest.len() + end + 1, is_end))
}

/// Finds comments, and tags around blocks.
fn markup(text: &str, found: &mut Edits) {
    let (mut code, mut depth, mut line) = (Vec::new(), 0_usize, Line::default());
    for (event, range) in Parser::new_ext(text, OPTIONS).into_offset_iter() {
        match event {
            Event::Code(_) | Event::Start(Tag::CodeBlock(_)) => code.push(range),
            Event::Start(Tag::HtmlBlock) => {
                code.push(range.clone());
                pieces(text, &range, Tags::OfBlock { is_top: depth == 0 }, found);
            }
            Event::InlineHtml(_) => {
                code.push(range.clone());
                let is_alone = line.is_tags(text, &range);
                let is_first =
                    text[..range.start].is_empty() || text[..range.start].ends_with('\n');
                let is_top = is_alone && (depth == 0 || is_first);
                pieces(text, &range, Tags::OfSentence { is_alone, is_top }, found);
            }
            Event::Start(Tag::Item | Tag::BlockQuote(_)) => depth += 1,
            Event::End(pulldown_cmark::TagEnd::Item | pulldown_cmark::TagEnd::BlockQuote(_)) => {
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    obsidian_comments(text, &code, found);
    found.changes.sort_by_key(|(range, _)| range.start);
    let mut end = 0;
    found.changes.retain(|(range, _)| {
        let is_apart = range.start >= end;
        end = end.max(range.end);
        is_apart
    });
}

/// The line that was looked at last, and whether it has nothing but tags: a long line may have many.
#[derive(Default)]
struct Line {
    bytes: Range<usize>,
    is_tags: bool,
}

impl Line {
    /// Returns whether the line of a tag has nothing but tags.
    fn is_tags(&mut self, text: &str, tag: &Range<usize>) -> bool {
        if !self.bytes.contains(&tag.start) {
            let start = text[..tag.start].rfind('\n').map_or(0, |at| at + 1);
            let end = text[tag.end..].find('\n').map_or(text.len(), |at| tag.end + at);
            let mut rest = text[start..end].trim_start_matches(['>', ' ', '\t']);
            while let Some(tag) = Tagged::at(rest) {
                rest = rest[tag.length..].trim_start();
            }
            *self = Self { bytes: start..end, is_tags: rest.trim().is_empty() };
        }
        self.is_tags
    }
}

/// Finds the parts between `%%` and `%%` outside code. The first begins a word, the second ends one: `%%s` of a format is none.
fn obsidian_comments(text: &str, code: &[Range<usize>], found: &mut Edits) {
    let mut code = code.to_vec();
    code.sort_by_key(|range| range.start);
    let is_code = |at: usize| {
        let before = code.partition_point(|range| range.start <= at);
        before > 0 && code[before - 1].contains(&at)
    };
    let mut open = None;
    for (at, _) in text.match_indices("%%").filter(|(at, _)| !is_code(*at)) {
        let ends_word = !text[at + 2..].starts_with(|c: char| c.is_alphanumeric());
        let begins_word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '%');
        match open {
            Some(start) if ends_word => {
                found.take_out(text, start..at + 2, "an Obsidian comment");
                open = None;
            }
            None if begins_word => open = Some(at),
            _ => {}
        }
    }
}

/// Where tags are.
#[derive(Clone, Copy)]
enum Tags {
    OfBlock { is_top: bool },
    OfSentence { is_alone: bool, is_top: bool },
}

/// Finds comments, scripts and tags of a part of a text.
fn pieces(text: &str, range: &Range<usize>, tags: Tags, found: &mut Edits) {
    let mut at = range.start;
    while let Some(next) = text[at..range.end].find('<') {
        at += next;
        let rest = &text[at..range.end];
        let until = |end: &str| rest.find(end).map_or(range.end, |found| at + found + end.len());
        let (end, reason) = if rest.starts_with("<!--") {
            (until("-->"), "an HTML comment")
        } else if rest.starts_with("<?") {
            (until("?>"), "an instruction to a program")
        } else if rest.starts_with("<!") {
            (until(">"), "an HTML declaration")
        } else if let Some(tag) = Tagged::at(rest) {
            let end = at + tag.length;
            if matches!(tag.name.as_str(), "script" | "style") && !tag.is_end {
                let is_close = |at: &usize| {
                    let name = rest.get(at + 2..at + 2 + tag.name.len());
                    name.is_some_and(|name| name.eq_ignore_ascii_case(&tag.name))
                };
                let close = rest.match_indices("</").map(|(at, _)| at).find(is_close);
                let after = close.and_then(|close| Some(close + rest[close..].find('>')? + 1));
                let end = after.map_or(range.end, |after| at + after);
                (end, "a script or a style")
            } else if tag.name == "pre" && matches!(tags, Tags::OfBlock { .. }) {
                return;
            } else {
                if !found.keeps_tags {
                    found.tag(text, at..end, (&tag, tags));
                }
                at = end;
                continue;
            }
        } else {
            at += 1;
            continue;
        };
        found.take_out(text, at..end, reason);
        at = end;
    }
}

impl Edits {
    /// Replaces a part by blanks; its line ends stay.
    fn take_out(&mut self, text: &str, range: Range<usize>, reason: &'static str) {
        let part = &text[range.clone()];
        let mut blanks: String =
            part.bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
        let after = text[range.end..].split('\n').next().unwrap_or_default();
        if !after.trim().is_empty() {
            let line = part.rfind('\n').map_or(0, |at| at + 1);
            let indent = part[line..].bytes().take_while(|byte| *byte == b' ').count();
            if line + indent < blanks.len() {
                blanks.replace_range(line + indent..=line + indent, "\u{1}");
            }
        }
        self.changes.push((range.clone(), blanks));
        self.left_out.push(LeftOut { bytes: range, reason: reason.into() });
    }

    fn tag(&mut self, text: &str, range: Range<usize>, (tag, tags): (&Tagged<'_>, Tags)) {
        let (is_alone, is_top) = match tags {
            Tags::OfBlock { is_top } => (true, is_top),
            Tags::OfSentence { is_alone, is_top } => (is_alone, is_top),
        };
        let name = format!(" {} ", tag.name);
        let (is_block, is_inline) = (BLOCKS.contains(&name), INLINE.contains(&name));
        // What stands before the blanks and after them.
        let ends = match (tag.name.as_str(), tag.is_end) {
            ("a", false) => tag.attribute("href").map(|address| (format!("<{address}> "), "")),
            ("a", true) => Some((String::new(), "")),
            ("img", _) => {
                let [alt, address] =
                    ["alt", "src"].map(|name| tag.attribute(name).unwrap_or_default());
                Some((format!("![{alt}]({address})"), ""))
            }
            _ if is_inline || !is_alone => None,
            _ if !is_top => Some((FILLER.to_string(), "")),
            ("li", false) => Some((String::new(), "\n- ")),
            ("h1", false) => Some((String::new(), "\n# ")),
            ("h2" | "h3" | "h4" | "h5" | "h6", false) => Some((String::new(), "\n## ")),
            ("th", true) => Some((HEAD_END.to_string(), "")),
            ("td", true) => Some((CELL_END.to_string(), "")),
            ("table", _) => Some((String::new(), "\n\n\u{4}\n\n")),
            ("dt", true) => Some((": ".to_owned(), "")),
            ("td" | "th" | "dd", false) => Some((FILLER.to_string(), "")),
            ("tbody" | "thead", _) => Some((String::new(), "\n")),
            ("summary", true) => Some((":".to_owned(), "\n\n")),
            _ => Some((String::new(), "\n\n")),
        };
        let length = range.len();
        let fitting = ends.filter(|(before, after)| before.len() + after.len() <= length);
        let Some((before, after)) = fitting else { return };
        let blanks = " ".repeat(length - before.len() - after.len());
        // Indentation is no part of what was in the tag.
        let start =
            if is_top { range.start - indent_before(text, range.start) } else { range.start };
        let indent = " ".repeat(range.start - start);
        self.changes.push((start..range.end, format!("{before}{blanks}{indent}{after}")));
        if is_block || matches!(tag.name.as_str(), "a" | "img") {
            self.left_out.push(LeftOut { bytes: range, reason: TAGS.into() });
        } else {
            let inner = tag.inner.trim_end_matches('/').trim().to_owned();
            self.named.push(Named { bytes: range, inner, is_end: tag.is_end });
        }
    }
}

/// Returns the number of blanks between the beginning of a line and a place in it; 0 if something else is before it.
fn indent_before(text: &str, at: usize) -> usize {
    let rest = text[..at].trim_end_matches([' ', '\t']);
    if rest.is_empty() || rest.ends_with('\n') { at - rest.len() } else { 0 }
}

/// Returns what is between the tags with a name; a tag alone is left out.
fn sections(mut named: Vec<Named>, left_out: &mut Vec<LeftOut>) -> Vec<Section> {
    named.sort_by_key(|tag| tag.bytes.start);
    let (mut open, mut sections): (Vec<Named>, Vec<_>) = (Vec::new(), Vec::new());
    let mut alone = Vec::new();
    for tag in named {
        if !tag.is_end {
            open.push(tag);
            continue;
        }
        let is_it = |start: &Named| start.inner.split_whitespace().next() == Some(&tag.inner);
        // Those between are not closed. Looking far back for each would take long in a hostile file.
        match open.iter().rev().take(64).position(is_it) {
            Some(above) => {
                alone.extend(open.drain(open.len() - above..).map(|tag| tag.bytes));
                if let Some(start) = open.pop() {
                    sections.push(Section {
                        bytes: start.bytes.end..tag.bytes.start,
                        name: start.inner,
                        tags: [start.bytes, tag.bytes],
                    });
                }
            }
            None => alone.push(tag.bytes),
        }
    }
    alone.extend(open.into_iter().map(|tag| tag.bytes));
    left_out.extend(alone.into_iter().map(|bytes| LeftOut { bytes, reason: TAGS.into() }));
    sections.sort_by_key(|section| (section.bytes.start, usize::MAX - section.bytes.end));
    sections
}

/// Returns whether a text has no letter outside its tags.
pub(crate) fn is_tags(text: &str) -> bool {
    let mut rest = text;
    while !rest.is_empty() {
        rest = match Tagged::at(rest) {
            Some(tag) => &rest[tag.length..],
            None if rest.starts_with(char::is_alphanumeric) => return false,
            None => &rest[rest.chars().next().map_or(1, char::len_utf8)..],
        };
    }
    true
}

/// Returns a text with some parts replaced by others of the same length.
fn replaced(text: &str, edits: &[(Range<usize>, String)]) -> String {
    let (mut result, mut at) = (String::with_capacity(text.len()), 0);
    for (range, blanks) in edits {
        result.push_str(&text[at..range.start]);
        result.push_str(blanks);
        at = range.end;
    }
    result.push_str(&text[at..]);
    result
}

/// A tag at the beginning of a text.
struct Tagged<'a> {
    /// In lower case.
    name: String,
    is_end: bool,
    /// What is between `<` or `</` and `>`.
    inner: &'a str,
    length: usize,
}

impl<'a> Tagged<'a> {
    fn at(text: &'a str) -> Option<Self> {
        let rest = text.strip_prefix('<')?;
        let inner = rest.strip_prefix('/').unwrap_or(rest);
        if !inner.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let mut quote = None;
        let end = inner.bytes().position(|byte| {
            match quote {
                Some(open) if open == byte => quote = None,
                None if byte == b'"' || byte == b'\'' => quote = Some(byte),
                _ => {}
            }
            quote.is_none() && matches!(byte, b'>' | b'<')
        })?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':');
        let name_end = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
        let rest_of_tag = &inner[name_end..];
        let is_whole =
            rest_of_tag.starts_with([' ', '\t', '\n', '>']) || rest_of_tag.starts_with("/>");
        (inner.as_bytes()[end] == b'>' && is_whole).then(|| Self {
            name: inner[..name_end].to_ascii_lowercase(),
            is_end: rest.starts_with('/'),
            inner: &inner[..end],
            length: text.len() - inner.len() + end + 1,
        })
    }

    /// Returns the value of an attribute.
    fn attribute(&self, name: &str) -> Option<String> {
        let lower = self.inner.to_ascii_lowercase();
        let (at, _) = lower.match_indices(name).find(|(at, _)| {
            lower[..*at].ends_with(char::is_whitespace)
                && lower[at + name.len()..].trim_start().starts_with('=')
        })?;
        let value = self.inner[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let value = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split(quote).next()?,
            _ => value.split(char::is_whitespace).next()?,
        };
        Some(value.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_keeps_every_other_byte_in_its_place() {
        for text in [
            "<important>\nNever on Friday\n</important>\n",
            "<!-- a\nb --> é text <private>x</private> end",
            "<ul>\n  <li class=\"ü\">one</li><li>two</li>\n</ul>",
            "%% no %% yes %%s and %%d",
            "<a href=\"https://a.example\">word</a> <img src='é.png' alt='b'>",
            "<details><summary>More</summary>\n1. a\n</details>\n<private>never closed",
        ] {
            let plain = plain(text);
            assert_eq!(plain.text.len(), text.len(), "{text}\n{}", plain.text);
            for word in ["Never on Friday", "é text", "two", "yes %%s and %%d", "word", "More"] {
                assert_eq!(text.find(word), plain.text.find(word), "{word} in {}", plain.text);
            }
            assert!(!plain.text.contains("never closed") && !plain.text.contains("no %%"));
        }
    }
}
