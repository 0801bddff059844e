//! Which memories have a word, how often, and how long their texts are: the keyword index, in memory.
//!
//! Not here: how words are split and stemmed (`soft::terms`), what they weigh (`bm25`), the durable truth (`db::lexical`).

use crate::soft::terms;
use std::collections::HashMap;

/// A memory that has a word: its slot, and how often.
type Posting = (u32, u32);

/// The keyword index.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    terms: HashMap<Box<str>, u32>,
    /// For each term, the memories that have it, by slot.
    lists: Vec<Vec<Posting>>,
    /// For each slot its terms, and how many words its text has.
    texts: Vec<(Box<[u32]>, u32)>,
}

impl Postings {
    /// Reads the text of a slot in the place of the one that it had.
    pub(crate) fn put(&mut self, slot: usize, text: &str) {
        self.clear(slot);
        let mut counts: HashMap<u32, u32> = HashMap::new();
        let terms::Terms { terms, length } = terms::of_text(text);
        for term in terms {
            *counts.entry(self.term(term)).or_default() += 1;
        }
        let place = narrow(slot);
        for (term, times) in &counts {
            let list = &mut self.lists[*term as usize];
            match list.last() {
                Some((newest, _)) if *newest > place => {
                    let at = list.partition_point(|(slot, _)| *slot < place);
                    list.insert(at, (place, *times));
                }
                _ => list.push((place, *times)),
            }
        }
        if self.texts.len() <= slot {
            self.texts.resize_with(slot + 1, Default::default);
        }
        self.texts[slot] = (counts.into_keys().collect(), narrow(length));
    }

    /// Forgets the text of a slot.
    pub(crate) fn clear(&mut self, slot: usize) {
        let Some(text) = self.texts.get_mut(slot) else { return };
        let place = narrow(slot);
        for term in std::mem::take(text).0 {
            let list = &mut self.lists[term as usize];
            if let Ok(at) = list.binary_search_by_key(&place, |(slot, _)| *slot) {
                list.remove(at);
            }
        }
    }

    /// The memories that have a stem, by slot: slot, how often, and how many words the text has.
    pub(crate) fn having(&self, stem: &str) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
        let list = self.terms.get(stem).map_or(&[][..], |term| &self.lists[*term as usize]);
        list.iter().map(|(slot, times)| (*slot as usize, *times, self.length(*slot as usize)))
    }

    /// The memories that have any of some terms, by slot, with how often each has the one that it has most.
    pub(crate) fn having_any(&self, terms: &[String]) -> Vec<(usize, u32, u32)> {
        let mut lists = terms.iter().map(|term| self.having(term)).filter(|list| list.size_hint().0 > 0);
        let Some(first) = lists.next() else { return Vec::new() };
        let mut found: Vec<(usize, u32, u32)> = first.collect();
        let alone = found.len();
        lists.for_each(|list| found.extend(list));
        if found.len() > alone {
            found.sort_unstable_by_key(|(slot, times, _)| (*slot, std::cmp::Reverse(*times)));
            found.dedup_by_key(|(slot, ..)| *slot);
        }
        found
    }

    /// How many words the text of a slot has.
    pub(crate) fn length(&self, slot: usize) -> u32 {
        self.texts.get(slot).map_or(0, |text| text.1)
    }

    fn term(&mut self, stem: String) -> u32 {
        let next = narrow(self.lists.len());
        let number = *self.terms.entry(stem.into_boxed_str()).or_insert(next);
        if number == next {
            self.lists.push(Vec::new());
        }
        number
    }
}

/// Slots and terms are numbered in 32 bits; a store of four billion memories does not fit this machine.
fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(postings: &Postings, stem: &str) -> Vec<(usize, u32, u32)> {
        postings.having(stem).collect()
    }

    #[test]
    fn a_word_leads_to_the_texts_that_have_it_as_they_are_now() {
        let mut postings = Postings::default();
        postings.put(0, "The ships shipped a ship");
        postings.put(2, "A ship");
        postings.put(1, "Shipping costs");
        assert_eq!(of(&postings, "ship"), [(0, 3, 5), (1, 1, 2), (2, 1, 2)]);
        postings.put(1, "nothing of the kind");
        postings.clear(2);
        assert_eq!((of(&postings, "ship"), postings.length(2)), (vec![(0, 3, 5)], 0));
    }

    proptest! {
        #[test]
        fn any_order_of_changes_gives_what_the_last_texts_give(changes in prop::collection::vec((0..6_usize, "([a-d]{1,2} ){0,4}"), 0..30)) {
            let mut postings = Postings::default();
            let mut last: HashMap<usize, String> = HashMap::new();
            for (slot, text) in changes {
                postings.put(slot, &text);
                last.insert(slot, text);
            }
            for stem in ["a", "b", "ab", "cd"] {
                let mut expected: Vec<(usize, usize)> = last.iter().map(|(slot, text)| (*slot, text.split(' ').filter(|w| *w == stem).count())).filter(|(_, n)| *n > 0).collect();
                expected.sort_unstable();
                let found: Vec<(usize, usize)> = postings.having(stem).map(|(slot, times, _)| (slot, times as usize)).collect();
                prop_assert_eq!(found, expected, "{}", stem);
            }
        }
    }
}
