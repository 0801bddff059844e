//! The coarse-to-fine strategy for large sets: estimate the score of every memory, refine the best
//! estimates, score the best of these in full.
//!
//! | stage | memories | compared by |
//! |---|---|---|
//! | estimate | all admitted | binary-quantised cosine, BM25, boosts |
//! | refine | [`StageSizes::refined`] | cosine to about 0.001 |
//! | exact | [`StageSizes::exact`] | exact cosine |
//! | word match | `stage2_k` | token codes |
//! | context | [`SEEDS`] and their neighbours | the full late-interaction score |
//!
//! The formulas are those of `ranking::late_interaction`. Results that are far from the query may
//! differ from those of an exhaustive search; docs/retrieval.md says how much, measured with
//! [`Effort::Exhaustive`]. Not here:
//! sets small enough to score in full (`exhaustive`).

use crate::index::{
    BinaryQuery, ContextWindows, Index, Mask, Precision, QuantizedVector, Scratch, TextFeatures,
    slot_id, slots_of,
};
use crate::ranking::bm25::{CorpusStats, LATE_INTERACTION_PARAMS, TermScorer};
use crate::ranking::fusion::Candidate;
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::{
    BoostFeatures, ContextSmoothing, NoRecord, QueryScorer, ScoreRecorder, SmoothedBlock, Step,
    StepRecord, WordMatchBlock,
};
use crate::search::explain;
use crate::search::graph_boost;
use crate::search::query::parse;
use crate::search::query::prepared::PreparedQuery;
use crate::search::query::scorer::query_scorer;
use crate::search::query::terms::{corpus_stats, keyword_terms};
use crate::search::stages::StageSizes;
use crate::search::top_k::{Count, MAX_SCORE, TopK};
use crate::search::types::{
    Breakdown, Detail, Effort, LateInteractionInput, MatchedSlot, Scoring, above_cutoff,
};
use loci_base::kernels;
use loci_base::model::encoding::{QueryEncoding, SignCode};
use std::collections::HashMap;

/// Number of seeds: `per_result` for each wanted result, at least `min`.
struct SeedBudget {
    min: usize,
    per_result: usize,
}

impl SeedBudget {
    fn of(&self, limit: usize) -> usize {
        self.min.max(self.per_result * limit)
    }
}

/// Cut-off, in cosine units: candidates whose estimate is this far below the last one that gets an
/// exact cosine are not refined. Estimates are typically off by 0.03.
const REFINE_MARGIN: f32 = 0.075;
/// Number of seeds: the best candidates, which are scored in full with their neighbours.
const SEEDS: SeedBudget = SeedBudget { min: 60, per_result: 4 };
/// Maximum number of further seeds: memories linked to an entity that the query names.
const LINKED_SEEDS: usize = 40;
/// In a block of 64 slots with at most this many admitted ones, cosines are computed and not
/// estimated: the sign bits of all 64 are as many bytes as the high bytes of eight vectors, and
/// less precise.
pub const DIRECT_COSINES_PER_BLOCK: u32 = 4;
/// A term is common if at least one in this many admitted memories contains it. Common terms mark
/// matches, but add no score if the query has a rarer term.
const COMMON_TERM_INTERVAL: usize = 2;

const _: () = assert!(
    late_interaction::MAX_STATIC_SCORE < MAX_SCORE as f64,
    "the bisection starts above every score"
);

/// Scores the best of a large set of admitted memories.
pub fn search(input: LateInteractionInput<'_>) -> Scoring {
    let LateInteractionInput { index, mask, query, encoding, named } = input;
    index.with_scratch(|scratch| {
        let search = CoarseToFine::new(input, scratch);
        let candidates = search.estimate(encoding, query.effort, scratch);
        let candidates = search.refine(candidates, scratch);
        let mut seeds = search.match_words(&candidates, SEEDS.of(query.limit), scratch);
        let linked = graph_boost::linked(index, mask, named);
        seeds.extend(search.match_words(&linked, LINKED_SEEDS, scratch));
        seeds.sort_unstable();
        seeds.dedup();
        let (scored, breakdown) = match query.detail {
            Detail::Scores => (search.score_context(seeds, scratch, &mut NoRecord), None),
            Detail::Steps => {
                let mut record = StepRecord::default();
                let scored = search.score_context(seeds, scratch, &mut record);
                let breakdown = breakdown(&scored, record, scratch);
                (scored, Some(breakdown))
            }
        };
        let matched = scratch.matching_in(mask);
        Scoring {
            scored: above_cutoff(scored, matched, query),
            matched,
            breakdown,
            prepared: Some(search.prepared),
        }
    })
}

fn breakdown(scored: &[MatchedSlot], record: StepRecord, scratch: &Scratch) -> Breakdown {
    let candidate = |entry: &MatchedSlot| Candidate {
        slot: entry.slot,
        cosine: f64::from(scratch.cosines[entry.slot]),
        lexical: scratch.lexical_of(slot_id(entry.slot)),
    };
    Breakdown {
        candidates: scored.iter().map(candidate).collect(),
        steps: explain::recorded_steps(record, scored.len()),
    }
}

/// One search. Its values per slot (BM25, cosines, match bits) are in the scratch buffers.
struct CoarseToFine<'a> {
    index: &'a Index,
    mask: &'a Mask,
    vector: QuantizedVector,
    prepared: PreparedQuery,
    /// The speakers whom the query names.
    named_speakers: &'a [u32],
    date_proximity: DayTable,
    /// Whether any memory can get a boost.
    has_boosts: bool,
    sizes: StageSizes,
}

impl<'a> CoarseToFine<'a> {
    fn new(input: LateInteractionInput<'a>, scratch: &mut Scratch) -> Self {
        let LateInteractionInput { index, mask, query, encoding, named } = input;
        let mut doc_freqs: HashMap<String, usize> = HashMap::new();
        let mut doc_freq = |terms: &[String]| {
            let count = || index.words().list(terms).map_or(0, |list| list.count_in(mask));
            *doc_freqs.entry(terms[0].clone()).or_insert_with(count)
        };
        let prepared = query_scorer(index, mask, query, encoding, &mut doc_freq);
        let scorer = &prepared.scorer;
        let keywords: Vec<Keyword> = keyword_terms(index, mask, query.parsed)
            .into_iter()
            .map(|terms| Keyword { doc_freq: doc_freq(&terms), terms })
            .collect();
        score_keywords(index, mask, &keywords, scratch);
        for slot in named.iter().copied() {
            // An entity that the query names is a full match, regardless of its text.
            scratch.lexical[slot] = 1.0;
            scratch.mark_lexical_match(slot);
        }
        let words = parse::tokens(&query.parsed.text).collect();
        let named_speakers = index.features().speakers_named(&words, |slot| mask.admits(slot));
        let date_proximity = DayTable::new(index, mask, scorer);
        if !date_proximity.proximity.is_empty() {
            let is_of_time = |slot: &usize| date_proximity.of(index.day_of_event(*slot)) >= 1.0;
            mask.slots().filter(is_of_time).for_each(|slot| scratch.mark_lexical_match(slot));
        }
        let has_boosts = !named_speakers.is_empty()
            || scorer.expects_content()
            || !date_proximity.proximity.is_empty();
        Self {
            index,
            mask,
            vector: QuantizedVector::from(&encoding.vector),
            prepared,
            named_speakers,
            date_proximity,
            has_boosts,
            sizes: StageSizes::new(query.stages, mask.count()),
        }
    }

    /// Estimates the score of every admitted memory without its word matches, and returns the best.
    fn estimate(
        &self,
        encoding: &QueryEncoding,
        effort: Effort,
        scratch: &mut Scratch,
    ) -> Vec<u32> {
        let binary = BinaryQuery::new(encoding.vector.as_slice());
        scratch.add_extra_chunks(self.index.estimate_extra_chunks(&binary, self.mask));
        let mut best = TopK::new(Count::about(self.sizes.refined));
        let weights = self.prepared.scorer.coarse_weights();
        let blocks = || self.mask.words().iter().enumerate().filter(|(_, bits)| **bits != 0);
        let (all_direct, precision) = match effort {
            Effort::ExactVectors => (true, Precision::Exact),
            Effort::Approximate | Effort::Exhaustive => (false, Precision::Approx),
        };
        let is_direct = |bits: u64| all_direct || bits.count_ones() <= DIRECT_COSINES_PER_BLOCK;
        let direct: Vec<u32> = blocks()
            .filter(|(_, bits)| is_direct(**bits))
            .flat_map(|(block, bits)| slots_of(block, *bits))
            .map(slot_id)
            .collect();
        self.refine_cosines(&direct, precision, scratch);
        let match_cosine = self.index.calibration().match_cosine;
        for (block, bits) in blocks() {
            let cosines = if is_direct(*bits) {
                scratch.cosines_of(block)
            } else {
                scratch.raise_to_best_chunks(block, self.index.estimate(&binary, block))
            };
            scratch.cosine_match[block] |= bits & kernels::above(&cosines, match_cosine);
            let mut scores = scratch.weighted_sums(block, &cosines, weights);
            if self.has_boosts {
                #[expect(clippy::cast_possible_truncation, reason = "a coarse comparison")]
                slots_of(block, *bits)
                    .for_each(|slot| scores[slot % 64] += self.boosts(slot) as f32);
            }
            best.push(block, *bits, &scores);
        }
        best.finish_within(self.sizes.exact, REFINE_MARGIN * weights[0])
    }

    /// Refines the cosines of the candidates in two steps and returns the best.
    fn refine(&self, mut candidates: Vec<u32>, scratch: &mut Scratch) -> Vec<u32> {
        if candidates.len() > self.sizes.exact {
            self.refine_cosines(&candidates, Precision::Approx, scratch);
            candidates = self.best_static(&candidates, self.sizes.exact, scratch);
        }
        self.refine_cosines(&candidates, Precision::Exact, scratch);
        self.best_static(&candidates, self.sizes.word_matched, scratch)
    }

    /// The `count` candidates with the best static scores, in the order given.
    fn best_static(&self, candidates: &[u32], count: usize, scratch: &Scratch) -> Vec<u32> {
        let mut best = TopK::new(Count::exactly(count));
        for (block, slots) in candidates.chunks(64).enumerate() {
            let mut scores = [0.0; 64];
            for (score, slot) in scores.iter_mut().zip(slots) {
                // A static score of 0 must stay selectable: the word match may still raise it.
                #[expect(clippy::cast_possible_truncation, reason = "a coarse comparison")]
                let static_score = self.static_score(*slot, scratch) as f32;
                *score = static_score.max(f32::MIN_POSITIVE);
            }
            best.push(block, u64::MAX, &scores);
        }
        best.finish().into_iter().map(|at| candidates[at as usize]).collect()
    }

    /// Computes the cosines of the slots whose cosine is not yet known with this precision.
    fn refine_cosines(&self, slots: &[u32], precision: Precision, scratch: &mut Scratch) {
        let slots: Vec<u32> = slots
            .iter()
            .copied()
            .filter(|slot| !scratch.has_cosine(*slot as usize, precision))
            .collect();
        let cosines = match precision {
            Precision::Approx => self.index.approx_cosines(&self.vector, &slots),
            Precision::Exact => self.index.cosines(&self.vector, &slots),
        };
        let match_cosine = self.index.calibration().match_cosine;
        for (slot, cosine) in slots.iter().zip(cosines) {
            scratch.set_cosine(*slot as usize, cosine, precision, match_cosine);
        }
    }

    /// The boosts of one memory for the person and time that the query names, and for the content
    /// that it asks for.
    fn boosts(&self, slot: usize) -> f64 {
        self.recorded_boosts(slot, 0, &mut NoRecord)
    }

    /// As [`Self::boosts`], recording them for the memory at position `at`.
    fn recorded_boosts(&self, slot: usize, at: usize, recorder: &mut impl ScoreRecorder) -> f64 {
        if !self.has_boosts {
            return 0.0;
        }
        let features = self.index.text_features(slot);
        let boosted = BoostFeatures {
            traits: features.traits,
            date_proximity: self.date_proximity.of_slot(self.index, slot),
            by_named_speaker: self.named_speakers.contains(&features.speaker),
        };
        self.prepared.scorer.boosts(boosted, at, recorder)
    }

    /// Matches the words of the candidates and returns the `count` best, in no order.
    fn match_words(&self, candidates: &[u32], count: usize, scratch: &mut Scratch) -> Vec<u32> {
        self.refine_cosines(candidates, Precision::Approx, scratch);
        let codes = |slot: u32| self.index.codes(slot as usize).unwrap_or_default();
        let score = |(at, slot): (usize, &u32)| {
            candidates
                .get(at + late_interaction::PREFETCH_DISTANCE)
                .into_iter()
                .for_each(|slot| kernels::prefetch(codes(*slot)));
            (
                self.static_score(*slot, scratch) + self.prepared.scorer.word_match(codes(*slot)),
                *slot,
            )
        };
        let mut best: Vec<(f64, u32)> = candidates.iter().enumerate().map(score).collect();
        keep_best(&mut best, count);
        best.into_iter().map(|(_, slot)| slot).collect()
    }

    /// The score of a memory without word match and context. Its cosine must be refined.
    fn static_score(&self, slot: u32, scratch: &Scratch) -> f64 {
        let cosine = f64::from(scratch.cosines[slot as usize]);
        self.prepared.scorer.signal_score(cosine, scratch.lexical_of(slot))
            + self.boosts(slot as usize)
    }

    /// Scores the seeds and their neighbours in full.
    fn score_context(
        &self,
        seeds: Vec<u32>,
        scratch: &mut Scratch,
        recorder: &mut impl ScoreRecorder,
    ) -> Vec<MatchedSlot> {
        let seed_count = seeds.len();
        // One more than the smoothing window on each side, because the score of a neighbour depends
        // on its own neighbour.
        let ContextWindows { slots, windows } =
            self.index.context_windows(self.mask, seeds, late_interaction::WINDOW_RADIUS + 1);
        // In a long query the weight of the cosine is so high that an error of 0.001 may change the
        // order.
        let is_long = self.prepared.scorer.length_bonus() > 0.0;
        let precision = if is_long { Precision::Exact } else { Precision::Approx };
        self.refine_cosines(&slots, precision, scratch);
        let features: Vec<TextFeatures> =
            slots.iter().map(|slot| self.index.text_features(*slot as usize)).collect();
        let codes: Vec<&[SignCode]> =
            slots.iter().map(|slot| self.index.codes(*slot as usize).unwrap_or_default()).collect();
        let mut scores: Vec<f64> = Vec::with_capacity(slots.len());
        for (at, slot) in slots.iter().enumerate() {
            let cosine = f64::from(scratch.cosines[*slot as usize]);
            let lexical = scratch.lexical_of(*slot);
            let signals = self.prepared.scorer.record_signals(cosine, lexical, at, recorder);
            scores.push(signals + self.recorded_boosts(*slot as usize, at, recorder));
        }
        let mut buffer = Vec::new();
        for window in &windows {
            let range = window.range.clone();
            let (coherence, first) = (window.coherence, range.start);
            let block = WordMatchBlock { codes: &codes[range.clone()], coherence, first };
            self.prepared.scorer.add_word_matches(&mut scores[range], block, &mut buffer, recorder);
        }
        for correction in self.corrections(&slots, &scores, seed_count, scratch) {
            recorder.record(correction.at, Step::Cosine, correction.amount);
            scores[correction.at] += correction.amount;
        }
        let is_question: Vec<bool> =
            features.iter().map(|features| features.traits.is_question).collect();
        let mut smoothing = ContextSmoothing::default();
        for window in &windows {
            let range = window.range.clone();
            let (coherence, first) = (window.coherence, range.start);
            let block =
                SmoothedBlock { is_question: &is_question[range.clone()], coherence, first };
            smoothing.apply(&mut scores[range], block, recorder);
        }
        self.prepared.scorer.add_recency(
            &mut scores,
            || features.iter().map(|of| of.day),
            recorder,
        );
        let matched = |(slot, score): (&u32, f64)| {
            let slot = *slot as usize;
            MatchedSlot { slot, score, matches: scratch.matches(slot) }
        };
        slots.iter().zip(scores).map(matched).collect()
    }

    /// Computes exact cosines for the `count` best scores, and returns by how much each score
    /// changes.
    fn corrections(
        &self,
        slots: &[u32],
        scores: &[f64],
        count: usize,
        scratch: &mut Scratch,
    ) -> Vec<Correction> {
        let mut best: Vec<(f64, u32)> = scores.iter().copied().zip(0..).collect();
        keep_best(&mut best, count);
        let chosen: Vec<u32> = best.iter().map(|(_, at)| slots[*at as usize]).collect();
        let cosine_score = |slot: &u32, scratch: &Scratch| {
            self.prepared.scorer.signal_score(f64::from(scratch.cosines[*slot as usize]), 0.0)
        };
        let before: Vec<f64> = chosen.iter().map(|slot| cosine_score(slot, scratch)).collect();
        self.refine_cosines(&chosen, Precision::Exact, scratch);
        let correction = |(((_, at), slot), before): ((&(f64, u32), &u32), f64)| Correction {
            at: *at as usize,
            amount: cosine_score(slot, scratch) - before,
        };
        best.iter().zip(&chosen).zip(before).map(correction).collect()
    }
}

/// A change of one score by an exact cosine.
struct Correction {
    /// Position in the scored list.
    at: usize,
    amount: f64,
}

/// Keeps the `count` best scores, in no order; of equal scores those with the greater number.
fn keep_best(scores: &mut Vec<(f64, u32)>, count: usize) {
    if scores.len() > count {
        scores.select_nth_unstable_by(count, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        scores.truncate(count);
    }
}

/// A keyword of the query.
struct Keyword {
    /// The terms by which it is looked up.
    terms: Vec<String>,
    /// How many admitted memories contain it.
    doc_freq: usize,
}

/// Adds BM25, as a share of the ideal, to the scratch buffer of every admitted memory, and marks
/// keyword matches.
fn score_keywords(index: &Index, mask: &Mask, keywords: &[Keyword], scratch: &mut Scratch) {
    let (params, corpus): (_, CorpusStats) = (LATE_INTERACTION_PARAMS, corpus_stats(index, mask));
    let idf = |keyword: &Keyword| match keyword.doc_freq {
        0 => 0.0,
        doc_freq => params.idf(corpus.count, doc_freq),
    };
    let normaliser = params.normaliser(keywords.iter().map(idf).sum());
    let is_common = |keyword: &Keyword| keyword.doc_freq * COMMON_TERM_INTERVAL >= corpus.count;
    let has_rare = keywords.iter().any(|keyword| keyword.doc_freq > 0 && !is_common(keyword));
    for keyword in keywords.iter().filter(|keyword| keyword.doc_freq > 0) {
        let Some(list) = index.words().list(&keyword.terms) else { continue };
        list.mark(&mut scratch.lexical_match);
        if has_rare && is_common(keyword) {
            continue;
        }
        let term = TermScorer::new(params, idf(keyword) / normaliser, corpus);
        for (slot, term_freq) in list.iter().filter(|(slot, _)| mask.admits(*slot)) {
            #[expect(clippy::cast_possible_truncation, reason = "a share; seven digits are enough")]
            let share = term.score(term_freq, index.words().length(slot)) as f32;
            scratch.lexical[slot] += share;
        }
    }
}

/// The date proximity of every day from the first to the last admitted memory; empty if the query
/// names no time.
struct DayTable {
    first_day: i32,
    proximity: Vec<f64>,
}

impl DayTable {
    fn new(index: &Index, mask: &Mask, scorer: &QueryScorer) -> Self {
        let empty = Self { first_day: 0, proximity: Vec::new() };
        if !scorer.has_dates() {
            return empty;
        }
        let days = || mask.slots().filter_map(|slot| index.text_features(slot).day);
        let (Some(first_day), Some(last_day)) = (days().min(), days().max()) else {
            return empty;
        };
        let offset = |day: i32| usize::try_from(day - first_day).unwrap_or(0);
        let mut occurs = vec![false; offset(last_day) + 1];
        days().for_each(|day| occurs[offset(day)] = true);
        let all_days: Vec<Option<i32>> =
            (first_day..=last_day).map(|day| occurs[offset(day)].then_some(day)).collect();
        Self { first_day, proximity: scorer.date_proximity(&all_days) }
    }

    fn of_slot(&self, index: &Index, slot: usize) -> f64 {
        if self.proximity.is_empty() { 0.0 } else { self.of(index.day_of_event(slot)) }
    }

    fn of(&self, day: Option<i32>) -> f64 {
        day.and_then(|day| self.proximity.get(usize::try_from(day - self.first_day).ok()?))
            .copied()
            .unwrap_or(0.0)
    }
}
