//! A round: some texts of one lane, cut into pieces, sorted by length and put into runs.
//!
//! Sorting within a round, not within the lane, keeps a long text from being overtaken for ever. Not here: which lane's turn it is
//! (`thread`).

use super::EmbedError;
use super::desk::{Answer, Desk, Job, Rank};
use super::thread::{Encoder, guarded};
use loci_engine::embedding::Embedding;
use std::collections::VecDeque;

/// Tokens of one run, padding included; bounds how long a query waits and how much memory a run takes. Larger runs were measured to
/// cost as much for each token, so they would only make others wait.
pub(super) const RUN_TOKENS: usize = 512;

/// Tokens of one round; bounds how long tokenizing takes before the first run.
const ROUND_TOKENS: usize = 16 * RUN_TOKENS;

/// Texts of one round.
const ROUND_TEXTS: usize = 64;

/// One piece of a text on its way through the model.
pub(super) struct Piece {
    text: usize,
    index: usize,
    ids: Vec<u32>,
}

struct Open {
    job: Job,
    vectors: Vec<Option<Embedding>>,
}

/// Texts that are worked on together.
pub(super) struct Round {
    texts: Vec<Option<Open>>,
    runs: VecDeque<Vec<Piece>>,
}

impl Round {
    /// Takes texts from a lane, tokenizes them and sorts their pieces into runs.
    pub fn gather(desk: &Desk, rank: Rank, encoder: &dyn Encoder) -> Self {
        let (mut texts, mut pieces, mut tokens) = (Vec::new(), Vec::new(), 0);
        while texts.len() < ROUND_TEXTS && tokens < ROUND_TOKENS {
            let Some(job) = desk.take(rank) else { break };
            if job.abandoned() {
                continue;
            }
            match guarded(|| encoder.pieces(&job.text)) {
                Err(reason) => job.answer(Err(EmbedError::Failed(reason))),
                Ok(mut of_text) => {
                    if rank == Rank::Query {
                        of_text.truncate(1);
                    }
                    tokens += of_text.iter().map(Vec::len).sum::<usize>();
                    let text = texts.len();
                    texts.push(Some(Open { job, vectors: vec![None; of_text.len()] }));
                    pieces.extend(of_text.into_iter().enumerate().map(|(index, ids)| Piece { text, index, ids }));
                }
            }
        }
        Self { texts, runs: into_runs(pieces) }
    }

    /// The next run, without the pieces of callers that have gone away; none when the round is over.
    pub fn next_run(&mut self) -> Option<Vec<Piece>> {
        for text in &mut self.texts {
            text.take_if(|open| open.job.abandoned());
        }
        while let Some(mut run) = self.runs.pop_front() {
            run.retain(|piece| self.texts[piece.text].is_some());
            if !run.is_empty() {
                return Some(run);
            }
        }
        None
    }

    /// True when no run is left.
    pub fn is_over(&self) -> bool {
        self.runs.is_empty()
    }

    /// Hands out what a run gave; a text is answered with its last piece or its first fault.
    pub fn settle(&mut self, run: &[Piece], outcome: Result<Vec<Vec<f32>>, String>) {
        let vectors: Vec<Result<Embedding, EmbedError>> = match outcome {
            Ok(vectors) => vectors.into_iter().map(|values| Embedding::new(values).map_err(EmbedError::Flawed)).collect(),
            Err(reason) => run.iter().map(|_| Err(EmbedError::Failed(reason.clone()))).collect(),
        };
        for (piece, vector) in run.iter().zip(vectors) {
            self.put(piece, vector);
        }
    }

    fn put(&mut self, piece: &Piece, vector: Result<Embedding, EmbedError>) {
        let Some(open) = &mut self.texts[piece.text] else { return };
        match vector {
            Ok(vector) => {
                open.vectors[piece.index] = Some(vector);
                if open.vectors.iter().all(Option::is_some) {
                    self.finish(piece.text, |open| Ok(open.into_iter().flatten().collect()));
                }
            }
            Err(fault) => self.finish(piece.text, |_| Err(fault)),
        }
    }

    fn finish(&mut self, text: usize, answer: impl FnOnce(Vec<Option<Embedding>>) -> Answer) {
        if let Some(Open { job, vectors }) = self.texts[text].take() {
            job.answer(answer(vectors));
        }
    }

    /// Refuses every text that is still open.
    pub fn refuse(self, fault: &EmbedError) {
        for open in self.texts.into_iter().flatten() {
            open.job.answer(Err(fault.clone()));
        }
    }
}

impl Piece {
    /// The token ids, for the model.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }
}

/// Shortest first, in runs of similar length: padding is work for nothing, and a short query need not wait for a long one.
fn into_runs(mut pieces: Vec<Piece>) -> VecDeque<Vec<Piece>> {
    pieces.sort_by_key(|piece| piece.ids.len());
    let mut runs: VecDeque<Vec<Piece>> = VecDeque::new();
    for piece in pieces {
        let fits = |run: &Vec<Piece>| {
            let shortest = run.first().map_or(0, |first| first.ids.len());
            (run.len() + 1) * piece.ids.len() <= RUN_TOKENS && piece.ids.len() <= 2 * shortest + 16
        };
        match runs.back_mut() {
            Some(run) if fits(run) => run.push(piece),
            _ => runs.push_back(vec![piece]),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(of: &[usize]) -> Vec<Vec<usize>> {
        let pieces = of.iter().map(|&length| Piece { text: 0, index: 0, ids: vec![0; length] }).collect();
        into_runs(pieces).into_iter().map(|run| run.iter().map(|piece| piece.ids.len()).collect()).collect()
    }

    #[test]
    fn a_run_holds_pieces_of_similar_length_up_to_its_tokens() {
        assert_eq!(lengths(&[256, 8, 30, 9]), vec![vec![8, 9, 30], vec![256]]);
        let runs = lengths(&[256; 20]);
        assert!(runs.iter().all(|run| run.len() * 256 <= RUN_TOKENS));
        assert_eq!(runs.iter().map(Vec::len).sum::<usize>(), 20);
    }
}
