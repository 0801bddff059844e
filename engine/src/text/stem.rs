//! English stemmer. It must equal `porter unicode61` of SQLite's FTS5 bit for bit, so that warm
//! index and keyword index know the same words.
//!
//! Source: M. F. Porter, "An algorithm for suffix stripping" (1980), with the conditions of FTS5's
//! C code; a test compares the two. FTS5 treats "ł", "ß" and full-width forms as letters of their
//! own, and a Chinese sentence as one word; there the warm index finds more (`tokenize`). Not here:
//! other languages (`language`).

/// Length in bytes of the words that are stemmed; others are returned unchanged.
const STEMMED: std::ops::RangeInclusive<usize> = 3..=64;

/// Stems a word that is in lower case and has no diacritics.
pub(crate) fn of_plain(word: String) -> String {
    if STEMMED.contains(&word.len()) { porter(word) } else { word }
}

/// A condition on the stem that is left without the ending.
type Condition = fn(&[u8]) -> bool;

/// An ending, its replacement, and the condition for replacing it.
type Rule = (&'static str, &'static str, Condition);

const STEP_2: [Rule; 21] = [
    ("ational", "ate", measured),
    ("tional", "tion", measured),
    ("enci", "ence", measured),
    ("anci", "ance", measured),
    ("izer", "ize", measured),
    ("logi", "log", measured),
    ("bli", "ble", measured),
    ("alli", "al", measured),
    ("entli", "ent", measured),
    ("eli", "e", measured),
    ("ousli", "ous", measured),
    ("ization", "ize", measured),
    ("ation", "ate", measured),
    ("ator", "ate", measured),
    ("alism", "al", measured),
    ("iveness", "ive", measured),
    ("fulness", "ful", measured),
    ("ousness", "ous", measured),
    ("aliti", "al", measured),
    ("iviti", "ive", measured),
    ("biliti", "ble", measured),
];

const STEP_3: [Rule; 7] = [
    ("ical", "ic", measured),
    ("ness", "", measured),
    ("icate", "ic", measured),
    ("iciti", "ic", measured),
    ("ful", "", measured),
    ("ative", "", measured),
    ("alize", "al", measured),
];

const STEP_4: [Rule; 19] = [
    ("al", "", long),
    ("ance", "", long),
    ("ence", "", long),
    ("er", "", long),
    ("ic", "", long),
    ("able", "", long),
    ("ible", "", long),
    ("ant", "", long),
    ("ement", "", long),
    ("ment", "", long),
    ("ent", "", long),
    ("ion", "", long_after_s_or_t),
    ("ou", "", long),
    ("ism", "", long),
    ("ate", "", long),
    ("iti", "", long),
    ("ous", "", long),
    ("ive", "", long),
    ("ize", "", long),
];

fn porter(word: String) -> String {
    let mut word = word.into_bytes();
    plural(&mut word);
    past_and_progressive(&mut word);
    if let [stem @ .., b'y'] = word.as_slice()
        && has_vowel(stem)
    {
        let last = word.len() - 1;
        word[last] = b'i';
    }
    for rules in [&STEP_2[..], &STEP_3, &STEP_4] {
        apply(&mut word, rules);
    }
    if let [stem @ .., b'e'] = word.as_slice()
        && (long(stem) || (measure(stem) == 1 && !ends_short(stem)))
    {
        word.pop();
    }
    if let [stem @ .., b'l'] = word.as_slice()
        && stem.last() == Some(&b'l')
        && long(stem)
    {
        word.pop();
    }
    String::from_utf8(word).unwrap_or_default()
}

/// Applies the rule of the first ending that matches, if its condition holds; no later rule is
/// tried.
fn apply(word: &mut Vec<u8>, rules: &[Rule]) {
    let fitting = rules
        .iter()
        .find(|(ending, ..)| word.len() > ending.len() && word.ends_with(ending.as_bytes()));
    if let Some((ending, instead, condition)) = fitting {
        let left = word.len() - ending.len();
        if condition(&word[..left]) {
            word.truncate(left);
            word.extend_from_slice(instead.as_bytes());
        }
    }
}

fn plural(word: &mut Vec<u8>) {
    let cut = match word.as_slice() {
        [_, .., b's', b's', b'e', b's'] | [.., _, b'i', b'e', b's'] => 2,
        [.., b's', b's'] => 0,
        [.., b's'] => 1,
        _ => 0,
    };
    word.truncate(word.len() - cut);
}

fn past_and_progressive(word: &mut Vec<u8>) {
    if word.len() > 3 && word.ends_with(b"eed") {
        if measured(&word[..word.len() - 3]) {
            word.pop();
        }
        return;
    }
    let ending = if word.len() > 2 && word.ends_with(b"ed") {
        2
    } else if word.len() > 3 && word.ends_with(b"ing") {
        3
    } else {
        return;
    };
    let left = word.len() - ending;
    if !has_vowel(&word[..left]) {
        return;
    }
    word.truncate(left);
    if word.len() > 2 && [b"at", b"bl", b"iz"].iter().any(|end| word.ends_with(*end)) {
        word.push(b'e');
        return;
    }
    match word.as_slice() {
        [.., a, b] if a == b && !is_vowel(*b, false) && !b"lsz".contains(b) => drop(word.pop()),
        stem if measure(stem) == 1 && ends_short(stem) => word.push(b'e'),
        _ => {}
    }
}

fn is_vowel(letter: u8, y_is_one: bool) -> bool {
    b"aeiou".contains(&letter) || (y_is_one && letter == b'y')
}

/// For each letter whether it is a consonant: `y` is one at the beginning and after a vowel.
fn consonants(stem: &[u8]) -> impl Iterator<Item = bool> {
    stem.iter().scan(false, |before, letter| {
        *before = !is_vowel(*letter, *before);
        Some(*before)
    })
}

/// Porter's m: the number of times that a consonant follows a vowel.
fn measure(stem: &[u8]) -> usize {
    let kinds: Vec<bool> = consonants(stem).collect();
    kinds.windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

fn measured(stem: &[u8]) -> bool {
    measure(stem) > 0
}

fn long(stem: &[u8]) -> bool {
    measure(stem) > 1
}

fn long_after_s_or_t(stem: &[u8]) -> bool {
    matches!(stem.last(), Some(b's' | b't')) && long(stem)
}

fn has_vowel(stem: &[u8]) -> bool {
    stem.iter().enumerate().any(|(at, letter)| is_vowel(*letter, at > 0))
}

/// Porter's *o: ends in consonant, vowel, consonant, the last of which is not w, x or y.
fn ends_short(stem: &[u8]) -> bool {
    let kinds: Vec<bool> = consonants(stem).collect();
    kinds.ends_with(&[true, false, true]) && !matches!(stem.last(), Some(b'w' | b'x' | b'y'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::tokenize::{Grams, lower, unmarked, words};
    use rusqlite::Connection;

    fn of_word(word: &str) -> String {
        of_plain(unmarked(&lower(word)))
    }

    fn of_text(text: &str) -> impl Iterator<Item = String> {
        words(text, Grams::Pairs).into_iter().map(|word| of_word(&text[word]))
    }

    /// The terms that FTS5 extracts from a text.
    fn of_fts5(text: &str) -> Vec<String> {
        let conn = Connection::open_in_memory().expect("opens");
        crate::db::lexical::terms(&conn, text).expect("are read")
    }

    #[test]
    fn words_of_every_step_have_the_stem_of_fts5() {
        let text = "caresses ponies ties caress cats feed agreed plastered bled motoring sing conflated troubled sized hopping tanned \
            falling hissing fizzed failing filing happy sky relational conditional rational valency hesitancy digitizer conformably \
            radically differently vilely analogously vietnamization predication operator feudalism decisiveness hopefulness callousness \
            formality sensitivity sensibility triplicate formative formalize electricity electrical hopeful goodness revival allowance \
            inference airliner gyroscopic adjustable defensible irritant replacement adjustment dependent adoption homologou communism \
            activate angularity homologous effective bowdlerize probate rate cease controll roll by as is yes eyes says dying lies ses \
            archaeology apology generalization oscillators running run ran syzygy why toy boys used use being ing ed eed sses ies 2nd x1";
        let ours: Vec<String> = of_text(text).collect();
        assert_eq!(ours, of_fts5(text));
    }

    #[test]
    fn letters_are_folded_and_other_characters_separate() {
        let text = "Über-Strasse, CAFÉ naïve! foo_bar user's C++ 3.14 Ångström ŻÓĆ Crème brûlée e\u{301}tude 東京 Ωmega";
        assert_eq!(of_text(text).collect::<Vec<_>>(), of_fts5(text));
        assert_eq!(
            (of_word("Łódź"), of_fts5("Łódź")),
            ("lodz".to_owned(), vec!["łodz".to_owned()]),
            "more is folded here"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_english_looking_word_has_the_stem_of_fts5(word in "[a-z]{1,5}(ational|ization|iveness|fulness|ousli|ing|ed|eed|s|ies|sses|ement|ion|ly|y|e|ll|abl|)") {
            proptest::prop_assert_eq!(of_text(&word).collect::<Vec<_>>(), of_fts5(&word));
        }
    }
}
