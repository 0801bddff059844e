//! Which word of one text answers which word of the other, and in what order.
//!
//! Deliberately not here: what a word without an answer means for the fact (`super` decides that).

use std::cmp::Ordering;

use super::forms::related;
use super::scan::{Kind, Word};
use super::words::Family;

/// More comparisons of unanswered words than this, and the texts are not taken for the same.
const MOST_COMPARISONS: usize = 4096;

/// Two texts, and the answer in the other text of each of their words.
pub(super) struct Pairing<'a> {
    /// The words of the first text.
    pub a: &'a [Word],
    /// The words of the second text.
    pub b: &'a [Word],
    /// For each word of the first text, its place in the second.
    pub to_b: Vec<Option<usize>>,
    /// For each word of the second text, its place in the first.
    pub to_a: Vec<Option<usize>>,
}

impl<'a> Pairing<'a> {
    /// Pairs equal words, then forms of one word, synonyms, and words written apart. `None` when there is too much to compare.
    pub(super) fn of(a: &'a [Word], b: &'a [Word]) -> Option<Self> {
        let mut pairing = Self { a, b, to_b: vec![None; a.len()], to_a: vec![None; b.len()] };
        pairing.equal();
        let (mut left, mut right) = (pairing.open(true), pairing.open(false));
        if left.len() * right.len() > MOST_COMPARISONS {
            return None;
        }
        for &i in &left {
            let answer = right.iter().copied().find(|&j| pairing.to_a[j].is_none() && likes(&a[i], &b[j]));
            if let Some(j) = answer {
                pairing.tie(i, j);
            }
        }
        left.retain(|&i| pairing.to_b[i].is_none());
        right.retain(|&j| pairing.to_a[j].is_none());
        for (i, j, first) in joined(a, &left, b, &right).into_iter().chain(joined(b, &right, a, &left).into_iter().map(|(j, i, f)| (i, j, !f))) {
            if first {
                pairing.to_b[i] = pairing.to_b[i].or(Some(j));
            } else {
                pairing.to_a[j] = pairing.to_a[j].or(Some(i));
            }
        }
        Some(pairing)
    }

    fn tie(&mut self, i: usize, j: usize) {
        self.to_b[i] = Some(j);
        self.to_a[j] = Some(i);
    }

    /// Equal words answer each other: of several the one before the same next word, then the k-th the k-th.
    fn equal(&mut self) {
        for by_next in [true, false] {
            let (left, right) = (sorted(self.a, &self.to_b, by_next), sorted(self.b, &self.to_a, by_next));
            let (mut x, mut y) = (0, 0);
            while x < left.len() && y < right.len() {
                match key(self.a, left[x], by_next).cmp(&key(self.b, right[y], by_next)) {
                    Ordering::Less => x += 1,
                    Ordering::Greater => y += 1,
                    Ordering::Equal => {
                        self.tie(left[x], right[y]);
                        x += 1;
                        y += 1;
                    }
                }
            }
        }
    }

    /// The plain words of one side that have no answer.
    fn open(&self, left: bool) -> Vec<usize> {
        let (words, answers) = if left { (self.a, &self.to_b) } else { (self.b, &self.to_a) };
        (0..words.len()).filter(|&i| words[i].kind == Kind::Plain && answers[i].is_none()).collect()
    }

    /// The places in the second text of the words of the first that have one and whose order counts.
    fn places(&self) -> Vec<usize> {
        let counts = |w: &Word| match w.kind {
            Kind::Little(Family::Preposition) => matches!(w.text.as_str(), "from" | "to" | "over" | "than"),
            Kind::Little(_) | Kind::Filler => false,
            _ => true,
        };
        let said = |w: &Word| !w.tied && matches!(w.text.as_str(), "said" | "says");
        self.a
            .iter()
            .zip(&self.to_b)
            .filter(|(w, _)| counts(w) && !said(w))
            .filter_map(|(_, j)| j.filter(|&j| !said(&self.b[j])))
            .collect()
    }

    /// Two parts have changed places round a third that stands between them: `tabs over spaces`, `spaces over tabs`.
    ///
    /// Two neighbours that change places say the same: `on Fridays we rest`, `we rest on Fridays`.
    pub(super) fn turned_round(&self) -> bool {
        let places = self.places();
        let mut least_after = vec![usize::MAX; places.len() + 1];
        for at in (0..places.len()).rev() {
            least_after[at] = least_after[at + 1].min(places[at]);
        }
        let mut most_before = 0;
        places.iter().enumerate().any(|(at, &place)| {
            let turned = most_before > place && place > least_after[at + 1];
            most_before = most_before.max(place);
            turned
        })
    }

    /// Numbers have changed places, and one of them has other neighbours than before.
    pub(super) fn numbers_moved(&self) -> bool {
        let numbers: Vec<(usize, usize)> = (0..self.a.len())
            .filter(|&i| self.a[i].kind == Kind::Number)
            .filter_map(|i| Some((i, self.to_b[i]?)))
            .collect();
        let near = |words: &[Word], from: usize, forward: bool| {
            let fact = |&i: &usize| !matches!(words[i].kind, Kind::Filler | Kind::Little(_));
            if forward { (from + 1..words.len()).find(fact) } else { (0..from).rev().find(fact) }
        };
        let kept = |&(i, j): &(usize, usize)| {
            [true, false].iter().any(|&f| near(self.a, i, f).and_then(|n| self.to_b[n]).is_some_and(|n| near(self.b, j, f) == Some(n)))
        };
        !numbers.is_sorted_by_key(|&(_, j)| j) && !numbers.iter().all(kept)
    }
}

/// A word, and the next one if that is asked for.
fn key(words: &[Word], at: usize, by_next: bool) -> (&str, Option<&str>) {
    let next = words[at + 1..].iter().find(|w| w.kind != Kind::Filler).filter(|_| by_next);
    (&words[at].text, next.map(|w| w.text.as_str()))
}

/// The places of the words without an answer, in the order of their keys.
fn sorted(words: &[Word], answers: &[Option<usize>], by_next: bool) -> Vec<usize> {
    let mut open: Vec<usize> = (0..words.len()).filter(|&i| words[i].kind != Kind::Filler && answers[i].is_none()).collect();
    open.sort_by(|&x, &y| key(words, x, by_next).cmp(&key(words, y, by_next)).then(x.cmp(&y)));
    open
}

/// Two words of the same meaning. A name has no other form.
fn likes(a: &Word, b: &Word) -> bool {
    !a.name && !b.name && related(&a.text, &b.text)
}

/// Neighbours of one text that are one word in the other, `on a stage` and `onstage`: (place here, place there, true).
fn joined(apart: &[Word], left: &[usize], whole: &[Word], right: &[usize]) -> Vec<(usize, usize, bool)> {
    let mut found = Vec::new();
    for &at in left {
        let Some(before) = (0..at).rev().find(|&i| apart[i].kind != Kind::Filler) else { continue };
        let one = format!("{}{}", apart[before].text, apart[at].text);
        if let Some(&j) = right.iter().find(|&&j| whole[j].text == one) {
            found.extend([(before, j, true), (at, j, true), (at, j, false)]);
        }
    }
    found
}
