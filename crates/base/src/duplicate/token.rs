//! The shape of one token (the text between two spaces): its core without punctuation, and whether
//! it is code, a compound or a number.
//!
//! Not here: the meaning of its words (`scan`).

/// Returns the token without surrounding brackets, quotes and punctuation.
pub fn core(token: &str) -> &str {
    let start = token
        .char_indices()
        .find(|&(at, c)| may_begin(c, token[at + c.len_utf8()..].chars().next()))
        .map_or(0, |(at, _)| at);
    let rest = &token[start..];
    let may_end =
        |c: char| c.is_alphanumeric() || is_sign(c) || matches!(c, '+' | '#' | '%' | '$' | '/');
    let core = rest.trim_end_matches(|c| !may_end(c));
    let is_grade = core.len() == 1 && rest[1..].starts_with('-');
    if is_grade {
        &rest[..2]
    } else {
        core.strip_prefix('@').filter(|name| !name.contains('/')).unwrap_or(core)
    }
}

/// Returns true if the core of a token may begin with this character.
fn may_begin(c: char, next: Option<char>) -> bool {
    match c {
        '<' | '>' | '-' | '~' | '^' => next.is_some_and(|n| n.is_ascii_digit() || n == '='),
        '.' | '/' | '@' => next.is_some_and(|n| n.is_alphanumeric() || n == '/'),
        _ => c.is_alphanumeric() || is_sign(c) || matches!(c, '$' | '\\'),
    }
}

/// Returns true for a path, address or identifier: letters joined by signs that prose does not use,
/// or an inner capital.
pub fn is_code(core: &str) -> bool {
    if core.contains("://") || core.contains("::") {
        return true;
    }
    let has_letters = core.chars().any(char::is_alphabetic);
    let after: Vec<Option<char>> = core.chars().skip(1).map(Some).chain([None]).collect();
    let before = std::iter::once(None).chain(core.chars().map(Some));
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    core.chars().zip(before).zip(after).any(|((c, before), after)| match c {
        '_' | '/' | '\\' | '@' => has_letters,
        '.' => {
            has_letters
                && after.is_some_and(char::is_alphanumeric)
                && !(is_digit(before) && is_digit(after))
        }
        _ => c.is_uppercase() && before.is_some_and(char::is_lowercase),
    })
}

/// Returns true for a hyphenated compound of words, or of words and numbers.
pub(crate) fn is_compound(core: &str) -> bool {
    !core.starts_with('-')
        && core.contains('-')
        && core.split('-').any(|part| part.chars().any(char::is_alphabetic))
}

/// The length in bytes of the two parts of a number.
pub(crate) struct NumberLength {
    /// The digits with the signs between them: `1,000`, `2.4.1`, `10:30`, `3/5`.
    pub digits: usize,
    /// The letters attached to the digits.
    pub attached: usize,
}

/// Returns the length of the number at the start of a text.
pub(crate) fn number_length(rest: &str) -> NumberLength {
    let bytes = rest.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let is_inner_sign =
        |at: usize| matches!(bytes[at], b'.' | b',' | b':' | b'/' | b'-') && is_digit(at + 1);
    let digits =
        (0..bytes.len()).find(|&at| !is_digit(at) && !is_inner_sign(at)).unwrap_or(bytes.len());
    let attached = rest[digits..]
        .find(|c: char| !c.is_alphanumeric() && c != '+' && c != '°')
        .unwrap_or(rest.len() - digits);
    NumberLength { digits, attached }
}

/// Returns the length in bytes of a run of letters, with digits, inner apostrophes, and the final
/// sign of `C++`, `F#`, `B-`.
pub(crate) fn word_length(rest: &str) -> usize {
    let is_end = |&(at, c): &(usize, char)| {
        let next = rest[at + c.len_utf8()..].chars().next();
        !match c {
            '\'' | '’' => next.is_some_and(char::is_alphabetic),
            '+' | '#' => next.is_none_or(|n| n == '+'),
            '-' => at == 1 && next.is_none(),
            _ => c.is_alphanumeric(),
        }
    };
    rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at)
}

/// Removes thousands separators, and writes a decimal comma as a point: `1000` for `1,000`, `1.5`
/// for `1,5`.
pub(crate) fn plain_digits(number: &str) -> String {
    let are_separators = number.split(',').skip(1).all(|group| group.len() == 3);
    number.replace(',', if are_separators { "" } else { "." })
}

/// Returns true for a character that has a meaning of its own: an emoji, a currency or mathematical
/// sign, a diacritic; not punctuation.
pub(crate) fn is_sign(c: char) -> bool {
    let plain = c.is_alphanumeric() || c.is_whitespace() || c.is_control() || c.is_ascii();
    let punctuation = matches!(c, '¡' | '«' | '·' | '»' | '¿' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}');
    !plain && !punctuation
}
