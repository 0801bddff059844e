//! The thread that owns the model: loads it, encodes batches, gives up after three failures in a row, and loads it again on request.
//!
//! The priority is chosen again before every batch. Therefore a query waits for at most one batch, or for one memory trim, which runs
//! only after an idle time. Not here: the queue and its bounds (`queue`).

use crate::embedding::batch::BatchPlan;
use crate::embedding::encoder::{Encoder, EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{Fingerprint, LoadError};
use crate::embedding::queue::{EmbeddingQueue, NextAction, Priority, Reload};
use crate::embedding::state::{EmbedError, ModelState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Failed batches in a row after which the model counts as broken.
const MAX_FAILURES: u32 = 3;

/// Idle time after which memory is trimmed, if any batch has run since the last trim. A session that asks now and then is not slowed down:
/// its next batch maps the pages again.
const IDLE_BEFORE_TRIM: Duration = Duration::from_secs(3);

/// Idle time after which memory is trimmed after [`MANY_BATCHES`].
const IDLE_BEFORE_TRIM_AFTER_MANY: Duration = Duration::from_millis(300);

/// Number of batches since the last trim that have mapped much of the weights.
const MANY_BATCHES: u32 = 16;

/// The hint when a loaded model fails.
const RETRY_HINT: &str =
    "loci retries automatically; if the error persists, run `loci model download`";

/// Runs the thread until [`EmbeddingQueue::stop`].
pub(crate) fn run(queue: &EmbeddingQueue, source: &dyn EncoderSource) {
    let _end = EndGuard(queue);
    loop {
        let before_load = source.fingerprint();
        let (state, failed_files) = match load(queue, source) {
            Err(state) => (state, before_load),
            Ok(encoder) => match serve(queue, encoder) {
                ServeEnd::Stopped => return,
                // These files did load, so loading them again unchanged is allowed.
                ServeEnd::Broken(reason) => {
                    (ModelState::Failed { reason, hint: RETRY_HINT.to_owned() }, None)
                }
            },
        };
        let may_force = matches!(state, ModelState::Failed { .. });
        queue.close(state);
        if !wait_for_reload(queue, source, failed_files.as_ref(), may_force) {
            return;
        }
        queue.open(ModelState::Loading, None, Vec::new());
    }
}

fn load(
    queue: &EmbeddingQueue,
    source: &dyn EncoderSource,
) -> Result<Box<dyn Encoder>, ModelState> {
    let started = Instant::now();
    let loaded = catch_unwind(AssertUnwindSafe(|| source.load())).unwrap_or_else(|_| {
        Err(LoadError::Refused("ONNX Runtime panicked while loading".to_owned()))
    });
    match loaded {
        Ok(LoadedEncoder { encoder, sha256, warnings }) => {
            tracing::info!(ms = started.elapsed().as_millis(), "embedding model loaded");
            queue.open(ModelState::Ready { sha256 }, Some(encoder.id()), warnings);
            Ok(encoder)
        }
        Err(error) => {
            tracing::warn!(%error, "embedding model not loaded; searching by keywords only");
            Err(match error {
                LoadError::Missing(_) => ModelState::Missing { hint: error.hint() },
                _ => ModelState::Failed { hint: error.hint(), reason: error.to_string() },
            })
        }
    }
}

/// Waits for a reload request that requires another load; returns false if the thread must end.
///
/// `failed_files` is the fingerprint of the files that failed to load; `None` never equals the current one.
fn wait_for_reload(
    queue: &EmbeddingQueue,
    source: &dyn EncoderSource,
    failed_files: Option<&Fingerprint>,
    may_force: bool,
) -> bool {
    while let Some(reload) = queue.next_reload() {
        let has_changed = source.fingerprint().as_ref() != failed_files;
        if has_changed || (may_force && reload == Reload::Force) {
            return true;
        }
        queue.skip_reload();
    }
    false
}

/// Why the thread stopped serving.
enum ServeEnd {
    Stopped,
    /// The model failed [`MAX_FAILURES`] times in a row; the reason of the last failure.
    Broken(String),
}

fn serve(queue: &EmbeddingQueue, mut encoder: Box<dyn Encoder>) -> ServeEnd {
    let mut plans: [Option<BatchPlan>; 3] = [None, None, None];
    let (mut failures, mut batches, mut batches_since_trim) = (0, 0_u32, 0);
    loop {
        let open = Priority::ALL.into_iter().find(|priority| plans[*priority as usize].is_some());
        let priority = match queue.next_action(open, idle_before_trim(batches_since_trim)) {
            NextAction::Encode(priority) => priority,
            NextAction::TrimMemory => {
                encoder.trim_memory();
                if batches >= MANY_BATCHES {
                    encoder.use_huge_pages();
                }
                batches_since_trim = 0;
                continue;
            }
            NextAction::Stop => return ServeEnd::Stopped,
        };
        batches = batches.saturating_add(1);
        batches_since_trim += 1;
        let plan = &mut plans[priority as usize];
        let Err(reason) = encode_batch(queue, priority, plan, encoder.as_mut()) else {
            failures = 0;
            queue.note_progress();
            continue;
        };
        failures += 1;
        tracing::warn!(failures, reason, "embedding batch failed");
        if failures == MAX_FAILURES {
            let error = EmbedError::Failed(reason.clone());
            plans.into_iter().flatten().for_each(|plan| plan.fail(&error));
            return ServeEnd::Broken(reason);
        }
    }
}

/// Returns the idle time after which memory is trimmed; `None` if nothing has run since the last trim.
fn idle_before_trim(batches_since_trim: u32) -> Option<Duration> {
    match batches_since_trim {
        0 => None,
        1..MANY_BATCHES => Some(IDLE_BEFORE_TRIM),
        MANY_BATCHES.. => Some(IDLE_BEFORE_TRIM_AFTER_MANY),
    }
}

/// Encodes one batch of the open plan; makes a new plan if none is open.
fn encode_batch(
    queue: &EmbeddingQueue,
    priority: Priority,
    open: &mut Option<BatchPlan>,
    encoder: &mut dyn Encoder,
) -> Result<(), String> {
    let mut plan = open.take().unwrap_or_else(|| BatchPlan::drain(queue, priority, encoder));
    let Some(batch) = plan.next_batch() else { return Ok(()) };
    let outcome = batch.encode(encoder);
    let failure = outcome.as_ref().err().cloned();
    plan.complete(&batch, outcome);
    if !plan.is_complete() {
        *open = Some(plan);
    }
    failure.map_or(Ok(()), Err)
}

/// Closes the queue however the thread ends, so that no caller is left waiting.
pub(crate) struct EndGuard<'a>(pub &'a EmbeddingQueue);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.end(ModelState::Failed {
            reason: "the embedding thread has ended".to_owned(),
            hint: "restart the daemon".to_owned(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_trimmed_after_any_batch_and_sooner_after_many() {
        assert_eq!(idle_before_trim(0), None, "there is nothing to trim");
        assert_eq!(idle_before_trim(1), Some(IDLE_BEFORE_TRIM));
        assert_eq!(idle_before_trim(MANY_BATCHES - 1), Some(IDLE_BEFORE_TRIM));
        assert_eq!(idle_before_trim(MANY_BATCHES), Some(IDLE_BEFORE_TRIM_AFTER_MANY));
    }
}
