//! The scores of `scores`, taken apart into what each step adds. Pure.
//!
//! It goes the same way by the same functions and keeps what each of them gave; a property test holds the sums to the scores. Asked for
//! by people alone, so it may cost what it costs. Not here: how parts are told (`explain`).

use crate::model::encoding::SignCode;
use crate::ranking::late_interaction::context::{BestAround, answered, beside};
use crate::ranking::late_interaction::{
    ANSWER, DATE, EXPECT, FIRST, Item, NEXT, Order, PERSON, QUESTION, Question, WINDOW, ranges,
};

/// The steps by name, in the order of [`Parts`].
pub(crate) const STEPS: [&str; 12] = [
    "cosine",
    "bm25",
    "words",
    "date",
    "person",
    "first_person",
    "expect",
    "answer",
    "next",
    "window",
    "question",
    "recency",
];

/// What each of [`STEPS`] adds to one score.
pub(crate) type Parts = [f64; STEPS.len()];

/// The parts of each score; `items` and `orders` as for [`crate::ranking::late_interaction::scores`].
pub(crate) fn parts(items: &[Item<'_>], orders: &[Order], question: &Question) -> Vec<Parts> {
    let days = || items.iter().map(|item| item.day);
    let near = question.nearness(&days().collect::<Vec<_>>());
    let recent: Vec<f64> = question.recency(days).collect();
    let mut all = Vec::with_capacity(items.len());
    for (order, range) in ranges(orders) {
        let (of_order, near) = (&items[range.clone()], &near[range.clone()]);
        let legs: Vec<f64> =
            of_order.iter().map(|item| question.base(item.cosine, item.lexical)).collect();
        let mut scores = legs.clone();
        let codes: Vec<&[SignCode]> = of_order.iter().map(|item| item.codes).collect();
        question.add_matches(&mut scores, &codes, order.link, &mut Vec::new());
        let words: Vec<f64> =
            scores.iter().zip(&legs).map(|(with, without)| with - without).collect();
        for ((score, item), near) in scores.iter_mut().zip(of_order).zip(near) {
            *score += question.worth(item.kind, *near, item.said_by_named);
        }
        let asks: Vec<bool> = of_order.iter().map(|item| item.kind.question).collect();
        for (at, [answer, next, window, asking]) in
            lifted(&scores, &asks, order.link).into_iter().enumerate()
        {
            let (item, [person, first_person, expect]) =
                (&of_order[at], said(&of_order[at], question));
            let (cosine, bm25, date) = (
                question.base(item.cosine, 0.0),
                question.base(0.0, item.lexical),
                DATE * near[at],
            );
            let recent = recent[range.start + at];
            all.push([
                cosine,
                bm25,
                words[at],
                date,
                person,
                first_person,
                expect,
                answer,
                next,
                window,
                asking,
                recent,
            ]);
        }
    }
    all
}

/// By the person whom the question names, in the first person, with what it wants to hear.
fn said(item: &Item<'_>, question: &Question) -> [f64; 3] {
    let named = if item.said_by_named { PERSON } else { 0.0 };
    let first = if item.said_by_named && item.kind.first_person { FIRST } else { 0.0 };
    let expected = u8::from(question.wanted.time && item.kind.time_word)
        + u8::from(question.wanted.place && item.kind.inner_name);
    [named, first, EXPECT * f64::from(expected)]
}

/// After a question, beside good ones, in a good neighbourhood, itself a question: what `Lift` adds for each.
fn lifted(scores: &[f64], asks: &[bool], link: f64) -> Vec<[f64; 4]> {
    let answer = |at: usize| link * ANSWER * answered(scores, asks, at);
    let next = |at: usize| link * NEXT * beside(scores, at);
    let near: Vec<f64> = (0..scores.len()).map(|at| scores[at] + answer(at) + next(at)).collect();
    let mut around = BestAround::default();
    around.look(&near);
    let window = |at: usize| WINDOW * (link * around.mean(&near, at) + (1.0 - link) * near[at]);
    (0..scores.len())
        .map(|at| [answer(at), next(at), window(at), if asks[at] { -QUESTION } else { 0.0 }])
        .collect()
}
