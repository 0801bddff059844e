//! A round: some texts of one lane, cut into pieces, sorted by length and put into runs.
//!
//! Sorting within a round, not within the lane, keeps a long text from being overtaken for ever. Not here: which lane's turn it is
//! (`thread`).

use crate::embedding::EmbedError;
use crate::embedding::chunk::{Piece, Use};
use crate::embedding::onnx::Run;
use crate::embedding::queue::{Answer, Desk, Job, Rank};
use crate::embedding::worker::{Encoder, guarded};
use loci_engine::model::encoding::{Embedding, SignCode};
use std::collections::VecDeque;

/// Tokens of one run, padding included; bounds how long a query waits and how much memory a run takes. Larger runs were measured to
/// cost as much for each token, so they would only make others wait.
pub(crate) const RUN_TOKENS: usize = 384;

/// Tokens of one round; bounds how long tokenizing takes before the first run.
const ROUND_TOKENS: usize = 8192;

/// Texts of one round: the more of them, the more alike are the neighbours in length. Cutting so many into tokens takes some 20 ms.
const ROUND_TEXTS: usize = 128;

/// What a run costs beside its tokens, in tokens: the weights are read once for each run.
const RUN_COST: usize = 18;

/// One piece of a text on its way through the model.
pub(crate) struct Part {
    text: usize,
    index: usize,
    piece: Piece,
}

/// What the model reads in one piece.
pub(crate) struct Read {
    /// Its meaning.
    pub vector: Embedding,
    /// Its content words.
    pub words: Vec<(String, SignCode)>,
}

struct Open {
    job: Job,
    read: Vec<Option<Read>>,
}

/// Texts that are worked on together.
pub(crate) struct Round {
    texts: Vec<Option<Open>>,
    runs: VecDeque<Vec<Part>>,
}

impl Round {
    /// Takes texts from a lane, tokenizes them and sorts their pieces into runs.
    pub fn gather(desk: &Desk, rank: Rank, encoder: &dyn Encoder) -> Self {
        let (mut texts, mut parts, mut tokens) = (Vec::new(), Vec::new(), 0);
        let used = if rank == Rank::Query { Use::Query } else { Use::Document };
        while texts.len() < ROUND_TEXTS && tokens < ROUND_TOKENS {
            let Some(job) = desk.take(rank) else { break };
            if job.abandoned() {
                continue;
            }
            match guarded(|| encoder.pieces(&job.text, used)) {
                Err(reason) => job.answer(Err(EmbedError::Failed(reason))),
                Ok(mut of_text) => {
                    if rank == Rank::Query {
                        of_text.truncate(1);
                    }
                    tokens += of_text.iter().map(|piece| piece.ids.len()).sum::<usize>();
                    let text = texts.len();
                    texts.push(Some(Open { job, read: of_text.iter().map(|_| None).collect() }));
                    parts.extend(of_text.into_iter().enumerate().map(|(index, piece)| Part {
                        text,
                        index,
                        piece,
                    }));
                }
            }
        }
        Self { texts, runs: into_runs(parts) }
    }

    /// The next run, without the pieces of callers that have gone away; none when the round is over.
    pub fn next_run(&mut self) -> Option<Vec<Part>> {
        for text in &mut self.texts {
            text.take_if(|open| open.job.abandoned());
        }
        while let Some(mut run) = self.runs.pop_front() {
            run.retain(|part| self.texts[part.text].is_some());
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
    pub fn settle(&mut self, run: &[Part], outcome: Result<Vec<Run>, String>) {
        let outcomes: Vec<Result<Run, EmbedError>> = match outcome {
            Ok(runs) => runs.into_iter().map(Ok).collect(),
            Err(reason) => run.iter().map(|_| Err(EmbedError::Failed(reason.clone()))).collect(),
        };
        for (part, outcome) in run.iter().zip(outcomes) {
            self.put(part, outcome.and_then(|run| read(part, run)));
        }
    }

    fn put(&mut self, part: &Part, read: Result<Read, EmbedError>) {
        let Some(open) = &mut self.texts[part.text] else { return };
        match read {
            Ok(read) => {
                open.read[part.index] = Some(read);
                if open.read.iter().all(Option::is_some) {
                    self.finish(part.text, |read| Ok(read.into_iter().flatten().collect()));
                }
            }
            Err(fault) => self.finish(part.text, |_| Err(fault)),
        }
    }

    fn finish(&mut self, text: usize, answer: impl FnOnce(Vec<Option<Read>>) -> Answer) {
        if let Some(Open { job, read }) = self.texts[text].take() {
            job.answer(answer(read));
        }
    }

    /// Refuses every text that is still open.
    pub fn refuse(self, fault: &EmbedError) {
        for open in self.texts.into_iter().flatten() {
            open.job.answer(Err(fault.clone()));
        }
    }
}

impl Part {
    /// What the model is to read.
    pub fn piece(&self) -> &Piece {
        &self.piece
    }

    fn tokens(&self) -> usize {
        self.piece.ids.len()
    }
}

fn read(part: &Part, run: Run) -> Result<Read, EmbedError> {
    let vector = Embedding::new(run.vector).map_err(EmbedError::Flawed)?;
    let words = part.piece.words.iter().map(|word| word.text.clone()).zip(run.codes).collect();
    Ok(Read { vector, words })
}

/// Shortest first, cut into runs where that costs least: a longer run has more padding, a further run reads the weights once more.
fn into_runs(mut parts: Vec<Part>) -> VecDeque<Vec<Part>> {
    parts.sort_by_key(Part::tokens);
    // What the first so many parts cost at least, and where their last run begins.
    let mut best: Vec<(usize, usize)> = vec![(0, 0)];
    for end in 1..=parts.len() {
        let longest = parts[end - 1].tokens();
        let fits = |begin: &usize| end - begin == 1 || (end - begin) * longest <= RUN_TOKENS;
        let cost = |begin: usize| (best[begin].0 + (end - begin) * longest + RUN_COST, begin);
        let cheapest = (0..end).rev().take_while(fits).map(cost).min();
        best.extend(cheapest);
    }
    let mut runs = VecDeque::new();
    while !parts.is_empty() {
        runs.push_front(parts.split_off(best[parts.len()].1));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(of: &[usize]) -> Vec<Vec<usize>> {
        let part = |length: &usize| Part {
            text: 0,
            index: 0,
            piece: Piece { ids: vec![0; *length], words: Vec::new() },
        };
        into_runs(of.iter().map(part).collect())
            .into_iter()
            .map(|run| run.iter().map(Part::tokens).collect())
            .collect()
    }

    #[test]
    fn a_run_holds_pieces_of_similar_length_up_to_its_tokens() {
        assert_eq!(lengths(&[256, 8, 30, 9]), vec![vec![8, 9], vec![30], vec![256]]);
        assert_eq!(lengths(&[20, 8, 30, 24]), vec![vec![8], vec![20, 24, 30]]);
        assert_eq!(lengths(&[600]), vec![vec![600]]);
        let runs = lengths(&[256; 20]);
        assert!(runs.iter().all(|run| run.len() * 256 <= RUN_TOKENS));
        assert_eq!(runs.iter().map(Vec::len).sum::<usize>(), 20);
    }
}
