//! The keyword index in memory: posting lists with term frequencies, and text lengths.
//!
//! Not here: tokenising and stemming (`text::terms`), term weights (`ranking::bm25`), the durable
//! index (`db::lexical`).

use crate::index::bitmap::slots_of;
use crate::index::slot_set::SlotSet;
use crate::index::{Mask, slot_id};
use foldhash::HashMap;
use loci_base::text::language::Language;
use loci_base::text::terms;
use std::borrow::Cow;

/// A posting list: the slots with a term, and its frequency in each.
#[derive(Debug, Clone, Default)]
pub struct List {
    slots: SlotSet,
    /// The term frequency in each slot, in the order of `slots`.
    frequencies: Vec<u16>,
}

/// The range of one text's terms in `text_terms`.
#[derive(Debug, Clone, Copy, Default)]
struct TermRange {
    first: u32,
    distinct: u32,
}

impl TermRange {
    fn range(self) -> std::ops::Range<usize> {
        let first = self.first as usize;
        first..first + self.distinct as usize
    }
}

/// Up to this many unused entries, `text_terms` is never compacted; above, it is compacted when 25
/// % of its entries are unused.
const MIN_DEAD: usize = 10_000;

/// Fewest characters of a stem that is looked up with one wrong letter.
const MIN_MISSPELLED_CHARS: usize = 5;

/// Returns whether two words differ by one letter that is wrong, missing or too many, or by two
/// neighbours that are exchanged.
fn differ_by_one(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > char::MAX_LEN_UTF8 {
        return false;
    }
    let same = |(a, b): &(char, char)| a == b;
    let prefix: usize = a.chars().zip(b.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (a, b) = (&a[prefix..], &b[prefix..]);
    let ends = a.chars().rev().zip(b.chars().rev()).take_while(same);
    let suffix: usize = ends.map(|(c, _)| c.len_utf8()).sum();
    let [a, b] = [a, b].map(|rest| rest[..rest.len() - suffix].chars());
    match (a.clone().count(), b.clone().count()) {
        (0 | 1, 1) | (1, 0) => true,
        (2, 2) => a.rev().eq(b),
        _ => false,
    }
}

/// The keyword index.
#[derive(Debug, Default)]
pub struct Postings {
    /// The number of each term.
    numbers: HashMap<Box<str>, u32>,
    /// The posting lists, by term number.
    lists: Vec<List>,
    /// Whether each term is the English stem of a content word, by term number.
    is_content: Vec<bool>,
    /// The languages other than English of all texts, including removed ones.
    languages: Vec<Language>,
    /// The terms of each text, by slot.
    texts: Vec<TermRange>,
    /// The number of words of each text, with repetitions, by slot.
    lengths: Vec<u32>,
    /// The distinct term numbers of each text, needed to remove it.
    text_terms: Vec<u32>,
    /// Number of unused entries of `text_terms`.
    dead: usize,
}

impl Postings {
    /// Indexes the text of a slot and replaces its former text.
    pub fn put(&mut self, slot: usize, text: &str) {
        self.clear(slot);
        let terms::Terms { terms, length } = terms::of_text(text);
        let mut numbers: Vec<u32> = terms.into_iter().map(|term| self.number(&term)).collect();
        numbers.sort_unstable();
        let with_frequency =
            |same: &[u32]| (same[0], u16::try_from(same.len()).unwrap_or(u16::MAX));
        let terms = numbers.chunk_by(|a, b| a == b).map(with_frequency);
        self.insert(slot, terms, slot_id(length));
    }

    /// Inserts the terms of an empty slot with their frequencies.
    pub(crate) fn insert_record(&mut self, slot: usize, terms: &[(&str, u16)], length: u32) {
        let terms: Vec<(u32, u16)> =
            terms.iter().map(|(term, frequency)| (self.number(term), *frequency)).collect();
        self.insert(slot, terms.into_iter(), length);
    }

    fn insert(&mut self, slot: usize, terms: impl Iterator<Item = (u32, u16)>, length: u32) {
        let first = self.text_terms.len();
        for (term, frequency) in terms {
            self.lists[term as usize].add(slot_id(slot), frequency);
            self.text_terms.push(term);
        }
        if self.texts.len() <= slot {
            self.texts.resize(slot + 1, TermRange::default());
            self.lengths.resize(slot + 1, 0);
        }
        self.texts[slot] =
            TermRange { first: slot_id(first), distinct: slot_id(self.text_terms.len() - first) };
        self.lengths[slot] = length;
    }

    /// Returns the term numbers of a slot with their frequencies.
    pub fn of(&self, slot: usize) -> impl Iterator<Item = (u32, u16)> + '_ {
        let terms = self.texts.get(slot).copied().unwrap_or_default();
        self.text_terms[terms.range()].iter().map(move |term| {
            let list = &self.lists[*term as usize];
            (*term, list.slots.position(slot_id(slot)).map_or(0, |at| list.frequencies[at]))
        })
    }

    /// Returns the distinct term numbers of a slot.
    pub(crate) fn term_numbers(&self, slot: usize) -> &[u32] {
        &self.text_terms[self.texts.get(slot).copied().unwrap_or_default().range()]
    }

    /// Returns the distinct stems of the content words of a slot, by number.
    pub(crate) fn content_stems(&self, slot: usize) -> impl Iterator<Item = u32> + '_ {
        self.term_numbers(slot).iter().copied().filter(|term| self.is_content[*term as usize])
    }

    /// Returns how many admitted slots contain a term, by its number.
    pub fn count_of(&self, term: u32, mask: &Mask) -> usize {
        self.lists[term as usize].count_in(mask)
    }

    /// Returns all terms, by number; some may be in no text any more.
    pub fn terms(&self) -> Vec<&str> {
        let mut terms = vec![""; self.lists.len()];
        self.numbers.iter().for_each(|(term, number)| terms[*number as usize] = term);
        terms
    }

    /// Removes the text of a slot.
    pub fn clear(&mut self, slot: usize) {
        let Some(terms) = self.texts.get_mut(slot).map(std::mem::take) else { return };
        for at in terms.range() {
            self.lists[self.text_terms[at] as usize].remove(slot_id(slot));
        }
        self.lengths[slot] = 0;
        self.dead += terms.range().len();
        if self.dead > MIN_DEAD && self.dead * 4 > self.text_terms.len() {
            self.compact();
        }
    }

    /// Rewrites `text_terms` without its unused entries.
    fn compact(&mut self) {
        let old = std::mem::take(&mut self.text_terms);
        for text in &mut self.texts {
            let terms = &old[text.range()];
            text.first = slot_id(self.text_terms.len());
            self.text_terms.extend_from_slice(terms);
        }
        self.dead = 0;
    }

    /// Returns the terms by which a word of the query is looked up; the first one identifies the
    /// word.
    pub fn terms_of(&self, word: &str) -> Vec<String> {
        terms::of_word(word, &self.languages)
    }

    /// As [`Self::terms_of`], with what admitted texts have instead: identifiers of which the word
    /// is a part, and for a word that none has, those that one wrong letter makes of it.
    pub fn terms_within(&self, word: &str, mask: &Mask) -> Vec<String> {
        let mut terms = self.terms_of(word);
        let part = terms::part_of_identifier(&terms[0]);
        terms.extend(Some(part).filter(|part| self.has(part, mask)));
        if !terms.iter().any(|term| self.has(term, mask)) {
            terms.extend(self.misspelled(&terms[0], mask));
        }
        terms
    }

    /// Returns whether an admitted text has this term.
    fn has(&self, term: &str, mask: &Mask) -> bool {
        let list = self.numbers.get(term).map(|number| &self.lists[*number as usize]);
        list.is_some_and(|list| list.iter().any(|(slot, _)| mask.admits(slot)))
    }

    /// Returns the stems of admitted texts that differ from this one by one letter, or by two
    /// exchanged ones. Short stems, which differ so from many words, and numbers have none.
    fn misspelled(&self, stem: &str, mask: &Mask) -> Vec<String> {
        if stem.chars().count() < MIN_MISSPELLED_CHARS || stem.contains(char::is_numeric) {
            return Vec::new();
        }
        let is_near = |term: &&str| differ_by_one(stem, term) && self.has(term, mask);
        let known = self.numbers.keys().map(AsRef::as_ref);
        let mut near: Vec<String> = known.filter(is_near).map(str::to_owned).collect();
        near.sort_unstable();
        near
    }

    /// Returns the slots that contain any of a word's terms, each with the frequency of its most
    /// frequent term. If only one term occurs, as usual, its list is borrowed.
    pub fn list(&self, terms: &[String]) -> Option<Cow<'_, List>> {
        let mut lists = terms
            .iter()
            .filter_map(|term| self.numbers.get(term.as_str()))
            .map(|number| &self.lists[*number as usize])
            .filter(|list| list.len() > 0);
        let first = Cow::Borrowed(lists.next()?);
        Some(lists.fold(first, |merged, list| Cow::Owned(merged.merged_with(list))))
    }

    /// Returns whether a slot contains any of a word's terms.
    pub fn occurs(&self, slot: usize, terms: &[String]) -> bool {
        let in_list =
            |number: &u32| self.lists[*number as usize].slots.position(slot_id(slot)).is_some();
        terms.iter().filter_map(|term| self.numbers.get(term.as_str())).any(in_list)
    }

    /// Returns the number of words of a slot's text.
    pub fn length(&self, slot: usize) -> u32 {
        self.lengths.get(slot).copied().unwrap_or(0)
    }

    /// Returns the total number of words of the texts of some slots, given as a bitmap.
    pub(crate) fn total_length(&self, slots: &[u64]) -> u64 {
        let of_64 = |(bits, lengths): (&u64, &[u32])| match *bits {
            u64::MAX => lengths.iter().map(|length| u64::from(*length)).sum::<u64>(),
            bits => slots_of(0, bits)
                .filter_map(|at| lengths.get(at))
                .map(|length| u64::from(*length))
                .sum(),
        };
        slots.iter().zip(self.lengths.chunks(64)).map(of_64).sum()
    }

    /// Returns the number of a term, and assigns one if it is new.
    fn number(&mut self, term: &str) -> u32 {
        if let Some(number) = self.numbers.get(term) {
            return *number;
        }
        let next = slot_id(self.lists.len());
        self.numbers.insert(term.into(), next);
        self.languages
            .extend(Language::of_term(term).filter(|language| !self.languages.contains(language)));
        self.lists.push(List::default());
        self.is_content.push(terms::is_content_stem(term));
        next
    }
}

impl List {
    /// Returns the slots with the term frequency in each.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, u32)> + '_ {
        self.slots
            .list()
            .iter()
            .zip(&self.frequencies)
            .map(|(slot, frequency)| (*slot as usize, u32::from(*frequency)))
    }

    /// Merges two lists; a slot in both gets the higher frequency.
    fn merged_with(&self, other: &Self) -> Self {
        let mut entries: Vec<(u32, u16)> =
            Vec::with_capacity(self.frequencies.len() + other.frequencies.len());
        for list in [self, other] {
            entries.extend(list.slots.list().iter().copied().zip(list.frequencies.iter().copied()));
        }
        entries.sort_unstable_by_key(|(slot, frequency)| (*slot, std::cmp::Reverse(*frequency)));
        entries.dedup_by_key(|(slot, _)| *slot);
        let (slots, frequencies): (Vec<u32>, Vec<u16>) = entries.into_iter().unzip();
        Self { slots: slots.into(), frequencies }
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        self.frequencies.len()
    }

    /// Returns the number of slots that a mask admits.
    pub(crate) fn count_in(&self, mask: &Mask) -> usize {
        self.slots.count_in(mask.words())
    }

    /// Sets the bits of the slots.
    pub fn mark(&self, words: &mut [u64]) {
        self.slots.mark(words);
    }

    fn add(&mut self, slot: u32, frequency: u16) {
        if let Some(position) = self.slots.insert(slot) {
            self.frequencies.insert(position, frequency);
        }
    }

    fn remove(&mut self, slot: u32) {
        if let Some(position) = self.slots.remove(slot) {
            self.frequencies.remove(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::{Entry, Filter, Index, Statuses};
    use loci_base::model::decay::Decay;
    use loci_base::model::visibility::{Isolation, Visibility};
    use loci_proto::memory::{Confidence, Scope};
    use loci_testkit::T0;
    use proptest::prelude::*;

    fn of(postings: &Postings, stem: &str) -> Vec<(usize, u32, u32)> {
        any_of(postings, &[stem])
    }

    fn any_of(postings: &Postings, stems: &[&str]) -> Vec<(usize, u32, u32)> {
        let terms: Vec<String> = stems.iter().map(|stem| (*stem).to_owned()).collect();
        let list = postings.list(&terms).map(Cow::into_owned).unwrap_or_default();
        list.iter().map(|(slot, frequency)| (slot, frequency, postings.length(slot))).collect()
    }

    #[test]
    fn a_posting_list_has_the_texts_that_contain_the_word_now() {
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
        let mut original = Postings::default();
        original.put(0, "The keys hang in the kitchen");
        assert_eq!(original.terms_of("Schlüsseln"), ["schlusseln"]);
        original.put(1, "Der Schlüssel hängt in der Küche");
        assert_eq!(original.terms_of("Schlüsseln"), ["schlusseln", "de:schlussel"]);
        // A snapshot contains terms, not texts.
        let mut restored = Postings::default();
        let names = original.terms();
        let terms: Vec<(&str, u16)> =
            original.of(1).map(|(term, frequency)| (names[term as usize], frequency)).collect();
        restored.insert_record(0, &terms, original.length(1));
        assert_eq!(restored.terms_of("Schlüsseln"), original.terms_of("Schlüsseln"));
        assert_eq!(restored.list(&restored.terms_of("Schlüsseln")).map(|list| list.len()), Some(1));
    }

    #[test]
    fn one_wrong_letter_is_a_wrong_missing_further_or_exchanged_one() {
        for (a, b) in [
            ("kubectk", "kubectl"),
            ("kubecl", "kubectl"),
            ("kubeectl", "kubectl"),
            ("kubetcl", "kubectl"),
            ("łódka", "łodka"),
        ] {
            assert!(differ_by_one(a, b) && differ_by_one(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("kubectl", "kubectl"),
            ("kubet", "kubectl"),
            ("keubctk", "kubectl"),
            ("", "ab"),
            ("", ""),
        ] {
            assert!(!differ_by_one(a, b) && !differ_by_one(b, a), "{a} {b}");
        }
    }

    #[test]
    fn a_word_that_no_admitted_text_has_is_looked_up_with_one_wrong_letter() {
        let mut index = Index::default();
        let texts = [("a", "Run kubectl"), ("a", "getUserById"), ("b", "Run kubectk")];
        for (seq, (group, text)) in (0..).zip(texts) {
            let group = Some(group.to_owned());
            let content = text.to_owned();
            index.put(Entry { content, group, scope: Scope::Group, ..Entry::bare(seq) });
        }
        let lookup = |group, word| {
            let filter = Filter {
                visibility: &Visibility::of_group(group, Isolation::default()),
                kind: None,
                scope: None,
                min_confidence: Confidence::new(0.0).expect("a confidence"),
                dormant_below: None,
                now: T0,
                decay: Decay::default(),
                statuses: Statuses::Recall,
            };
            index.words().terms_within(word, &index.mask(&filter))
        };
        assert_eq!(lookup("a", "kubectk"), ["kubectk", "kubectl"]);
        assert_eq!(lookup("b", "kubectk"), ["kubectk"]);
        assert_eq!(lookup("a", "ran"), ["ran"], "too short");
        assert_eq!(lookup("a", "users"), ["user", "in:user"]);
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
                let found: Vec<(usize, usize)> = of(&postings, stem).into_iter().map(|(slot, frequency, _)| (slot, frequency as usize)).collect();
                prop_assert_eq!(found, expected, "{}", stem);
            }
        }
    }
}
