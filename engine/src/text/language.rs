//! In which languages a text may be written, and the stem of a word in each. Pure.
//!
//! Source: the Snowball stemmers (M. F. Porter and others, snowballstem.org), by the crate `snowball_stemmers_rs`. English is not among
//! them here: every text is read with the English stemmer of the keyword index as well (`stem`). A text is taken to be in the language
//! whose small words and letters it has most of; English wins a tie, so that an English text is never read in two ways. Not here: the
//! lists (`small_words`).

use crate::text::stop_words::{ENGLISH, kinds, looks_english};
use crate::text::tokenize::{Grams, is_unspaced, lower, unmarked, words};
use snowball_stemmers_rs::{Algorithm, Stemmer};

/// A language with a stemmer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tongue {
    German,
    French,
    Spanish,
    Polish,
}

/// Each of them.
pub(crate) const ALL: [Tongue; 4] =
    [Tongue::German, Tongue::French, Tongue::Spanish, Tongue::Polish];

impl Tongue {
    /// What stands before its stems in the index: the same letters mean something else in another language.
    fn mark(self) -> &'static str {
        match self {
            Self::German => "de:",
            Self::French => "fr:",
            Self::Spanish => "es:",
            Self::Polish => "pl:",
        }
    }

    /// The language that a term is a stem of; none of English ones.
    pub(crate) fn of_term(term: &str) -> Option<Self> {
        ALL.into_iter().find(|tongue| term.starts_with(tongue.mark()))
    }

    /// Letters that English, and mostly the other three, do without.
    fn letters(self) -> &'static str {
        match self {
            Self::German => "äöüß",
            Self::French => "àâæçèêëîïôœùûé",
            Self::Spanish => "ñáíúóé",
            Self::Polish => "ąćęłńśźżó",
        }
    }

    /// The stem of a word as [`lower`] gives it.
    pub(crate) fn stem(self, lower: &str) -> String {
        let algorithm = match self {
            Self::German => Algorithm::German,
            Self::French => Algorithm::French,
            Self::Spanish => Algorithm::Spanish,
            Self::Polish => Algorithm::Polish,
        };
        format!("{}{}", self.mark(), unmarked(&Stemmer::create(algorithm).stem(lower)))
    }
}

/// The languages of a text, English aside: those that most of its small words and letters speak for. None for English, for a text
/// that has nothing to tell by, and for any other language.
pub(crate) fn of(text: &str) -> Vec<Tongue> {
    let words: Vec<String> =
        words(text, Grams::Singles).into_iter().map(|word| lower(&text[word])).collect();
    of_words(words.iter().map(String::as_str))
}

/// The same of the words of a text, in lower case.
pub(crate) fn of_words<'a>(words: impl Iterator<Item = &'a str>) -> Vec<Tongue> {
    let (mut english, mut others) = (0, [0; ALL.len()]);
    for word in words.filter(|word| word.is_ascii() || !word.starts_with(is_unspaced)) {
        let kinds = kinds(word);
        if kinds == 0 && word.is_ascii() {
            continue;
        }
        english += u32::from(kinds & ENGLISH != 0);
        for (tongue, count) in ALL.into_iter().zip(&mut others) {
            let small = kinds & bit(tongue) != 0 && !looks_english(word);
            let spelled = !word.is_ascii() && word.chars().any(|c| tongue.letters().contains(c));
            *count += u32::from(small) + u32::from(spelled);
        }
    }
    let most = others.iter().copied().max().unwrap_or(0);
    if most <= english {
        Vec::new()
    } else {
        ALL.into_iter().zip(others).filter(|(_, count)| *count == most).map(|(t, _)| t).collect()
    }
}

/// The bit of a language in what [`kinds`] gives.
pub(crate) fn bit(tongue: Tongue) -> u8 {
    ENGLISH << (1 + tongue as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_of_the_language_that_most_of_it_speaks_for() {
        for (text, expected) in [
            ("Der Schlüssel für den Keller hängt in der Küche", vec![Tongue::German]),
            ("La réunion du lundi est dans la petite salle", vec![Tongue::French]),
            ("La reunión del lunes es en la sala pequeña", vec![Tongue::Spanish]),
            ("Klucze do piwnicy wiszą w kuchni", vec![Tongue::Polish]),
            ("The meeting with José in Łódź is on Monday", vec![]),
            ("Game plan: die hard in LA, the man said", vec![]),
            ("Decision: use tabs", vec![]),
            ("会議室は三階", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }

    #[test]
    fn forms_of_one_word_have_one_stem() {
        for (tongue, forms) in [
            (Tongue::German, ["Schlüssel", "Schlüsseln", "SCHLÜSSELS"]),
            (Tongue::French, ["réunion", "réunions", "RÉUNION"]),
            (Tongue::Spanish, ["reunión", "reuniones", "Reunion"]),
            (Tongue::Polish, ["piwnica", "piwnicy", "piwnicę"]),
        ] {
            let stems: Vec<String> = forms.iter().map(|form| tongue.stem(&lower(form))).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{stems:?}");
        }
        assert_ne!(Tongue::German.stem("note"), Tongue::French.stem("note"));
    }
}
