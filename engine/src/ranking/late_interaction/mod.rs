//! The "soft" ranking: one score for each memory that a search may find. Pure.
//!
//! A memory scores by the cosine of its text, by BM25, and by how well each of its words meets the words of the question as the model
//! understands them; then by what the question names (a person, a date) or wants (a time, a place), and by what was stored beside it.
//! docs/retrieval.md has the recipe, the figures, and for each constant the row that chose it; "the reference" is the implementation
//! in numpy that most of them come from, and `search_tests` compares the formulas of the two. Not here: which memories may be found
//! (`index`), where word statistics come from (`bm25`), codes and vectors (`embedding`).

mod breakdown;
mod context;
pub(crate) mod word_match;

pub(crate) use crate::text::dates::event_reference::{Happened, told};
pub(crate) use crate::text::features::Kind;
pub(crate) use breakdown::{Parts, STEPS, parts};
pub(crate) use context::{Lift, Order, Sums};
pub(crate) use word_match::{Word, weights};

use crate::kernels;
use crate::kernels::Eight;
use crate::model::encoding::SignCode;
use crate::text::dates::Times;
use crate::text::features::Wanted;

/// What the cosine of the text counts.
const COS: f64 = 0.4;
/// Over so many words the weight of a question may be spread; over twice as many, and the cosine counts twice as much.
const SPREAD: f64 = 6.0;
/// How many times as much it counts at most.
const LONG: f64 = 3.0;
/// What BM25 as a share of the ideal counts.
const LEX: f64 = 0.2;
/// What the soft match of the words counts.
const SOFT: f64 = 1.0;
/// What a word counts that stands in the memory next door.
const TERM_BESIDE: f64 = 0.7;
/// What it adds to be said by the one person whom the question names.
const PERSON: f64 = 0.15;
/// What it adds to that to be said in the first person.
const FIRST: f64 = 0.15;
/// What it adds to be of a date that the question names.
const DATE: f64 = 0.3;
/// What it adds to hold a word of time where the question asks when, a name where it asks where.
const EXPECT: f64 = 0.12;
/// What follows a question gets of its score.
const ANSWER: f64 = 0.1;
/// What each gets of the better of its two neighbours.
const NEXT: f64 = 0.15;
/// What each gets of the best around it.
const WINDOW: f64 = 0.4;
/// How far around is.
pub(crate) const REACH: usize = 8;
/// How many of the best around count.
const BEST: usize = 2;
/// What the newest gets, so that of two that are nearly as good it comes first.
const RECENT: f64 = 0.01;
/// Days after which half of that is left.
const FADING: f64 = 30.0;
/// A question is seldom the answer.
const QUESTION: f64 = 0.03;
/// How much more neighbours must be alike than any two before their order counts whole.
const LINK: f64 = 0.045;
/// Up to this many memories everything of all is compared; of more only the words of the best by everything else, and of their neighbours.
pub(crate) const SCAN_ALL: usize = 2_000;

/// No memory is worth more by everything but its words: it may hold both what "when" and what "where" want.
pub(crate) const GREATEST: f64 = COS * LONG + LEX + DATE + PERSON + FIRST + 2.0 * EXPECT;

/// While the words of one memory are compared, those of the one so many further on are brought from memory.
pub(crate) const AHEAD: usize = 4;

/// A best score below this is seldom of an answer. docs/retrieval.md says how it was learnt.
pub(crate) const WEAK: f64 = 0.65;

/// What is known of one memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item<'a> {
    /// Of its best piece, -1 to 1.
    pub cosine: f64,
    /// BM25 as a share of the ideal, 0 to 1.
    pub lexical: f64,
    /// Of which kind its text is.
    pub kind: Kind,
    /// When it was.
    pub day: Option<i32>,
    /// Whether the one person whom the question names says it.
    pub said_by_named: bool,
    /// Its words.
    pub codes: &'a [SignCode],
}

/// What is known of a question.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Question {
    /// What the cosine of the text counts.
    cos: f64,
    weights: Vec<f64>,
    eights: Vec<Eight>,
    times: Times,
    today: i32,
    wanted: Wanted,
}

impl Question {
    /// Reads a question that is asked on the day `today`; `words` are its content words, one a stem.
    pub(crate) fn new(text: &str, words: &[Word], today: i32) -> Self {
        let squares: f64 = words.iter().map(|word| word.weight * word.weight).sum();
        Self {
            // One divided by the sum of the squares is as many words as would have the weight if all had the same.
            cos: COS * if squares > 0.0 { (1.0 / squares / SPREAD).clamp(1.0, LONG) } else { 1.0 },
            weights: words.iter().map(|word| word.weight).collect(),
            eights: word_match::side_by_side(words),
            times: Times::of(text, today),
            today,
            wanted: crate::text::features::wanted(text),
        }
    }

    /// The same where what it tells a time by happened on this day.
    pub(crate) fn told_by(mut self, happened: &Happened, day: i32) -> Self {
        self.times.beside(day, happened.side);
        self
    }

    /// What the text as a whole and its words are worth.
    pub(crate) fn base(&self, cosine: f64, lexical: f64) -> f64 {
        self.cos * cosine.max(0.0) + LEX * lexical
    }

    /// What both count, where they are only roughly known.
    #[expect(clippy::cast_possible_truncation, reason = "a rough comparison")]
    pub(crate) fn roughly(&self) -> [f32; 2] {
        [self.cos as f32, LEX as f32]
    }

    /// What a cosine of 1 adds to a score since the question is long, its share in the window with it.
    pub(crate) fn longer(&self) -> f64 {
        (1.0 + WINDOW) * (self.cos - COS)
    }

    /// Whether it names or tells a time.
    pub(crate) fn names_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// Whether it wants to hear a time or a place.
    pub(crate) fn wants(&self) -> bool {
        self.wanted != Wanted::default()
    }

    /// How near each of all known days is to the dates that it names.
    pub(crate) fn nearness(&self, days: &[Option<i32>]) -> Vec<f64> {
        self.times.nearness(days)
    }

    /// What each gets for being newer than others of these days. Counted from the newest of them, so that an old store is told apart as well
    /// as a young one.
    pub(crate) fn recency<D: Iterator<Item = Option<i32>>>(
        &self,
        days: impl Fn() -> D,
    ) -> impl Iterator<Item = f64> {
        let newest = days().flatten().filter(|day| *day <= self.today).max().unwrap_or(self.today);
        days().map(move |day| {
            day.map_or(0.0, |day| {
                RECENT / (1.0 + f64::from(newest.saturating_sub(day).max(0)) / FADING)
            })
        })
    }

    /// What it adds to be near a date, to be said by the one whom the question names, and to hold what it wants to hear.
    pub(crate) fn worth(&self, kind: Kind, near: f64, said_by_named: bool) -> f64 {
        let person =
            if said_by_named { PERSON + if kind.first_person { FIRST } else { 0.0 } } else { 0.0 };
        let expected = u8::from(self.wanted.time && kind.time_word)
            + u8::from(self.wanted.place && kind.inner_name);
        DATE * near + person + EXPECT * f64::from(expected)
    }

    /// What the soft match of its own words is worth.
    pub(crate) fn own_match(&self, codes: &[SignCode]) -> f64 {
        let mut row = [0.0; 8];
        let of_eight = |(eight, weights): (&Eight, &[f64])| {
            word_match::matches(std::slice::from_ref(eight), codes, &mut row[..weights.len()]);
            row.iter().zip(weights).map(|(own, weight)| own * weight).sum::<f64>()
        };
        SOFT * self.eights.iter().zip(self.weights.chunks(8)).map(of_eight).sum::<f64>()
    }

    /// Adds the soft match of the words to memories that stand one after the other; a word counts somewhat less in the memory next door.
    pub(crate) fn add_matches(
        &self,
        scores: &mut [f64],
        codes: &[&[SignCode]],
        link: f64,
        room: &mut Vec<f64>,
    ) {
        let count = self.weights.len();
        if count == 0 {
            return;
        }
        // One row more on each side, where there is nothing.
        room.clear();
        room.resize((scores.len() + 2) * count, 0.0);
        for (at, row) in room.chunks_exact_mut(count).skip(1).take(codes.len()).enumerate() {
            codes.get(at + AHEAD).copied().into_iter().for_each(kernels::bring);
            word_match::matches(&self.eights, codes[at], row);
        }
        let beside = TERM_BESIDE * link;
        for (score, rows) in scores.iter_mut().zip(room.windows(3 * count).step_by(count)) {
            let ((before, own), after) = (rows[..2 * count].split_at(count), &rows[2 * count..]);
            let mut sum = 0.0;
            for (((weight, own), before), after) in
                self.weights.iter().zip(own).zip(before).zip(after)
            {
                let next_door = beside * if before < after { after } else { before };
                sum += weight * if *own < next_door { next_door } else { *own };
            }
            *score += SOFT * sum;
        }
    }
}

/// The score of each memory. `items` stand in the order of `orders`, one after the other.
pub(crate) fn scores(items: &[Item<'_>], orders: &[Order], question: &Question) -> Vec<f64> {
    let days: Vec<Option<i32>> = items.iter().map(|item| item.day).collect();
    let worth =
        |(item, near): (&Item<'_>, f64)| question.worth(item.kind, near, item.said_by_named);
    let named: Vec<f64> = items.iter().zip(question.nearness(&days)).map(worth).collect();
    let mut scores: Vec<f64> =
        items.iter().map(|item| question.base(item.cosine, item.lexical)).collect();
    let codes: Vec<&[SignCode]> = items.iter().map(|item| item.codes).collect();
    let asks: Vec<bool> = items.iter().map(|item| item.kind.question).collect();
    let (mut lift, mut room) = (Lift::default(), Vec::new());
    for (order, range) in ranges(orders) {
        let of_order = &mut scores[range.clone()];
        question.add_matches(of_order, &codes[range.clone()], order.link, &mut room);
        of_order.iter_mut().zip(&named[range.clone()]).for_each(|(score, named)| *score += named);
        lift.lift(of_order, &asks[range], order.link);
    }
    let days = || items.iter().map(|item| item.day);
    scores.iter_mut().zip(question.recency(days)).for_each(|(score, recent)| *score += recent);
    scores
}

fn ranges(orders: &[Order]) -> impl Iterator<Item = (Order, std::ops::Range<usize>)> {
    orders.iter().scan(0, |first, order| {
        let range = *first..*first + order.len;
        *first = range.end;
        Some((*order, range))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the cosine counts for a question whose words have these weights.
    fn cos(weights: &[f64]) -> f64 {
        let sum: f64 = weights.iter().sum();
        let words: Vec<Word> = weights
            .iter()
            .map(|weight| Word { code: SignCode::of(&[1.0; 384]), weight: weight / sum })
            .collect();
        Question::new("", &words, 0).base(1.0, 0.0)
    }

    #[test]
    fn the_longer_a_question_the_more_its_meaning_counts_up_to_a_bound() {
        let of_equal = |count: usize| cos(&vec![1.0; count]) / COS;
        for (count, long) in
            [(0, 1.0), (1, 1.0), (6, 1.0), (9, 1.5), (12, 2.0), (18, LONG), (64, LONG)]
        {
            assert!((of_equal(count) - long).abs() < 1e-9, "{count}: {}", of_equal(count));
        }
        // Many words of which one says it all are one word.
        let mut weights = vec![0.01; 20];
        weights.push(10.0);
        assert!((cos(&weights) / COS - 1.0).abs() < 1e-9);
    }
}
