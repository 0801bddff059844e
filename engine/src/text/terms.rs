//! From a text to what the keyword index holds of it, and from a word of a question to what is looked up. Pure.
//!
//! A text is held by its English stems and, where it is in one of the languages of `tongue`, by the stems of that language too. A word
//! of a question is looked up in every language that any text is in, so in each text by the rules of the language of that text; of a
//! question, which may be one word, nothing has to be guessed. Not here: lists of memories (`index::postings`).

use crate::text::language;
use crate::text::language::Tongue;
use crate::text::stem;
use crate::text::tokenize::{Grams, is_unspaced, lower, unmarked, words};

/// What the index holds of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Terms {
    /// Every term as often as it stands there.
    pub terms: Vec<String>,
    /// How many words the text has.
    pub length: usize,
}

/// What the index holds of a text.
pub(crate) fn of_text(text: &str) -> Terms {
    let words: Vec<(&str, String)> = words(text, Grams::All)
        .into_iter()
        .map(|word| (&text[word.clone()], lower(&text[word])))
        .collect();
    let tongues = language::of_words(words.iter().map(|(_, lower)| lower.as_str()));
    let mut of = Terms { terms: Vec::with_capacity(words.len() * (1 + tongues.len())), length: 0 };
    for (word, lower) in words {
        if !word.is_ascii() && word.starts_with(is_unspaced) {
            // Characters beside their pairs are there for questions of one character, and make no text longer.
            of.length += usize::from(is_single(word));
            of.terms.push(unmarked(&lower));
            continue;
        }
        of.length += 1;
        of.terms.extend(tongues.iter().map(|tongue| tongue.stem(&lower)));
        of.terms.push(stem::of_plain(if lower.is_ascii() { lower } else { unmarked(&lower) }));
    }
    of
}

/// The terms by any of which a word of a question is found in texts of these languages, and in English ones; the first names it.
pub(crate) fn of_word(word: &str, tongues: &[Tongue]) -> Vec<String> {
    let lower = lower(word);
    let plain = unmarked(&lower);
    if word.starts_with(is_unspaced) {
        return vec![plain];
    }
    let others = tongues.iter().map(|tongue| tongue.stem(&lower));
    let mut terms: Vec<String> = Vec::with_capacity(1 + tongues.len());
    terms.push(stem::of_plain(plain));
    terms.extend(others);
    terms
}

fn is_single(word: &str) -> bool {
    words(word, Grams::Singles).len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_held_by_the_stems_of_its_language_and_by_the_english_ones() {
        let of = of_text("Die Schlüssel hängen in der Küche");
        assert!(
            of.terms.contains(&"schlussel".to_owned())
                && of.terms.contains(&"de:schlussel".to_owned())
        );
        assert_eq!((of.length, of.terms.len()), (6, 12));
        assert_eq!(of_text("The keys hang in the kitchen").terms.len(), 6);
    }

    #[test]
    fn a_text_without_blanks_is_held_by_characters_and_pairs() {
        let of = of_text("会議室は3階");
        assert_eq!(of.terms, ["会", "議", "室", "は", "会議", "議室", "室は", "3", "階"]);
        assert_eq!(of.length, 6);
        assert_eq!(
            (of_word("議室", &language::ALL), of_word("階", &[])),
            (vec!["議室".to_owned()], vec!["階".to_owned()])
        );
    }

    #[test]
    fn a_word_is_looked_up_in_every_language() {
        assert_eq!(
            of_word("Häuser", &language::ALL),
            ["hauser", "de:haus", "fr:haus", "es:haus", "pl:hauser"]
        );
        assert_eq!(of_word("Häuser", &[]), ["hauser"]);
    }
}
