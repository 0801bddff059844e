//! The keyword index in memory: posting lists with term frequencies, and text lengths.
//!
//! Not here: tokenising and stemming (`text::terms`), term weights (`ranking::bm25`), the durable
//! index (`db::lexical`).

use crate::index::bitmap::slots_of;
use crate::index::slot_set::SlotSet;
use crate::index::{Mask, slot_id};
use crate::text::language::Language;
use crate::text::terms;
use foldhash::HashMap;
use std::borrow::Cow;

/// A posting list: slots with a term, and its frequency in each.
#[derive(Debug, Clone, Default)]
pub(crate) struct List {
    slots: SlotSet,
    times: Vec<u16>,
}

/// The terms of one text: their range in `of_texts`.
#[derive(Debug, Clone, Copy, Default)]
struct Text {
    first: u32,
    distinct: u32,
}

impl Text {
    fn words(self) -> std::ops::Range<usize> {
        let first = self.first as usize;
        first..first + self.distinct as usize
    }
}

/// Unused terms below which the lists are never compacted; above, they are compacted at 25 % unused
/// terms.
const MIN_DEAD: usize = 10_000;

/// The keyword index.
#[derive(Debug, Default)]
pub(crate) struct Postings {
    terms: HashMap<Box<str>, u32>,
    lists: Vec<List>,
    /// The languages other than English that any text was ever in.
    languages: Vec<Language>,
    texts: Vec<Text>,
    /// The number of words of each text, with repetitions.
    lengths: Vec<u32>,
    /// The terms of each text, so that it can be removed.
    of_texts: Vec<u32>,
    dead: usize,
}

impl Postings {
    /// Indexes the text of a slot in place of its former text.
    pub(crate) fn put(&mut self, slot: usize, text: &str) {
        self.clear(slot);
        let terms::Terms { terms, length } = terms::of_text(text);
        let mut words: Vec<u32> = terms.into_iter().map(|term| self.number(&term)).collect();
        words.sort_unstable();
        let times = |same: &[u32]| (same[0], u16::try_from(same.len()).unwrap_or(u16::MAX));
        self.hold(slot, words.chunk_by(|a, b| a == b).map(times), slot_id(length));
    }

    /// Inserts the analysed terms of a slot without its text.
    pub(crate) fn insert_record(&mut self, slot: usize, terms: &[(&str, u16)], length: u32) {
        let terms: Vec<(u32, u16)> =
            terms.iter().map(|(term, times)| (self.number(term), *times)).collect();
        self.hold(slot, terms.into_iter(), length);
    }

    fn hold(&mut self, slot: usize, terms: impl Iterator<Item = (u32, u16)>, length: u32) {
        let first = self.of_texts.len();
        for (term, times) in terms {
            self.lists[term as usize].add(slot_id(slot), times);
            self.of_texts.push(term);
        }
        if self.texts.len() <= slot {
            self.texts.resize(slot + 1, Text::default());
            self.lengths.resize(slot + 1, 0);
        }
        self.texts[slot] =
            Text { first: slot_id(first), distinct: slot_id(self.of_texts.len() - first) };
        self.lengths[slot] = length;
    }

    /// Returns the term numbers of a slot with their frequencies.
    pub(crate) fn of(&self, slot: usize) -> impl Iterator<Item = (u32, u16)> + '_ {
        let text = self.texts.get(slot).copied().unwrap_or_default();
        self.of_texts[text.words()].iter().map(move |term| {
            let list = &self.lists[*term as usize];
            (*term, list.slots.position(slot_id(slot)).map_or(0, |at| list.times[at]))
        })
    }

    /// Returns all terms by number; texts with some of them may have been removed.
    pub(crate) fn by_number(&self) -> Vec<&str> {
        let mut terms = vec![""; self.lists.len()];
        self.terms.iter().for_each(|(term, number)| terms[*number as usize] = term);
        terms
    }

    /// Removes the text of a slot.
    pub(crate) fn clear(&mut self, slot: usize) {
        let Some(text) = self.texts.get_mut(slot).map(std::mem::take) else { return };
        for at in text.words() {
            self.lists[self.of_texts[at] as usize].remove(slot_id(slot));
        }
        self.lengths[slot] = 0;
        self.dead += text.words().len();
        if self.dead > MIN_DEAD && self.dead * 4 > self.of_texts.len() {
            self.renew();
        }
    }

    /// Copies the terms in use to new lists.
    fn renew(&mut self) {
        let old = std::mem::take(&mut self.of_texts);
        for text in &mut self.texts {
            let words = &old[text.words()];
            text.first = slot_id(self.of_texts.len());
            self.of_texts.extend_from_slice(words);
        }
        self.dead = 0;
    }

    /// Returns the terms under which a word of the query is indexed; the first identifies it.
    pub(crate) fn terms_of(&self, word: &str) -> Vec<String> {
        terms::of_word(word, &self.languages)
    }

    /// Returns the slots with any of a word's terms, each with its highest frequency. Usually only
    /// one term occurs, and its own list is returned.
    pub(crate) fn list(&self, terms: &[String]) -> Option<Cow<'_, List>> {
        let known = terms
            .iter()
            .filter_map(|term| self.terms.get(term.as_str()))
            .map(|term| &self.lists[*term as usize]);
        let mut lists = known.filter(|list| list.len() > 0);
        let first = Cow::Borrowed(lists.next()?);
        Some(lists.fold(first, |all, list| Cow::Owned(all.with(list))))
    }

    /// Returns the number of words of a slot's text.
    pub(crate) fn length(&self, slot: usize) -> u32 {
        self.lengths.get(slot).copied().unwrap_or(0)
    }

    /// Returns the number of words of the texts of these slots, given as words of 64 bits.
    pub(crate) fn total(&self, slots: &[u64]) -> u64 {
        let of_word = |(word, lengths): (&u64, &[u32])| match *word {
            u64::MAX => lengths.iter().map(|length| u64::from(*length)).sum::<u64>(),
            word => slots_of(0, word)
                .filter_map(|at| lengths.get(at))
                .map(|length| u64::from(*length))
                .sum(),
        };
        slots.iter().zip(self.lengths.chunks(64)).map(of_word).sum()
    }

    /// Returns the number of a term, and assigns one if it is new.
    fn number(&mut self, term: &str) -> u32 {
        if let Some(known) = self.terms.get(term) {
            return *known;
        }
        let next = slot_id(self.lists.len());
        self.terms.insert(term.into(), next);
        self.languages
            .extend(Language::of_term(term).filter(|language| !self.languages.contains(language)));
        self.lists.push(List::default());
        next
    }
}

impl List {
    /// Returns the slots with the term frequency in each.
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, u32)> + '_ {
        self.slots
            .list()
            .iter()
            .zip(&self.times)
            .map(|(slot, times)| (*slot as usize, u32::from(*times)))
    }

    /// Merges two lists; a slot in both keeps the higher frequency.
    fn with(&self, other: &Self) -> Self {
        let mut both: Vec<(u32, u16)> = Vec::with_capacity(self.times.len() + other.times.len());
        for list in [self, other] {
            both.extend(list.slots.list().iter().copied().zip(list.times.iter().copied()));
        }
        both.sort_unstable_by_key(|(slot, times)| (*slot, std::cmp::Reverse(*times)));
        both.dedup_by_key(|(slot, _)| *slot);
        let (slots, times): (Vec<u32>, Vec<u16>) = both.into_iter().unzip();
        Self { slots: slots.into(), times }
    }

    /// Returns the number of slots.
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns the number of slots that a mask admits.
    pub(crate) fn count_in(&self, mask: &Mask) -> usize {
        self.slots.count_in(mask.words())
    }

    /// Sets the bits of the slots.
    pub(crate) fn mark(&self, words: &mut [u64]) {
        self.slots.mark(words);
    }

    fn add(&mut self, slot: u32, times: u16) {
        if let Some(place) = self.slots.insert(slot) {
            self.times.insert(place, times);
        }
    }

    fn remove(&mut self, slot: u32) {
        if let Some(place) = self.slots.remove(slot) {
            self.times.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(postings: &Postings, stem: &str) -> Vec<(usize, u32, u32)> {
        any_of(postings, &[stem])
    }

    fn any_of(postings: &Postings, stems: &[&str]) -> Vec<(usize, u32, u32)> {
        let terms: Vec<String> = stems.iter().map(|stem| (*stem).to_owned()).collect();
        let list = postings.list(&terms).map(Cow::into_owned).unwrap_or_default();
        list.iter().map(|(slot, times)| (slot, times, postings.length(slot))).collect()
    }

    #[test]
    fn a_posting_list_has_the_texts_that_currently_contain_the_word() {
        let mut postings = Postings::default();
        postings.put(0, "The ships shipped a ship");
        postings.put(2, "A ship");
        postings.put(1, "Shipping costs");
        assert_eq!(of(&postings, "ship"), [(0, 3, 5), (1, 1, 2), (2, 1, 2)]);
        assert_eq!(any_of(&postings, &["cost", "ship", "gone"]), [(0, 3, 5), (1, 1, 2), (2, 1, 2)]);
        postings.put(1, "nothing of the kind");
        postings.clear(2);
        assert_eq!((of(&postings, "ship"), postings.length(2)), (vec![(0, 3, 5)], 0));
    }

    #[test]
    fn a_word_is_looked_up_in_the_languages_of_the_texts() {
        let mut read = Postings::default();
        read.put(0, "The keys hang in the kitchen");
        assert_eq!(read.terms_of("Schlüsseln"), ["schlusseln"]);
        read.put(1, "Der Schlüssel hängt in der Küche");
        assert_eq!(read.terms_of("Schlüsseln"), ["schlusseln", "de:schlussel"]);
        // A snapshot holds terms, not texts.
        let mut taken_in = Postings::default();
        let names = read.by_number();
        let terms: Vec<(&str, u16)> =
            read.of(1).map(|(term, times)| (names[term as usize], times)).collect();
        taken_in.insert_record(0, &terms, read.length(1));
        assert_eq!(taken_in.terms_of("Schlüsseln"), read.terms_of("Schlüsseln"));
        assert_eq!(taken_in.list(&taken_in.terms_of("Schlüsseln")).map(|list| list.len()), Some(1));
    }

    proptest! {
        #[test]
        fn any_order_of_changes_gives_the_postings_of_the_final_texts(changes in prop::collection::vec((0..6_usize, "([a-d]{1,2} ){0,4}"), 0..30)) {
            let mut postings = Postings::default();
            let mut last: HashMap<usize, String> = HashMap::default();
            for (slot, text) in changes {
                postings.put(slot, &text);
                last.insert(slot, text);
            }
            for stem in ["a", "b", "ab", "cd"] {
                let mut expected: Vec<(usize, usize)> = last.iter().map(|(slot, text)| (*slot, text.split(' ').filter(|w| *w == stem).count())).filter(|(_, n)| *n > 0).collect();
                expected.sort_unstable();
                let found: Vec<(usize, usize)> = of(&postings, stem).into_iter().map(|(slot, times, _)| (slot, times as usize)).collect();
                prop_assert_eq!(found, expected, "{}", stem);
            }
        }
    }
}
