//! One word of a text, and what it is to the duplicate guard.
//!
//! Deliberately not here: how a word is found (`scan`), the lists that say what it is (`words`).

use crate::duplicate::lexicon::Family;

/// What a word is to the guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Carries no fact: articles and the like.
    Filler,
    /// A number, or anything that holds a digit.
    Number,
    /// `one` and `first`: a number only where another number answers it.
    One,
    /// A unit, a currency, a calendar word, a colour.
    Unit,
    /// Turns the statement round.
    Negation,
    /// Direction, order, extent, doubt, reversal: counts even alone.
    Strong,
    /// A little word that counts only against another of its family.
    Little(Family),
    /// Any other word: taken for a value.
    Plain,
    /// A sign outside the alphabet that may bear meaning.
    Sign,
}

/// What a word does in its sentence, where its spelling tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Not told.
    Any,
    /// Says whose the next thing is: `Anna's`, `my`.
    Owner,
    /// A form of `be`.
    Copula,
}

/// One word of a text.
#[derive(Debug, Clone)]
pub(crate) struct Word {
    /// In lower case, except in paths and identifiers; listed words under the name of all their spellings.
    pub text: String,
    /// As it is written, in lower case: `removed` where the text is `delete`.
    pub written: String,
    /// What it is.
    pub kind: Kind,
    /// What it does in its sentence.
    pub part: Part,
    /// Written with a capital.
    pub capital: bool,
    /// Written with a capital, and not because a sentence begins.
    pub name: bool,
    /// Nothing but space stands between it and the word before.
    pub tied: bool,
    /// Which hyphenated compound it is a part of.
    pub compound: Option<usize>,
}

impl Word {
    /// A filler, or a little word.
    pub(crate) fn is_little(&self) -> bool {
        matches!(self.kind, Kind::Filler | Kind::Little(_))
    }

    /// It may do something or have it done to it, so that its place counts: no little word except a pronoun, `all`, a preposition.
    pub(crate) fn has_place(&self) -> bool {
        let little = matches!(
            self.kind,
            Kind::Little(Family::Preposition | Family::Pronoun | Family::Quantifier)
        );
        little || !self.is_little()
    }

    /// On one side only it makes another fact.
    pub(crate) fn counts_alone(&self) -> bool {
        match self.kind {
            Kind::Number | Kind::Unit | Kind::Negation | Kind::Strong => true,
            Kind::Little(Family::Modal) => matches!(self.text.as_str(), "may" | "should" | "will"),
            // Below the symbols stand the marks of scripts, which make another word.
            Kind::Sign => self.text.as_str() < "\u{2000}",
            Kind::Filler | Kind::One | Kind::Little(_) | Kind::Plain => false,
        }
    }

    /// Something that is done: no value, and no little word.
    pub(crate) fn may_be_a_verb(&self) -> bool {
        matches!(self.kind, Kind::Plain | Kind::Strong)
    }

    /// A form of `be`, `have` or `do`.
    pub(crate) fn is_auxiliary(&self) -> bool {
        self.kind == Kind::Little(Family::Tense)
            || matches!(self.text.as_str(), "be" | "been" | "being")
    }
}
