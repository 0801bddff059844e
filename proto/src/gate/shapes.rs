//! What is shaped like the frame of a conversation, and what is written in its place. Pure.
//!
//! No list of names: a tag is a bracket with a name, whatever the name; a role is a bracketed word, or a word with a colon, that begins a
//! line. The first sign is replaced by a similar one that no client parses, so that a reader still understands the text. Not here: which
//! text is given when ([`super`]).

use std::borrow::Cow;

/// Characters within which a bracketed role or a label ends.
const MAX_LABEL: usize = 40;
/// Words of a label.
const MAX_LABEL_WORDS: usize = 3;
/// Characters within which a tag ends.
const MAX_TAG: usize = 400;

/// Where a text is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// In a reply to a call: code stays exact where it is marked as code or part of a word.
    Reply,
    /// In a sentence of loci, which may repeat what was given: no tag and no bracketed role stays.
    Sentence,
    /// Unasked: nothing that is shaped like a frame stays.
    Unasked,
}

/// A sign that may begin a frame, as it is written.
struct Opening {
    sign: Sign,
    bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Sign {
    Angle,
    Square,
}

/// Ways to write `<`: as itself, in other widths, and as the entities that a page renders as it.
const ANGLES: [&str; 4] = ["<", "＜", "﹤", "⟨"];
const ENTITIES: [&str; 5] = ["&lt;", "&lt", "&#60;", "&#x3c;", "&LT;"];
const SQUARES: [&str; 3] = ["[", "［", "【"];

/// Returns the text with what is shaped like a frame neutralised.
pub(super) fn neutralised(text: &str, occasion: Occasion) -> Cow<'_, str> {
    // The first bytes of every sign that matters; all other text is looked at once.
    let is_sign = |byte: &u8| match byte {
        b'<' | b'&' | b'[' | 0xE2 | 0xE3 | 0xEF => true,
        b':' | b'#' | b'-' | b'=' | b'*' | b'~' | b'_' => occasion == Occasion::Unasked,
        _ => false,
    };
    if !text.as_bytes().iter().any(is_sign) {
        return Cow::Borrowed(text);
    }
    let has_closing_role = occasion != Occasion::Reply || text.contains("[/");
    let (mut clean, mut copied) = (String::new(), 0);
    let mut replace = |from: usize, to: usize, harmless: &str| {
        clean.push_str(&text[copied..from]);
        clean.push_str(harmless);
        copied = to;
    };
    for line in lines(text) {
        let start = line.start;
        let body = &text[line.start..line.end];
        let marks = body.len() - body.trim_start_matches(is_mark).len();
        if occasion == Occasion::Unasked
            && let Some((from, to)) = rule(body)
        {
            replace(start + from, start + to, "›");
        }
        if occasion == Occasion::Unasked
            && let Some((from, to)) = label(body, marks)
        {
            replace(start + from, start + to, " –");
        }
        let mut is_code = false;
        let mut at = 0;
        while let Some(next) = body[at..].find(['<', '＜', '﹤', '⟨', '&', '[', '［', '【', '`'])
        {
            at += next;
            if body[at..].starts_with('`') {
                is_code = !is_code && body[at + 1..].contains('`');
                at += 1;
                continue;
            }
            let Some(opening) = opening(&body[at..]) else {
                at += 1;
                continue;
            };
            let bracket = Bracket {
                before: &body[..at],
                // A tag may go on in the next line.
                after: &text[start + at + opening.bytes..],
                begins: at <= marks,
                is_code,
                has_closing_role,
                occasion,
            };
            let harmless = match opening.sign {
                Sign::Angle => bracket.is_tag().then_some("‹"),
                Sign::Square => bracket.is_role().then_some("⁅"),
            };
            if let Some(harmless) = harmless {
                replace(start + at, start + at + opening.bytes, harmless);
            }
            at += opening.bytes;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    clean.push_str(&text[copied..]);
    Cow::Owned(clean)
}

/// Returns the range of each line, without its end.
fn lines(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut start = 0;
    text.split('\n').map(move |line| {
        let range = start..start + line.len();
        start = range.end + 1;
        range
    })
}

/// Signs that lists, quotations, headings and emphasis put before the first word of a line.
fn is_mark(c: char) -> bool {
    c.is_whitespace() || c.is_ascii_digit() || ">-*+#_~=\"'.)(|".contains(c)
}

fn opening(text: &str) -> Option<Opening> {
    let written = |signs: &[&str], sign| {
        signs
            .iter()
            .find(|written| {
                text.get(..written.len()).is_some_and(|s| s.eq_ignore_ascii_case(written))
            })
            .map(|written| Opening { sign, bytes: written.len() })
    };
    written(&ANGLES, Sign::Angle)
        .or_else(|| written(&ENTITIES, Sign::Angle))
        .or_else(|| written(&SQUARES, Sign::Square))
}

/// A bracket and the text around it.
struct Bracket<'a> {
    /// The line before it.
    before: &'a str,
    after: &'a str,
    /// Nothing but marks is before it in its line.
    begins: bool,
    /// It is between back quotes.
    is_code: bool,
    /// Capitals in brackets are a role in any place: somewhere one is closed (`[/INST]`), or nobody asked for the text.
    has_closing_role: bool,
    occasion: Occasion,
}

impl Bracket<'_> {
    /// Returns whether the bracket is part of a word, as in `Vec<T>`, or marked as code.
    fn is_exact(&self, may_be_in_word: bool) -> bool {
        let is_in_word = || {
            self.before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
                || self.before.ends_with("::")
        };
        self.occasion == Occasion::Reply
            && !self.begins
            && (self.is_code || may_be_in_word && is_in_word())
    }

    fn is_tag(&self) -> bool {
        let near = cut(self.after, MAX_TAG);
        let spaced = near.trim_start();
        let is_spaced = spaced.len() < near.len();
        let is_strict = self.begins || self.occasion != Occasion::Reply;
        // `<|name|>`, but not the operator `<|`.
        if let Some(special) = spaced.strip_prefix(['|', '｜']) {
            let is_named = special.starts_with(|c: char| c.is_alphanumeric() || "_/|".contains(c));
            return is_named && !self.is_exact(false);
        }
        if let Some(doubled) = near.strip_prefix('<') {
            let name = doubled.trim_start_matches('/').trim_start_matches(char::is_alphanumeric);
            return name.len() < doubled.len() && name.starts_with(">>") && !self.is_exact(false);
        }
        let named = spaced.trim_start_matches(['/', '／', '\\', ' ']);
        let is_closing = named.len() < spaced.len();
        if let Some(declared) = named.strip_prefix(['!', '?']) {
            let is_name = declared.starts_with(|c: char| c.is_alphabetic() || "-[".contains(c));
            return is_strict && is_name && !self.is_exact(false);
        }
        let is_of_name = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
        let rest = named.trim_start_matches(is_of_name);
        // No type has a hyphen in its name.
        let may_be_in_word = !is_closing && !named[..named.len() - rest.len()].contains('-');
        if !named.starts_with(|c: char| c.is_alphabetic() || c == '_')
            || self.is_exact(may_be_in_word)
        {
            return false;
        }
        // `sort <in.txt >out.txt` reads one file and writes another.
        let may_be_wide = is_closing || is_strict;
        let ends = |text: &str| {
            let end = if may_be_wide { text.trim_start() } else { text };
            let end = end.trim_start_matches(['/', '|']);
            let end = if may_be_wide { end.trim_start() } else { end };
            [">", "＞", "﹥", "⟩", "&gt", "&#62", "&#x3e"].iter().any(|sign| end.starts_with(sign))
        };
        let has_attributes = || {
            let inside = rest.split(['>', '＞', '<']).next().unwrap_or_default();
            rest.starts_with(char::is_whitespace)
                && inside.contains('=')
                && inside.len() < rest.len()
                && rest[inside.len()..].starts_with(['>', '＞'])
        };
        let is_whole = ends(rest) || has_attributes();
        if self.occasion != Occasion::Reply && !is_spaced {
            return true;
        }
        if is_strict && !is_spaced {
            return is_whole || rest.is_empty() || rest.starts_with(char::is_whitespace);
        }
        is_whole && (!is_spaced || is_closing || is_strict)
    }

    /// Returns whether the bracket begins the name of a role: a capitalised word at the beginning of a line, in a text that nobody asked for
    /// any word there and capitals in any place. `[EMAIL]` within a line may stand for what was removed.
    fn is_role(&self) -> bool {
        let near = cut(self.after, MAX_LABEL);
        let Some(end) = near.find([']', '］', '】']) else { return false };
        let inner = near[..end].trim();
        let named = inner.trim_start_matches(['/', '#', '*', '|', '<', '\\', ' ']);
        let is_closing = inner.starts_with('/');
        let is_plain = |c: char| c.is_alphanumeric() || " _-:.|*".contains(c);
        let letters = named.chars().filter(|c| c.is_alphabetic()).count();
        if letters < 2
            || !named.chars().all(is_plain)
            || named.split_whitespace().count() > MAX_LABEL_WORDS
            || self.is_exact(!is_closing)
        {
            return false;
        }
        let is_shouted =
            named.chars().any(char::is_uppercase) && !named.chars().any(char::is_lowercase);
        if is_closing || is_shouted && letters > 2 && self.has_closing_role {
            return true;
        }
        let is_link = self.occasion == Occasion::Reply && near[end..].starts_with("](");
        let is_titled = named.starts_with(char::is_uppercase);
        self.begins && !is_link && (is_shouted || is_titled || self.occasion != Occasion::Reply)
    }
}

/// Returns the signs of a heading or a rule at the beginning of a line (`### Human`, `--- SYSTEM ---`).
fn rule(line: &str) -> Option<(usize, usize)> {
    let body = line.trim_start_matches(|c: char| c.is_whitespace() || c == '>');
    let start = line.len() - body.len();
    let sign = body.chars().next().filter(|c| "#-=*~_".contains(*c))?;
    let words = body.trim_start_matches(sign);
    let signs = body.len() - words.len();
    let is_rule = signs > 2 || sign == '#' && words.starts_with(' ');
    (is_rule && words.trim_start().starts_with(char::is_alphanumeric))
        .then_some((start, start + signs))
}

/// Returns the colon of a label that begins a line (`System:`, `**Human**:`), with the signs bracket it.
fn label(line: &str, marks: usize) -> Option<(usize, usize)> {
    let near = cut(&line[marks..], MAX_LABEL);
    let end = near.find([':', '：', '﹕', '꞉'])?;
    let (words, colon) = (near[..end].trim_end(), near[end..].chars().next()?);
    let after = &line[marks + end + colon.len_utf8()..];
    let is_plain = |c: char| c.is_alphabetic() || " _-*".contains(c);
    let count = words.split([' ', '_', '-', '*']).filter(|word| !word.is_empty()).count();
    let is_label = (1..=MAX_LABEL_WORDS).contains(&count)
        && words.chars().all(is_plain)
        && (after.is_empty() || colon != ':' || after.starts_with([' ', '*', '_', '\t']));
    is_label.then_some((marks + words.len(), marks + end + colon.len_utf8()))
}

/// Returns the beginning of a text.
fn cut(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}
