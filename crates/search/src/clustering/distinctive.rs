//! The words that tell a group of memories apart: they occur in much of it, and in little else.
//!
//! Terms are compared by their posting lists; the words are taken from the texts, so that a name reads
//! as the texts do and not as stems. Not here: stems and tokens (`text`).

use crate::index::{Index, Mask};
use loci_base::text::stop_words;
use loci_base::text::terms;
use loci_base::text::tokenize::{Grams, lower, words};
use std::collections::HashMap;

/// Words of a name.
pub const WORDS: usize = 3;
/// Terms that are considered for a name: several may belong to one word.
const MAX_TERMS: usize = 24;
/// Share of a group of three or more memories that a term must be in.
const MIN_SHARE: f64 = 0.2;
/// How many times as frequent a term must be in a group as everywhere, if any is.
const MIN_LIFT: f64 = 1.2;
/// What a term counts that is as frequent everywhere.
const COMMON: f64 = 0.001;
/// Letters of a word of a name, unless its script has no spaces.
const MIN_LETTERS: usize = 3;

/// A term of a group.
struct ScoredTerm {
    term: u32,
    /// How many times as frequent it is in the group as everywhere.
    lift: f64,
    score: f64,
}

/// Returns the terms that tell the slots of a group apart from the other admitted ones, best first: by
/// the share of the group that has the term, times the logarithm of how much rarer it is elsewhere.
pub fn terms_of_group(index: &Index, mask: &Mask, slots: &[usize]) -> Vec<String> {
    let mut in_group: HashMap<u32, usize> = HashMap::new();
    for slot in slots {
        for term in index.words().term_numbers(*slot) {
            *in_group.entry(*term).or_default() += 1;
        }
    }
    let size = slots.len().max(1) as f64;
    let all = mask.count().max(1) as f64;
    let min = if slots.len() < 3 { 1.0 } else { (MIN_SHARE * size).max(2.0) };
    let lifted = in_group.into_iter().filter(|(_, count)| *count as f64 >= min);
    let mut scored: Vec<ScoredTerm> = lifted
        .map(|(term, count)| {
            let everywhere = index.words().count_of(term, mask).max(count) as f64;
            let share = count as f64 / size;
            let lift = share * all / everywhere;
            ScoredTerm { term, lift, score: share * (lift.max(1.0).ln() + COMMON) }
        })
        .collect();
    if scored.iter().any(|term| term.lift >= MIN_LIFT) {
        scored.retain(|term| term.lift >= MIN_LIFT);
    }
    scored.sort_by(|one, other| {
        other.score.total_cmp(&one.score).then_with(|| one.term.cmp(&other.term))
    });
    scored.truncate(MAX_TERMS);
    let names = index.words().terms();
    scored.into_iter().map(|term| names[term.term as usize].to_owned()).collect()
}

/// Returns the words of a name: of each term the form that is most frequent in the texts, and of those
/// the first.
pub fn name<'a>(
    index: &Index,
    terms_of_group: &[String],
    texts: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mut forms: HashMap<String, HashMap<String, (usize, usize)>> = HashMap::new();
    let mut position = 0;
    for text in texts {
        for range in words(text, Grams::Pairs) {
            let word = &text[range];
            if !may_name(word) {
                continue;
            }
            for term in index.words().terms_of(word) {
                if terms_of_group.contains(&term) {
                    let form = forms.entry(term).or_default().entry(word.to_owned());
                    form.or_insert((0, position)).0 += 1;
                }
            }
            position += 1;
        }
    }
    let mut name: Vec<String> = Vec::new();
    for term in terms_of_group {
        let Some(forms) = forms.get(term) else { continue };
        // Of equally frequent forms the one that occurs first.
        let best = forms.iter().max_by_key(|(_, (count, first))| (*count, usize::MAX - *first));
        let Some((form, _)) = best else { continue };
        let is_known = |known: &String| {
            lower(known) == lower(form)
                || terms::of_word(known, &[]).first() == terms::of_word(form, &[]).first()
        };
        if !name.iter().any(is_known) {
            name.push(form.clone());
        }
        if name.len() == WORDS {
            break;
        }
    }
    name
}

/// Returns whether a word says what a text is about.
fn may_name(word: &str) -> bool {
    let is_long = !word.is_ascii() || word.len() >= MIN_LETTERS;
    is_long && word.chars().any(char::is_alphabetic) && stop_words::languages(&lower(word)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Filter, Statuses};
    use loci_base::model::decay::Decay;
    use loci_base::model::entry::Entry;
    use loci_base::model::visibility::{Isolation, Visibility};
    use loci_proto::memory::Confidence;
    use loci_testkit::T0;

    const TEXTS: [&str; 6] = [
        "The Deployments of the shop run on heron",
        "Deployments of the shop need a tag",
        "Every deployment of the shop is watched",
        "Anna of the shop drinks green tea",
        "Green tea is kept in the shop",
        "The shop ordered tea",
    ];

    fn index() -> (Index, Mask) {
        let mut index = Index::default();
        for (seq, content) in (1..).zip(TEXTS) {
            let entry = Entry {
                content: content.to_owned(),
                group: Some("a".to_owned()),
                ..Entry::bare(seq)
            };
            index.put(entry);
        }
        let visibility = Visibility::of_group("a", Isolation::default());
        let mask = index.mask(&Filter {
            visibility: &visibility,
            kind: None,
            scope: None,
            min_confidence: Confidence::new(0.0).expect("the confidence is in bounds"),
            dormant_below: None,
            now: T0,
            decay: Decay::default(),
            statuses: Statuses::Active,
        });
        (index, mask)
    }

    #[test]
    fn a_name_has_the_words_that_are_frequent_here_and_rare_elsewhere() {
        let (index, mask) = index();
        let named = |slots: &[usize]| {
            let terms = terms_of_group(&index, &mask, slots);
            name(&index, &terms, slots.iter().map(|slot| TEXTS[*slot]))
        };
        let deployments = named(&[0, 1, 2]);
        assert_eq!(deployments[0], "Deployments", "{deployments:?}");
        let tea = named(&[3, 4, 5]);
        assert_eq!(tea[0], "tea", "{tea:?}");
        assert!(!tea.contains(&"the".to_owned()) && tea.len() <= WORDS);
    }
}
