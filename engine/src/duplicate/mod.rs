//! Tells a fact said again from a fact corrected, when the vectors of two notes can not.
//!
//! A correction that is merged loses the newest truth; a duplicate that is kept costs a row. So every doubt is a no.
//!
//! Deliberately not here: vectors and thresholds (the store asks only above its cosine), and any knowledge of what notes are about.

mod forms;
mod pairing;
mod scan;
mod words;

use pairing::Pairing;
use scan::{Kind, Word};
use words::Family;

/// The form in which two texts are exactly equal: white space folded to one space, none at the ends, and no last full stop.
///
/// Case and all other punctuation count.
#[must_use]
pub fn normalised(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.push_str(word);
    }
    if folded.strip_suffix('.').is_some_and(|rest| rest.ends_with(char::is_alphanumeric)) {
        folded.pop();
    }
    folded
}

/// Whether two texts of high cosine state the same fact, so that one of them may stand for both.
#[must_use]
pub fn same_fact(a: &str, b: &str) -> bool {
    if normalised(a) == normalised(b) {
        return true;
    }
    let (a, b) = (scan::words(a), scan::words(b));
    let Some(pairing) = Pairing::of(&a, &b) else {
        return false;
    };
    let (a, b) = (Side { words: &a, answers: &pairing.to_b }, Side { words: &b, answers: &pairing.to_a });
    let changed = replaced(&a, &b)
        || family_changed(&a, &b)
        || [(&a, &b), (&b, &a)].iter().any(|(x, y)| added(x, y) || x.binds_otherwise(y) || other_time(x, y))
        || reordered(&pairing, &a, &b)
        || pairing.numbers_moved();
    !changed
}

/// One of the two texts.
struct Side<'a> {
    words: &'a [Word],
    /// The place in the other text of the word that answers.
    answers: &'a [Option<usize>],
}

fn why(_n: u32, x: bool) -> bool {
    if x && std::env::var("WHY").is_ok() { eprint!("R{_n} "); }
    x
}

impl Side<'_> {
    /// The places of the words without an answer.
    fn alone(&self) -> impl Iterator<Item = usize> {
        (0..self.words.len()).filter(|&i| self.answers[i].is_none())
    }

    fn lacks(&self, kind: Kind) -> bool {
        self.alone().any(|i| self.words[i].kind == kind)
    }

    /// A word of the family that the other text does not have at all.
    fn lacks_all(&self, family: Family, other: &Self) -> bool {
        self.alone().map(|i| &self.words[i]).any(|w| w.kind == Kind::Little(family) && !other.words.iter().any(|o| o.kind == w.kind && o.text == w.text))
    }

    /// The next word that is no little one.
    fn next(&self, from: usize) -> Option<usize> {
        (from + 1..self.words.len()).find(|&i| !matches!(self.words[i].kind, Kind::Filler | Kind::Little(_)))
    }

    /// A negation, or `only`, stands before another word there.
    fn binds_otherwise(&self, other: &Self) -> bool {
        why(1, (0..self.words.len()).any(|i| {
            let binds = self.words[i].kind == Kind::Negation || self.words[i].text == "only";
            let Some(j) = self.answers[i].filter(|_| binds) else { return false };
            match (self.next(i), other.next(j)) {
                (Some(x), Some(y)) => self.answers[x] != Some(y),
                (x, y) => x != y,
            }
        }))
    }

    fn is(&self, at: usize, family: Family, text: &str) -> bool {
        self.words[at].kind == Kind::Little(family) && self.words[at].text == text
    }

    /// A form of `be`, `have` or `do` stands shortly before.
    fn helped(&self, at: usize) -> bool {
        self.words[at.saturating_sub(3)..at].iter().any(|w| w.kind == Kind::Little(Family::Tense) || matches!(w.text.as_str(), "be" | "been" | "being"))
    }

    /// The agent of a passive whose verb has another form in the other text: the word after `by`, or after `covered in`.
    fn agent(&self, other: &Self) -> Option<usize> {
        let verb = (0..self.words.len()).find(|&i| {
            let word = &self.words[i];
            word.kind == Kind::Plain
                && !word.text.ends_with("ing")
                && self.helped(i)
                && self.answers[i].is_some_and(|j| other.words[j].text != word.text)
        })?;
        let near = |i: usize| i == verb + 1 && (self.is(i, Family::Preposition, "in") || self.is(i, Family::Preposition, "with"));
        let mut after = verb..self.words.len();
        let by = after.clone().find(|&i| self.words[i].text == "by").or_else(|| after.find(|&i| near(i)))?;
        self.next(by)
    }
}

fn replaced(a: &Side, b: &Side) -> bool {
    why(2, [Kind::Plain, Kind::Sign].iter().any(|&kind| a.lacks(kind) && b.lacks(kind)))
}

/// Something stands on one side only that is a fact by itself.
fn added(side: &Side, other: &Side) -> bool {
    side.alone().any(|i| {
        let word = &side.words[i];
        match word.kind {
            Kind::Number | Kind::Unit | Kind::Negation | Kind::Strong => why(3, true),
            Kind::Little(Family::Modal) => why(12, matches!(word.text.as_str(), "may" | "should" | "will")),
            Kind::Plain => why(4, joins_a_name(side, other, i)) || why(5, splits_a_compound(side, i)) || why(6, enumerated(side, i)),
            _ => false,
        }
    })
}

/// `React Native`, where the other text has `React`.
fn joins_a_name(side: &Side, other: &Side, at: usize) -> bool {
    let word = &side.words[at];
    let known = |i: usize| side.words[i].capital && side.answers[i].is_some_and(|j| other.words[j].capital);
    word.name && word.tied && at > 0 && known(at - 1)
}

fn splits_a_compound(side: &Side, at: usize) -> bool {
    let compound = side.words[at].compound;
    compound.is_some() && (0..side.words.len()).any(|i| side.words[i].compound == compound && side.answers[i].is_some())
}

fn enumerated(side: &Side, at: usize) -> bool {
    let joins = |i: Option<usize>| i.and_then(|i| side.words.get(i).map(|w| (i, w))).is_some_and(|(i, w)| w.kind == Kind::Little(Family::Conjunction) && side.answers[i].is_none());
    joins(at.checked_sub(1)) || joins(Some(at + 1))
}

/// One little word stands for another of its family, or a person for a pronoun.
fn family_changed(a: &Side, b: &Side) -> bool {
    let families = [Family::Conjunction, Family::Modal, Family::Preposition, Family::Pronoun, Family::Quantifier, Family::Tense];
    let person = |x: &Side, y: &Side| x.lacks_all(Family::Pronoun, y) && y.lacks(Kind::Plain);
    why(7, families.iter().any(|&family| a.lacks(Kind::Little(family)) && b.lacks(Kind::Little(family)))) || why(8, person(a, b) || person(b, a))
}

/// A verb is past there and not here, or done there and being done here.
fn other_time(x: &Side, y: &Side) -> bool {
    let by = x.agent(y).is_some() || y.agent(x).is_some();
    why(9, (0..x.words.len()).any(|i| {
        let Some(j) = x.answers[i].filter(|_| x.words[i].kind == Kind::Plain) else { return false };
        let (here, there) = (&x.words[i].text, &y.words[j].text);
        here != there && here.ends_with("ed") && !(x.helped(i) && !y.helped(j)) && !by
            && (there.ends_with("ing") && y.helped(j) == x.helped(i) || there.ends_with('s') && !x.helped(i)
                || here.starts_with(there.as_str()) && i > 0 && x.words[i - 1].kind == Kind::Little(Family::Pronoun))
    }))
}

fn reordered(pairing: &Pairing, a: &Side, b: &Side) -> bool {
    let roles = match (a.agent(b), b.agent(a)) {
        (Some(agent), None) => roles_kept(a, agent),
        (None, Some(agent)) => roles_kept(b, agent),
        _ => None,
    };
    match roles {
        Some(kept) => why(10, !kept),
        None => why(11, pairing.turned_round()),
    }
}

/// Whether the agent of the passive comes first in the active. `None` when it does not occur there.
fn roles_kept(passive: &Side, agent: usize) -> Option<bool> {
    let patient = (0..agent).find(|&i| passive.words[i].kind != Kind::Filler && passive.answers[i].is_some())?;
    Some(passive.answers[agent]? < passive.answers[patient]?)
}
