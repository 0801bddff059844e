//! Splits a text into lower-case words for the rules, and undoes common disguises of letters.
//!
//! The end of a sentence, and of a line before a list or a blank line, is a word of its own ([`END`]), so that no rule matches across it.
//! An address (URL, e-mail) is one word ([`ADDRESS`]).

use unicode_normalization::UnicodeNormalization;

/// The end of a sentence or a line.
pub(super) const END: &str = ".";
/// A URL or an e-mail address.
pub(super) const ADDRESS: &str = "@";
/// Signs that end a sentence at the end of a word.
const SENTENCE_ENDS: [char; 4] = ['.', '!', '?', ';'];
/// Signs with which a line begins a list, a heading, a quotation, a table or code.
const BLOCK_STARTS: [char; 7] = ['-', '*', '+', '#', '>', '|', '`'];
/// Words of a text that are compared; the rest of a longer text repeats.
const MAX_WORDS: usize = 8_192;

/// The words of a text, one after the other in one string.
#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    text: String,
    /// The end of each word in `text`.
    ends: Vec<usize>,
}

impl Words {
    /// Returns the number of words.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns a word; empty after the last one.
    pub(super) fn get(&self, at: usize) -> &str {
        let start = if at == 0 { 0 } else { self.ends.get(at - 1).copied().unwrap_or_default() };
        self.ends.get(at).map_or("", |end| &self.text[start..*end])
    }

    /// Returns the words from one on.
    pub(super) fn from(&self, at: usize) -> impl Iterator<Item = &str> {
        (at..self.len()).map(|at| self.get(at))
    }

    fn push(&mut self, word: &str) {
        self.text.push_str(word);
        self.end_word();
    }

    /// Ends the word whose characters were appended, if there are any.
    fn end_word(&mut self) {
        if self.ends.last().copied().unwrap_or_default() < self.text.len() {
            self.ends.push(self.text.len());
        }
    }
}

/// Returns the words of a text.
pub(super) fn split(text: &str) -> Words {
    let mut words = Words { text: String::with_capacity(text.len()), ends: Vec::new() };
    let mut starts_line = false;
    for part in text.split_inclusive(char::is_whitespace) {
        if words.len() >= MAX_WORDS {
            break;
        }
        let ends_line = part.ends_with('\n');
        let part = part.trim_end();
        // A line that goes on is no new sentence: a brief joins the lines.
        let is_block = part.is_empty() || part.starts_with(BLOCK_STARTS);
        if starts_line && (is_block || part.starts_with(char::is_numeric)) {
            words.push(END);
        }
        starts_line = ends_line || starts_line && part.is_empty();
        if is_address(part) {
            words.push(ADDRESS);
        } else {
            split_part(part, &mut words);
        }
    }
    words
}

fn is_address(part: &str) -> bool {
    let is_email =
        |(name, host): (&str, &str)| !name.is_empty() && host.trim_end_matches('.').contains('.');
    part.contains("://") || part.contains("www.") || part.split_once('@').is_some_and(is_email)
}

fn split_part(part: &str, words: &mut Words) {
    // A full stop within a path or a number ends no sentence.
    let at_end = part.trim_end_matches(|c: char| !c.is_alphanumeric()).len();
    let ends = part[at_end..].contains(SENTENCE_ENDS) || part.contains(['。', '！', '？']);
    let mut each = |c: char| {
        if c.is_ascii_alphanumeric() {
            words.text.push(c.to_ascii_lowercase());
        } else if !c.is_ascii() && c.is_alphanumeric() {
            words.text.extend(c.to_lowercase());
        } else if !matches!(c, '\'' | '’' | '\u{300}'..='\u{36F}') {
            // "don't" and "dont", and letters with combining marks, count as one word.
            words.end_word();
        }
    };
    if part.is_ascii() {
        part.chars().for_each(&mut each);
    } else {
        // Full-width and other compatibility letters become plain ones; accents stay.
        part.nfkc().for_each(&mut each);
    }
    words.end_word();
    if ends {
        words.push(END);
    }
}

/// Returns the words with their letters unmasked: digits and Cyrillic or Greek letters among Latin
/// letters are replaced by the letters that they look like. `None` if nothing changes.
pub(super) fn unmasked(words: &Words) -> Option<Words> {
    let is_masked = |word: &str| {
        word.chars().any(|c| letter(c) != c) && word.chars().any(|c| c.is_ascii_alphabetic())
    };
    if !words.from(0).any(is_masked) {
        return None;
    }
    let mut plain = Words::default();
    for word in words.from(0) {
        if is_masked(word) {
            plain.text.extend(word.chars().map(letter));
            plain.end_word();
        } else {
            plain.push(word);
        }
    }
    Some(plain)
}

/// Returns the Latin letter that a character looks like.
fn letter(c: char) -> char {
    match c {
        '0' | 'о' | 'ο' => 'o',
        '1' | 'і' | 'ι' => 'i',
        '3' | 'е' | 'ε' => 'e',
        '4' | 'а' | 'α' => 'a',
        '5' | 'ѕ' => 's',
        '7' => 't',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'у' => 'y',
        'х' => 'x',
        'ѵ' | 'ν' => 'v',
        'ԁ' => 'd',
        _ => c,
    }
}
