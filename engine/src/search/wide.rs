//! Finding among many memories: all are compared roughly, the best of them exactly, and only what can be among the answers is scored.
//!
//! The rules are those of the soft ranking (`soft`); what is left out is what cannot be seen in the answer: the order of memories that
//! are far from the question. `Depth::Whole` compares everything and is what this is measured by. Not here: stores in which everything
//! can be compared (`search`).

use super::{Found, MATCH_COSINE, Scored, Sought, among, asked_words, best, distinct, named};
use crate::bm25::{Admitted, SHORT};
use crate::embedding::{Asked, Code};
use crate::index::{Index, Mask, Rough, Run, Scratch, narrow};
use crate::{query, soft};
use soft::{Question, stem};
use std::collections::HashMap;

/// How many are compared exactly; of these the best have their words compared.
const ROUGHLY_BEST: usize = 1_000;
/// Of how many the surroundings are looked at, at least, and for each answer that is wanted.
const TOP: (usize, usize) = (128, 4);
/// A word in this many of two memories, or more, tells nothing apart.
const COMMON: usize = 2;

/// Finds the best of many.
pub(super) fn find(index: &Index, mask: &Mask, sought: &Sought<'_>, asked: &Asked) -> Found {
    index.with_scratch(|scratch| {
        let wide = Wide::new(index, mask, sought, asked, scratch);
        let candidates = wide.candidates(asked, scratch);
        let compared = wide.compared(asked, candidates, scratch);
        let scored = wide.surroundings(&compared, sought.limit, scratch);
        best(scored, scratch.matching_in(mask), sought.limit)
    })
}

struct Wide<'a> {
    index: &'a Index,
    mask: &'a Mask,
    question: Question,
    /// Who is named by the question.
    called: &'a [u32],
    /// How near each day is to the dates that the question names, from this day on.
    days: (i32, Vec<f64>),
}

/// Memories whose words were compared, by slot, with what they are worth before their surroundings count.
type Compared = HashMap<u32, f64>;

impl<'a> Wide<'a> {
    fn new(index: &'a Index, mask: &'a Mask, sought: &Sought<'_>, asked: &Asked, scratch: &mut Scratch) -> Self {
        let among = among(index, mask);
        let mut having: HashMap<String, usize> = HashMap::new();
        let mut count = |stem: &str| {
            let of_list = || index.words().list(stem).map_or(0, |list| mask.count_of(list.slots()));
            *having.entry(stem.to_owned()).or_insert_with(of_list)
        };
        let words = asked_words(asked, among.count, &mut count);
        let stems = distinct(query::words(sought.text).words.iter().map(|word| stem::of_word(word)));
        let stems: Vec<(String, usize)> = stems.into_iter().map(|stem| (count(&stem), stem)).map(|(count, stem)| (stem, count)).collect();
        lexical(index, mask, &stems, among, scratch);
        for slot in named(index, sought.text).filter(|slot| mask.admits(*slot)) {
            // Whoever is asked for by name is meant, whatever the text about them says.
            scratch.lexical[slot] = 1.0;
            scratch.matches(slot);
        }
        let called = index.sayings().called(&query::tokens(sought.text).collect(), |slot| mask.admits(slot));
        let question = Question::new(sought.text, &words);
        let days = if question.names_dates() { days(index, mask, &question) } else { (0, Vec::new()) };
        Self { index, mask, question, called, days }
    }

    /// The best by everything but their words, as far as a rough comparison tells.
    fn candidates(&self, asked: &Asked, scratch: &mut Scratch) -> Vec<u32> {
        let rough = Rough::new(asked.vector.as_slice());
        let mut chosen = Chosen::default();
        let plain = self.called.is_empty() && !self.question.wants() && self.days.1.is_empty();
        scratch.others(self.index.estimates_of_others(&rough, self.mask));
        for (number, word) in self.mask.words().iter().enumerate().filter(|(_, word)| **word != 0) {
            for part in (0..8).filter(|part| word >> (8 * part) & 255 != 0) {
                let eight = number * 8 + part;
                let estimates = scratch.with_others(eight, self.index.estimates(&rough, eight));
                let lexical = &scratch.lexical[eight * 8..eight * 8 + 8];
                let mut worth: [f32; 8] = std::array::from_fn(|at| soft::roughly(estimates[at], lexical[at]));
                let bits = word >> (8 * part) & 255;
                if !plain {
                    for at in (0..8).filter(|at| bits >> at & 1 == 1) {
                        #[expect(clippy::cast_possible_truncation, reason = "a rough comparison")]
                        let named = self.named(eight * 8 + at) as f32;
                        worth[at] += named;
                    }
                }
                let (mut near, mut good) = (0, 0);
                for at in 0..8 {
                    near |= u64::from(f64::from(estimates[at]) >= MATCH_COSINE) << at;
                    good |= u64::from(worth[at] > chosen.least) << at;
                }
                scratch.matching[number] |= (near & bits) << (8 * part);
                scratch.estimates[eight * 8..eight * 8 + 8].copy_from_slice(&estimates);
                if good & bits != 0 {
                    (0..8).filter(|at| good & bits & 1 << at != 0).for_each(|at| chosen.add(worth[at], narrow(eight * 8 + at)));
                }
            }
        }
        chosen.best()
    }

    /// What the question names or wants, of one memory.
    fn named(&self, slot: usize) -> f64 {
        let said = self.index.said(slot);
        let near = said.day.and_then(|day| self.days.1.get(usize::try_from(day - self.days.0).ok()?)).copied().unwrap_or(0.0);
        self.question.worth(said.kind, near, self.called.contains(&said.speaker))
    }

    /// The best of the candidates, and their neighbours, with their words compared.
    fn compared(&self, asked: &Asked, candidates: Vec<u32>, scratch: &Scratch) -> Compared {
        let cosines = self.index.cosines(&asked.vector, &candidates);
        let worth = |(slot, cosine): (u32, f32)| (self.own(slot, f64::from(cosine), scratch), slot);
        let mut exactly: Vec<(f64, u32)> = candidates.into_iter().zip(cosines).map(worth).collect();
        let better = |a: &(f64, u32), b: &(f64, u32)| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1));
        if exactly.len() > soft::SCAN_BEST {
            exactly.select_nth_unstable_by(soft::SCAN_BEST, better);
            exactly.truncate(soft::SCAN_BEST);
        }
        let best: Vec<u32> = exactly.into_iter().map(|(_, slot)| slot).collect();
        let mut compared = Compared::new();
        for run in Run::around(self.index, self.mask, best, 1) {
            let cosines = self.index.cosines(&asked.vector, &run.slots);
            let mut scores: Vec<f64> =
                run.slots.iter().zip(cosines).map(|(slot, cosine)| soft::base(f64::from(cosine), scratch.lexical_of(*slot))).collect();
            let codes: Vec<Option<&[Code]>> = run.slots.iter().map(|slot| self.index.codes(*slot as usize)).collect();
            self.question.add_matches(&mut scores, &codes, run.link);
            compared.extend(run.slots.iter().zip(scores).map(|(slot, score)| (*slot, score + self.named(*slot as usize))));
        }
        compared
    }

    /// What a memory is worth by everything but its words.
    fn own(&self, slot: u32, cosine: f64, scratch: &Scratch) -> f64 {
        soft::base(cosine, scratch.lexical_of(slot)) + self.named(slot as usize)
    }

    /// The best of what was compared and all around it, with what its surroundings add.
    fn surroundings(&self, compared: &Compared, limit: usize, scratch: &Scratch) -> Vec<Scored> {
        let top = TOP.0.max(TOP.1 * limit);
        let mut best: Vec<(f64, u32)> = compared.iter().map(|(slot, score)| (*score, *slot)).collect();
        if best.len() > top {
            best.select_nth_unstable_by(top, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            best.truncate(top);
        }
        let centres = best.into_iter().map(|(_, slot)| slot).collect();
        let mut scored = Vec::new();
        // One more on each side: a neighbour is lifted by its own neighbour.
        for Run { slots, link } in Run::around(self.index, self.mask, centres, soft::REACH + 1) {
            let own = |slot: &u32| self.own(*slot, f64::from(scratch.estimates[*slot as usize]), scratch);
            let scores: Vec<f64> = slots.iter().map(|slot| compared.get(slot).copied().unwrap_or_else(|| own(slot))).collect();
            let asks: Vec<bool> = slots.iter().map(|slot| self.index.said(*slot as usize).kind.question).collect();
            let lifted = soft::lift(&scores, &asks, link);
            scored.extend(slots.iter().zip(lifted).map(|(slot, score)| {
                let slot = *slot as usize;
                Scored::new(self.index, slot, score, scratch.matching[slot / 64] >> (slot % 64) & 1 == 1)
            }));
        }
        scored
    }
}

/// BM25 of every admitted memory, as a share of the ideal.
fn lexical(index: &Index, mask: &Mask, stems: &[(String, usize)], among: Admitted, scratch: &mut Scratch) {
    let idf = |having: usize| if having == 0 { 0.0 } else { SHORT.idf(among.count, having) };
    let measure = SHORT.measure(stems.iter().map(|(_, having)| idf(*having)).sum());
    for (stem, having) in stems.iter().filter(|(_, having)| *having > 0) {
        let Some(list) = index.words().list(stem) else { continue };
        let rarity = idf(*having) / measure;
        let common = having * COMMON >= among.count && stems.iter().any(|(_, other)| *other > 0 && other * COMMON < among.count);
        for (slot, times) in list.iter().filter(|(slot, _)| mask.admits(*slot)) {
            scratch.matches(slot);
            if !common {
                #[expect(clippy::cast_possible_truncation, reason = "a share; seven digits are enough")]
                let share = (rarity * SHORT.saturated(times, index.words().length(slot), among.mean_length)) as f32;
                scratch.lexical[slot] += share;
            }
        }
    }
}

/// How near each day is to the dates that the question names, from the first day of any admitted memory on.
fn days(index: &Index, mask: &Mask, question: &Question) -> (i32, Vec<f64>) {
    let known = || mask.slots().filter_map(|slot| index.said(slot).day);
    let (Some(first), Some(last)) = (known().min(), known().max()) else { return (0, Vec::new()) };
    let place = |day: i32| usize::try_from(day - first).unwrap_or(0);
    let mut has = vec![false; place(last) + 1];
    known().for_each(|day| has[place(day)] = true);
    let days: Vec<Option<i32>> = (first..=last).map(|day| has[place(day)].then_some(day)).collect();
    (first, question.nearness(&days))
}

/// The best of what was seen so far, a few times as many as are wanted.
#[derive(Default)]
struct Chosen {
    seen: Vec<(f32, u32)>,
    /// What is not worth more is not among the best.
    least: f32,
}

impl Chosen {
    fn add(&mut self, worth: f32, slot: u32) {
        self.seen.push((worth, slot));
        if self.seen.len() >= 4 * ROUGHLY_BEST {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.seen.len() > ROUGHLY_BEST {
            let (_, (least, _), _) = self.seen.select_nth_unstable_by(ROUGHLY_BEST, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            self.least = *least;
            self.seen.truncate(ROUGHLY_BEST);
        }
    }

    fn best(mut self) -> Vec<u32> {
        self.cut();
        self.seen.sort_unstable_by_key(|(_, slot)| *slot);
        self.seen.into_iter().map(|(_, slot)| slot).collect()
    }
}
