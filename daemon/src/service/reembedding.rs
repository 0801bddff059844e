//! Encodes all memories again in the background: takes the configured model into use, fills the next vector set batch by batch, changes to
//! it, and deletes sets that went out of use a week ago.
//!
//! Each batch is one transaction with a cursor, so an interrupted filling resumes there. Calls come first: shortly after one, a small batch
//! per tick is encoded, as for missing vectors (`housekeeping`). Not here: the transactions (the engine), the verb (`handlers`).

use crate::embedding::{EmbedError, Embedder, Priority};
use crate::service::Service;
use crate::service::store_state::StorePools;
use loci_engine::model::document::Document;
use loci_engine::model::time::{DAY, Timestamp};
use loci_engine::model::vector_set::{ModelRef, VectorSet};
use loci_engine::model::withheld::Withheld;
use loci_engine::operations::reembed::{FillBatch, FilledMemory};
use loci_engine::{Reader, Writer};
use loci_proto::error::Failure;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Number of memories of one batch and transaction while no call arrives.
const IDLE_BATCH: usize = 64;
/// The same shortly after a call.
const BUSY_BATCH: usize = 16;
/// Number of memories that are sent to an API without asking: those of a new store, whose first calls come before this is decided.
const SENT_UNASKED: u64 = 16;
/// How long a set that went out of use is kept, in milliseconds.
pub const KEPT_FOR: i64 = 7 * DAY;
/// Maximum number of memories whose encodings in such a set are deleted per tick.
const PURGE_BATCH: usize = 64;

/// What the background work has done so far.
#[derive(Debug, Default)]
pub struct RefillState {
    /// The model that was last passed to the store.
    applied: Option<ModelRef>,
    /// True once a person is needed to send the memories to an API.
    waits_for_person: bool,
    /// The set whose `unusable` memories are known.
    set: String,
    /// Memories that the next model could not encode; keyword search finds them.
    unusable: HashSet<i64>,
}

/// Does the work that is due, for at most about `tick`.
///
/// # Errors
/// `busy`, `storage_failed`.
pub async fn step(
    service: &Service,
    pools: &StorePools,
    state: &mut RefillState,
    tick: Duration,
) -> Result<(), Failure> {
    let now = service.now();
    let ready = service.models.ready_model();
    if ready.is_some() && ready != state.applied && may_begin(service, pools, state).await? {
        if let Some(model) = ready.clone() {
            pools.run_briefly(move |writer| writer.use_model(&model, now)).await?;
        }
        state.applied = ready;
    }
    let started = Instant::now();
    while started.elapsed() < tick {
        let is_busy = service.scheduler.has_recent_call();
        let limit = if is_busy { BUSY_BATCH } else { IDLE_BATCH };
        if !fill_batch(service, pools, state, limit).await? || is_busy {
            break;
        }
    }
    let sets = service.vector_sets();
    service.models.keep_only(&sets);
    if service.clock.read().is_trusted {
        purge(service, pools, now.plus(-KEPT_FOR)).await?;
    }
    Ok(())
}

/// Returns whether the configured model may be taken into use by itself: with an API, which would get the whole store, a person starts that
/// (`loci re-embed`), unless there is nearly nothing to send.
async fn may_begin(
    service: &Service,
    pools: &StorePools,
    state: &mut RefillState,
) -> Result<bool, Failure> {
    if service.api().is_none() || service.uses_api() {
        return Ok(true);
    }
    if !state.waits_for_person {
        let withheld = service.withheld_from(service.models.configured(), pools);
        let missing = move |reader: &mut Reader| reader.missing_in("", &withheld);
        let memories = pools.readers.run(missing).await??;
        state.waits_for_person = memories > SENT_UNASKED;
    }
    Ok(!state.waits_for_person)
}

/// Deletes the encodings of some memories of a set that went out of use before a time.
async fn purge(service: &Service, pools: &StorePools, before: Timestamp) -> Result<(), Failure> {
    let kept = pools.readers.run(|reader| reader.kept_sets()).await??;
    if !kept.iter().any(|kept| kept.since < before) {
        return Ok(());
    }
    let purge = move |writer: &mut Writer| writer.purge_kept_sets(before, PURGE_BATCH);
    if pools.run_briefly(purge).await? > 0 {
        service.request_checkpoint();
    }
    Ok(())
}

/// Fills one batch, or changes to the new set if it is complete; returns false if no further batch can be done now.
async fn fill_batch(
    service: &Service,
    pools: &StorePools,
    state: &mut RefillState,
    limit: usize,
) -> Result<bool, Failure> {
    let sets = service.vector_sets();
    let Some(next) = &sets.filling else { return Ok(false) };
    let Some(embedder) = service.models.of_now(next) else { return Ok(false) };
    if !embedder.is_ready_as(&next.model) {
        embedder.reload_if_due().await;
        return Ok(false);
    }
    if state.set != next.name {
        (state.set, state.unusable) = (next.name.clone(), HashSet::new());
    }
    let withheld = service.withheld_from(&embedder, pools);
    let next_batch = {
        let withheld = withheld.clone();
        move |reader: &mut Reader| reader.fill_batch(limit, &withheld)
    };
    let batch = pools.readers.run(next_batch).await??;
    let Some(FillBatch { set, memories }) = batch.filter(|batch| batch.set == *next) else {
        return Ok(true);
    };
    if memories.is_empty() {
        return finish(service, pools, state, Filled { set, withheld }).await;
    }
    let Some(filled) = encode(&embedder, &set, memories).await else { return Ok(false) };
    let failed = filled.iter().filter(|memory| memory.encoding.is_none());
    state.unusable.extend(failed.map(|memory| memory.seq));
    let store = move |writer: &mut Writer| writer.store_fill_batch(&set.name, &filled);
    pools.run_briefly(store).await?;
    service.request_checkpoint();
    Ok(true)
}

/// A set that has every memory but the withheld ones.
struct Filled {
    set: VectorSet,
    withheld: Withheld,
}

/// Changes to the filled set, or begins another pass if memories were added behind the cursor.
async fn finish(
    service: &Service,
    pools: &StorePools,
    state: &RefillState,
    Filled { set, withheld }: Filled,
) -> Result<bool, Failure> {
    let (unusable, now) = (state.unusable.clone(), service.now());
    let finish = move |writer: &mut Writer| writer.finish_refill(&unusable, &withheld, now);
    let is_finished = pools.run_briefly(finish).await?;
    if is_finished {
        tracing::info!(model = set.model, set = set.name, "all memories were encoded again");
        // Stores that waited for the writer were encoded with the earlier model.
        service.set_vectors_missing(true);
        service.request_checkpoint();
    }
    Ok(!is_finished)
}

/// Encodes a batch; `None` if the model has become unavailable.
async fn encode(
    embedder: &Embedder,
    set: &VectorSet,
    memories: Vec<(i64, Document)>,
) -> Option<Vec<FilledMemory>> {
    let tasks = memories.into_iter().map(|(seq, document)| {
        let embedder = embedder.clone();
        tokio::spawn(async move {
            let encoded = embedder.document(document.clone(), Priority::Bulk).await;
            (seq, document, encoded)
        })
    });
    let mut filled = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        let (seq, document, encoded) = task.await.ok()?;
        let encoding = match encoded {
            Ok(encoded) if *encoded.model == *set.model => Some(encoded.encoding),
            Ok(_) | Err(EmbedError::Unavailable { .. } | EmbedError::Busy) => return None,
            Err(error) => {
                tracing::warn!(%error, seq, "a memory could not be encoded");
                None
            }
        };
        filled.push(FilledMemory { seq, document, encoding });
    }
    Some(filled)
}
