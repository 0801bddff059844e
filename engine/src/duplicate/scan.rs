//! Cuts a text into words, and says of each what it is to the duplicate guard.
//!
//! Deliberately not here: the shape of a chunk (`chunk`), comparing two texts (`pairing`). Nothing here fails: any text has
//! words, if only signs.

use crate::duplicate::chunk::{
    core, is_code, is_compound, is_sign, number_length, plain_digits, word_length,
};
use crate::duplicate::forms::{bases, is_irregular};
use crate::duplicate::lexicon::{
    ABBREVIATIONS, FILLERS, Family, LANDS, NEGATIONS, NUMBERS, PARTITIVES, STRONG, UNITS,
    UNITS_AFTER_NUMBER, UNITS_IF_CAPITAL, holds, relation, says,
};
use crate::duplicate::marks::{clear_owners, mark_letters};
use crate::duplicate::word::{Kind, Part, Word};

/// The words of a text, in order.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut scan = Scan {
        words: Vec::new(),
        opens: true,
        capital: false,
        tied: false,
        compound: None,
        written: None,
    };
    for (at, chunk) in text.split_whitespace().enumerate() {
        scan.chunk(at, chunk);
    }
    mark_letters(&mut scan.words);
    clear_owners(&mut scan.words);
    scan.words
}

/// The words so far, and what is known of the next one.
struct Scan {
    words: Vec<Word>,
    /// It begins a sentence, so that its capital says nothing.
    opens: bool,
    capital: bool,
    tied: bool,
    compound: Option<usize>,
    /// As it is written, where it is kept under another name.
    written: Option<String>,
}

impl Scan {
    fn chunk(&mut self, at: usize, chunk: &str) {
        if !chunk.chars().any(char::is_alphanumeric) {
            self.signs(chunk);
            return;
        }
        if chunk.starts_with('!') {
            self.push("not", Kind::Negation);
        }
        let core = core(chunk);
        self.tied &= chunk.starts_with(core);
        if is_code(core) {
            self.code(core);
        } else {
            self.compound = is_compound(core).then_some(at);
            self.runs(core);
            self.compound = None;
        }
        let end = chunk.trim_end_matches(['"', '\'', '`', ')', ']', '}', '*', '_', '”', '’', '»']);
        self.opens = end.ends_with(['.', '!', '?', ':', '。', '！', '？']);
        self.tied = chunk.ends_with(char::is_alphanumeric);
        if !chunk.starts_with(['\'', '‘']) && (chunk.ends_with("s'") || chunk.ends_with("s’")) {
            self.part(Part::Owner);
            self.tied = true;
        }
    }

    /// A chunk without letters or digits: an operator, an arrow, a bullet.
    fn signs(&mut self, chunk: &str) {
        let compares = !matches!(chunk, "=" | "->" | "=>" | "→" | "~" | "|")
            && chunk.contains(['<', '>', '=', '~', '^', '|', '←', '→']);
        let reckons = matches!(chunk, "+" | "*" | "/") && self.counted();
        if compares || reckons {
            self.push(chunk, Kind::Strong);
        } else if matches!(chunk, "&" | "+") {
            self.push("and", Kind::Little(Family::Conjunction));
        } else {
            chunk.chars().for_each(|sign| self.single(sign));
        }
        self.tied = false;
    }

    /// A path, address or identifier: one value, kept whole.
    fn code(&mut self, core: &str) {
        let lower = core.to_lowercase();
        self.capital = true;
        if let Some(unit) = says(UNITS, &lower) {
            self.push(unit, Kind::Unit);
        } else if holds(FILLERS, &lower) {
            self.push(lower, Kind::Filler);
        } else {
            let folds =
                core.chars().all(char::is_alphanumeric) && core.starts_with(char::is_uppercase);
            let kind = if core.chars().any(char::is_numeric) { Kind::Number } else { Kind::Plain };
            self.push(if folds { &lower } else { core }, kind);
        }
    }

    /// Everything else: runs of letters and runs of digits, with what is glued to them.
    fn runs(&mut self, core: &str) {
        let sign = core
            .find(|c: char| {
                !matches!(c, '<' | '>' | '=' | '≤' | '≥' | '^' | '~' | '±' | '-' | '−' | '.')
            })
            .unwrap_or(0);
        let (sign, mut rest) = core.split_at(sign);
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let taken = self.number(rest, &sign.replace('−', "-"));
            rest = &rest[taken..];
        }
        while let Some(first) = rest.chars().next() {
            let taken = match first {
                c if c.is_ascii_digit() => self.number(rest, ""),
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
            self.push(unit, Kind::Unit);
        } else if is_sign(sign) {
            self.push(text, Kind::Sign);
        } else {
            self.tied = false;
        }
    }

    /// A number, then a unit glued to it. Gives the bytes taken.
    fn number(&mut self, rest: &str, sign: &str) -> usize {
        let (digits, glued) = number_length(rest);
        let number = sign.to_owned() + &plain_digits(&rest[..digits]);
        let tail = rest[digits..digits + glued].to_lowercase();
        match tail.as_str() {
            "" | "st" | "nd" | "rd" | "th" => self.push(number, Kind::Number),
            "k" => self.push(number + "000", Kind::Number),
            tail => match says(UNITS, tail).or_else(|| says(UNITS_AFTER_NUMBER, tail)) {
                Some(unit) => {
                    self.push(number, Kind::Number);
                    self.push(unit, Kind::Unit);
                }
                None => self.push(number + tail, Kind::Number),
            },
        }
        digits + glued
    }

    /// A run of letters. Gives the bytes taken.
    fn letters(&mut self, rest: &str) -> usize {
        let run = &rest[..word_length(rest)];
        if run
            .strip_prefix(['v', 'V'])
            .is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        {
            return 1 + self.number(&rest[1..], "");
        }
        self.capital = run.starts_with(char::is_uppercase);
        self.contraction(&run.to_lowercase().replace('’', "'"));
        run.len()
    }

    /// A word with its contraction taken apart.
    fn contraction(&mut self, run: &str) {
        if let Some(stem) = run.strip_suffix("n't") {
            self.word(match stem {
                "ca" => "can",
                "wo" => "will",
                "sha" => "shall",
                stem => stem,
            });
            self.push("not", Kind::Negation);
            return;
        }
        let (stem, verb) = match run.split_once('\'') {
            Some((stem, "re" | "m")) => (stem, Some("are")),
            Some((stem, "ve")) => (stem, Some("have")),
            Some((stem, "ll")) => (stem, Some("will")),
            Some((stem, "s" | "d")) => (stem, None),
            _ => (run, None),
        };
        self.word(&stem.replace('\'', ""));
        if run.ends_with("'s") && !matches!(stem, "he" | "she" | "it") {
            self.part(Part::Owner);
        }
        if let Some(verb) = verb {
            self.word(verb);
        }
    }

    /// A word of letters in lower case: what the lists say of it.
    fn word(&mut self, word: &str) {
        if let Some(unit) = self.unit(word) {
            self.push(unit, Kind::Unit);
        } else if matches!(word, "one" | "first") {
            self.push("1", Kind::One);
        } else if let Some(number) = says(NUMBERS, word) {
            self.push(number, Kind::Number);
        } else if holds(NEGATIONS, word) {
            self.push("not", Kind::Negation);
        } else if let Some((family, same)) = relation(word).filter(|_| self.is_little(word)) {
            self.push(same, Kind::Little(family));
            self.part(match word {
                "my" | "your" | "his" | "her" | "our" | "their" => Part::Owner,
                "is" | "are" | "am" | "was" | "were" => Part::Copula,
                _ => Part::Any,
            });
        } else if holds(FILLERS, word) && !(word.len() == 1 && self.is_name()) {
            self.before_of(word);
            self.push(word, Kind::Filler);
        } else if word.contains(char::is_numeric) {
            self.push(word, Kind::Number);
        } else if let Some(strong) =
            strong(word).or_else(|| (word == "new" && self.is_name()).then_some("new"))
        {
            self.written = Some(word.to_owned());
            self.push(strong, Kind::Strong);
        } else {
            let land = says(LANDS, word).filter(|_| self.capital);
            self.push(land.unwrap_or(word), Kind::Plain);
        }
    }

    fn unit(&self, word: &str) -> Option<&'static str> {
        let counted = self.counted();
        says(UNITS, word)
            .or_else(|| says(UNITS_IF_CAPITAL, word).filter(|_| self.capital || counted))
            .or_else(|| says(UNITS_AFTER_NUMBER, word).filter(|_| counted))
    }

    /// The last word is a number.
    fn counted(&self) -> bool {
        self.words.last().is_some_and(|word| word.kind == Kind::Number)
    }

    fn is_name(&self) -> bool {
        self.capital && !self.opens
    }

    /// Whether a listed little word is one here: not in `is using`, nor in `few of us` without `a`. Marks `used to` and `up to`.
    fn is_little(&mut self, word: &str) -> bool {
        let last = self.words.len().checked_sub(1);
        let after = |text: &str| last.is_some_and(|i| self.words[i].text == text);
        match word {
            "using" => !last.is_some_and(|i| self.words[i].is_auxiliary()),
            "few" => after("a"),
            "to" => {
                let formerly = after("used")
                    && !last
                        .and_then(|i| i.checked_sub(1))
                        .is_some_and(|i| self.words[i].is_auxiliary());
                if let Some(i) = last.filter(|_| formerly || after("up")) {
                    self.words[i].kind = Kind::Strong;
                }
                true
            }
            _ => true,
        }
    }

    /// `a group of` is as little as `a`.
    fn before_of(&mut self, word: &str) {
        if let Some(part) =
            self.words.last_mut().filter(|last| word == "of" && holds(PARTITIVES, &last.text))
        {
            part.kind = Kind::Filler;
        }
    }

    fn part(&mut self, part: Part) {
        if let Some(last) = self.words.last_mut() {
            last.part = part;
        }
    }

    fn push(&mut self, text: impl Into<String>, kind: Kind) {
        if let Some(over) =
            self.words.last_mut().filter(|last| kind == Kind::Number && last.text == "over")
        {
            over.kind = Kind::Strong;
        }
        let capital = self.capital && matches!(kind, Kind::Plain | Kind::Filler);
        let (text, part) = (text.into(), Part::Any);
        let name = capital && !self.opens && !holds(ABBREVIATIONS, &text);
        let written = self.written.take().unwrap_or_else(|| text.clone());
        self.words.push(Word {
            text,
            written,
            kind,
            part,
            capital,
            name,
            tied: self.tied,
            compound: self.compound,
        });
        (self.opens, self.capital, self.tied) = (false, false, true);
    }
}

/// The strong word that a word is a form of.
fn strong(word: &str) -> Option<&'static str> {
    if let Some(strong) = says(STRONG, word) {
        return Some(strong);
    }
    let may_be_a_form = word.ends_with(['s', 'd', 'g']) || is_irregular(word);
    may_be_a_form.then(|| bases(word)[1..].iter().find_map(|base| says(STRONG, base))).flatten()
}
