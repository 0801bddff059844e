//! The scores of `scores`, taken apart into what each step adds. Pure.
//!
//! It goes the same way by the same functions and keeps what each of them gave; a property test holds the sums to the scores. Asked for
//! by people alone, so it may cost what it costs. Not here: how parts are told (`explain`).

use super::order::{answered, beside, best_around};
use super::{
    ANSWER, COS, DATE, EXPECT, FIRST, Item, LEX, NEXT, Order, PERSON, QUESTION, Question, WINDOW, add_soft, dates, named_or_wanted, ranges,
    recency, to_scan,
};

/// The steps by name, in the order of [`Parts`].
pub(crate) const STEPS: [&str; 12] =
    ["cosine", "bm25", "words", "date", "person", "first_person", "expect", "answer", "next", "window", "question", "recency"];

/// What each of [`STEPS`] adds to one score.
pub(crate) type Parts = [f64; STEPS.len()];

/// The parts of each score; `items` and `orders` as for [`super::scores`].
pub(crate) fn parts(items: &[Item<'_>], orders: &[Order], question: &Question) -> Vec<Parts> {
    let named = named_or_wanted(items, question);
    let legs: Vec<f64> = items.iter().map(|item| COS * item.cosine.max(0.0) + LEX * item.lexical).collect();
    let mut scores = legs.clone();
    let scanned = to_scan(&scores, &named, orders);
    add_soft(&mut scores, items, orders, question, &scanned);
    let words: Vec<f64> = scores.iter().zip(&legs).map(|(with, without)| with - without).collect();
    scores.iter_mut().zip(named).for_each(|(score, named)| *score += named);
    let days: Vec<Option<i32>> = items.iter().map(|item| item.day).collect();
    let near = dates::nearness(&question.dates, &question.times, &days);
    let asks: Vec<bool> = items.iter().map(|item| item.kind.question).collect();
    let recent: Vec<f64> = recency(items, question.today).collect();
    let mut all = Vec::with_capacity(items.len());
    for (order, range) in ranges(orders) {
        let lifted = lifted(&scores[range.clone()], &asks[range.clone()], order.link);
        for (at, [answer, next, window, asking]) in range.zip(lifted) {
            let (item, [person, first_person, expect]) = (&items[at], said(&items[at], question));
            let (cosine, bm25, date) = (COS * item.cosine.max(0.0), LEX * item.lexical, DATE * near[at]);
            all.push([cosine, bm25, words[at], date, person, first_person, expect, answer, next, window, asking, recent[at]]);
        }
    }
    all
}

/// By the person whom the question names, in the first person, with what it wants to hear.
fn said(item: &Item<'_>, question: &Question) -> [f64; 3] {
    let named = if item.said_by_named { PERSON } else { 0.0 };
    let first = if item.said_by_named && item.kind.first_person { FIRST } else { 0.0 };
    let expected = u8::from(question.wanted.time && item.kind.time_word) + u8::from(question.wanted.place && item.kind.inner_name);
    [named, first, EXPECT * f64::from(expected)]
}

/// After a question, beside good ones, in a good neighbourhood, itself a question: what `order::lift` adds for each.
fn lifted(scores: &[f64], asks: &[bool], link: f64) -> Vec<[f64; 4]> {
    let answer = |at: usize| link * ANSWER * answered(scores, asks, at);
    let next = |at: usize| link * NEXT * beside(scores, at);
    let near: Vec<f64> = (0..scores.len()).map(|at| scores[at] + answer(at) + next(at)).collect();
    let window = |at: usize| WINDOW * (link * best_around(&near, at) + (1.0 - link) * near[at]);
    (0..scores.len()).map(|at| [answer(at), next(at), window(at), if asks[at] { -QUESTION } else { 0.0 }]).collect()
}
