//! The shape of one token (text between two spaces): its core without punctuation, and whether it
//! is code, a compound or a number.
//!
//! Not here: the meaning of its words (`scan`).

/// Returns the token without surrounding brackets, quotes and punctuation.
pub(crate) fn core(token: &str) -> &str {
    let start = token
        .char_indices()
        .find(|&(at, c)| begins(c, token[at + c.len_utf8()..].chars().next()))
        .map_or(0, |(at, _)| at);
    let rest = &token[start..];
    let ends =
        |c: char| c.is_alphanumeric() || is_sign(c) || matches!(c, '+' | '#' | '%' | '$' | '/');
    let core = rest.trim_end_matches(|c| !ends(c));
    let is_grade = core.len() == 1 && rest[1..].starts_with('-');
    if is_grade {
        &rest[..2]
    } else {
        core.strip_prefix('@').filter(|name| !name.contains('/')).unwrap_or(core)
    }
}

fn begins(c: char, next: Option<char>) -> bool {
    match c {
        '<' | '>' | '-' | '~' | '^' => next.is_some_and(|n| n.is_ascii_digit() || n == '='),
        '.' | '/' | '@' => next.is_some_and(|n| n.is_alphanumeric() || n == '/'),
        _ => c.is_alphanumeric() || is_sign(c) || matches!(c, '$' | '\\'),
    }
}

/// Returns true for a path, address or identifier: letters joined by signs that prose does not use,
/// or an inner capital.
pub(crate) fn is_code(core: &str) -> bool {
    if core.contains("://") || core.contains("::") {
        return true;
    }
    let has_letters = core.chars().any(char::is_alphabetic);
    let after: Vec<Option<char>> = core.chars().skip(1).map(Some).chain([None]).collect();
    let before = std::iter::once(None).chain(core.chars().map(Some));
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    core.chars().zip(before).zip(after).any(|((c, before), after)| match c {
        '_' | '/' | '\\' | '@' => has_letters,
        '.' => {
            has_letters
                && after.is_some_and(char::is_alphanumeric)
                && !(digit(before) && digit(after))
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

/// Returns the length in bytes of a number with its inner signs (`1,000`, `2.4.1`, `10:30`, `3/5`),
/// and of the letters attached to it.
pub(crate) fn number_length(rest: &str) -> (usize, usize) {
    let bytes = rest.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let inner =
        |at: usize| matches!(bytes[at], b'.' | b',' | b':' | b'/' | b'-') && is_digit(at + 1);
    let digits = (0..bytes.len()).find(|&at| !is_digit(at) && !inner(at)).unwrap_or(bytes.len());
    let attached = rest[digits..]
        .find(|c: char| !c.is_alphanumeric() && c != '+' && c != '°')
        .unwrap_or(rest.len() - digits);
    (digits, attached)
}

/// Returns the length in bytes of a run of letters, with digits, inner apostrophes, and the final
/// sign of `C++`, `F#`, `B-`.
pub(crate) fn word_length(rest: &str) -> usize {
    let ends = |&(at, c): &(usize, char)| {
        let next = rest[at + c.len_utf8()..].chars().next();
        !match c {
            '\'' | '’' => next.is_some_and(char::is_alphabetic),
            '+' | '#' => next.is_none_or(|n| n == '+'),
            '-' => at == 1 && next.is_none(),
            _ => c.is_alphanumeric(),
        }
    };
    rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at)
}

/// Normalises commas in a number: `1000` for `1,000`, `1.5` for `1,5`.
pub(crate) fn plain_digits(number: &str) -> String {
    let thousands = number.split(',').skip(1).all(|group| group.len() == 3);
    number.replace(',', if thousands { "" } else { "." })
}

/// Returns true for a character that has a meaning of its own: an emoji, a currency or mathematical
/// sign, a diacritic; not punctuation.
pub(crate) fn is_sign(c: char) -> bool {
    let plain = c.is_alphanumeric() || c.is_whitespace() || c.is_control() || c.is_ascii();
    let punctuation = matches!(c, '¡' | '«' | '·' | '»' | '¿' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}');
    !plain && !punctuation
}
