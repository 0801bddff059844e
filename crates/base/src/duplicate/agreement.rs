//! How closely two texts agree that state the same fact.
//!
//! Not here: whether they state the same fact (`changes`, `word_order` and the other rules).

use crate::duplicate::forms::{are_equal, are_synonyms};
use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::WordClass;

/// How closely two texts of the same fact agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Equivalence {
    /// The same words, forms of them, or other spellings and names of the same things and acts, and
    /// no other words: `Anna reads the book`, `the book is read by Anna`. A low cosine of
    /// such a pair only reflects the word order.
    InWords,
    /// The same words or near synonyms of them, or a linking word more in one text: `Anna speaks in
    /// the film`, `Anna talks in the movie`; `oil for cooking`, `cooking oil`. This lowers the cosine
    /// as much as another fact may.
    InSimilarWords,
    /// Other words, or words that only one text has. Only a high cosine shows that the texts mean
    /// the same.
    InMeaning,
}

/// Function words that only link: one text may have one more of them (`cooking oil`, `oil for
/// cooking`). Not here: words of direction (`from`, `out`) and `or`.
const LINKS: [&str; 8] = ["about", "and", "between", "for", "in", "on", "to", "with"];

/// Returns how closely the texts agree.
pub fn agreement(a: &PairedText, b: &PairedText) -> Equivalence {
    let (more_in_a, more_in_b) = (added(a, b), added(b, a));
    let is_link = |word: &&str| LINKS.contains(word);
    let only_links = more_in_a.iter().chain(&more_in_b).all(is_link);
    let both_have_more = !more_in_a.is_empty() && !more_in_b.is_empty();
    if !only_links || both_have_more || !all_pairs(a, b, are_synonyms) {
        Equivalence::InMeaning
    } else if more_in_a.is_empty() && more_in_b.is_empty() && all_pairs(a, b, are_equal) {
        Equivalence::InWords
    } else {
        Equivalence::InSimilarWords
    }
}

/// Returns the words that only this text has, without tense words, the `by` of a passive and
/// indefinite articles.
fn added<'a>(side: &'a PairedText, other: &PairedText) -> Vec<&'a str> {
    let counts = |&at: &usize| match side.words[at].class {
        WordClass::Function(FunctionWord::Tense) => false,
        WordClass::Function(FunctionWord::Preposition) => side.words[at].text != "by",
        WordClass::One | WordClass::Function(FunctionWord::Quantifier) => {
            !is_indefinite_article(side, other, at)
        }
        _ => true,
    };
    side.unpaired().filter(counts).map(|at| side.words[at].text.as_str()).collect()
}

/// Returns true if all paired words are equal in this sense.
fn all_pairs(a: &PairedText, b: &PairedText, are_equal: fn(&str, &str) -> bool) -> bool {
    a.words.iter().zip(&a.counterparts).all(|(word, counterpart)| {
        counterpart.is_none_or(|j| {
            let other = &b.words[j].text;
            word.text == *other || are_equal(&word.text, other)
        })
    })
}

/// Returns true for `one` where the other text has `a`, and for `some` where it has no article:
/// `one person is singing`, `some people are singing`.
fn is_indefinite_article(side: &PairedText, other: &PairedText, at: usize) -> bool {
    let Some(noun) = side.next_content(at).and_then(|next| side.counterparts[next]) else {
        return false;
    };
    let before_noun = noun.checked_sub(1).map(|before| other.words[before].text.as_str());
    match side.words[at].written.as_str() {
        "1" => matches!(before_noun, Some("a" | "an")),
        "some" => !matches!(before_noun, Some("the" | "this" | "that" | "these" | "those")),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duplicate::equivalence;

    #[test]
    fn the_same_words_in_another_voice_or_order_are_equivalent_in_words() {
        let equivalence_of = |a, b| {
            assert_eq!(equivalence(a, b), equivalence(b, a), "{a} | {b}");
            equivalence(a, b)
        };
        assert_eq!(
            equivalence_of(
                "Anna reviews the migrations",
                "The migrations are being reviewed by Anna"
            ),
            Some(Equivalence::InWords)
        );
        assert_eq!(
            equivalence_of("A black dog is on the lawn", "The dog, which is black, is on the lawn"),
            Some(Equivalence::InWords)
        );
        assert_eq!(
            equivalence_of("A man slices bread", "A man is cutting bread"),
            Some(Equivalence::InSimilarWords),
            "a synonym"
        );
        assert_eq!(
            equivalence_of("A man is baking", "A person is baking"),
            Some(Equivalence::InMeaning),
            "a more general word"
        );
        assert_eq!(
            equivalence_of("The gate is locked", "The iron gate is locked"),
            Some(Equivalence::InMeaning),
            "a word on one side only"
        );
        assert_eq!(
            equivalence_of("We lock the gate", "The gate is locked"),
            Some(Equivalence::InMeaning),
            "a pronoun on one side only"
        );
        assert_eq!(
            equivalence_of("The gate on the hill", "The hill gate"),
            Some(Equivalence::InSimilarWords),
            "a linking word on one side only"
        );
        assert_eq!(
            equivalence_of("The flight from Rome", "The Rome flight"),
            Some(Equivalence::InMeaning),
            "a direction on one side only"
        );
        assert_eq!(
            equivalence_of("A woman with glasses and a hat", "A woman with a hat over glasses"),
            Some(Equivalence::InMeaning),
            "a linking word in each"
        );
        assert_eq!(
            equivalence_of("Anna reviews the migrations", "Anna is reviewed by the migrations"),
            None
        );
    }

    #[test]
    fn synonyms_are_less_close_than_other_names() {
        let of = equivalence;
        assert_eq!(of("A man sat on a sofa", "A man sat on a couch"), Some(Equivalence::InWords));
        assert_eq!(
            of("A lady spoke in the film", "A woman talked in the movie"),
            Some(Equivalence::InSimilarWords)
        );
        assert_eq!(of("One man is singing", "A man is singing"), Some(Equivalence::InWords));
        assert_eq!(of("Some men are singing", "Men are singing"), Some(Equivalence::InWords));
        assert_eq!(of("Some men are singing", "The men are singing"), Some(Equivalence::InMeaning));
    }
}
