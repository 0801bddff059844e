//! The exhaustive strategy: every admitted memory is scored in full.
//!
//! Used for small sets, for the plain fusions, and with
//! [`Effort::Exhaustive`](crate::search::Effort). Not here: large sets (`coarse_to_fine`), the
//! formulas (`ranking`).

use crate::index::{Index, Mask, OrderKey, QuantizedVector, slot_id};
use crate::ranking::bm25;
use crate::ranking::bm25::{Bm25Params, CorpusStats, Posting, Postings};
use crate::ranking::fusion;
use crate::ranking::fusion::{Candidate, ScoredSlot};
use crate::ranking::late_interaction;
use crate::ranking::late_interaction::{MemorySignals, NoRecord, OrderedBlock, StepRecord};
use crate::search::explain;
use crate::search::query::parse;
use crate::search::query::prepared::PreparedQuery;
use crate::search::query::scorer::query_scorer;
use crate::search::query::terms::{corpus_stats, keyword_terms};
use crate::search::types::{
    Breakdown, Detail, LateInteractionInput, MatchedSlot, Scoring, SearchQuery, above_cutoff,
};
use loci_base::model::encoding::QueryEncoding;

/// Scores every admitted memory by late interaction.
pub fn late_interaction(input: LateInteractionInput<'_>) -> Scoring {
    let LateInteractionInput { index, mask, query, encoding, named } = input;
    Signals::new(index, mask, query, named).late_interaction(query, encoding)
}

/// Scores every matching memory by a fusion of cosine and BM25.
pub(crate) fn plain_fusion(
    index: &Index,
    mask: &Mask,
    query: &SearchQuery<'_>,
    named: &[usize],
) -> Scoring {
    Signals::new(index, mask, query, named).plain_fusion(query)
}

/// The two signals of every admitted memory. Positions are indices into `slots`.
struct Signals<'a> {
    index: &'a Index,
    mask: &'a Mask,
    /// The admitted slots in storage order.
    slots: Vec<u32>,
    corpus: CorpusStats,
    /// The posting list of each keyword.
    postings: Vec<Postings>,
    cosines: Vec<f32>,
    /// Positions of the entities that the query names.
    named: Vec<usize>,
}

impl<'a> Signals<'a> {
    fn new(index: &'a Index, mask: &'a Mask, query: &SearchQuery<'_>, named: &[usize]) -> Self {
        let slots: Vec<u32> = mask.slots().map(slot_id).collect();
        let postings = |terms: &Vec<String>| {
            let Some(list) = index.words().list(terms) else { return Vec::new() };
            let admitted = list.iter().filter(|(slot, _)| mask.admits(*slot));
            let posting = |(slot, term_freq): (usize, u32)| Posting {
                at: mask.rank(slot),
                term_freq,
                length: index.words().length(slot),
            };
            admitted.map(posting).collect()
        };
        Self {
            postings: keyword_terms(index, mask, query.parsed).iter().map(postings).collect(),
            cosines: query.encoding.map_or_else(
                || vec![0.0; slots.len()],
                |encoding| index.cosines(&QuantizedVector::from(&encoding.vector), &slots),
            ),
            named: named.iter().map(|slot| mask.rank(*slot)).collect(),
            corpus: corpus_stats(index, mask),
            index,
            mask,
            slots,
        }
    }

    /// BM25 of every memory as a share of the ideal score.
    fn lexical(&self, params: Bm25Params) -> Vec<f64> {
        let mut shares = params.shares(&self.postings, self.corpus);
        // An entity that the query names is a full match, regardless of its text.
        self.named.iter().for_each(|at| shares[*at] = 1.0);
        shares
    }

    fn cosine(&self, at: usize) -> f64 {
        f64::from(self.cosines[at])
    }

    fn slot(&self, at: usize) -> usize {
        self.slots[at] as usize
    }

    /// For each memory, whether it matches by keyword, by name or by vector.
    fn matches(&self) -> Vec<bool> {
        let enough = f64::from(self.index.calibration().match_cosine);
        let mut matches: Vec<bool> =
            self.cosines.iter().map(|cosine| f64::from(*cosine) >= enough).collect();
        self.postings.iter().flatten().for_each(|posting| matches[posting.at] = true);
        self.named.iter().for_each(|at| matches[*at] = true);
        matches
    }

    fn candidate(&self, at: usize, lexical: &[f64]) -> Candidate {
        Candidate { slot: self.slot(at), cosine: self.cosine(at), lexical: lexical[at] }
    }

    fn plain_fusion(&self, query: &SearchQuery<'_>) -> Scoring {
        let (matches, lexical) = (self.matches(), self.lexical(bm25::FUSION_PARAMS));
        let candidates: Vec<Candidate> = (0..self.slots.len())
            .filter(|at| matches[*at])
            .map(|at| self.candidate(at, &lexical))
            .collect();
        let contributions =
            fusion::contributions(query.fusion, query.encoding.is_some(), &candidates);
        let score = |(candidate, [cosine, lexical]): (&Candidate, &[f64; 2])| ScoredSlot {
            slot: candidate.slot,
            score: cosine + lexical,
        };
        let scored: Vec<ScoredSlot> = candidates.iter().zip(&contributions).map(score).collect();
        let breakdown = (query.detail == Detail::Steps).then(|| Breakdown {
            steps: contributions.into_iter().map(explain::fusion_steps).collect(),
            candidates,
        });
        Scoring { matched: scored.len(), scored, breakdown, prepared: None }
    }

    fn late_interaction(&self, query: &SearchQuery<'_>, encoding: &QueryEncoding) -> Scoring {
        let (order, blocks) = self.by_project();
        let lexical = self.lexical(bm25::LATE_INTERACTION_PARAMS);
        let prepared = self.prepare(query, encoding);
        let has_dates = prepared.scorer.has_dates();
        let memories = self.memory_signals(query, &order, &lexical, has_dates);
        let query_scorer = &prepared.scorer;
        let mut is_match = self.matches();
        // A memory of a time that the query names matches too.
        let days: Vec<Option<i32>> = memories.iter().map(|of| of.day_of_event).collect();
        for (at, near) in order.iter().zip(query_scorer.date_proximity(&days)) {
            is_match[*at] |= near >= 1.0;
        }
        let (scores, breakdown) = match query.detail {
            Detail::Scores => {
                let scores =
                    late_interaction::score_all(&memories, &blocks, query_scorer, &mut NoRecord);
                (scores, None)
            }
            Detail::Steps => {
                let mut record = StepRecord::default();
                let scores =
                    late_interaction::score_all(&memories, &blocks, query_scorer, &mut record);
                let candidates = order.iter().map(|at| self.candidate(*at, &lexical)).collect();
                let steps = explain::recorded_steps(record, scores.len());
                (scores, Some(Breakdown { candidates, steps }))
            }
        };
        let entries = order.iter().zip(scores).map(|(at, score)| MatchedSlot {
            slot: self.slot(*at),
            score,
            matches: is_match[*at],
        });
        let matched = is_match.iter().filter(|is_match| **is_match).count();
        Scoring {
            scored: above_cutoff(entries.collect(), matched, query),
            matched,
            breakdown,
            prepared: Some(prepared),
        }
    }

    fn prepare(&self, query: &SearchQuery<'_>, encoding: &QueryEncoding) -> PreparedQuery {
        let doc_freq = |terms: &[String]| {
            self.index.words().list(terms).map_or(0, |list| list.count_in(self.mask))
        };
        query_scorer(self.index, self.mask, query, encoding, doc_freq)
    }

    fn memory_signals(
        &self,
        query: &SearchQuery<'_>,
        order: &[usize],
        lexical: &[f64],
        has_dates: bool,
    ) -> Vec<MemorySignals<'a>> {
        let words = parse::tokens(&query.parsed.text).collect();
        let named_speakers =
            self.index.features().speakers_named(&words, |slot| self.mask.admits(slot));
        let signals = |at: &usize| {
            let features = self.index.text_features(self.slot(*at));
            MemorySignals {
                cosine: self.cosine(*at),
                lexical: lexical[*at],
                traits: features.traits,
                day: features.day,
                day_of_event: has_dates.then(|| self.index.day_of_event(self.slot(*at))).flatten(),
                by_named_speaker: named_speakers.contains(&features.speaker),
                codes: self.index.codes(self.slot(*at)).unwrap_or_default(),
            }
        };
        order.iter().map(signals).collect()
    }

    /// The positions of all memories, ordered by project and then by storage order, and one block
    /// for each project.
    fn by_project(&self) -> (Vec<usize>, Vec<OrderedBlock>) {
        let project = |at: &usize| self.index.group(self.slot(*at));
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        if !order.is_sorted_by_key(project) {
            order.sort_by_key(project);
        }
        let mask = self.mask.fingerprint();
        let coherence = |block: &[usize]| {
            let newest_first = block.iter().rev().map(|at| self.slot(*at));
            let key = OrderKey { group: project(&block[0]), mask };
            self.index.coherence(key, newest_first)
        };
        let blocks = order
            .chunk_by(|a, b| project(a) == project(b))
            .map(|block| OrderedBlock { len: block.len(), coherence: coherence(block) })
            .collect();
        (order, blocks)
    }
}
