//! One scanned word of a text with its meaning for the duplicate guard.
//!
//! Not here: finding words in a text (`scan`), the word lists (`lexicon`).

use crate::duplicate::lexicon::FunctionWord;

/// The class of a word. It determines which differences make another fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordClass {
    /// Articles and similar words, which do not change the fact.
    Filler,
    /// A number, or a word that contains a digit.
    Number,
    /// `one` and `first`: a number only if its counterpart is a number.
    One,
    /// A unit, a currency, a calendar word, a colour.
    Unit,
    /// Negates the statement.
    Negation,
    /// Direction, order, extent, doubt, reversal: makes another fact even if it is only added or
    /// removed.
    Significant,
    /// Makes another fact only if another word of the same function replaces it.
    Function(FunctionWord),
    /// Any other word; treated as a value.
    Content,
    /// A character that is not a letter and may have a meaning.
    Symbol,
}

/// The grammatical role of a word, if its spelling shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordRole {
    /// Not known.
    Other,
    /// Names the owner of the next noun: `Anna's`, `my`.
    Possessive,
    /// A form of `be`.
    Copula,
}

/// One word of a text.
#[derive(Debug, Clone)]
pub(crate) struct ScannedWord {
    /// The word in lower case, except paths and identifiers. A listed word is replaced by the entry
    /// that stands for all its spellings.
    pub text: String,
    /// The original spelling in lower case: `removed` where `text` is `delete`.
    pub written: String,
    pub class: WordClass,
    pub role: WordRole,
    /// True if it starts with a capital.
    pub is_capitalised: bool,
    /// True if it starts with a capital that is not due to the start of a sentence.
    pub is_name: bool,
    /// True if only white space separates it from the previous word.
    pub follows_directly: bool,
    /// The number of the hyphenated compound that it belongs to.
    pub compound: Option<usize>,
}

impl ScannedWord {
    /// Returns true for fillers and function words.
    pub(crate) fn is_function_word(&self) -> bool {
        matches!(self.class, WordClass::Filler | WordClass::Function(_))
    }

    /// Returns true if the position of the word matters, because it may be the subject or object of
    /// a verb. Of the function words only pronouns, quantifiers and prepositions count.
    pub(crate) fn is_order_sensitive(&self) -> bool {
        let counts = matches!(
            self.class,
            WordClass::Function(
                FunctionWord::Preposition | FunctionWord::Pronoun | FunctionWord::Quantifier
            )
        );
        counts || !self.is_function_word()
    }

    /// Returns true if the word makes another fact when only one text has it.
    pub(crate) fn counts_alone(&self) -> bool {
        match self.class {
            WordClass::Number
            | WordClass::Unit
            | WordClass::Negation
            | WordClass::Significant
            | WordClass::Function(FunctionWord::Modal) => true,
            WordClass::Function(FunctionWord::Quantifier) => self.text == "all",
            // A letter is a name: `plan A`, `vitamin C`.
            WordClass::Content => self.text.chars().count() == 1,
            // Characters below U+2000 are diacritics of scripts, which make another word.
            WordClass::Symbol => self.text.as_str() < "\u{2000}",
            WordClass::Filler | WordClass::One | WordClass::Function(_) => false,
        }
    }

    /// Returns true if the word may be a verb.
    pub(crate) fn may_be_a_verb(&self) -> bool {
        matches!(self.class, WordClass::Content | WordClass::Significant)
    }

    /// Returns true for forms of `be`, `have` and `do`.
    pub(crate) fn is_auxiliary(&self) -> bool {
        self.class == WordClass::Function(FunctionWord::Tense)
            || matches!(self.text.as_str(), "be" | "been" | "being")
    }
}
