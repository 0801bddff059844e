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

/// Idle time after which memory is trimmed, if [`TRIM_AFTER_BATCHES`] is reached.
const IDLE_BEFORE_TRIM: Duration = Duration::from_millis(300);

/// Minimum number of batches since the last trim before memory is trimmed again.
const TRIM_AFTER_BATCHES: u32 = 16;

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
    let (mut failures, mut batches_since_trim) = (0, 0);
    loop {
        let open = Priority::ALL.into_iter().find(|priority| plans[*priority as usize].is_some());
        let trim_after = (batches_since_trim >= TRIM_AFTER_BATCHES).then_some(IDLE_BEFORE_TRIM);
        let priority = match queue.next_action(open, trim_after) {
            NextAction::Encode(priority) => priority,
            NextAction::TrimMemory => {
                encoder.trim_memory();
                batches_since_trim = 0;
                continue;
            }
            NextAction::Stop => return ServeEnd::Stopped,
        };
        batches_since_trim += 1;
        let plan = &mut plans[priority as usize];
        let Err(reason) = encode_batch(queue, priority, plan, encoder.as_mut()) else {
            failures = 0;
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
struct EndGuard<'a>(&'a EmbeddingQueue);

impl Drop for EndGuard<'_> {
    fn drop(&mut self) {
        self.0.end(ModelState::Failed {
            reason: "the embedding thread has ended".to_owned(),
            hint: "restart the daemon".to_owned(),
        });
    }
}
