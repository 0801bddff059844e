//! The "soft" ranking: one score for each memory that a search may find. Pure.
//!
//! A memory scores by the cosine of its text, by BM25, and by how well each of its words meets the words of the question as the model
//! understands them; then by what the question names (a person, a date) or wants (a time, a place), and by what was stored beside it.
//! docs/retrieval.md has the recipe, the figures, and for each constant the row that chose it; "the reference" is the implementation
//! in numpy that those figures were made with, and `search_tests` compares the two. Not here: which memories may be found (`index`), where
//! word statistics come from (`bm25`), codes and vectors (`embedding`).

mod dates;
mod order;
mod parts;
mod relative;
mod small_words;
pub(crate) mod split;
pub(crate) mod stem;
pub(crate) mod terms;
pub mod text;
pub(crate) mod tongue;
mod words;

pub(crate) use order::{Order, link};
pub(crate) use parts::{Parts, STEPS, parts};
pub(crate) use text::Kind;
pub(crate) use words::{Word, weights};

use crate::embedding::Code;
use dates::Named;
use text::Wanted;

/// What the cosine of the text counts.
const COS: f64 = 0.4;
/// What BM25 as a share of the ideal counts.
const LEX: f64 = 0.2;
/// What the soft match of the words counts.
const SOFT: f64 = 1.0;
/// What a word counts that stands in the memory next door.
const TERM_BESIDE: f64 = 0.7;
/// What it adds to be said by the one person whom the question names.
const PERSON: f64 = 0.12;
/// What it adds to that to be said in the first person.
const FIRST: f64 = 0.12;
/// What it adds to be of a date that the question names.
const DATE: f64 = 0.25;
/// What it adds to hold a word of time where the question asks when, a name where it asks where.
const EXPECT: f64 = 0.1;
/// What follows a question gets of its score.
const ANSWER: f64 = 0.1;
/// What each gets of the better of its two neighbours.
const NEXT: f64 = 0.15;
/// What each gets of the best around it.
const WINDOW: f64 = 0.4;
/// How far around is.
const REACH: usize = 8;
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
/// Up to this many memories the words of all are compared; of more only those of the best by everything else, and of their neighbours.
const SCAN_ALL: usize = 2_000;
/// How many that are.
const SCAN_BEST: usize = 400;

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
    pub codes: &'a [Code],
}

/// What is known of a question.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Question {
    words: Vec<Word>,
    dates: Vec<Named>,
    times: Vec<relative::Span>,
    today: i32,
    wanted: Wanted,
}

impl Question {
    /// Reads a question that is asked on the day `today`; `words` are its content words, one a stem.
    pub(crate) fn new(text: &str, words: Vec<Word>, today: i32) -> Self {
        Self { words, dates: dates::named(text), times: relative::named(text, today), today, wanted: text::wanted(text) }
    }
}

/// The score of each memory. `items` stand in the order of `orders`, one after the other.
pub(crate) fn scores(items: &[Item<'_>], orders: &[Order], question: &Question) -> Vec<f64> {
    let named = named_or_wanted(items, question);
    let mut scores: Vec<f64> = items.iter().map(|item| COS * item.cosine.max(0.0) + LEX * item.lexical).collect();
    let scanned = to_scan(&scores, &named, orders);
    add_soft(&mut scores, items, orders, question, &scanned);
    scores.iter_mut().zip(named).for_each(|(score, named)| *score += named);
    let asks: Vec<bool> = items.iter().map(|item| item.kind.question).collect();
    let mut lifted = Vec::with_capacity(scores.len());
    for (order, range) in ranges(orders) {
        lifted.extend(order::lift(&scores[range.clone()], &asks[range], order.link));
    }
    lifted.iter_mut().zip(recency(items, question.today)).for_each(|(score, recent)| *score += recent);
    lifted
}

/// What each gets for being newer than others. Counted from the newest of them, so that an old store is told apart as well as a young one.
fn recency(items: &[Item<'_>], today: i32) -> impl Iterator<Item = f64> {
    let newest = items.iter().filter_map(|item| item.day).filter(|day| *day <= today).max().unwrap_or(today);
    items.iter().map(move |item| item.day.map_or(0.0, |day| RECENT / (1.0 + f64::from(newest.saturating_sub(day).max(0)) / FADING)))
}

fn ranges(orders: &[Order]) -> impl Iterator<Item = (Order, std::ops::Range<usize>)> {
    orders.iter().scan(0, |first, order| {
        let range = *first..*first + order.len;
        *first = range.end;
        Some((*order, range))
    })
}

/// What the question names or wants: a date, a person, a time, a place.
fn named_or_wanted(items: &[Item<'_>], question: &Question) -> Vec<f64> {
    let days: Vec<Option<i32>> = items.iter().map(|item| item.day).collect();
    let near = dates::nearness(&question.dates, &question.times, &days);
    let worth = |(item, near): (&Item<'_>, f64)| {
        let person = if item.said_by_named { PERSON + if item.kind.first_person { FIRST } else { 0.0 } } else { 0.0 };
        let expected = u8::from(question.wanted.time && item.kind.time_word) + u8::from(question.wanted.place && item.kind.inner_name);
        DATE * near + person + EXPECT * f64::from(expected)
    };
    items.iter().zip(near).map(worth).collect()
}

/// Whose words are compared: everybody's in a small store; else those of the best by everything else.
fn to_scan(scores: &[f64], named: &[f64], orders: &[Order]) -> Vec<bool> {
    if scores.len() <= SCAN_ALL {
        return vec![true; scores.len()];
    }
    let mut best: Vec<(f64, usize)> =
        scores.iter().zip(named).map(|(score, named)| score + named).enumerate().map(|(at, s)| (s, at)).collect();
    best.select_nth_unstable_by(SCAN_BEST, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let mut scanned = vec![false; scores.len()];
    best[..SCAN_BEST].iter().for_each(|(_, at)| scanned[*at] = true);
    for (_, range) in ranges(orders) {
        let of_order = &mut scanned[range];
        let near: Vec<usize> = (0..of_order.len())
            .filter(|at| at.checked_sub(1).is_some_and(|before| of_order[before]) || of_order.get(at + 1).is_some_and(|after| *after))
            .collect();
        for at in near {
            of_order[at] = true;
        }
    }
    scanned
}

/// Adds the soft match of the words; a word counts somewhat less in the memory next door.
fn add_soft(scores: &mut [f64], items: &[Item<'_>], orders: &[Order], question: &Question, scanned: &[bool]) {
    let count = question.words.len();
    let mut matches = vec![0.0; items.len() * count];
    if count == 0 {
        return;
    }
    for ((item, row), _) in items.iter().zip(matches.chunks_exact_mut(count)).zip(scanned).filter(|(_, scanned)| **scanned) {
        words::matches(&question.words, item.codes, row);
    }
    let row = |at: usize| &matches[at * count..(at + 1) * count];
    let zeros = vec![0.0; count];
    for (order, range) in ranges(orders) {
        for at in range.clone().filter(|at| scanned[*at]) {
            let before = if at > range.start { row(at - 1) } else { &zeros };
            let after = if at + 1 < range.end { row(at + 1) } else { &zeros };
            let own = row(at);
            let best = |word: usize| own[word].max(TERM_BESIDE * order.link * before[word].max(after[word]));
            scores[at] += SOFT * question.words.iter().enumerate().map(|(word, asked)| asked.weight * best(word)).sum::<f64>();
        }
    }
}
