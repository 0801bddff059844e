//! Cuts a text into words, and says of each what it is to the duplicate guard.
//!
//! Deliberately not here: comparing two texts (`super`, `order`). Nothing here fails: any text has words, if none but symbols.

use super::forms::bases;
use super::words::{
    FILLERS, Family, LANDS, NEGATIONS, NUMBERS, PARTITIVES, STRONG, UNITS, UNITS_AFTER_NUMBER, UNITS_IF_CAPITAL, holds, relation, says,
};

/// What a word is to the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Carries no fact: articles and the like.
    Filler,
    /// A number, or anything that holds a digit.
    Number,
    /// `one` and `first`: a number only where another number answers it.
    One,
    /// A unit, a currency, a calendar word, a colour.
    Unit,
    /// Turns the statement round.
    Negation,
    /// Direction, order, extent, doubt, reversal: counts even alone.
    Strong,
    /// A little word that counts only against another of its family.
    Little(Family),
    /// Any other word: taken for a value.
    Plain,
    /// A sign outside the alphabet that may bear meaning.
    Sign,
}

/// One word of a text.
#[derive(Debug, Clone)]
pub(super) struct Word {
    /// In lower case, except in paths and identifiers; listed words under the name of all their spellings.
    pub text: String,
    /// What it is.
    pub kind: Kind,
    /// Written with a capital, and not because a sentence begins.
    pub name: bool,
    /// Written with a capital.
    pub capital: bool,
    /// Nothing but space stands between it and the word before.
    pub tied: bool,
    /// Which hyphenated compound it is a part of.
    pub compound: Option<usize>,
}

/// The words of a text, in order.
pub(super) fn words(text: &str) -> Vec<Word> {
    let mut scan = Scan { words: Vec::with_capacity(text.len() / 5), opens: true, tied: false, compound: None, chunks: 0 };
    for chunk in text.split_whitespace() {
        scan.chunk(chunk);
    }
    scan.words
}

struct Scan {
    words: Vec<Word>,
    /// The next word begins a sentence, so its capital says nothing.
    opens: bool,
    tied: bool,
    compound: Option<usize>,
    chunks: usize,
}

impl Scan {
    fn chunk(&mut self, chunk: &str) {
        self.chunks += 1;
        if !chunk.chars().any(char::is_alphanumeric) {
            self.signs(chunk);
            return;
        }
        let core = core(chunk);
        self.tied &= chunk.starts_with(core);
        if is_code(core) {
            self.code(core);
        } else {
            let parts = core.split('-').filter(|part| part.chars().any(char::is_alphabetic)).count();
            self.compound = (parts > 1 || (parts == 1 && core.contains('-') && !core.starts_with('-'))).then_some(self.chunks);
            self.runs(core);
            self.compound = None;
        }
        let end = chunk.trim_end_matches(['"', '\'', '`', ')', ']', '}', '*', '_', '”', '’', '»']);
        self.opens = end.ends_with(['.', '!', '?', ':', '。', '！', '？']);
        self.tied = chunk.ends_with(|c: char| c.is_alphanumeric());
    }

    /// A chunk without letters or digits: an operator, an arrow, a bullet.
    fn signs(&mut self, chunk: &str) {
        let operator = chunk.contains(['<', '>', '=', '!', '~', '≤', '≥', '≠', '≈', '±', '←', '→', '|', '^'])
            && !matches!(chunk, "=" | "|" | "!" | "!!" | "->" | "=>" | "→" | "~");
        if operator {
            self.push(chunk.to_owned(), Kind::Strong, false);
        } else if chunk == "&" {
            self.word("&", false);
        } else {
            for sign in chunk.chars().filter(|&c| is_sign(c)) {
                self.push(sign.to_string(), Kind::Sign, false);
            }
        }
        self.tied = false;
    }

    /// A path, address or identifier: one value, kept whole.
    fn code(&mut self, core: &str) {
        let lower = core.to_lowercase();
        if let Some(unit) = says(UNITS, &lower) {
            self.push(unit.to_owned(), Kind::Unit, false);
        } else if holds(FILLERS, &lower) {
            self.push(lower, Kind::Filler, false);
        } else {
            let folds = core.chars().all(char::is_alphanumeric) && core.starts_with(char::is_uppercase);
            let kind = if core.chars().any(|c| c.is_ascii_digit()) { Kind::Number } else { Kind::Plain };
            self.push(if folds { lower } else { core.to_owned() }, kind, true);
        }
    }

    /// Everything else: runs of letters and runs of digits, with what is glued to them.
    fn runs(&mut self, core: &str) {
        let mut rest = core;
        while let Some(first) = rest.chars().next() {
            let taken = match first {
                c if c.is_ascii_digit() => self.number(rest, ""),
                '<' | '>' | '≤' | '≥' | '^' | '~' | '±' | '-' | '−' if rest.len() == core.len() => {
                    let sign = rest.find(|c: char| c.is_alphanumeric() || c == '$').unwrap_or(rest.len());
                    let digits = rest[sign..].starts_with(|c: char| c.is_ascii_digit());
                    sign + if digits { self.number(&rest[sign..], &rest[..sign]) } else { 0 }
                }
                c if c.is_alphanumeric() => self.letters(rest),
                c => {
                    self.single(c);
                    c.len_utf8()
                }
            };
            rest = &rest[taken..];
        }
    }

    /// A currency sign, a degree, an emoji; other punctuation is passed over.
    fn single(&mut self, sign: char) {
        let text = sign.to_string();
        if let Some(unit) = says(UNITS, &text) {
            self.push(unit.to_owned(), Kind::Unit, false);
        } else if is_sign(sign) {
            self.push(text, Kind::Sign, false);
        } else {
            self.tied = false;
        }
    }

    /// A number with its inner signs (`1,000`, `2.4.1`, `10:30`, `3/5`), then a unit glued to it. Gives the bytes taken.
    fn number(&mut self, rest: &str, sign: &str) -> usize {
        let bytes = rest.as_bytes();
        let mut end = 0;
        while end < bytes.len() {
            let inner = matches!(bytes[end], b'.' | b',' | b':' | b'/' | b'-');
            if !(bytes[end].is_ascii_digit() || inner && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)) {
                break;
            }
            end += 1;
        }
        let suffix = rest[end..].find(|c: char| !c.is_alphanumeric() && c != '+' && c != '°').unwrap_or(rest.len() - end);
        let tail = rest[end..end + suffix].to_lowercase();
        let sign = sign.replace('−', "-");
        let digits = format!("{sign}{}", rest[..end].replace(',', ""));
        if matches!(tail.as_str(), "" | "st" | "nd" | "rd" | "th") {
            self.push(digits, Kind::Number, false);
        } else if let Some(unit) = says(UNITS, &tail).or_else(|| says(UNITS_AFTER_NUMBER, &tail)) {
            self.push(digits, Kind::Number, false);
            self.push(unit.to_owned(), Kind::Unit, false);
        } else if tail == "k" {
            self.push(format!("{digits}000"), Kind::Number, false);
        } else {
            self.push(digits + &tail, Kind::Number, false);
        }
        end + suffix
    }

    /// A run of letters (with digits, inner apostrophes, a closing `+` or `#`). Gives the bytes taken.
    fn letters(&mut self, rest: &str) -> usize {
        let inner = |(at, c): (usize, char)| {
            let next = rest[at + c.len_utf8()..].chars().next();
            !(c.is_alphanumeric()
                || matches!(c, '\'' | '’') && next.is_some_and(char::is_alphabetic)
                || matches!(c, '+' | '#') && next.is_none_or(|n| n == '+'))
        };
        let end = rest.char_indices().find(|&i| inner(i)).map_or(rest.len(), |(at, _)| at);
        let run = &rest[..end];
        if run.len() > 1 && run.starts_with(['v', 'V']) && run.as_bytes()[1].is_ascii_digit() {
            return 1 + self.number(&rest[1..], "");
        }
        self.word(run, run.starts_with(char::is_uppercase) && !self.opens);
        end
    }

    /// A word with its contraction taken apart.
    fn word(&mut self, run: &str, name: bool) {
        let lower = run.to_lowercase().replace('’', "'");
        if let Some(stem) = lower.strip_suffix("n't") {
            let stem = match stem {
                "ca" => "can",
                "wo" => "will",
                "sha" => "shall",
                other => other,
            };
            self.plain(stem.to_owned(), false, false);
            self.push("not".to_owned(), Kind::Negation, false);
            return;
        }
        let (stem, ending) = lower.split_once('\'').unwrap_or((&lower, ""));
        let ending = match ending {
            "re" | "m" => Some("are"),
            "ve" => Some("have"),
            "ll" => Some("will"),
            "" | "s" | "d" => None,
            _ => return self.plain(lower.replace('\'', ""), name, run.starts_with(char::is_uppercase)),
        };
        let capital = run.starts_with(char::is_uppercase);
        self.plain(stem.to_owned(), name, capital);
        if let Some(verb) = ending {
            self.plain(verb.to_owned(), false, false);
        }
    }

    /// A word of letters in lower case: what the lists say of it.
    fn plain(&mut self, lower: String, name: bool, capital: bool) {
        let counted = self.words.last().is_some_and(|w| w.kind == Kind::Number);
        if let Some(unit) = says(UNITS, &lower)
            .or_else(|| says(UNITS_IF_CAPITAL, &lower).filter(|_| capital || counted))
            .or_else(|| says(UNITS_AFTER_NUMBER, &lower).filter(|_| counted))
        {
            self.push(unit.to_owned(), Kind::Unit, false);
        } else if matches!(lower.as_str(), "one" | "first") {
            self.push("1".to_owned(), Kind::One, false);
        } else if let Some(number) = says(NUMBERS, &lower) {
            self.push(number.to_owned(), Kind::Number, false);
        } else if holds(NEGATIONS, &lower) {
            self.push("not".to_owned(), Kind::Negation, false);
        } else if let Some((family, same)) = relation(&lower).filter(|_| lower != "using" || !self.after_be()) {
            if lower == "to" {
                self.formerly();
            }
            self.push(same.to_owned(), Kind::Little(family), false);
        } else if holds(FILLERS, &lower) {
            if let Some(part) = self.words.last_mut().filter(|w| lower == "of" && holds(PARTITIVES, &w.text)) {
                part.kind = Kind::Filler;
            }
            self.push(lower, Kind::Filler, false);
        } else if lower.bytes().any(|b| b.is_ascii_digit()) {
            self.push(lower, Kind::Number, false);
        } else if let Some(strong) = strong(&lower) {
            self.push(strong.to_owned(), Kind::Strong, false);
        } else if name && lower == "new" {
            self.push(lower, Kind::Strong, false);
        } else {
            let land = says(LANDS, &lower).filter(|_| capital);
            self.push(land.map_or(lower, str::to_owned), Kind::Plain, name);
            if let Some(word) = self.words.last_mut() {
                word.capital = capital;
            }
        }
    }

    /// The last word is a form of `be`, or another that verbs lean on.
    fn after_be(&self) -> bool {
        self.words.last().is_some_and(|w| matches!(w.kind, Kind::Little(Family::Tense)) || matches!(w.text.as_str(), "be" | "been" | "being"))
    }

    /// `used to` with a verb, unless it is `is used to`.
    fn formerly(&mut self) {
        if self.words.last().is_none_or(|w| w.text != "used") {
            return;
        }
        if let Some(mut used) = self.words.pop() {
            if !self.after_be() {
                used.kind = Kind::Strong;
            }
            self.words.push(used);
        }
    }

    fn push(&mut self, text: String, kind: Kind, name: bool) {
        self.words.push(Word { text, kind, name, capital: name, tied: self.tied, compound: self.compound });
        self.opens = false;
        self.tied = true;
    }
}

/// A chunk without the brackets, quotes and stops around it.
fn core(chunk: &str) -> &str {
    let start = chunk
        .char_indices()
        .find(|&(at, c)| {
            let next = chunk[at + c.len_utf8()..].chars().next();
            match c {
                '<' | '>' | '-' | '~' | '^' => next.is_some_and(|n| n.is_ascii_digit() || n == '='),
                '.' | '/' | '@' => next.is_some_and(|n| n.is_alphanumeric() || n == '/'),
                c => c.is_alphanumeric() || is_sign(c) || matches!(c, '$' | '≤' | '≥' | '±' | '−' | '\\'),
            }
        })
        .map_or(0, |(at, _)| at);
    let core = chunk[start..].trim_end_matches(|c: char| !(c.is_alphanumeric() || is_sign(c) || matches!(c, '+' | '#' | '%' | '$' | '/')));
    core.strip_prefix('@').filter(|rest| !rest.contains('/')).unwrap_or(core)
}

/// A path, an address, an identifier: letters joined by signs that prose does not use, or by a capital inside.
fn is_code(core: &str) -> bool {
    if core.contains("://") || core.contains("::") {
        return true;
    }
    let letters = core.chars().any(char::is_alphabetic);
    let mut before = None;
    for (at, c) in core.char_indices() {
        let next = core[at + c.len_utf8()..].chars().next();
        let joins = match c {
            '_' | '/' | '\\' | '@' => letters,
            '.' => next.is_some_and(char::is_alphanumeric) && !(digit(before) && digit(next)) && letters,
            c if c.is_uppercase() => before.is_some_and(char::is_lowercase),
            _ => false,
        };
        if joins {
            return true;
        }
        before = Some(c);
    }
    false
}

fn digit(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_ascii_digit())
}

/// A character that may bear meaning by itself: an emoji, a currency, a mathematical sign; not punctuation.
fn is_sign(c: char) -> bool {
    !(c.is_alphanumeric() || c.is_whitespace() || c.is_control() || c.is_ascii())
        && !matches!(c, '\u{a1}' | '\u{ab}' | '\u{b7}' | '\u{bb}' | '\u{bf}' | '\u{300}'..='\u{36f}')
        && !matches!(c, '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}' | '\u{fe00}'..='\u{fe0f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}')
}

/// The strong word that a word is a form of.
fn strong(lower: &str) -> Option<&'static str> {
    says(STRONG, lower).or_else(|| bases(lower).iter().skip(1).find_map(|base| says(STRONG, base)))
}
