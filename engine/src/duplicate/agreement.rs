//! How closely two texts agree that state the same fact.
//!
//! Not here: whether they state the same fact (`changes`, `word_order` and the other rules).

use crate::duplicate::Equivalence;
use crate::duplicate::forms::{are_equal, are_synonyms};
use crate::duplicate::lexicon::FunctionWord;
use crate::duplicate::pairing::PairedText;
use crate::duplicate::word::WordClass;

/// Function words that only link: one text may have one more of them (`cooking oil`, `oil for
/// cooking`). Not here: words of direction (`from`, `out`) and `or`.
const LINKS: [&str; 8] = ["about", "and", "between", "for", "in", "on", "to", "with"];

/// Returns how closely the texts agree.
pub(crate) fn agreement(a: &PairedText, b: &PairedText) -> Equivalence {
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
