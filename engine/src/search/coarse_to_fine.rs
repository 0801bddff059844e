//! Finding among many memories: all are compared roughly, some nearly, the best of them exactly, and only what can be among the answers is
//! scored.
//!
//! The rules are those of the soft ranking (`soft`); what is left out is what cannot be seen in the answer: the order of memories that
//! are far from the question. `Effort::Exhaustive` compares everything and is what this is measured by. Not here: stores in which everything
//! can be compared (`search`).

use crate::index::{
    BinaryQuery, ContextWindows, Index, Mask, Precision, QuantizedVector, Scratch, TextFeatures,
    slot_id, slots_of,
};
use crate::kernels;
use crate::model::encoding::{QueryEncoding, SignCode};
use crate::ranking::bm25::{Admitted, SHORT};
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::{Lift, Question};
use crate::search::graph_boost;
use crate::search::query::parse;
use crate::search::top_k::{Best, MOST};
use crate::search::{
    Effort, MATCH_COSINE, Ranked, Scored, SearchQuery, among, question, words, worth_giving,
};
use std::collections::HashMap;

/// Where so few of 64 are admitted, or fewer, their cosines are looked at at once: the signs of all 64 are as many bytes as the first bytes
/// of eight vectors, and tell less.
const FEW: u32 = 4;
/// Of how many the cosine is looked at more closely: of all, of one more for each so many, and of no more than that; estimates that are as
/// good as one another are the more the more there are.
const CLOSER: [usize; 3] = [4_000, 100, 5_000];
/// None of these is worth as much less, roughly, than the last one that is compared exactly would be as a cosine of this is worth. An
/// estimate is off by .03, usually.
const FURTHER: f32 = 0.075;
/// Of how many of these exactly: some more than are compared, since what is nearly known may stand on the wrong side.
const EXACT: usize = 520;
/// How many of these have their words compared.
const COMPARED: usize = 400;
/// Of how many of these the surroundings are looked at: at least, and for each answer that is wanted.
const CENTRES: (usize, usize) = (60, 4);
/// How many of those that are linked to what the question names are looked at, whatever they are worth by themselves.
const LINKED: usize = 40;
/// A word in this many of two memories, or more, tells nothing apart.
const COMMON: usize = 2;

const _: () =
    assert!(late_interaction::GREATEST < MOST as f64, "what is chosen by halving is never more");

/// Finds the best of many.
pub(crate) fn find(
    index: &Index,
    mask: &Mask,
    sought: &SearchQuery<'_>,
    (asked, named): (&QueryEncoding, &[usize]),
) -> Ranked {
    index.with_scratch(|scratch| {
        let wide = Wide::new(index, mask, sought, (asked, named), scratch);
        let centres = CENTRES.0.max(CENTRES.1 * sought.limit);
        let candidates = wide.candidates(asked, sought.effort, scratch);
        let compared = wide.compared(candidates, scratch);
        let mut centres = wide.centres(&compared, centres, scratch);
        centres.extend(wide.centres(&wide.linked, LINKED, scratch));
        centres.sort_unstable();
        centres.dedup();
        let scored = wide.surroundings(centres, scratch);
        let matched = scratch.matching_in(mask);
        Ranked { scored: worth_giving(scored, matched), matched, longer: wide.question.longer() }
    })
}

struct Wide<'a> {
    index: &'a Index,
    mask: &'a Mask,
    asked: QuantizedVector,
    question: Question,
    /// Who is named by the question.
    called: &'a [u32],
    /// How near each day is to the dates that the question names, from this day on.
    days: (i32, Vec<f64>),
    /// The question neither names nor wants anything.
    plain: bool,
    /// What is linked to what the question names.
    linked: Vec<u32>,
}

impl<'a> Wide<'a> {
    fn new(
        index: &'a Index,
        mask: &'a Mask,
        sought: &SearchQuery<'_>,
        (asked, named): (&QueryEncoding, &[usize]),
        scratch: &mut Scratch,
    ) -> Self {
        let among = among(index, mask);
        let mut having: HashMap<String, usize> = HashMap::new();
        let mut count = |terms: &[String]| {
            let of_list = || index.words().list(terms).map_or(0, |list| list.count_in(mask));
            *having.entry(terms[0].clone()).or_insert_with(of_list)
        };
        let question = question(index, mask, (sought, asked), &mut count);
        let words: Vec<(Vec<String>, usize)> = words(index, sought.text)
            .into_iter()
            .map(|terms| (count(&terms), terms))
            .map(|(count, terms)| (terms, count))
            .collect();
        lexical(index, mask, &words, among, scratch);
        for slot in named.iter().copied() {
            // Whoever is asked for by name is meant, whatever the text about them says.
            scratch.lexical[slot] = 1.0;
            scratch.mark_lexical_match(slot);
        }
        let called = index
            .features()
            .speakers_named(&parse::tokens(sought.text).collect(), |slot| mask.admits(slot));
        let days =
            if question.names_times() { days(index, mask, &question) } else { (0, Vec::new()) };
        let plain = called.is_empty() && !question.wants() && days.1.is_empty();
        Self {
            index,
            mask,
            asked: QuantizedVector::from(&asked.vector),
            question,
            called,
            days,
            plain,
            linked: graph_boost::linked(index, mask, named),
        }
    }

    /// The best by everything but their words, as far as a rough comparison tells.
    fn candidates(&self, asked: &QueryEncoding, effort: Effort, scratch: &mut Scratch) -> Vec<u32> {
        let rough = BinaryQuery::new(asked.vector.as_slice());
        scratch.others(self.index.estimate_extra_chunks(&rough, self.mask));
        let [least, each, most] = CLOSER;
        let count = (least + self.mask.count() / each).min(most);
        let mut best = Best::new((count, count + count / 16));
        let roughly = self.question.roughly();
        let words = || self.mask.words().iter().enumerate().filter(|(_, word)| **word != 0);
        let is_known = |word: u64| effort == Effort::ExactVectors || word.count_ones() <= FEW;
        let known: Vec<u32> = words()
            .filter(|(_, word)| is_known(**word))
            .flat_map(|(number, word)| slots_of(number, *word))
            .map(slot_id)
            .collect();
        self.look_closer(
            &known,
            if effort == Effort::ExactVectors { Precision::Exact } else { Precision::Approx },
            scratch,
        );
        for (number, word) in words() {
            let cosines = if is_known(*word) {
                scratch.cosines_of(number)
            } else {
                scratch.with_others(number, self.index.estimate(&rough, number))
            };
            scratch.near[number] |= word & kernels::above(&cosines, MATCH_COSINE);
            let mut worth = scratch.weighed(number, &cosines, roughly);
            if !self.plain {
                #[expect(clippy::cast_possible_truncation, reason = "a rough comparison")]
                slots_of(number, *word)
                    .for_each(|slot| worth[slot % 64] += self.named(slot) as f32);
            }
            best.offer(number, *word, &worth);
        }
        best.done_near(EXACT, FURTHER * roughly[0])
    }

    /// The best of the candidates, once their cosines are looked at more closely.
    fn compared(&self, mut candidates: Vec<u32>, scratch: &mut Scratch) -> Vec<u32> {
        if candidates.len() > EXACT {
            self.look_closer(&candidates, Precision::Approx, scratch);
            candidates = self.best(&candidates, EXACT, scratch);
        }
        self.look_closer(&candidates, Precision::Exact, scratch);
        self.best(&candidates, COMPARED, scratch)
    }

    /// So many of the best by everything but their words, in their order.
    fn best(&self, of: &[u32], count: usize, scratch: &Scratch) -> Vec<u32> {
        let mut best = Best::new((count, count));
        for (number, slots) in of.chunks(64).enumerate() {
            let mut worth = [0.0; 64];
            for (worth, slot) in worth.iter_mut().zip(slots) {
                // One that is worth nothing by these may still be worth something by its words.
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "a comparison that need not be exact"
                )]
                let own = self.own(*slot, scratch) as f32;
                *worth = own.max(f32::MIN_POSITIVE);
            }
            best.offer(number, u64::MAX, &worth);
        }
        best.done().into_iter().map(|at| of[at as usize]).collect()
    }

    /// Takes the cosines of those of some memories that are not known as well yet.
    fn look_closer(&self, slots: &[u32], known: Precision, scratch: &mut Scratch) {
        let slots: Vec<u32> =
            slots.iter().copied().filter(|slot| !scratch.knows(*slot as usize, known)).collect();
        let cosines = match known {
            Precision::Approx => self.index.approx_cosines(&self.asked, &slots),
            Precision::Exact => self.index.cosines(&self.asked, &slots),
        };
        for (slot, cosine) in slots.iter().zip(cosines) {
            scratch.set(*slot as usize, cosine, known, MATCH_COSINE);
        }
    }

    /// What the question names or wants, of one memory.
    fn named(&self, slot: usize) -> f64 {
        if self.plain {
            return 0.0;
        }
        let said = self.index.text_features(slot);
        let near = said
            .day
            .and_then(|day| self.days.1.get(usize::try_from(day - self.days.0).ok()?))
            .copied()
            .unwrap_or(0.0);
        self.question.worth(said.kind, near, self.called.contains(&said.speaker))
    }

    /// The best of the candidates, once their words are compared.
    fn centres(&self, candidates: &[u32], count: usize, scratch: &mut Scratch) -> Vec<u32> {
        self.look_closer(candidates, Precision::Approx, scratch);
        let codes = |slot: u32| self.index.codes(slot as usize).unwrap_or_default();
        let worth = |(at, slot): (usize, &u32)| {
            candidates
                .get(at + late_interaction::AHEAD)
                .into_iter()
                .for_each(|slot| kernels::bring(codes(*slot)));
            (self.own(*slot, scratch) + self.question.own_match(codes(*slot)), *slot)
        };
        let mut best: Vec<(f64, u32)> = candidates.iter().enumerate().map(worth).collect();
        keep_best(&mut best, count);
        best.into_iter().map(|(_, slot)| slot).collect()
    }

    /// What a memory is worth by everything but its words; its cosine is known, nearly at least.
    fn own(&self, slot: u32, scratch: &Scratch) -> f64 {
        self.question.base(f64::from(scratch.cosines[slot as usize]), scratch.lexical_of(slot))
            + self.named(slot as usize)
    }

    /// The centres and all around them, with what their surroundings add.
    fn surroundings(&self, centres: Vec<u32>, scratch: &mut Scratch) -> Vec<Scored> {
        let wanted = centres.len();
        // One more on each side: a neighbour is lifted by its own neighbour.
        let ContextWindows { slots, windows: runs } =
            self.index.context_windows(self.mask, centres, late_interaction::REACH + 1);
        // What a thousandth is worth to a long question may change their order.
        let known = if self.question.longer() > 0.0 { Precision::Exact } else { Precision::Approx };
        self.look_closer(&slots, known, scratch);
        let mut scores: Vec<f64> = slots.iter().map(|slot| self.own(*slot, scratch)).collect();
        let codes: Vec<&[SignCode]> =
            slots.iter().map(|slot| self.index.codes(*slot as usize).unwrap_or_default()).collect();
        let said: Vec<TextFeatures> =
            slots.iter().map(|slot| self.index.text_features(*slot as usize)).collect();
        let asks: Vec<bool> = said.iter().map(|said| said.kind.question).collect();
        let mut room = Vec::new();
        for run in &runs {
            self.question.add_matches(
                &mut scores[run.range.clone()],
                &codes[run.range.clone()],
                run.coherence,
                &mut room,
            );
        }
        self.correct(&slots, &mut scores, wanted, scratch);
        let mut lift = Lift::default();
        for run in &runs {
            lift.lift(&mut scores[run.range.clone()], &asks[run.range.clone()], run.coherence);
        }
        let recent = self.question.recency(|| said.iter().map(|said| said.day));
        let whole = |((slot, score), recent): ((&u32, f64), f64)| {
            let slot = *slot as usize;
            Scored { slot, score: score + recent, matches: scratch.matches(slot) }
        };
        slots.iter().zip(scores).zip(recent).map(whole).collect()
    }

    /// Takes the cosines of the best so far exactly.
    fn correct(&self, slots: &[u32], scores: &mut [f64], count: usize, scratch: &mut Scratch) {
        let mut best: Vec<(f64, u32)> = scores.iter().copied().zip(0..).collect();
        keep_best(&mut best, count);
        let chosen: Vec<u32> = best.iter().map(|(_, at)| slots[*at as usize]).collect();
        let worth = |slot: &u32, scratch: &Scratch| {
            self.question.base(f64::from(scratch.cosines[*slot as usize]), 0.0)
        };
        let before: Vec<f64> = chosen.iter().map(|slot| worth(slot, scratch)).collect();
        self.look_closer(&chosen, Precision::Exact, scratch);
        for (((_, at), slot), before) in best.iter().zip(&chosen).zip(before) {
            scores[*at as usize] += worth(slot, scratch) - before;
        }
    }
}

/// Keeps so many of the best, in no order; of equals the later one.
fn keep_best(of: &mut Vec<(f64, u32)>, count: usize) {
    if of.len() > count {
        of.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        of.truncate(count);
    }
}

/// BM25 of every admitted memory, as a share of the ideal.
fn lexical(
    index: &Index,
    mask: &Mask,
    words: &[(Vec<String>, usize)],
    among: Admitted,
    scratch: &mut Scratch,
) {
    let idf = |having: usize| if having == 0 { 0.0 } else { SHORT.idf(among.count, having) };
    let measure = SHORT.measure(words.iter().map(|(_, having)| idf(*having)).sum());
    for (terms, having) in words.iter().filter(|(_, having)| *having > 0) {
        let Some(list) = index.words().list(terms) else { continue };
        let rarity = idf(*having) / measure;
        let common = having * COMMON >= among.count
            && words.iter().any(|(_, other)| *other > 0 && other * COMMON < among.count);
        list.mark(&mut scratch.lexical_match);
        if common {
            continue;
        }
        for (slot, times) in list.iter().filter(|(slot, _)| mask.admits(*slot)) {
            #[expect(clippy::cast_possible_truncation, reason = "a share; seven digits are enough")]
            let share = (rarity
                * SHORT.saturated(times, index.words().length(slot), among.mean_length))
                as f32;
            scratch.lexical[slot] += share;
        }
    }
}

/// How near each day is to the dates that the question names, from the first day of any admitted memory on.
fn days(index: &Index, mask: &Mask, question: &Question) -> (i32, Vec<f64>) {
    let known = || mask.slots().filter_map(|slot| index.text_features(slot).day);
    let (Some(first), Some(last)) = (known().min(), known().max()) else { return (0, Vec::new()) };
    let place = |day: i32| usize::try_from(day - first).unwrap_or(0);
    let mut has = vec![false; place(last) + 1];
    known().for_each(|day| has[place(day)] = true);
    let days: Vec<Option<i32>> = (first..=last).map(|day| has[place(day)].then_some(day)).collect();
    (first, question.nearness(&days))
}

#[cfg(test)]
mod tests {
    use crate::index::{Filter, Index, QuantizedVector};
    use crate::model::decay::{Anchor, Decay};
    use crate::model::encoding::{DIMENSIONS, DocumentEncoding, Embedding, QueryEncoding};
    use crate::model::entry::Entry;
    use crate::model::status::Status;
    use crate::model::visibility::Visibility;
    use crate::ranking::fusion::Fusion;
    use crate::search::Effort;
    use crate::search::explain::Telling;
    use crate::search::{Found, SearchQuery, near, search};
    use crate::tests::fixture::{T0, asked, coded};
    use loci_proto::memory::{Confidence, MemoryType, Scope};

    const STORED: usize = 6_000;
    /// Of so many most are left out by a rough look.
    const MANY: usize = 12_000;

    fn mixed(seed: usize) -> usize {
        let mixed = (seed as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        usize::try_from((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 40)
            .unwrap_or(0)
    }

    /// A direction near that of a topic, however often it is asked for.
    fn vector(topic: usize, number: usize) -> Embedding {
        let value = |seed: usize| (mixed(seed) % 2001) as f32 / 1000.0 - 1.0;
        let near =
            |at: usize| value(topic * 1000 + at) + 0.9 * value((number + 1000) * 1000 + at) + 0.4;
        Embedding::new((0..DIMENSIONS).map(near).collect()).expect("has a direction")
    }

    fn text(number: usize) -> String {
        let speaker = ["", "Marta: ", "Olek: "][mixed(number) % 3];
        let words = (0..8)
            .map(|at| format!("word{}", mixed(number / 6 * 100 + number % 6 * 7 + at * at) % 900))
            .collect::<Vec<_>>();
        format!(
            "[2024-0{}-11] {speaker}{}{}",
            1 + number % 9,
            words.join(" "),
            if mixed(number + 5).is_multiple_of(7) { "?" } else { "" }
        )
    }

    /// Texts in runs of one topic, some of them of two pieces, in two projects.
    fn index(stored: usize) -> Index {
        index_with(stored, |_| true)
    }

    /// The same, as far as they are these; the rest are of another project and nothing is known of them.
    fn index_with(stored: usize, these: impl Fn(usize) -> bool) -> Index {
        let mut index = Index::default();
        for number in 0..stored {
            if !these(number) {
                index.put(Entry {
                    group: Some("c".to_owned()),
                    ..Entry::bare(i64::try_from(number).expect("is small"))
                });
                continue;
            }
            let content = text(number);
            index.put(Entry {
                seq: i64::try_from(number).expect("is small"),
                kind: MemoryType::Episodic,
                group: Some(["a", "b"][usize::from(number % 40 > 30)].to_owned()),
                scope: if number % 9 == 0 { Scope::Global } else { Scope::Group },
                status: Status::Active,
                anchor: Anchor { confidence: Confidence::FULL, at: T0, pinned: false },
                expires_at: None,
                names: Vec::new(),
                content: content.clone(),
                event_day: None,
                created_day: 0,
                summary: None,
                extractive: false,
            });
            let mut pieces = vec![vector(number / 6, number)];
            if number % 11 == 0 {
                pieces.push(vector(number / 6 + 1, number));
            }
            let words =
                coded(content.rsplit(": ").next().unwrap_or_default(), pieces[0].clone()).words;
            index.set_vectors(
                i64::try_from(number).expect("is small"),
                &DocumentEncoding { pieces, words },
            );
        }
        index
    }

    fn filter(visibility: &Visibility) -> Filter<'_> {
        let lowest = Confidence::new(0.1).expect("in bounds");
        Filter {
            visibility,
            kind: None,
            scope: None,
            min_confidence: lowest,
            now: T0,
            decay: Decay::default(),
            compacted: true,
        }
    }

    fn found(index: &Index, text: &str, asked: &QueryEncoding, effort: Effort) -> Found {
        let mask = index.mask(&filter(&Visibility::of_group("a")));
        search(
            index,
            &mask,
            &SearchQuery {
                text,
                asked: Some(asked),
                fusion: Fusion::Soft,
                today: 0,
                limit: 10,
                effort,
                telling: Telling::Scores,
            },
        )
    }

    /// Many of these texts are as good as one another, and which of those comes tenth is chance.
    #[test]
    fn the_best_of_many_are_those_of_exact_cosines_and_nearly_those_of_comparing_everything() {
        let exact = same_as(&index(MANY), Effort::ExactVectors, &ASKED);
        let whole = same_as(&index(STORED), Effort::Exhaustive, &ASKED[..5]);
        assert!(exact.0 >= 0.99 && exact.1 == 60, "exact cosines: {exact:?}");
        assert!(whole.0 >= 0.85 && whole.1 >= 59, "all words: {whole:?}");
    }

    #[test]
    fn where_few_stand_among_many_the_best_are_those_of_exact_cosines_too() {
        // A part of them stands close together, the rest far apart.
        let index = index_with(36_000, |number| number < 3_000 || number.is_multiple_of(16));
        let few = index
            .mask(&filter(&Visibility::of_group("a")))
            .words()
            .iter()
            .filter(|word| (1..=super::FEW).contains(&word.count_ones()))
            .count();
        assert!(few > 400, "{few} of 64");
        let exact = same_as(&index, Effort::ExactVectors, &ASKED);
        assert!(exact.0 >= 0.995 && exact.1 == 60, "exact cosines: {exact:?}");
    }

    /// The share of the ten best at another effort that are found as usual, and how often the first is the same.
    fn same_as(index: &Index, effort: Effort, kinds: &[&str]) -> (f64, usize) {
        let (mut same, mut all, mut first) = (0_u32, 0_u32, 0);
        for turn in 0..60 {
            let (words, asked) = question(turn, kinds[turn % kinds.len()], index.len());
            let (best, whole) = (
                found(index, &words, &asked, Effort::Approximate),
                found(index, &words, &asked, effort),
            );
            let slots =
                |found: &Found| found.ranked.iter().map(|(slot, _)| *slot).collect::<Vec<_>>();
            let (best, whole) = (slots(&best), slots(&whole));
            assert!(!whole.is_empty());
            all += u32::try_from(whole.len()).expect("ten");
            same += u32::try_from(whole.iter().filter(|slot| best.contains(slot)).count())
                .expect("ten");
            first += usize::from(best.first() == whole.first());
        }
        (f64::from(same) / f64::from(all), first)
    }

    /// What is asked about a text, `*` being three of its words and `…` all of its and of two others. The last has a meaning only: no text
    /// has its word.
    const ASKED: [&str; 6] = ["* in March 2024", "* Marta", "*", "* before word1", "…", "unheard"];

    /// A question of this kind about one of so many texts, near it in meaning.
    fn question(turn: usize, kind: &str, stored: usize) -> (String, QueryEncoding) {
        let number = mixed(turn + 77) % stored;
        let said = |number: usize| {
            let content = text(number % stored);
            content
                .trim_end_matches('?')
                .rsplit([':', ']'])
                .next()
                .unwrap_or_default()
                .trim()
                .to_owned()
        };
        let few = said(number).rsplit(' ').take(3).collect::<Vec<_>>().join(" ");
        let words = kind
            .replace('*', &few)
            .replace('…', &[number, number + 7, number + 13].map(said).join(" "));
        let asked = asked(&words, vector(number / 6, number + stored));
        (words, asked)
    }

    /// Room is kept from question to question; nothing that one has left there may count for another.
    #[test]
    fn what_was_asked_before_changes_no_score() {
        let index = index(MANY);
        let answer = |turn: usize| {
            let (words, asked) = question(turn, ASKED[turn % ASKED.len()], MANY);
            found(&index, &words, &asked, Effort::Approximate)
        };
        let forwards: Vec<Found> = (0..12).map(answer).collect();
        let backwards: Vec<Found> = (0..12).rev().map(answer).collect();
        assert!(forwards.iter().eq(backwards.iter().rev()));
    }

    #[test]
    fn whatever_is_near_enough_is_found_among_many() {
        let index = index(STORED);
        let mask = index.mask(&filter(&Visibility::of_group("a")));
        for number in (0..STORED).step_by(97) {
            let vector = vector(number / 6, number);
            let slots: Vec<u32> = mask.slots().map(super::slot_id).collect();
            let cosines = index.cosines(&QuantizedVector::from(&vector), &slots);
            let expected: Vec<usize> = slots
                .iter()
                .zip(&cosines)
                .filter(|(_, cosine)| **cosine > 0.9)
                .map(|(slot, _)| *slot as usize)
                .collect();
            assert_eq!(
                near(&index, &mask, &vector, 0.9)
                    .into_iter()
                    .map(|(slot, _)| slot)
                    .collect::<Vec<_>>(),
                expected,
                "{number}"
            );
        }
    }
}
