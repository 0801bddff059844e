//! Tokenizer: the words of a text, and their normalisation in case, diacritics and width. Pure.
//!
//! In most scripts spaces separate words; there a word is a run of letters, digits and marks.
//! Scripts without spaces (Chinese, Japanese, Thai; Korean, because of its endings) are split into
//! pairs of adjacent characters, which finds words without a dictionary. Not here: stems (`stem`,
//! `language`).

use std::ops::Range;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// How scripts without spaces are split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grams {
    /// Into pairs of adjacent characters; a lone character by itself.
    Pairs,
    /// Into single characters.
    Singles,
    /// Into both, for the index, so that a query of one character has matches.
    All,
}

/// Returns the byte ranges of the words of a text, in order.
pub fn words(text: &str, grams: Grams) -> Vec<Range<usize>> {
    if text.is_ascii() { words_of_ascii(text.as_bytes()) } else { words_of_any(text, grams) }
}

/// Lower estimate of the bytes per word including the space, to size the result.
const BYTES_PER_WORD: usize = 5;

/// As [`words_of_any`], but faster and only for ASCII text.
fn words_of_ascii(text: &[u8]) -> Vec<Range<usize>> {
    let mut words = Vec::with_capacity(text.len() / BYTES_PER_WORD);
    let mut at = 0;
    while let Some(before) = text[at..].iter().position(u8::is_ascii_alphanumeric) {
        let begin = at + before;
        at = text[begin..]
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric())
            .map_or(text.len(), |length| begin + length);
        words.push(begin..at);
    }
    words
}

fn words_of_any(text: &str, grams: Grams) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut run: Option<Range<usize>> = None;
    for (at, c) in text.char_indices() {
        let end = at + c.len_utf8();
        match &mut run {
            Some(run) if is_word_char(c) => run.end = end,
            None if is_word_char(c) => run = Some(at..end),
            _ => words
                .extend(run.take().into_iter().flat_map(|run| split_by_script(text, run, grams))),
        }
    }
    words.extend(run.into_iter().flat_map(|run| split_by_script(text, run, grams)));
    words
}

/// Whether a character can be part of a word.
fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || (!c.is_ascii() && is_combining_mark(c))
}

/// Splits a run of letters and digits where the script changes between one with spaces and one
/// without.
fn split_by_script(text: &str, run: Range<usize>, grams: Grams) -> Vec<Range<usize>> {
    if text[run.clone()].bytes().all(|byte| byte < 0xe0) {
        // All scripts below U+0800 are written with spaces.
        let has_letter = text[run.clone()].chars().any(char::is_alphanumeric);
        return if has_letter { vec![run] } else { Vec::new() };
    }
    let mut words = Vec::new();
    let mut unspaced: Vec<Range<usize>> = Vec::new();
    let mut spaced: Option<Range<usize>> = None;
    for (at, c) in text[run.clone()].char_indices() {
        let (at, end) = (run.start + at, run.start + at + c.len_utf8());
        if is_unspaced(c) {
            words.extend(spaced.take());
            unspaced.push(at..end);
        } else if let Some(last) = unspaced.last_mut().filter(|_| extends_previous(c)) {
            last.end = end;
        } else {
            append_grams(&mut unspaced, grams, &mut words);
            spaced = Some(spaced.map_or(at, |spaced| spaced.start)..end);
        }
    }
    words.extend(spaced);
    append_grams(&mut unspaced, grams, &mut words);
    words.retain(|word| text[word.clone()].chars().any(char::is_alphanumeric));
    words
}

/// Moves adjacent characters of a script without spaces to the words, split as `grams` says.
fn append_grams(characters: &mut Vec<Range<usize>>, grams: Grams, words: &mut Vec<Range<usize>>) {
    if grams != Grams::Pairs || characters.len() == 1 {
        words.extend(characters.iter().cloned());
    }
    if grams != Grams::Singles {
        words.extend(characters.windows(2).map(|pair| pair[0].start..pair[1].end));
    }
    characters.clear();
}

/// Whether a mark is part of the character before it: vowel signs, voiced marks of kana in full and
/// half width.
fn extends_previous(c: char) -> bool {
    is_combining_mark(c) || matches!(c, '\u{ff9e}' | '\u{ff9f}')
}

/// Whether a character belongs to a script without spaces between words, or with endings attached
/// to them.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0e01..=0x0eff // Thai, Lao
        | 0x1000..=0x109f | 0x1780..=0x17ff // Burmese, Khmer
        | 0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7ff // Hangul
        | 0x3005..=0x3007 | 0x3041..=0x30ff | 0x31f0..=0x31ff | 0xff66..=0xff9f // kana, iteration marks
        | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff) // Han
        && !is_combining_mark(c)
        && c.is_alphanumeric()
        && !extends_previous(c)
}

/// Fewest characters of a part of an identifier.
const MIN_PART_CHARS: usize = 2;

/// Returns the parts of an identifier, split at inner capitals and between letters and digits, of
/// at least two characters: `getUserById` has four, `E4017` has one, `kettle` has none.
pub fn identifier_parts(word: &str) -> impl Iterator<Item = &str> {
    let chars: Vec<(usize, char)> = word.char_indices().collect();
    let mut starts: Vec<usize> = chars
        .windows(2)
        .enumerate()
        .filter(|(at, pair)| is_boundary(pair[0].1, pair[1].1, chars.get(at + 2).map(|c| c.1)))
        .map(|(_, pair)| pair[1].0)
        .collect();
    if !starts.is_empty() {
        starts.insert(0, 0);
        starts.push(word.len());
    }
    let parts: Vec<&str> = starts.windows(2).map(|ends| &word[ends[0]..ends[1]]).collect();
    parts.into_iter().filter(|part| part.chars().count() >= MIN_PART_CHARS)
}

/// Whether a part begins at the second of these characters, of which `next` follows.
fn is_boundary(before: char, at: char, next: Option<char>) -> bool {
    let begins_word =
        at.is_uppercase() && (before.is_lowercase() || next.is_some_and(char::is_lowercase));
    begins_word && before.is_alphabetic()
        || before.is_alphanumeric()
            && at.is_alphanumeric()
            && before.is_numeric() != at.is_numeric()
}

/// Returns a word in lower case and normal width, with its diacritics: the input of a stemmer.
pub fn lower(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let plain: String = word.nfkc().flat_map(char::to_lowercase).nfc().collect();
    // NFKC turns "½" into "1⁄2", which is not one word.
    if plain.chars().all(is_word_char) {
        plain
    } else {
        word.nfc().flat_map(char::to_lowercase).nfc().collect()
    }
}

/// Removes the diacritics of a word that [`lower`] returned: "łódź" is "lodz", "straße" is
/// "strasse".
pub fn unmarked(lower: &str) -> String {
    if lower.is_ascii() {
        return lower.to_owned();
    }
    let mut plain = String::with_capacity(lower.len());
    for c in lower.nfd().filter(|c| !is_diacritic(*c)) {
        match c {
            'ł' => plain.push('l'),
            'ø' => plain.push('o'),
            'đ' | 'ð' => plain.push('d'),
            'ħ' => plain.push('h'),
            'ı' => plain.push('i'),
            'ς' => plain.push('σ'),
            'ß' => plain.push_str("ss"),
            'æ' => plain.push_str("ae"),
            'œ' => plain.push_str("oe"),
            'þ' => plain.push_str("th"),
            other => plain.push(other),
        }
    }
    plain.nfc().collect()
}

/// Whether a mark is one that people omit when typing, unlike vowel signs and voiced marks.
fn is_diacritic(c: char) -> bool {
    is_combining_mark(c)
        && matches!(u32::from(c), 0x0300..=0x036f | 0x0483..=0x0487 | 0x0591..=0x05c7 | 0x0610..=0x065f | 0x1ab0..=0x1aff | 0x1dc0..=0x1dff)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words_of(text: &str, grams: Grams) -> Vec<&str> {
        words(text, grams).into_iter().map(|word| &text[word]).collect()
    }

    #[test]
    fn scripts_without_spaces_are_split_into_pairs_and_others_into_words() {
        assert_eq!(
            words_of("The user's 東京tower2 第3章", Grams::Pairs),
            ["The", "user", "s", "東京", "tower2", "第", "3", "章"]
        );
        assert_eq!(
            words_of("会議室は三階", Grams::Pairs),
            ["会議", "議室", "室は", "は三", "三階"]
        );
        assert_eq!(words_of("三階", Grams::All), ["三", "階", "三階"]);
        assert_eq!(words_of("サーバー", Grams::Singles), ["サ", "ー", "バ", "ー"]);
        assert_eq!(words_of("서울에서", Grams::Pairs), ["서울", "울에", "에서"]);
        assert_eq!(
            words_of("ﾊﾞｽ停", Grams::Pairs),
            ["ﾊﾞｽ", "ｽ停"],
            "a voiced mark is part of the character before it"
        );
        assert!(words_of("?! … —", Grams::All).is_empty());
    }

    proptest! {
        #[test]
        fn the_ascii_tokenizer_equals_the_general_one(text in "[ -~\\t\\n]{0,40}", grams in prop_oneof![Just(Grams::Pairs), Just(Grams::All)]) {
            prop_assert_eq!(words(&text, grams), words_of_any(&text, grams));
        }
    }

    #[test]
    fn case_width_and_diacritics_are_normalised() {
        let folded = |word: &str| unmarked(&lower(word));
        for (word, plain) in [
            ("ŁÓDŹ", "lodz"),
            ("Straße", "strasse"),
            ("Ｌｏｃｉ２", "loci2"),
            ("ﾊﾞｽ", "バス"),
            ("e\u{301}tude", "etude"),
            ("ﬁle", "file"),
            ("½", "½"),
            ("Smørrebrød", "smorrebrod"),
            ("ΟΔΟΣ", "οδοσ"),
        ] {
            assert_eq!(folded(word), plain);
        }
        assert_ne!(folded("ガ"), folded("カ"));
    }

    #[test]
    fn identifiers_are_split_at_capitals_and_digits() {
        let parts = |word| identifier_parts(word).collect::<Vec<_>>();
        assert_eq!(parts("getUserById"), ["get", "User", "By", "Id"]);
        assert_eq!(parts("HTTPServer2"), ["HTTP", "Server"]);
        assert_eq!(parts("sha256sum"), ["sha", "256", "sum"]);
        assert_eq!((parts("E4017"), parts("МойКласс")), (vec!["4017"], vec!["Мой", "Класс"]));
        for plain in ["kettle", "Kettle", "NASA", "2026", "会議室", "", "A2"] {
            assert!(parts(plain).is_empty(), "{plain}");
        }
    }

    proptest! {
        #[test]
        fn the_parts_of_an_identifier_are_pieces_of_it_in_order(word in "\\w{0,16}") {
            let mut rest = word.as_str();
            for part in identifier_parts(&word) {
                let at = rest.find(part);
                prop_assert!(at.is_some(), "{word}");
                rest = &rest[at.unwrap_or(0) + part.len()..];
            }
        }

        #[test]
        fn every_word_has_a_letter_or_digit(text in "\\PC{0,60}") {
            for grams in [Grams::Pairs, Grams::Singles, Grams::All] {
                prop_assert!(words_of(&text, grams).iter().all(|word| word.chars().any(char::is_alphanumeric)));
            }
        }

        #[test]
        fn normalising_is_idempotent(word in "\\w{1,12}") {
            let once = unmarked(&lower(&word));
            prop_assert_eq!(unmarked(&lower(&once)), once);
        }
    }
}
