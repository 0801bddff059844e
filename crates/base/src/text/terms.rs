//! Index terms of a text, and lookup terms of a query word. Pure.
//!
//! A text is indexed by its English stems and, if it is in one of the languages of `language`, by
//! the stems of that language too. A query word is looked up in every language of the store, so
//! each text is searched by the rules of its own language. The language of the query is not
//! detected, since it may be a single word. Not here: posting lists (`index::postings`).

use crate::text::language;
use crate::text::language::Language;
use crate::text::stem;
use crate::text::stop_words;
use crate::text::tokenize::{Grams, identifier_parts, is_unspaced, lower, unmarked, words};
use foldhash::HashSet;
use std::sync::LazyLock;

/// The index terms of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// The terms; a term that occurs several times is repeated.
    pub terms: Vec<String>,
    /// Length of the text in words.
    pub length: usize,
}

/// Returns the index terms of a text.
pub fn of_text(text: &str) -> Terms {
    let words: Vec<(&str, String)> = words(text, Grams::All)
        .into_iter()
        .map(|word| (&text[word.clone()], lower(&text[word])))
        .collect();
    let languages = language::detect_from_words(words.iter().map(|(_, lower)| lower.as_str()));
    let mut result =
        Terms { terms: Vec::with_capacity(words.len() * (1 + languages.len())), length: 0 };
    for (word, lower) in words {
        if !word.is_ascii() && word.starts_with(is_unspaced) {
            // Single characters are indexed for queries of one character. The length counts only
            // them, not their pairs.
            result.length += usize::from(is_single(word));
            result.terms.push(unmarked(&lower));
            continue;
        }
        result.length += 1;
        result.terms.extend(languages.iter().map(|language| language.stem(&lower)));
        result.terms.push(stem::stem_plain(if lower.is_ascii() {
            lower
        } else {
            unmarked(&lower)
        }));
        result
            .terms
            .extend(identifier_parts(word).map(|part| part_of_identifier(&plain_stem(part))));
    }
    result
}

/// Prefix of the stems of parts of identifiers.
const PART: &str = "in:";

/// Returns the index term of a part of an identifier, of which this is the stem: `getUserById` is
/// found by "user", but is not the word "user".
pub fn part_of_identifier(stem: &str) -> String {
    format!("{PART}{stem}")
}

fn plain_stem(word: &str) -> String {
    stem::stem_plain(unmarked(&lower(word)))
}

/// Returns the lookup terms of a query word, for English texts and texts of these languages. The
/// first term identifies the word.
pub fn of_word(word: &str, languages: &[Language]) -> Vec<String> {
    let lower = lower(word);
    let plain = unmarked(&lower);
    if word.starts_with(is_unspaced) {
        return vec![plain];
    }
    let others = languages.iter().map(|language| language.stem(&lower));
    let mut terms: Vec<String> = Vec::with_capacity(1 + languages.len());
    terms.push(stem::stem_plain(plain));
    terms.extend(others);
    terms
}

/// Returns whether an index term stands for a content word: it is no stem of another language than
/// English, which repeats an English one, no part of an identifier, no stem of a stop word, and no
/// single sign of a script without spaces, which its pairs repeat.
pub fn is_content_stem(term: &str) -> bool {
    let is_of_pair = term.starts_with(is_unspaced) && is_single(term);
    Language::of_term(term).is_none()
        && !term.starts_with(PART)
        && !is_of_pair
        && !STEMS_OF_STOP_WORDS.contains(term)
}

/// The English stems of the stop words of every language.
static STEMS_OF_STOP_WORDS: LazyLock<HashSet<String>> =
    LazyLock::new(|| stop_words::all().map(|word| stem::stem_plain(unmarked(word))).collect());

fn is_single(word: &str) -> bool {
    words(word, Grams::Singles).len() == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_indexed_by_the_stems_of_its_language_and_by_english_stems() {
        let terms = of_text("Die Schlüssel hängen in der Küche");
        assert!(
            terms.terms.contains(&"schlussel".to_owned())
                && terms.terms.contains(&"de:schlussel".to_owned())
        );
        assert_eq!((terms.length, terms.terms.len()), (6, 12));
        assert_eq!(of_text("The keys hang in the kitchen").terms.len(), 6);
    }

    #[test]
    fn an_identifier_is_indexed_as_a_whole_and_by_its_parts() {
        let terms = of_text("Call getUserById");
        assert_eq!(terms.terms, ["call", "getuserbyid", "in:get", "in:user", "in:by", "in:id"]);
        assert_eq!(terms.length, 2);
        assert!(is_content_stem("getuserbyid") && !is_content_stem("in:user"));
    }

    #[test]
    fn a_text_without_spaces_is_indexed_by_characters_and_pairs() {
        let terms = of_text("会議室は3階");
        assert_eq!(terms.terms, ["会", "議", "室", "は", "会議", "議室", "室は", "3", "階"]);
        assert_eq!(terms.length, 6);
        assert_eq!(
            (of_word("議室", &language::ALL), of_word("階", &[])),
            (vec!["議室".to_owned()], vec!["階".to_owned()])
        );
    }

    #[test]
    fn a_query_word_is_looked_up_in_every_language() {
        assert_eq!(
            of_word("Häuser", &language::ALL),
            ["hauser", "de:haus", "fr:haus", "es:haus", "pl:hauser"]
        );
        assert_eq!(of_word("Häuser", &[]), ["hauser"]);
    }
}
