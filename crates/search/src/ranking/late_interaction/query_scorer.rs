//! The formulas of one query: how much the signals, features and term matches of a memory add to
//! its score.
//!
//! Both search strategies score with these functions, and so does an explained search, which passes
//! a recorder. Not here: smoothing over neighbours (`context`), which memories are scored
//! (`search`).

use crate::calibration::Calibration;
use crate::ranking::late_interaction::coherence::OrderedBlock;
use crate::ranking::late_interaction::context::{ContextSmoothing, SmoothedBlock};
use crate::ranking::late_interaction::recorder::{ScoreRecorder, Step};
use crate::ranking::late_interaction::weights::{
    BM25_WEIGHT, DATE_BOOST, EXPECTED_CONTENT_BOOST, FIRST_PERSON_BOOST, MAX_LENGTH_FACTOR,
    NEIGHBOUR_TERM_FACTOR, PREFETCH_DISTANCE, RECENCY_BOOST, RECENCY_HALF_LIFE, SHORT_QUERY_TERMS,
    SPEAKER_BOOST, WINDOW_SHARE, WORD_MATCH_WEIGHT,
};
use crate::ranking::late_interaction::word_match;
use crate::ranking::late_interaction::word_match::QueryTerm;
use loci_base::kernels;
use loci_base::kernels::EightCodes;
use loci_base::model::encoding::SignCode;
use loci_base::text::dates::{DateReferences, EventReference};
use loci_base::text::features::{ExpectedContent, TextTraits};
use std::ops::Range;

/// The scoring inputs of one memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemorySignals<'a> {
    /// Cosine of its best chunk, -1 to 1.
    pub cosine: f64,
    /// BM25 as a share of the ideal score, 0 to 1.
    pub lexical: f64,
    /// Traits of its text.
    pub traits: TextTraits,
    /// Its day, counted as [`chrono::Datelike::num_days_from_ce`] does.
    pub day: Option<i32>,
    /// The day of the event that it tells; not needed for a query that names no time.
    pub day_of_event: Option<i32>,
    /// Whether its speaker is the one person whom the query names.
    pub by_named_speaker: bool,
    /// The sign codes of its tokens.
    pub codes: &'a [SignCode],
}

/// The inputs of the boosts of one memory.
#[derive(Debug, Clone, Copy)]
pub struct BoostFeatures {
    /// Traits of its text.
    pub traits: TextTraits,
    /// How near its day is to the times that the query refers to, 0 to 1.
    pub date_proximity: f64,
    /// Whether its speaker is the one person whom the query names.
    pub by_named_speaker: bool,
}

/// Consecutive memories whose word matches are added.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordMatchBlock<'a> {
    /// The token codes of each.
    pub codes: &'a [&'a [SignCode]],
    /// Coherence of their order, 0 to 1.
    pub coherence: f64,
    /// Position of the first of them in the scored list, for the recorder.
    pub first: usize,
}

/// A query, prepared for scoring.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryScorer {
    /// How much of the query the model can read, 0 to 1.
    legibility: f64,
    /// Weight of the cosine: that of the model times the length factor and the legibility.
    cosine_weight: f64,
    /// The factor of a long query in it.
    length_factor: f64,
    /// Weight of BM25, which includes that of the words that the model cannot read.
    bm25_weight: f64,
    /// The weight of each term times its legibility.
    term_weights: Vec<f64>,
    /// The codes of the terms in groups of eight, as the kernel reads them.
    interleaved_terms: Vec<EightCodes>,
    dates: DateReferences,
    /// The query is only a time: it has no other content words.
    is_only_time: bool,
    /// The day of the query.
    today: i32,
    expected: ExpectedContent,
}

impl QueryScorer {
    /// Prepares a query made on the day `today`; `terms` are its content words, one per stem, as the
    /// model of the calibration encodes them.
    pub fn new(text: &str, terms: &[QueryTerm], today: i32, model: &Calibration) -> Self {
        let squares: f64 = terms.iter().map(|term| term.weight * term.weight).sum();
        // 1 / (sum of squares) is the effective number of terms: for n terms of equal weight it is
        // n.
        let length_factor = if squares > 0.0 {
            (1.0 / squares / SHORT_QUERY_TERMS).clamp(1.0, MAX_LENGTH_FACTOR)
        } else {
            1.0
        };
        let legible = |term: &QueryTerm| term.weight * term.legibility;
        let legibility =
            if terms.is_empty() { 1.0 } else { terms.iter().map(legible).sum::<f64>() };
        Self {
            legibility,
            cosine_weight: model.cosine_weight * length_factor * legibility,
            length_factor,
            bm25_weight: BM25_WEIGHT + WORD_MATCH_WEIGHT * (1.0 - legibility),
            term_weights: terms.iter().map(legible).collect(),
            interleaved_terms: word_match::interleave(terms),
            dates: DateReferences::parse(text, today),
            is_only_time: false,
            today,
            expected: loci_base::text::features::expected_content(text),
        }
    }

    /// Adds an event that happened on `day` to the times that the query refers to.
    pub(crate) fn with_event(mut self, event: &EventReference, day: i32) -> Self {
        self.dates.add_event(day, event.relation);
        self
    }

    /// The score of cosine and BM25 together.
    pub(crate) fn signal_score(&self, cosine: f64, lexical: f64) -> f64 {
        self.cosine_weight * cosine.max(0.0) + self.bm25_weight * lexical
    }

    /// As [`Self::signal_score`], recording both for the memory at position `at`.
    pub(crate) fn record_signals(
        &self,
        cosine: f64,
        lexical: f64,
        at: usize,
        recorder: &mut impl ScoreRecorder,
    ) -> f64 {
        recorder.record(at, Step::Cosine, self.cosine_weight * cosine.max(0.0));
        recorder.record(at, Step::Bm25, self.bm25_weight * lexical);
        self.signal_score(cosine, lexical)
    }

    /// The weights of cosine and BM25 in single precision, for a coarse comparison.
    #[expect(clippy::cast_possible_truncation, reason = "a coarse comparison")]
    pub(crate) fn coarse_weights(&self) -> [f32; 2] {
        [self.cosine_weight as f32, self.bm25_weight as f32]
    }

    /// Amount that a long query adds to the final score of a memory with cosine 1, including the
    /// share from the window; 0 for a short query.
    pub(crate) fn length_bonus(&self) -> f64 {
        (1.0 + WINDOW_SHARE) * (self.cosine_weight - self.cosine_weight / self.length_factor)
    }

    /// How much of the query the model can read, 0 to 1.
    pub(crate) fn legibility(&self) -> f64 {
        self.legibility
    }

    /// The times that the query refers to.
    pub(crate) fn dates(&self) -> &DateReferences {
        &self.dates
    }

    /// Says whether the query has no content words but those that name a time.
    pub(crate) fn set_only_time(&mut self, is_only_time: bool) {
        self.is_only_time = is_only_time && self.has_dates();
    }

    /// Whether the query is only a time, which every memory of that time answers.
    pub(crate) fn is_only_time(&self) -> bool {
        self.is_only_time
    }

    /// Whether the query refers to a time.
    pub(crate) fn has_dates(&self) -> bool {
        !self.dates.is_empty()
    }

    /// Whether the query asks for a time or a place.
    pub(crate) fn expects_content(&self) -> bool {
        self.expected != ExpectedContent::default()
    }

    /// How near each day is to the times that the query refers to, 0 to 1. `days` must contain the
    /// day of every memory, because a date without a year is resolved to their years.
    pub(crate) fn date_proximity(&self, days: &[Option<i32>]) -> Vec<f64> {
        self.dates.proximity(days)
    }

    /// Adds the recency boost to every score. The age of a memory is counted from the newest of
    /// these days, so the boost works in a store without recent memories too.
    pub(crate) fn add_recency<D: Iterator<Item = Option<i32>>>(
        &self,
        scores: &mut [f64],
        days: impl Fn() -> D,
        recorder: &mut impl ScoreRecorder,
    ) {
        let newest = days().flatten().filter(|day| *day <= self.today).max().unwrap_or(self.today);
        for (at, (score, day)) in scores.iter_mut().zip(days()).enumerate() {
            let boost = day.map_or(0.0, |day| {
                RECENCY_BOOST
                    / (1.0 + f64::from(newest.saturating_sub(day).max(0)) / RECENCY_HALF_LIFE)
            });
            recorder.record(at, Step::Recency, boost);
            *score += boost;
        }
    }

    /// The boosts for a named time, for the named speaker, and for the kind of content that the
    /// query asks for.
    pub fn boosts(
        &self,
        features: BoostFeatures,
        at: usize,
        recorder: &mut impl ScoreRecorder,
    ) -> f64 {
        let BoostFeatures { traits, date_proximity, by_named_speaker } = features;
        // A memory of a time has its words; if they are all, it is a full match.
        let is_answer = self.is_only_time && date_proximity >= 1.0;
        let date = if is_answer { WORD_MATCH_WEIGHT } else { DATE_BOOST * date_proximity };
        let speaker = if by_named_speaker { SPEAKER_BOOST } else { 0.0 };
        let first_person =
            if by_named_speaker && traits.uses_first_person { FIRST_PERSON_BOOST } else { 0.0 };
        let expected = u8::from(self.expected.is_time && traits.has_time_word)
            + u8::from(self.expected.is_place && traits.has_inner_name);
        let expected = EXPECTED_CONTENT_BOOST * f64::from(expected);
        recorder.record(at, Step::Date, date);
        recorder.record(at, Step::Person, speaker);
        recorder.record(at, Step::FirstPerson, first_person);
        recorder.record(at, Step::Expect, expected);
        date + (speaker + first_person) + expected
    }

    /// The score of the query terms in one memory, without its neighbours.
    pub(crate) fn word_match(&self, codes: &[SignCode]) -> f64 {
        let mut row = [0.0; 8];
        let score_eight = |(eight, weights): (&EightCodes, &[f64])| {
            word_match::best_matches(std::slice::from_ref(eight), codes, &mut row[..weights.len()]);
            row.iter().zip(weights).map(|(own, weight)| own * weight).sum::<f64>()
        };
        let groups = self.interleaved_terms.iter().zip(self.term_weights.chunks(8));
        WORD_MATCH_WEIGHT * groups.map(score_eight).sum::<f64>()
    }

    /// The best match of each query term in one memory, -1 to 1, without its neighbours, whether
    /// the model can read the term or not.
    pub(crate) fn term_matches(&self, codes: &[SignCode]) -> Vec<f64> {
        let mut matches = vec![0.0; self.term_weights.len()];
        word_match::best_matches(&self.interleaved_terms, codes, &mut matches);
        matches
    }

    /// Adds the scores of the query terms to consecutive memories. For each term the best of two
    /// matches counts: that of the memory itself, and that of a direct neighbour times
    /// [`NEIGHBOUR_TERM_FACTOR`] and the coherence. `buffer` is reused from block to block.
    pub(crate) fn add_word_matches(
        &self,
        scores: &mut [f64],
        block: WordMatchBlock<'_>,
        buffer: &mut Vec<f64>,
        recorder: &mut impl ScoreRecorder,
    ) {
        let WordMatchBlock { codes, coherence, first } = block;
        let count = self.term_weights.len();
        if count == 0 {
            return;
        }
        // One row of matches per memory, and an empty row on each side.
        buffer.clear();
        buffer.resize((scores.len() + 2) * count, 0.0);
        for (at, row) in buffer.chunks_exact_mut(count).skip(1).take(codes.len()).enumerate() {
            codes.get(at + PREFETCH_DISTANCE).copied().into_iter().for_each(kernels::prefetch);
            word_match::best_matches(&self.interleaved_terms, codes[at], row);
        }
        let neighbour_factor = NEIGHBOUR_TERM_FACTOR * coherence;
        let rows = buffer.windows(3 * count).step_by(count);
        for (at, (score, rows)) in scores.iter_mut().zip(rows).enumerate() {
            let ((before, own), after) = (rows[..2 * count].split_at(count), &rows[2 * count..]);
            let mut sum = 0.0;
            for (((weight, own), before), after) in
                self.term_weights.iter().zip(own).zip(before).zip(after)
            {
                let neighbour = neighbour_factor * if before < after { after } else { before };
                sum += weight * if *own < neighbour { neighbour } else { *own };
            }
            recorder.record(first + at, Step::Words, WORD_MATCH_WEIGHT * sum);
            *score += WORD_MATCH_WEIGHT * sum;
        }
    }
}

/// Scores every memory. `memories` are in the order of `blocks`, one block after the other.
pub(crate) fn score_all(
    memories: &[MemorySignals<'_>],
    blocks: &[OrderedBlock],
    query: &QueryScorer,
    recorder: &mut impl ScoreRecorder,
) -> Vec<f64> {
    let days: Vec<Option<i32>> = memories.iter().map(|memory| memory.day_of_event).collect();
    let proximity = query.date_proximity(&days);
    let boosts: Vec<f64> = memories
        .iter()
        .zip(proximity)
        .enumerate()
        .map(|(at, (memory, date_proximity))| {
            let MemorySignals { traits, by_named_speaker, .. } = *memory;
            query.boosts(BoostFeatures { traits, date_proximity, by_named_speaker }, at, recorder)
        })
        .collect();
    let mut scores: Vec<f64> = memories
        .iter()
        .enumerate()
        .map(|(at, memory)| query.record_signals(memory.cosine, memory.lexical, at, recorder))
        .collect();
    let codes: Vec<&[SignCode]> = memories.iter().map(|memory| memory.codes).collect();
    let is_question: Vec<bool> = memories.iter().map(|memory| memory.traits.is_question).collect();
    let (mut smoothing, mut buffer) = (ContextSmoothing::default(), Vec::new());
    for (block, range) in ranges(blocks) {
        let (coherence, first) = (block.coherence, range.start);
        let block_scores = &mut scores[range.clone()];
        let words = WordMatchBlock { codes: &codes[range.clone()], coherence, first };
        query.add_word_matches(block_scores, words, &mut buffer, recorder);
        block_scores
            .iter_mut()
            .zip(&boosts[range.clone()])
            .for_each(|(score, boost)| *score += boost);
        let block = SmoothedBlock { is_question: &is_question[range], coherence, first };
        smoothing.apply(block_scores, block, recorder);
    }
    query.add_recency(&mut scores, || memories.iter().map(|memory| memory.day), recorder);
    scores
}

/// Each block with the positions of its memories.
fn ranges(blocks: &[OrderedBlock]) -> impl Iterator<Item = (OrderedBlock, Range<usize>)> {
    blocks.iter().scan(0, |first, block| {
        let range = *first..*first + block.len;
        *first = range.end;
        Some((*block, range))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The weight of the cosine for a query whose terms have these weights, before they are
    /// normalised.
    fn cosine_weight(weights: &[f64]) -> f64 {
        let sum: f64 = weights.iter().sum();
        let terms: Vec<QueryTerm> = weights
            .iter()
            .map(|weight| QueryTerm {
                code: SignCode::of(&[1.0; 384]),
                weight: weight / sum,
                legibility: 1.0,
            })
            .collect();
        QueryScorer::new("", &terms, 0, Calibration::of("")).signal_score(1.0, 0.0)
    }

    #[test]
    fn the_longer_a_query_the_more_the_cosine_counts_up_to_a_bound() {
        let factor =
            |count: usize| cosine_weight(&vec![1.0; count]) / Calibration::of("").cosine_weight;
        for (count, expected) in [
            (0, 1.0),
            (1, 1.0),
            (6, 1.0),
            (9, 1.5),
            (12, 2.0),
            (18, MAX_LENGTH_FACTOR),
            (64, MAX_LENGTH_FACTOR),
        ] {
            assert!((factor(count) - expected).abs() < 1e-9, "{count}: {}", factor(count));
        }
        // If one of many terms has nearly all the weight, the query counts as one term.
        let mut weights = vec![0.01; 20];
        weights.push(10.0);
        assert!((cosine_weight(&weights) / Calibration::of("").cosine_weight - 1.0).abs() < 1e-9);
    }
}
