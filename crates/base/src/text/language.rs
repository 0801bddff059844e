//! Language detection, and the stemmer of each language but English. Pure.
//!
//! The stemmers are Snowball's (M. F. Porter and others, snowballstem.org), from the crate
//! `snowball_stemmers_rs`. English has none here, because every text is also stemmed in English, as
//! the keyword index does (`stem`). The language of a text is the one with the most stop words and
//! characteristic letters; in a tie with English it is English, so an English text is never indexed
//! in two languages. Not here: the lists (`stop_words`).

use crate::text::stop_words::{ENGLISH, is_ambiguous_with_english, languages};
use crate::text::tokenize::{Grams, is_unspaced, lower, unmarked, words};
use snowball_stemmers_rs::{Algorithm, Stemmer};

/// A language other than English that has a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// German.
    German,
    /// French.
    French,
    /// Spanish.
    Spanish,
    /// Polish.
    Polish,
}

/// Every language, in the order of their stop-word bits.
pub const ALL: [Language; 4] =
    [Language::German, Language::French, Language::Spanish, Language::Polish];

impl Language {
    /// Prefix of its stems in the index, because the same stem may mean something else in another
    /// language.
    fn prefix(self) -> &'static str {
        match self {
            Self::German => "de:",
            Self::French => "fr:",
            Self::Spanish => "es:",
            Self::Polish => "pl:",
        }
    }

    /// The language of an indexed stem; `None` for an English one.
    pub fn of_term(term: &str) -> Option<Self> {
        ALL.into_iter().find(|language| term.starts_with(language.prefix()))
    }

    /// Letters that are not used in English, and mostly not in the other three languages.
    fn letters(self) -> &'static str {
        match self {
            Self::German => "äöüß",
            Self::French => "àâæçèêëîïôœùûé",
            Self::Spanish => "ñáíúóé",
            Self::Polish => "ąćęłńśźżó",
        }
    }

    /// Stems a word that [`lower`] returned, and adds the prefix of the language.
    pub fn stem(self, lower: &str) -> String {
        let algorithm = match self {
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
            Self::Polish => Algorithm::Polish,
        };
        format!("{}{}", self.prefix(), unmarked(&Stemmer::create(algorithm).stem(lower)))
    }
}

/// Detects the language of a text; two languages if they are equally likely. Empty for English, for
/// any language without a stemmer, and for a text without evidence.
pub(crate) fn detect(text: &str) -> Vec<Language> {
    let words: Vec<String> =
        words(text, Grams::Singles).into_iter().map(|word| lower(&text[word])).collect();
    detect_from_words(words.iter().map(String::as_str))
}

/// Returns whether a text is in another language than English: one with a stemmer, or one of other
/// letters.
pub fn is_foreign(text: &str) -> bool {
    let (letters, others) = text
        .chars()
        .filter(|c| c.is_alphabetic())
        .fold((0, 0), |counts, c| (counts.0 + 1, counts.1 + usize::from(!c.is_ascii())));
    2 * others > letters || !detect(text).is_empty()
}

/// As [`detect`], from the words of a text in lower case.
pub(crate) fn detect_from_words<'a>(words: impl Iterator<Item = &'a str>) -> Vec<Language> {
    let (mut english, mut others) = (0, [0; ALL.len()]);
    for word in words.filter(|word| word.is_ascii() || !word.starts_with(is_unspaced)) {
        let listed_in = languages(word);
        if listed_in == 0 && word.is_ascii() {
            continue;
        }
        english += u32::from(listed_in & ENGLISH != 0);
        for (language, count) in ALL.into_iter().zip(&mut others) {
            let is_stop_word = listed_in & bit(language) != 0 && !is_ambiguous_with_english(word);
            let has_letter =
                !word.is_ascii() && word.chars().any(|c| language.letters().contains(c));
            *count += u32::from(is_stop_word) + u32::from(has_letter);
        }
    }
    let most = others.iter().copied().max().unwrap_or(0);
    if most <= english {
        Vec::new()
    } else {
        ALL.into_iter()
            .zip(others)
            .filter(|(_, count)| *count == most)
            .map(|(language, _)| language)
            .collect()
    }
}

/// The bit of a language in the result of [`languages`].
pub fn bit(language: Language) -> u8 {
    ENGLISH << (1 + language as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_another_language_or_script_is_foreign() {
        for text in
            ["Der Schlüssel liegt im Büro", "备用钥匙挂在门后", "Сервер базы данных переехал"]
        {
            assert!(is_foreign(text), "{text}");
        }
        for text in ["The café moved to Zürich", "fn main() {}", "", "42", "déjà vu is fine"] {
            assert!(!is_foreign(text), "{text}");
        }
    }

    #[test]
    fn the_language_with_the_most_evidence_is_detected() {
        for (text, expected) in [
            ("Der Schlüssel für den Keller hängt in der Küche", vec![Language::German]),
            ("La réunion du lundi est dans la petite salle", vec![Language::French]),
            ("La reunión del lunes es en la sala pequeña", vec![Language::Spanish]),
            ("Klucze do piwnicy wiszą w kuchni", vec![Language::Polish]),
            ("The meeting with José in Łódź is on Monday", vec![]),
            ("Game plan: die hard in LA, the man said", vec![]),
            ("Decision: use tabs", vec![]),
            ("会議室は三階", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(detect(text), expected, "{text}");
        }
    }

    #[test]
    fn inflected_forms_of_a_word_share_a_stem() {
        for (language, forms) in [
            (Language::German, ["Schlüssel", "Schlüsseln", "SCHLÜSSELS"]),
            (Language::French, ["réunion", "réunions", "RÉUNION"]),
            (Language::Spanish, ["reunión", "reuniones", "Reunion"]),
            (Language::Polish, ["piwnica", "piwnicy", "piwnicę"]),
        ] {
            let stems: Vec<String> = forms.iter().map(|form| language.stem(&lower(form))).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        assert_ne!(Language::German.stem("note"), Language::French.stem("note"));
    }
}
