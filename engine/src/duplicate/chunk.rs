//! The shape of one chunk of text between two spaces: what belongs to it, and whether it is prose.
//!
//! Deliberately not here: what its words mean (`scan`).

/// The chunk without the brackets, quotes and stops around it.
pub(crate) fn core(chunk: &str) -> &str {
    let start = chunk
        .char_indices()
        .find(|&(at, c)| begins(c, chunk[at + c.len_utf8()..].chars().next()))
        .map_or(0, |(at, _)| at);
    let rest = &chunk[start..];
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

/// A path, an address, an identifier: letters joined by signs that prose does not use, or by a capital inside.
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

/// A hyphenated compound of words, or of words and numbers.
pub(crate) fn is_compound(core: &str) -> bool {
    !core.starts_with('-')
        && core.contains('-')
        && core.split('-').any(|part| part.chars().any(char::is_alphabetic))
}

/// The bytes of a number with its inner signs (`1,000`, `2.4.1`, `10:30`, `3/5`), and those of what is glued to it.
pub(crate) fn number_length(rest: &str) -> (usize, usize) {
    let bytes = rest.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let inner =
        |at: usize| matches!(bytes[at], b'.' | b',' | b':' | b'/' | b'-') && is_digit(at + 1);
    let digits = (0..bytes.len()).find(|&at| !is_digit(at) && !inner(at)).unwrap_or(bytes.len());
    let glued = rest[digits..]
        .find(|c: char| !c.is_alphanumeric() && c != '+' && c != '°')
        .unwrap_or(rest.len() - digits);
    (digits, glued)
}

/// The bytes of a run of letters, with digits, inner apostrophes, and the closing sign of `C++`, `F#`, `B-`.
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

/// `1000` for `1,000`, `1.5` for `1,5`.
pub(crate) fn plain_digits(number: &str) -> String {
    let thousands = number.split(',').skip(1).all(|group| group.len() == 3);
    number.replace(',', if thousands { "" } else { "." })
}

/// A character that may bear meaning by itself: an emoji, a currency, a mathematical sign, a mark of a script; not punctuation.
pub(crate) fn is_sign(c: char) -> bool {
    let plain = c.is_alphanumeric() || c.is_whitespace() || c.is_control() || c.is_ascii();
    let punctuation = matches!(c, '¡' | '«' | '·' | '»' | '¿' | '\u{2000}'..='\u{206f}' | '\u{3000}'..='\u{303f}')
        || matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}');
    !plain && !punctuation
}
