//! Which characters of a text are removed, replaced or kept, by their neighbours. Pure.
//!
//! A character that has no shape of its own is kept where a script or an emoji needs it, and never twice in a row, so that visible text
//! looks the same and no second text fits between its characters. Not here: walking a text or JSON ([`super`]).

/// A kind of hidden character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    AnsiEscape,
    Control,
    LineSeparator,
    BidiOverride,
    BidiIsolate,
    Tag,
    ZeroWidth,
    VariationSelector,
    Invisible,
}

impl Kind {
    /// Returns the name that replies contain.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::AnsiEscape => "ansi escape",
            Self::Control => "control character",
            Self::LineSeparator => "line separator",
            Self::BidiOverride => "bidi override",
            Self::BidiIsolate => "bidi isolate",
            Self::Tag => "tag character",
            Self::ZeroWidth => "zero-width character",
            Self::VariationSelector => "variation selector",
            Self::Invisible => "invisible character",
        }
    }
}

/// What to do with one character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Keep,
    Remove(Kind),
    /// Replace it by a line feed, so that words stay apart.
    BreakLine(Kind),
}

/// Returns true for a character that is only kept under a condition. Every other character is kept.
pub(super) fn is_conditional(c: char) -> bool {
    match c {
        '\t' | '\n' | ' '..='~' => false,
        '\u{AD}'
        | '\u{34F}'
        | '\u{61C}'
        | '\u{17B4}'
        | '\u{17B5}'
        | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}'
        | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FEFF}'
        | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}'
        | '\u{E0000}'..='\u{E0FFF}' => true,
        c => c.is_control(),
    }
}

/// Decides on a conditional character between the last kept character and the next one of the text.
pub(super) fn decide(c: char, before: Option<char>, after: Option<char>) -> Action {
    let keep_if = |condition: bool, kind| {
        if condition { Action::Keep } else { Action::Remove(kind) }
    };
    let follows = |test: fn(char) -> bool| before.is_some_and(test);
    match c {
        '\u{1B}' | '\u{9B}' => Action::Remove(Kind::AnsiEscape),
        '\r' if after == Some('\n') => Action::Remove(Kind::LineSeparator),
        '\r' | '\u{B}' | '\u{C}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
            Action::BreakLine(Kind::LineSeparator)
        }
        '\u{202A}'..='\u{202E}' => Action::Remove(Kind::BidiOverride),
        '\u{2066}'..='\u{2069}' => Action::Remove(Kind::BidiIsolate),
        '\u{E0000}'..='\u{E007F}' => Action::Remove(Kind::Tag),
        '\u{200C}' => keep_if(follows(joins_letters), Kind::ZeroWidth),
        '\u{200D}' => keep_if(
            follows(joins_letters) || follows(ends_emoji) && after.is_some_and(is_emoji),
            Kind::ZeroWidth,
        ),
        '\u{200B}' => keep_if(follows(breaks_lines_without_spaces), Kind::ZeroWidth),
        '\u{200E}' | '\u{200F}' | '\u{61C}' => {
            keep_if(!follows(is_direction_mark), Kind::ZeroWidth)
        }
        '\u{34F}' => keep_if(!follows(|before| before == '\u{34F}'), Kind::Invisible),
        '\u{180B}'..='\u{180F}' => {
            keep_if(follows(|before| matches!(before, '\u{1820}'..='\u{18AA}')), Kind::Invisible)
        }
        '\u{FE0E}' | '\u{FE0F}' => keep_if(follows(takes_emoji_style), Kind::VariationSelector),
        '\u{FE00}'..='\u{FE0D}' => keep_if(follows(has_variants), Kind::VariationSelector),
        '\u{E0100}'..='\u{E01EF}' => keep_if(follows(is_ideograph), Kind::VariationSelector),
        '\u{2060}' | '\u{FEFF}' => Action::Remove(Kind::ZeroWidth),
        c if c.is_control() => Action::Remove(Kind::Control),
        _ => Action::Remove(Kind::Invisible),
    }
}

fn is_direction_mark(c: char) -> bool {
    matches!(c, '\u{200E}' | '\u{200F}' | '\u{61C}')
}

/// Letters and marks of scripts in which joiners change the shape of letters: Arabic and its relatives, N'Ko, the Indic scripts,
/// Tibetan, Myanmar, Khmer, Mongolian and the scripts of South-East Asia that descend from Brahmi.
fn joins_letters(c: char) -> bool {
    !is_conditional(c)
        && matches!(u32::from(c),
            0x0600..=0x0DFF | 0x0F00..=0x109F | 0x1780..=0x18AF | 0x1A20..=0x1AAF | 0x1B00..=0x1C4F
                | 0xA800..=0xA8FF | 0xA930..=0xA9FF | 0xAA60..=0xAA7F | 0xABC0..=0xABFF
                | 0xFB50..=0xFDFF | 0xFE70..=0xFEFC | 0x10A00..=0x10A5F | 0x10AC0..=0x10AFF
                | 0x11000..=0x11FFF | 0x1E900..=0x1E95F)
}

/// Scripts that mark the ends of words only by U+200B: Thai, Lao, Tibetan, Myanmar, Khmer, Tai, Javanese.
fn breaks_lines_without_spaces(c: char) -> bool {
    !is_conditional(c)
        && matches!(u32::from(c),
            0x0E00..=0x0FFF | 0x1000..=0x109F | 0x1780..=0x17FF | 0x1950..=0x19DF
                | 0x1A20..=0x1AAF | 0xA980..=0xA9DF | 0xAA60..=0xAADF)
}

/// Characters that are shown as emoji, or can be.
fn is_emoji(c: char) -> bool {
    matches!(u32::from(c),
        0x203C | 0x2049 | 0x2122 | 0x2139 | 0x2194..=0x21AA | 0x231A..=0x23FF | 0x24C2
            | 0x25AA..=0x25FE | 0x2600..=0x27BF | 0x2934 | 0x2935 | 0x2B05..=0x2B55 | 0x3030
            | 0x303D | 0x3297 | 0x3299 | 0x1F000..=0x1FAFF)
}

/// The end of an emoji that a joiner may follow: the emoji itself, its skin tone or its variation selector.
fn ends_emoji(c: char) -> bool {
    is_emoji(c) || c == '\u{FE0F}'
}

/// Characters that U+FE0E and U+FE0F change: emoji, and the digits and signs of keycaps.
fn takes_emoji_style(c: char) -> bool {
    is_emoji(c) || matches!(c, '0'..='9' | '#' | '*' | '©' | '®')
}

/// Characters with standardised variants other than emoji: ideographs, mathematical operators, Myanmar, Phags-pa.
fn has_variants(c: char) -> bool {
    is_ideograph(c)
        || matches!(u32::from(c), 0x2200..=0x22FF | 0x2A00..=0x2AFF | 0x1000..=0x109F | 0xA840..=0xA877)
}

fn is_ideograph(c: char) -> bool {
    matches!(u32::from(c), 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}
