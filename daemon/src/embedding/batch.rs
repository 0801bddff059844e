//! Batch plan: removes some texts of one priority from the queue, splits them into chunks, sorts the chunks by length and groups them
//! into batches.
//!
//! Chunks are sorted within one plan, not within the whole queue, so that a long text cannot starve. Not here: which priority is served
//! next (`worker`).

use crate::embedding::chunk::{Chunk, ChunkOutput, EncodedChunk, TextKind};
use crate::embedding::encoder::{Encoder, catch_panic};
use crate::embedding::queue::{EmbedResult, EmbeddingQueue, EncodedText, Job, Priority};
use crate::embedding::state::EmbedError;
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum tokens of one batch, padding included. It bounds how long a query waits and how much memory a forward pass uses. Larger
/// batches cost as much per token (measured), so they would only delay other texts.
pub(crate) const BATCH_TOKENS: usize = 384;

/// A plan with this many tokens accepts no further text. Bounds the time for tokenizing before the first batch.
const PLAN_TOKENS: usize = 8192;

/// Maximum texts of one plan. With more texts the lengths within a batch are more similar. Tokenizing 128 texts takes about 20 ms.
const PLAN_TEXTS: usize = 128;

/// Fixed cost of a forward pass, expressed in tokens: the weights are read once per batch.
const BATCH_COST: usize = 18;

/// A chunk and the text that it belongs to.
pub(crate) struct ScheduledChunk {
    /// Index of the text in the plan.
    text: usize,
    /// Index of the chunk in its text.
    index: usize,
    chunk: Chunk,
}

impl ScheduledChunk {
    fn tokens(&self) -> usize {
        self.chunk.ids.len()
    }
}

/// Chunks that are encoded in one forward pass.
pub(crate) struct Batch(Vec<ScheduledChunk>);

impl Batch {
    /// Encodes the batch; an error or a panic of the encoder, or a wrong number of outputs, fails the whole batch.
    pub fn encode(&self, encoder: &mut dyn Encoder) -> Result<Vec<ChunkOutput>, String> {
        let chunks: Vec<&Chunk> = self.0.iter().map(|scheduled| &scheduled.chunk).collect();
        let outputs = catch_panic(|| encoder.encode(&chunks))?;
        if outputs.len() == chunks.len() {
            Ok(outputs)
        } else {
            Err(format!("{} chunks gave {} vectors", chunks.len(), outputs.len()))
        }
    }
}

/// A text with chunks that are not encoded yet.
struct OpenText {
    job: Job,
    /// By chunk; `None` until the chunk is encoded.
    encoded: Vec<Option<EncodedChunk>>,
}

/// Texts that are encoded together, and their batches that are not encoded yet.
pub(crate) struct BatchPlan {
    /// The model that encodes all of them.
    model: Arc<str>,
    /// `None` once a text has its result.
    texts: Vec<Option<OpenText>>,
    batches: VecDeque<Batch>,
}

impl BatchPlan {
    /// Removes texts from the queue of a priority, splits them into chunks and groups the chunks into batches.
    pub fn drain(queue: &EmbeddingQueue, priority: Priority, encoder: &dyn Encoder) -> Self {
        let (mut texts, mut all_chunks, mut tokens) = (Vec::new(), Vec::new(), 0);
        while texts.len() < PLAN_TEXTS && tokens < PLAN_TOKENS {
            let Some(job) = queue.pop(priority) else { break };
            if job.is_abandoned() {
                continue;
            }
            match catch_panic(|| encoder.chunks(&job.text, job.kind)) {
                Err(reason) => job.reply(Err(EmbedError::Failed(reason))),
                Ok(mut chunks) => {
                    if job.kind == TextKind::Query {
                        chunks.truncate(1);
                    }
                    tokens += chunks.iter().map(|chunk| chunk.ids.len()).sum::<usize>();
                    let text = texts.len();
                    let none_encoded = chunks.iter().map(|_| None).collect();
                    texts.push(Some(OpenText { job, encoded: none_encoded }));
                    all_chunks.extend(
                        chunks.into_iter().enumerate().map(|(index, chunk)| ScheduledChunk {
                            text,
                            index,
                            chunk,
                        }),
                    );
                }
            }
        }
        Self { model: encoder.id(), texts, batches: group_into_batches(all_chunks) }
    }

    /// Removes and returns the next batch, without the chunks of abandoned texts; `None` if no batch is left.
    pub fn next_batch(&mut self) -> Option<Batch> {
        for text in &mut self.texts {
            text.take_if(|open| open.job.is_abandoned());
        }
        while let Some(mut batch) = self.batches.pop_front() {
            batch.0.retain(|scheduled| self.texts[scheduled.text].is_some());
            if !batch.0.is_empty() {
                return Some(batch);
            }
        }
        None
    }

    /// True if no batch is left.
    pub fn is_complete(&self) -> bool {
        self.batches.is_empty()
    }

    /// Distributes the outputs of a batch. A text is answered after its last chunk or its first error.
    pub fn complete(&mut self, batch: &Batch, outcome: Result<Vec<ChunkOutput>, String>) {
        match outcome {
            Ok(outputs) => {
                for (scheduled, output) in batch.0.iter().zip(outputs) {
                    let encoded = EncodedChunk::new(&scheduled.chunk, output);
                    self.complete_chunk(scheduled, encoded.map_err(EmbedError::InvalidVector));
                }
            }
            Err(reason) => {
                for scheduled in &batch.0 {
                    self.complete_chunk(scheduled, Err(EmbedError::Failed(reason.clone())));
                }
            }
        }
    }

    fn complete_chunk(
        &mut self,
        scheduled: &ScheduledChunk,
        encoded: Result<EncodedChunk, EmbedError>,
    ) {
        let Some(open) = &mut self.texts[scheduled.text] else { return };
        match encoded {
            Ok(chunk) => {
                open.encoded[scheduled.index] = Some(chunk);
                if open.encoded.iter().all(Option::is_some) {
                    let model = Arc::clone(&self.model);
                    self.reply(scheduled.text, |chunks| {
                        let chunks = chunks.into_iter().flatten().collect();
                        Ok(EncodedText { model, chunks, has_sign_codes: true })
                    });
                }
            }
            Err(error) => self.reply(scheduled.text, |_| Err(error)),
        }
    }

    fn reply(
        &mut self,
        text: usize,
        result: impl FnOnce(Vec<Option<EncodedChunk>>) -> EmbedResult,
    ) {
        if let Some(OpenText { job, encoded }) = self.texts[text].take() {
            job.reply(result(encoded));
        }
    }

    /// Fails every text that has no result yet.
    pub fn fail(self, error: &EmbedError) {
        for open in self.texts.into_iter().flatten() {
            open.job.reply(Err(error.clone()));
        }
    }
}

/// Sorts the chunks by length and splits them into batches at minimal total cost: a larger batch has more padding, an additional batch
/// reads the weights once more. Dynamic programming over the sorted chunks.
fn group_into_batches(mut chunks: Vec<ScheduledChunk>) -> VecDeque<Batch> {
    chunks.sort_by_key(ScheduledChunk::tokens);
    // best[n]: minimal cost of the first n chunks, and the index of the first chunk of their last batch.
    let mut best: Vec<(usize, usize)> = vec![(0, 0)];
    for end in 1..=chunks.len() {
        let longest = chunks[end - 1].tokens();
        let fits = |begin: &usize| end - begin == 1 || (end - begin) * longest <= BATCH_TOKENS;
        let cost = |begin: usize| (best[begin].0 + (end - begin) * longest + BATCH_COST, begin);
        let cheapest = (0..end).rev().take_while(fits).map(cost).min();
        best.extend(cheapest);
    }
    let mut batches = VecDeque::new();
    while !chunks.is_empty() {
        batches.push_front(Batch(chunks.split_off(best[chunks.len()].1)));
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of the chunks of each batch, in tokens.
    fn batch_lengths(lengths: &[usize]) -> Vec<Vec<usize>> {
        let scheduled = |length: &usize| ScheduledChunk {
            text: 0,
            index: 0,
            chunk: Chunk { ids: vec![0; *length], words: Vec::new() },
        };
        group_into_batches(lengths.iter().map(scheduled).collect())
            .into_iter()
            .map(|batch| batch.0.iter().map(ScheduledChunk::tokens).collect())
            .collect()
    }

    #[test]
    fn a_batch_holds_chunks_of_similar_length_up_to_its_token_limit() {
        assert_eq!(batch_lengths(&[256, 8, 30, 9]), vec![vec![8, 9], vec![30], vec![256]]);
        assert_eq!(batch_lengths(&[20, 8, 30, 24]), vec![vec![8], vec![20, 24, 30]]);
        assert_eq!(batch_lengths(&[600]), vec![vec![600]]);
        let batches = batch_lengths(&[256; 20]);
        assert!(batches.iter().all(|batch| batch.len() * 256 <= BATCH_TOKENS));
        assert_eq!(batches.iter().map(Vec::len).sum::<usize>(), 20);
    }
}
