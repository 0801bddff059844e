//! Splits a text into lower-case words for the rules, and undoes common disguises of letters.
//!
//! The end of a sentence or line is a word of its own ([`END`]), so that no rule matches across it.
//! An address (URL, e-mail) is one word ([`ADDRESS`]).

use unicode_normalization::UnicodeNormalization;

/// The end of a sentence or a line.
pub(super) const END: &str = ".";
/// A URL or an e-mail address.
pub(super) const ADDRESS: &str = "@";
/// Words of a text that are compared; the rest of a longer text repeats.
const MAX_WORDS: usize = 8_192;

/// Returns the words of a text.
pub(super) fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in text.split_inclusive(char::is_whitespace) {
        if words.len() >= MAX_WORDS {
            break;
        }
        let ends_line = part.ends_with('\n');
        let part = part.trim_end();
        if is_address(part) {
            words.push(ADDRESS.to_owned());
        } else {
            split_part(part, &mut words);
        }
        if ends_line {
            words.push(END.to_owned());
        }
    }
    words
}

fn is_address(part: &str) -> bool {
    let is_email =
        |(name, host): (&str, &str)| !name.is_empty() && host.trim_end_matches('.').contains('.');
    part.contains("://") || part.contains("www.") || part.split_once('@').is_some_and(is_email)
}

fn split_part(part: &str, words: &mut Vec<String>) {
    let mut word = String::new();
    let mut take = |word: &mut String| {
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
    };
    let is_ascii = part.is_ascii();
    let mut ends = false;
    let mut each = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            word.extend(c.to_lowercase());
        } else if matches!(c, '\'' | '’' | '\u{300}'..='\u{36F}') {
            // "don't" and "dont", "n'oublie" and combining marks count as one word.
        } else {
            ends |= matches!(c, '.' | '!' | '?' | ';' | '。' | '！' | '？');
            take(&mut word);
        }
    };
    if is_ascii {
        part.chars().for_each(&mut each);
    } else {
        // Full-width and other compatibility letters become plain ones; accents stay.
        part.nfkc().for_each(&mut each);
    }
    take(&mut word);
    if ends {
        words.push(END.to_owned());
    }
}

/// Returns the words with their letters unmasked: digits and Cyrillic or Greek letters among Latin
/// letters are replaced by the letters that they look like. `None` if nothing changes.
pub(super) fn unmasked(words: &[String]) -> Option<Vec<String>> {
    let is_masked = |word: &String| {
        word.chars().any(|c| letter(c) != c) && word.chars().any(|c| c.is_ascii_alphabetic())
    };
    let unmask = |word: &String| {
        if is_masked(word) { word.chars().map(letter).collect() } else { word.clone() }
    };
    words.iter().any(is_masked).then(|| words.iter().map(unmask).collect())
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
