//! Context smoothing: the scores of neighbours in storage order raise the score of a memory. Pure.
//!
//! An answer often follows its question, and related memories are often stored together. Every step
//! is multiplied by the coherence of the order. Source: `beside` and the last lines of `scores` of
//! the reference. Not here: which memories are neighbours (`index::context_windows`).

use crate::ranking::late_interaction::recorder::{ScoreRecorder, Step};
use crate::ranking::late_interaction::weights::{
    ANSWER_SHARE, NEIGHBOUR_SHARE, QUESTION_PENALTY, WINDOW_BEST, WINDOW_RADIUS, WINDOW_SHARE,
};

/// The better score of the two direct neighbours; a missing neighbour counts as 0.
fn best_neighbour(scores: &[f64], at: usize) -> f64 {
    let before = at.checked_sub(1).map_or(0.0, |before| scores[before]);
    before.max(scores.get(at + 1).copied().unwrap_or(0.0))
}

/// The score of the previous memory if it is a question; otherwise 0.
fn preceding_question(scores: &[f64], is_question: &[bool], at: usize) -> f64 {
    at.checked_sub(1).filter(|before| is_question[*before]).map_or(0.0, |before| scores[before])
}

/// Consecutive memories whose scores are smoothed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SmoothedBlock<'a> {
    /// Which of them are questions.
    pub is_question: &'a [bool],
    /// Coherence of their order, 0 to 1.
    pub coherence: f64,
    /// Position of the first of them in the scored list, for the recorder.
    pub first: usize,
}

/// Raises memories after a question, next to a good score, or in a window with good scores, and
/// lowers questions. Its buffers are reused from block to block.
#[derive(Debug, Default)]
pub(crate) struct ContextSmoothing {
    raised: Vec<f64>,
    window: WindowBest,
}

impl ContextSmoothing {
    /// Smooths the scores of one block in place.
    pub fn apply(
        &mut self,
        scores: &mut [f64],
        block: SmoothedBlock<'_>,
        recorder: &mut impl ScoreRecorder,
    ) {
        let SmoothedBlock { is_question, coherence, first } = block;
        self.raised.clear();
        self.raised.extend((0..scores.len()).map(|at| {
            let answer = ANSWER_SHARE * preceding_question(scores, is_question, at);
            let neighbour = NEIGHBOUR_SHARE * best_neighbour(scores, at);
            recorder.record(first + at, Step::Answer, coherence * answer);
            recorder.record(first + at, Step::Next, coherence * neighbour);
            scores[at] + coherence * (answer + neighbour)
        }));
        self.window.fill(&self.raised);
        for (at, ((score, raised), is_question)) in
            scores.iter_mut().zip(&self.raised).zip(is_question).enumerate()
        {
            let window_gain = WINDOW_SHARE
                * (coherence * self.window.mean(&self.raised, at) + (1.0 - coherence) * raised);
            let penalty = if *is_question { QUESTION_PENALTY } else { 0.0 };
            recorder.record(first + at, Step::Window, window_gain);
            recorder.record(first + at, Step::Question, -penalty);
            *score = raised + window_gain - penalty;
        }
    }
}

/// The best two scores of a window, the better one first.
type BestTwo = (f64, f64);

/// The two best of every `2 * WINDOW_RADIUS` consecutive scores.
#[derive(Debug, Default)]
struct WindowBest {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl WindowBest {
    const NOTHING: f64 = f64::NEG_INFINITY;

    /// Computes the windows of these scores in four passes without branches, each of which doubles
    /// the window: the best two of 16 scores are among the best two of each eight.
    fn fill(&mut self, scores: &[f64]) {
        let (first, second) = (&mut self.first, &mut self.second);
        for best in [&mut *first, &mut *second] {
            best.clear();
            best.resize(scores.len() + 2 * WINDOW_RADIUS, Self::NOTHING);
        }
        first[WINDOW_RADIUS..WINDOW_RADIUS + scores.len()].copy_from_slice(scores);
        for step in [1, 2, 4, 8] {
            let count = first.len() - step;
            for at in 0..count {
                (first[at], second[at]) =
                    merge_best((first[at], second[at]), (first[at + step], second[at + step]));
            }
            first.truncate(count);
        }
    }

    /// Mean of the [`WINDOW_BEST`] best scores in the window around and including position `at`;
    /// positions beyond the ends count as 0.
    fn mean(&self, scores: &[f64], at: usize) -> f64 {
        let touches_end = at < WINDOW_RADIUS || at + WINDOW_RADIUS >= scores.len();
        let minimum = if touches_end { 0.0 } else { Self::NOTHING };
        let farthest = scores.get(at + WINDOW_RADIUS).copied().unwrap_or(Self::NOTHING);
        let (best, second) =
            merge_best((self.first[at], self.second[at]), (farthest, Self::NOTHING));
        (best.max(minimum) + second.max(minimum)) / WINDOW_BEST as f64
    }
}

/// The best two scores of two pairs.
fn merge_best(a: BestTwo, b: BestTwo) -> BestTwo {
    let (lower, higher) = if a.0 < b.0 { (a.0, b.0) } else { (b.0, a.0) };
    let second = if a.1 < b.1 { b.1 } else { a.1 };
    (higher, if lower < second { second } else { lower })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::late_interaction::recorder::{NoRecord, StepRecord};
    use proptest::prelude::*;

    fn smoothed(scores: &[f64], is_question: &[bool], coherence: f64) -> Vec<f64> {
        let mut smoothed = scores.to_vec();
        let block = SmoothedBlock { is_question, coherence, first: 0 };
        ContextSmoothing::default().apply(&mut smoothed, block, &mut NoRecord);
        smoothed
    }

    #[test]
    fn the_memory_after_a_good_question_rises_and_the_question_does_not() {
        let question = smoothed(&[0.0, 0.8, 0.5, 0.0], &[false, true, false, false], 1.0);
        let statement = smoothed(&[0.0, 0.8, 0.5, 0.0], &[false; 4], 1.0);
        assert!(
            question[2] > statement[2] + ANSWER_SHARE * 0.79
                && question[1] < statement[1]
                && question[1] > statement[1] - 0.05
        );
    }

    proptest! {
        #[test]
        fn the_window_mean_is_that_of_the_best_scores_in_the_window(
            scores in prop::collection::vec(-1.0..2.0_f64, 0..60),
            previous in prop::collection::vec(-1.0..2.0_f64, 0..60),
        ) {
            let mut window = WindowBest::default();
            // Values of a previous block must not remain.
            window.fill(&previous);
            window.fill(&scores);
            for at in 0..scores.len() {
                let mut around = scores[at.saturating_sub(WINDOW_RADIUS)..scores.len().min(at + WINDOW_RADIUS + 1)].to_vec();
                if around.len() < 2 * WINDOW_RADIUS + 1 {
                    around.extend([0.0; WINDOW_BEST]);
                }
                around.sort_by(|a, b| b.total_cmp(a));
                let mean = around[..WINDOW_BEST].iter().sum::<f64>() / WINDOW_BEST as f64;
                prop_assert!((window.mean(&scores, at) - mean).abs() < 1e-12, "{} {:?}", at, scores);
            }
        }

        #[test]
        fn without_coherence_the_order_changes_no_score(scores in prop::collection::vec(0.0..2.0_f64, 1..40), offset in 0..40_usize) {
            let whole = smoothed(&scores, &vec![false; scores.len()], 0.0);
            let mut rotated = scores.clone();
            rotated.rotate_left(offset % scores.len());
            let mut of_rotated = smoothed(&rotated, &vec![false; rotated.len()], 0.0);
            of_rotated.rotate_right(offset % scores.len());
            prop_assert_eq!(whole, of_rotated);
        }

        #[test]
        fn more_coherence_never_lowers_a_neighbour_of_the_best(scores in prop::collection::vec(0.0..1.0_f64, 3..40), coherence in 0.0..1.0_f64) {
            let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b])).unwrap_or(0);
            let neighbour = if best > 0 { best - 1 } else { best + 1 };
            let none = vec![false; scores.len()];
            prop_assert!(smoothed(&scores, &none, coherence)[neighbour] >= smoothed(&scores, &none, 0.0)[neighbour] - 1e-9);
        }

        #[test]
        fn the_recorded_steps_add_up_to_the_change(scores in prop::collection::vec(0.0..1.0_f64, 1..40), coherence in 0.0..1.0_f64, first in 0..9_usize) {
            let is_question: Vec<bool> = (0..scores.len()).map(|at| at % 9 == first).collect();
            let (mut smoothed, mut record) = (scores.clone(), StepRecord::default());
            ContextSmoothing::default().apply(&mut smoothed, SmoothedBlock { is_question: &is_question, coherence, first: 0 }, &mut record);
            for ((before, after), steps) in scores.iter().zip(&smoothed).zip(record.into_rows(scores.len())) {
                prop_assert!((before + steps.iter().sum::<f64>() - after).abs() < 1e-12);
            }
        }
    }
}
