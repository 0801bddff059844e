//! Names as a model sees them: short, of one line, of plain characters. Pure.
//!
//! A folder, an agent or a file chooses the name of a project, a client or a branch, and it is shown to agents of all other projects. Not
//! here: which name leads to which project (the engine).

use crate::sanitize;
use std::borrow::Cow;

/// Returns whether a text gives orders to a model; the crate that has the rules supplies it.
pub type Screen = fn(&str) -> bool;

/// Characters of a name, without the sign of what is left out.
const MAX_CHARS: usize = 40;
/// Spaces in a name.
const MAX_SPACES: usize = 3;
/// Words of the shortest order.
const MIN_ORDER: usize = 3;
/// Stands for what is left out.
const REST: char = '…';

/// Returns a name as it is shown: what comes before the first sign that no name needs, of at most 40 characters and four words, and of
/// what orders a model only the first words that do not.
#[must_use]
pub fn safe_name(name: &str, orders: Screen) -> Cow<'_, str> {
    let is_simple = |b: u8| b.is_ascii_alphanumeric() || b"._-/".contains(&b);
    let words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_short = words.take(MIN_ORDER).count() < MIN_ORDER && name.len() <= MAX_CHARS;
    if is_short && !name.is_empty() && name.bytes().all(is_simple) {
        return Cow::Borrowed(name);
    }
    let clean = sanitize::text(name);
    let whole = clean.trim();
    let given = whole.trim_end_matches(REST);
    let mut kept = &given[..end_of_plain(given)];
    while is_order(kept, orders) {
        let shorter = kept.trim_end_matches(char::is_alphanumeric);
        kept = shorter.trim_end_matches(|c: char| !c.is_alphanumeric());
    }
    if kept == name {
        return Cow::Borrowed(name);
    }
    let kept = kept.trim_end();
    if kept == whole { Cow::Owned(kept.to_owned()) } else { Cow::Owned(format!("{kept}{REST}")) }
}

/// Returns where the first sign is that no name needs, or that makes the name too long.
fn end_of_plain(name: &str) -> usize {
    let (mut spaces, mut before) = (0, None);
    for (count, (at, c)) in name.char_indices().enumerate() {
        let after = name[at + c.len_utf8()..].chars().next();
        let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
        spaces += usize::from(c == ' ');
        let is_plain = match c {
            ' ' => spaces <= MAX_SPACES && before != Some(' '),
            ':' => is_digit(before) && is_digit(after),
            c if c.is_ascii() => c.is_ascii_alphanumeric() || "._-/+#@~'()&".contains(c),
            c => !is_punctuation(c),
        };
        if !is_plain || count == MAX_CHARS {
            return at;
        }
        before = Some(c);
    }
    name.len()
}

/// Returns whether a character is a space or a sign of a block that has punctuation; joiners are part of a word.
fn is_punctuation(c: char) -> bool {
    c.is_whitespace()
        || matches!(u32::from(c),
            0x80..=0xA9 | 0xAB..=0xB4 | 0xB6..=0xB9 | 0xBB..=0xBF | 0x2000..=0x200B | 0x200E..=0x206F
                | 0x2200..=0x23FF | 0x27E6..=0x27EF | 0x2983..=0x2998 | 0x2E00..=0x2E7F | 0x3000..=0x3004
                | 0x3008..=0x3020 | 0xA789 | 0xFE10..=0xFE1F | 0xFE30..=0xFE6F | 0xFF01..=0xFF0F
                | 0xFF1A..=0xFF20 | 0xFF3B..=0xFF40 | 0xFF5B..=0xFF65)
}

/// Returns whether a text of several words orders a model.
pub(super) fn is_order(text: &str, orders: Screen) -> bool {
    // An id has few words of letters alone; a script without spaces has no words.
    let is_word = |word: &&str| !word.is_empty() && word.chars().all(char::is_alphabetic);
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(is_word);
    (words.nth(MIN_ORDER - 1).is_some() || !text.is_ascii()) && orders(text)
}
