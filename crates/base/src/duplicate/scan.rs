//! Splits a text into words and determines the class and role of each.
//!
//! Accepts any text. Not here: the shape of a token (`token`),
//! comparing two texts (`pairing`).

use crate::duplicate::context_rules::reclassify_letter_a;
use crate::duplicate::forms::{bases, is_irregular};
use crate::duplicate::lexicon::{
    FILLERS, FunctionWord, NEGATIONS, NUMBERS, PARTITIVES, SIGNIFICANT, UNITS, function_word,
};
use crate::duplicate::token::{
    NumberLength, core, is_code, is_compound, is_sign, number_length, plain_digits, word_length,
};
use crate::duplicate::word::{ScannedWord, WordClass, WordRole};
use crate::duplicate::wording::expanded;

/// Returns the words of a text, in order.
pub fn words(text: &str) -> Vec<ScannedWord> {
    let mut scan = Scan {
        words: Vec::new(),
        starts_sentence: true,
        is_capitalised: false,
        follows_directly: false,
        compound: None,
        written: None,
    };
    for (at, token) in text.split_whitespace().enumerate() {
        scan.token(at, token);
    }
    reclassify_letter_a(&mut scan.words);
    scan.words
}

/// The words scanned so far, and the properties of the next one.
struct Scan {
    words: Vec<ScannedWord>,
    /// It starts a sentence, so its capital does not make it a name.
    starts_sentence: bool,
    is_capitalised: bool,
    follows_directly: bool,
    compound: Option<usize>,
    /// Its original spelling, if `text` is another word.
    written: Option<String>,
}

impl Scan {
    fn token(&mut self, at: usize, token: &str) {
        if !token.chars().any(char::is_alphanumeric) {
            self.symbols(token);
            return;
        }
        if token.starts_with('!') {
            self.push("not", WordClass::Negation);
        }
        let core = core(token);
        self.follows_directly &= token.starts_with(core);
        if is_code(core) {
            self.code(core);
        } else {
            self.compound = is_compound(core).then_some(at);
            self.words_and_numbers(core);
            self.compound = None;
        }
        let without_closing =
            token.trim_end_matches(['"', '\'', '`', ')', ']', '}', '*', '_', '”', '’', '»']);
        self.starts_sentence = without_closing.ends_with(['.', '!', '?', ':', '。', '！', '？']);
        self.follows_directly = token.ends_with(char::is_alphanumeric);
        if !token.starts_with(['\'', '‘']) && (token.ends_with("s'") || token.ends_with("s’")) {
            self.set_role(WordRole::Possessive);
            self.follows_directly = true;
        }
    }

    /// Scans a token without letters or digits: an operator, an arrow, a bullet.
    fn symbols(&mut self, token: &str) {
        let is_comparison = !matches!(token, "=" | "->" | "=>" | "→" | "~" | "|")
            && token.contains(['<', '>', '=', '~', '^', '|', '←', '→']);
        let is_calculation = matches!(token, "+" | "*" | "/") && self.follows_number();
        if is_comparison || is_calculation {
            self.push(token, WordClass::Significant);
        } else if matches!(token, "->" | "=>") {
            self.symbol('→');
        } else if matches!(token, "&" | "+") {
            self.push("and", WordClass::Function(FunctionWord::Conjunction));
        } else {
            token.chars().for_each(|sign| self.symbol(sign));
        }
        self.follows_directly = false;
    }

    /// Scans a path, address or identifier, which is one value.
    fn code(&mut self, core: &str) {
        let lower = core.to_lowercase();
        self.is_capitalised = true;
        if let Some(unit) = UNITS.get(&lower) {
            self.push(unit, WordClass::Unit);
        } else if FILLERS.contains(&lower) {
            self.push(lower, WordClass::Filler);
        } else {
            let ignores_case =
                core.chars().all(char::is_alphanumeric) && core.starts_with(char::is_uppercase);
            let class = if core.chars().any(char::is_numeric) {
                WordClass::Number
            } else {
                WordClass::Content
            };
            self.push(if ignores_case { &lower } else { core }, class);
        }
    }

    /// Scans all other tokens: words, and numbers with their units.
    fn words_and_numbers(&mut self, core: &str) {
        let sign_length = core
            .find(|c: char| {
                !matches!(c, '<' | '>' | '=' | '≤' | '≥' | '^' | '~' | '±' | '-' | '−' | '.')
            })
            .unwrap_or(0);
        let (sign, mut rest) = core.split_at(sign_length);
        if rest.starts_with(|c: char| c.is_ascii_digit()) {
            let length = self.number(rest, &sign.replace('−', "-"));
            rest = &rest[length..];
        }
        while let Some(first) = rest.chars().next() {
            let length = match first {
                c if c.is_ascii_digit() => self.number(rest, ""),
                c if c.is_alphanumeric() => self.letters(rest),
                c => {
                    self.symbol(c);
                    c.len_utf8()
                }
            };
            rest = &rest[length..];
        }
    }

    /// Scans a currency sign, a degree sign, an emoji; skips other punctuation.
    fn symbol(&mut self, sign: char) {
        let text = sign.to_string();
        if let Some(unit) = UNITS.get(&text) {
            self.push(unit, WordClass::Unit);
        } else if is_sign(sign) {
            self.push(text, WordClass::Symbol);
        } else {
            self.follows_directly = false;
        }
    }

    /// Scans a number and a unit attached to it; returns the bytes consumed.
    fn number(&mut self, rest: &str, sign: &str) -> usize {
        let NumberLength { digits, attached } = number_length(rest);
        let number = sign.to_owned() + &plain_digits(&rest[..digits]);
        let tail = rest[digits..digits + attached].to_lowercase();
        match tail.as_str() {
            "" => self.push(number, WordClass::Number),
            "st" | "nd" | "rd" | "th" => self.push(number + "th", WordClass::Number),
            "k" => self.push(number + "000", WordClass::Number),
            tail => match UNITS.get(tail) {
                Some(unit) => {
                    self.push(number, WordClass::Number);
                    self.push(unit, WordClass::Unit);
                }
                None => self.push(number + tail, WordClass::Number),
            },
        }
        digits + attached
    }

    /// Scans a run of letters; returns the bytes consumed.
    fn letters(&mut self, rest: &str) -> usize {
        let run = &rest[..word_length(rest)];
        if run
            .strip_prefix(['v', 'V'])
            .is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
        {
            return 1 + self.number(&rest[1..], "");
        }
        self.is_capitalised = run.starts_with(char::is_uppercase);
        // `IT` and `US` are no pronouns.
        if matches!(run, "IT" | "US") {
            self.push(run, WordClass::Content);
            return run.len();
        }
        self.contraction(&run.to_lowercase().replace('’', "'"));
        run.len()
    }

    /// Scans a word and splits a contraction.
    fn contraction(&mut self, run: &str) {
        if let Some((first, second)) = expanded(run) {
            self.word(&first.replace('\'', ""));
            self.word(second);
            return;
        }
        let stem = run.split_once('\'').filter(|(_, end)| matches!(*end, "s" | "d"));
        let stem = stem.map_or(run, |(stem, _)| stem);
        self.word(&stem.replace('\'', ""));
        if run.ends_with("'s") && !matches!(stem, "he" | "she" | "it") {
            self.set_role(WordRole::Possessive);
        }
    }

    /// Adds a word in lower case with its class from the word lists.
    fn word(&mut self, word: &str) {
        if let Some(unit) = UNITS.get(word) {
            self.push(unit, WordClass::Unit);
        } else if matches!(word, "one" | "first") {
            self.push("1", WordClass::One);
        } else if let Some(number) = NUMBERS.get(word) {
            self.push(number, WordClass::Number);
        } else if NEGATIONS.contains(word) {
            self.push("not", WordClass::Negation);
        } else if let Some((class, entry)) =
            function_word(word).filter(|_| self.is_function_word_here(word))
        {
            self.written = Some(word.to_owned());
            self.push(entry, WordClass::Function(class));
            self.set_role(match word {
                "my" | "your" | "his" | "her" | "our" | "their" => WordRole::Possessive,
                "is" | "are" | "am" | "was" | "were" => WordRole::Copula,
                _ => WordRole::Other,
            });
        } else if FILLERS.contains(word) && !(word.len() == 1 && self.is_name()) {
            if word == "of" {
                self.reclassify_before_of();
            }
            self.push(word, WordClass::Filler);
        } else if word.contains(char::is_numeric) {
            self.push(word, WordClass::Number);
        } else if let Some(significant) =
            significant(word).or_else(|| (word == "new" && self.is_name()).then_some("new"))
        {
            self.written = Some(word.to_owned());
            self.push(significant, WordClass::Significant);
        } else {
            self.push(word, WordClass::Content);
        }
    }

    /// Returns true if the last word is a number.
    fn follows_number(&self) -> bool {
        self.words.last().is_some_and(|word| word.class == WordClass::Number)
    }

    fn is_name(&self) -> bool {
        self.is_capitalised && !self.starts_sentence
    }

    /// Returns true if a listed function word is one in its context: not `using` after an
    /// auxiliary, nor `round` after another function word.
    fn is_function_word_here(&self, word: &str) -> bool {
        let last = self.words.last();
        match word {
            "using" => !last.is_some_and(ScannedWord::is_auxiliary),
            // Not a preposition in `at round tables`, `the table is round`.
            "round" => last.is_some_and(|last| !last.is_function_word()),
            _ => true,
        }
    }

    /// Makes a partitive before `of` a filler: `a group of` states no more than `a`.
    fn reclassify_before_of(&mut self) {
        if let Some(part) = self.words.last_mut().filter(|last| PARTITIVES.contains(&last.text)) {
            part.class = WordClass::Filler;
        }
    }

    /// Sets the role of the last word.
    fn set_role(&mut self, role: WordRole) {
        if let Some(last) = self.words.last_mut() {
            last.role = role;
        }
    }

    /// Adds a word, and resets the properties of the next one.
    fn push(&mut self, text: impl Into<String>, class: WordClass) {
        if let Some(over) =
            self.words.last_mut().filter(|last| class == WordClass::Number && last.text == "over")
        {
            over.class = WordClass::Significant;
        }
        let is_capitalised =
            self.is_capitalised && matches!(class, WordClass::Content | WordClass::Filler);
        let (text, role) = (text.into(), WordRole::Other);
        let is_name = is_capitalised && !self.starts_sentence;
        let written = self.written.take().unwrap_or_else(|| text.clone());
        self.words.push(ScannedWord {
            text,
            written,
            class,
            role,
            is_capitalised,
            is_name,
            follows_directly: self.follows_directly,
            compound: self.compound,
        });
        (self.starts_sentence, self.is_capitalised, self.follows_directly) = (false, false, true);
    }
}

/// Returns the entry of a significant word or of a form of one.
fn significant(word: &str) -> Option<&'static str> {
    if let Some(significant) = SIGNIFICANT.get(word) {
        return Some(significant);
    }
    let may_be_a_form = word.ends_with(['s', 'd', 'g']) || is_irregular(word);
    may_be_a_form.then(|| bases(word)[1..].iter().find_map(|base| SIGNIFICANT.get(base))).flatten()
}
