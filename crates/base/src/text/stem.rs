//! English stemmer. It must equal `porter unicode61` of SQLite's FTS5 bit for bit, so that the
//! in-memory index and the FTS5 index have the same terms.
//!
//! Source: M. F. Porter, "An algorithm for suffix stripping" (1980), with the conditions of FTS5's
//! C code; a test compares the two. FTS5 treats "ł", "ß" and full-width forms as separate letters,
//! and a Chinese sentence as one word; the in-memory index finds more there (`tokenize`). Not here:
//! other languages (`language`).

/// Length in bytes of the words that are stemmed; others are returned unchanged.
const STEMMED: std::ops::RangeInclusive<usize> = 3..=64;

/// Stems a word that is in lower case and has no diacritics.
pub fn stem_plain(word: String) -> String {
    if STEMMED.contains(&word.len()) { porter(word) } else { word }
}

/// A condition on the word without its ending.
type Condition = fn(&[u8]) -> bool;

/// An ending, its replacement, and the condition for replacing it.
type Rule = (&'static str, &'static str, Condition);

const STEP_2: [Rule; 21] = [
    ("ational", "ate", measure_above_0),
    ("tional", "tion", measure_above_0),
    ("enci", "ence", measure_above_0),
    ("anci", "ance", measure_above_0),
    ("izer", "ize", measure_above_0),
    ("logi", "log", measure_above_0),
    ("bli", "ble", measure_above_0),
    ("alli", "al", measure_above_0),
    ("entli", "ent", measure_above_0),
    ("eli", "e", measure_above_0),
    ("ousli", "ous", measure_above_0),
    ("ization", "ize", measure_above_0),
    ("ation", "ate", measure_above_0),
    ("ator", "ate", measure_above_0),
    ("alism", "al", measure_above_0),
    ("iveness", "ive", measure_above_0),
    ("fulness", "ful", measure_above_0),
    ("ousness", "ous", measure_above_0),
    ("aliti", "al", measure_above_0),
    ("iviti", "ive", measure_above_0),
    ("biliti", "ble", measure_above_0),
];

const STEP_3: [Rule; 7] = [
    ("ical", "ic", measure_above_0),
    ("ness", "", measure_above_0),
    ("icate", "ic", measure_above_0),
    ("iciti", "ic", measure_above_0),
    ("ful", "", measure_above_0),
    ("ative", "", measure_above_0),
    ("alize", "al", measure_above_0),
];

const STEP_4: [Rule; 19] = [
    ("al", "", measure_above_1),
    ("ance", "", measure_above_1),
    ("ence", "", measure_above_1),
    ("er", "", measure_above_1),
    ("ic", "", measure_above_1),
    ("able", "", measure_above_1),
    ("ible", "", measure_above_1),
    ("ant", "", measure_above_1),
    ("ement", "", measure_above_1),
    ("ment", "", measure_above_1),
    ("ent", "", measure_above_1),
    ("ion", "", measure_above_1_after_s_or_t),
    ("ou", "", measure_above_1),
    ("ism", "", measure_above_1),
    ("ate", "", measure_above_1),
    ("iti", "", measure_above_1),
    ("ous", "", measure_above_1),
    ("ive", "", measure_above_1),
    ("ize", "", measure_above_1),
];

fn porter(word: String) -> String {
    let mut word = word.into_bytes();
    remove_plural(&mut word);
    remove_ed_and_ing(&mut word);
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
        && (measure_above_1(stem) || (measure(stem) == 1 && !ends_short(stem)))
    {
        word.pop();
    }
    if let [stem @ .., b'l'] = word.as_slice()
        && stem.last() == Some(&b'l')
        && measure_above_1(stem)
    {
        word.pop();
    }
    String::from_utf8(word).unwrap_or_default()
}

/// Applies the rule of the first ending that matches, if its condition is met. Later rules are not
/// tried.
fn apply(word: &mut Vec<u8>, rules: &[Rule]) {
    let rule = rules
        .iter()
        .find(|(ending, ..)| word.len() > ending.len() && word.ends_with(ending.as_bytes()));
    if let Some((ending, replacement, condition)) = rule {
        let stem_length = word.len() - ending.len();
        if condition(&word[..stem_length]) {
            word.truncate(stem_length);
            word.extend_from_slice(replacement.as_bytes());
        }
    }
}

/// Step 1a: removes a plural ending.
fn remove_plural(word: &mut Vec<u8>) {
    let cut = match word.as_slice() {
        [_, .., b's', b's', b'e', b's'] | [.., _, b'i', b'e', b's'] => 2,
        [.., b's', b's'] => 0,
        [.., b's'] => 1,
        _ => 0,
    };
    word.truncate(word.len() - cut);
}

/// Step 1b: removes "ed" and "ing".
fn remove_ed_and_ing(word: &mut Vec<u8>) {
    if word.len() > 3 && word.ends_with(b"eed") {
        if measure_above_0(&word[..word.len() - 3]) {
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
    let stem_length = word.len() - ending;
    if !has_vowel(&word[..stem_length]) {
        return;
    }
    word.truncate(stem_length);
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

/// For each letter, whether it is a consonant. `y` is one at the beginning and after a vowel.
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

/// Whether Porter's m is at least 1.
fn measure_above_0(stem: &[u8]) -> bool {
    measure(stem) > 0
}

/// Whether Porter's m is at least 2.
fn measure_above_1(stem: &[u8]) -> bool {
    measure(stem) > 1
}

/// Whether Porter's m is at least 2 and the stem ends in "s" or "t".
fn measure_above_1_after_s_or_t(stem: &[u8]) -> bool {
    matches!(stem.last(), Some(b's' | b't')) && measure_above_1(stem)
}

fn has_vowel(stem: &[u8]) -> bool {
    stem.iter().enumerate().any(|(at, letter)| is_vowel(*letter, at > 0))
}

/// Porter's *o: ends in consonant, vowel, consonant, the last of which is not w, x or y.
fn ends_short(stem: &[u8]) -> bool {
    let kinds: Vec<bool> = consonants(stem).collect();
    kinds.ends_with(&[true, false, true]) && !matches!(stem.last(), Some(b'w' | b'x' | b'y'))
}
