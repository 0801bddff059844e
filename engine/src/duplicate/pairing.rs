//! Which word of one text answers which word of the other.
//!
//! Deliberately not here: what a word without an answer means for the fact (`changes`), and what the order means (`order`).

use crate::duplicate::forms::{Forms, bases};
use crate::duplicate::lexicon::Family;
use crate::duplicate::word::{Kind, Part, Word};
use std::cmp::Ordering;

/// More unanswered words than this on a side, and only equal words answer each other: the texts differ anyway.
const MOST_OPEN: usize = 48;

/// One of two texts.
#[derive(Debug)]
pub(crate) struct Side {
    /// Its words, in order.
    pub words: Vec<Word>,
    /// For each word the place in the other text of the word that answers it. Fillers have none.
    pub answers: Vec<Option<usize>>,
}

impl Side {
    /// The places of the words that have no answer and are no fillers.
    pub(crate) fn alone(&self) -> impl Iterator<Item = usize> {
        (0..self.words.len())
            .filter(|&i| self.answers[i].is_none() && self.words[i].kind != Kind::Filler)
    }

    /// A word of this kind has no answer.
    pub(crate) fn lacks(&self, kind: Kind) -> bool {
        self.alone().any(|i| self.words[i].kind == kind)
    }

    /// The next word that is no little one.
    pub(crate) fn next(&self, from: usize) -> Option<usize> {
        (from + 1..self.words.len()).find(|&i| !self.words[i].is_little())
    }

    /// The next word that may do something or have it done to it.
    pub(crate) fn next_placed(&self, from: usize) -> Option<usize> {
        (from + 1..self.words.len()).find(|&i| self.words[i].has_place())
    }

    /// The last word before that is no little one.
    pub(crate) fn previous(&self, from: usize) -> Option<usize> {
        (0..from).rev().find(|&i| !self.words[i].is_little())
    }

    /// The next word that is no little one, or says how many.
    pub(crate) fn next_bound(&self, from: usize) -> Option<usize> {
        (from + 1..self.words.len()).find(|&i| {
            !self.words[i].is_little() || self.words[i].kind == Kind::Little(Family::Quantifier)
        })
    }

    /// The preposition, `may`, `must`, `is` or `was` right before a word of weight.
    pub(crate) fn governor(&self, at: usize) -> Option<&str> {
        let before = self.words[..at].iter().rev().find(|word| word.kind != Kind::Filler)?;
        (matches!(before.kind, Kind::Little(Family::Preposition | Family::Modal | Family::Tense))
            && !self.words[at].is_little())
        .then_some(before.text.as_str())
    }

    /// A form of `be`, `have` or `do` stands shortly before.
    pub(crate) fn helped(&self, at: usize) -> bool {
        self.words[at.saturating_sub(3)..at].iter().any(Word::is_auxiliary)
    }

    /// A form of `be` stands shortly before.
    pub(crate) fn is_done(&self, at: usize) -> bool {
        let is = |word: &Word| {
            word.part == Part::Copula || matches!(word.text.as_str(), "be" | "been" | "being")
        };
        self.words[at.saturating_sub(3)..at].iter().any(is)
    }

    fn answered(&mut self, at: usize, by: usize) {
        self.answers[at] = self.answers[at].or(Some(by));
    }
}

/// Pairs equal words, then forms of one word and synonyms (a name has none), then words written apart in one text and together
/// in the other. The last two are left out where the texts are two facts in any case.
pub(crate) fn pair(a: Vec<Word>, b: Vec<Word>) -> (Side, Side) {
    let side = |words: Vec<Word>| Side { answers: vec![None; words.len()], words };
    let (mut a, mut b) = (side(a), side(b));
    equal(&mut a, &mut b, true);
    equal(&mut a, &mut b, false);
    let (left, right) = (open(&a), open(&b));
    let differs = [&a, &b].iter().any(|side| side.alone().any(|i| side.words[i].counts_alone()));
    if !differs && left.len().max(right.len()) <= MOST_OPEN {
        let forms: Vec<Forms> = right.iter().map(|&j| Forms::of(&b.words[j].text)).collect();
        for &i in &left {
            let form = Forms::of(&a.words[i].text);
            let alike = |j: usize, other: &Forms| {
                b.answers[j].is_none()
                    && !a.words[i].name
                    && !b.words[j].name
                    && form.related(other)
            };
            let answer =
                right.iter().zip(&forms).find(|&(&j, other)| alike(j, other)).map(|(&j, _)| j);
            if let Some(j) = answer {
                a.answered(i, j);
                b.answered(j, i);
            }
        }
        join(&mut a, &mut b);
        join(&mut b, &mut a);
    }
    (a, b)
}

/// Every word has an answer that is equal or a form of it, but for what a passive brings along. Synonyms do not count.
pub(crate) fn of_the_same_words(a: &Side, b: &Side) -> bool {
    let is_left = |word: &Word| match word.kind {
        Kind::Little(Family::Tense) => false,
        Kind::Little(Family::Preposition) => word.text != "by",
        _ => true,
    };
    let is_form = |x: &str, y: &str| x == y || bases(x).iter().any(|base| bases(y).contains(base));
    let none_left = |side: &Side| !side.alone().any(|at| is_left(&side.words[at]));
    let by_forms = || {
        a.words
            .iter()
            .zip(&a.answers)
            .all(|(x, answer)| answer.is_none_or(|j| is_form(&x.text, &b.words[j].text)))
    };
    none_left(a) && none_left(b) && by_forms()
}

/// The plain words of a side that have no answer.
fn open(side: &Side) -> Vec<usize> {
    side.alone().filter(|&i| side.words[i].kind == Kind::Plain).collect()
}

/// Equal words answer each other: of several the one before the same next word, then the k-th the k-th.
fn equal(a: &mut Side, b: &mut Side, by_next: bool) {
    let (left, right) = (sorted(a, by_next), sorted(b, by_next));
    let (mut x, mut y) = (0, 0);
    while x < left.len() && y < right.len() {
        match key(a, left[x], by_next).cmp(&key(b, right[y], by_next)) {
            Ordering::Less => x += 1,
            Ordering::Greater => y += 1,
            Ordering::Equal => {
                a.answered(left[x], right[y]);
                b.answered(right[y], left[x]);
                x += 1;
                y += 1;
            }
        }
    }
}

/// What makes a word equal to another: the sort of word, its text, and the next word if that is asked for.
fn key(side: &Side, at: usize, by_next: bool) -> (u8, &str, Option<&str>) {
    let next =
        side.words[at + 1..].iter().find(|word| word.kind != Kind::Filler).filter(|_| by_next);
    let sort = match side.words[at].kind {
        Kind::Number | Kind::One => 0,
        Kind::Unit => 1,
        Kind::Little(_) => 2,
        _ => 3,
    };
    (sort, &side.words[at].text, next.map(|word| word.text.as_str()))
}

/// The places of the words without an answer, in the order of their keys.
fn sorted(side: &Side, by_next: bool) -> Vec<usize> {
    let mut open: Vec<usize> = side.alone().collect();
    open.sort_by(|&x, &y| key(side, x, by_next).cmp(&key(side, y, by_next)).then(x.cmp(&y)));
    open
}

/// Neighbours of one text that are one word in the other: `key board` and `keyboard`, `on a stage` and `onstage`.
fn join(apart: &mut Side, whole: &mut Side) {
    let right = open(whole);
    for at in open(apart) {
        let Some(before) = (0..at).rev().find(|&i| apart.words[i].kind != Kind::Filler) else {
            continue;
        };
        let one = format!("{}{}", apart.words[before].text, apart.words[at].text);
        if let Some(&j) = right.iter().find(|&&j| whole.words[j].text == one) {
            apart.answered(before, j);
            apart.answered(at, j);
            whole.answered(j, at);
        }
    }
}
