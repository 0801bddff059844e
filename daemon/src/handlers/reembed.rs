//! `reembed`: shows, starts and cancels a re-embedding; the work itself is done in the background (`service::reembedding`).

use crate::embedding::ModelState;
use crate::embedding::api::outgoing::tokens_of_bytes;
use crate::handlers::handle::Handle;
use crate::service::reembedding::KEPT_FOR;
use crate::service::store_state::StorePools;
use crate::service::{Caller, Service, index_warmup};
use loci_engine::model::time::Timestamp;
use loci_engine::model::vector_set::{KeptSet, ModelRef, VectorSet};
use loci_engine::operations::reembed::Refill;
use loci_engine::{Reader, Writer};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::reembed::{
    KeptVectors, NamedModel, ReembedAction, ReembedReply, ReembedRequest, SentTexts,
};

/// Number of memories whose kept encodings are deleted per transaction.
const DROP_BATCH: usize = 256;

impl Handle for ReembedRequest {
    /// # Errors
    /// `conflict` if the model cannot be used, or there is nothing to cancel; `busy`, `storage_failed`.
    async fn handle(self, service: &Service, _caller: Caller<'_>) -> Result<ReembedReply, Failure> {
        let pools = index_warmup::pools_with_index(service).await?;
        let (now, refill) = (service.now(), refill(self.force));
        match self.action {
            ReembedAction::Status => {}
            ReembedAction::Start => {
                let model = usable_model(service).await?;
                let start = move |writer: &mut Writer| writer.start_refill(&model, refill, now);
                pools.writer()?.run(start).await??;
            }
            ReembedAction::Cancel => cancel(service, &pools, now).await?,
            ReembedAction::DropKept => drop_kept(service, &pools, now).await?,
        }
        reply(service, &pools, refill).await
    }
}

fn refill(force: bool) -> Refill {
    if force { Refill::Always } else { Refill::IfOtherModel }
}

/// Returns the configured model once it is loaded.
async fn usable_model(service: &Service) -> Result<ModelRef, Failure> {
    let state = service.models.configured().wait_until_loaded().await;
    service.models.ready_model().ok_or_else(|| {
        let reason = state.reason().unwrap_or("its files are missing");
        let hint = state.hint().unwrap_or("run loci doctor");
        Failure::new(Code::Conflict, format!("the configured model cannot be used: {reason}"))
            .hint(sentence(hint))
    })
}

/// Returns a hint with a capital letter.
fn sentence(hint: &str) -> String {
    let mut letters = hint.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

async fn cancel(service: &Service, pools: &StorePools, now: Timestamp) -> Result<(), Failure> {
    if service.vector_sets().filling.is_none() {
        let kept = pools.readers.run(|reader| reader.kept_sets()).await??;
        if let Some(KeptSet { set, .. }) = kept.into_iter().find(|kept| kept.was_active) {
            require_loadable(service, &set).await?;
        }
    }
    let configured = service.models.configured().id().unwrap_or_default();
    let cancel = move |writer: &mut Writer| writer.cancel_refill(&configured, now);
    pools.writer()?.run(cancel).await??;
    Ok(())
}

/// Refuses to return to vectors whose model cannot be loaded: no query could be compared with them.
async fn require_loadable(service: &Service, set: &VectorSet) -> Result<(), Failure> {
    let state = match service.models.of(set).await {
        Some(embedder) => {
            let state = embedder.wait_until_loaded().await;
            if embedder.is_ready_as(&set.model) {
                return Ok(());
            }
            Some(state)
        }
        None => None,
    };
    let reason = state.as_ref().and_then(ModelState::reason).unwrap_or("its files are missing");
    let message = format!("the model {} cannot be loaded: {reason}", set.model);
    Err(Failure::new(Code::Conflict, message)
        .hint("Put the files of the earlier model back, then run loci re-embed --cancel again"))
}

async fn drop_kept(service: &Service, pools: &StorePools, now: Timestamp) -> Result<(), Failure> {
    let before = now.plus(1);
    loop {
        let drop = move |writer: &mut Writer| writer.purge_kept_sets(before, DROP_BATCH);
        let dropped = pools.writer()?.run(drop).await??;
        let kept = pools.readers.run(|reader| reader.kept_sets()).await??;
        if dropped == 0 && !kept.iter().any(|kept| kept.since < before) {
            break;
        }
    }
    service.request_checkpoint();
    Ok(())
}

async fn reply(
    service: &Service,
    pools: &StorePools,
    refill: Refill,
) -> Result<ReembedReply, Failure> {
    let sets = service.vector_sets();
    let configured = service.models.configured();
    let configured_id = configured.id().unwrap_or_default().to_string();
    let state_of = |set: &VectorSet| {
        let embedder = service.models.of_now(set);
        embedder.map_or("missing", |embedder| embedder.state().as_str()).to_owned()
    };
    let re_embedding = service.re_embedding(pools).await?;
    let (kept, declined) = pools
        .readers
        .run(|reader| {
            Ok::<_, loci_engine::error::Error>((reader.kept_sets()?, reader.declined_model()?))
        })
        .await??;
    let target = match &sets.filling {
        Some(filling) => Some(filling.name.clone()),
        None if refill == Refill::IfOtherModel && sets.active.model == configured_id => None,
        None => {
            let reused = kept
                .iter()
                .find(|kept| refill == Refill::IfOtherModel && kept.set.model == configured_id);
            Some(reused.map(|kept| kept.set.name.clone()).unwrap_or_default())
        }
    };
    let to_encode = match (&re_embedding, &target) {
        (Some(running), _) => running.total.saturating_sub(running.done),
        (None, Some(set)) => {
            let set = set.clone();
            let withheld = service.withheld_from(configured, pools);
            pools.readers.run(move |reader| reader.missing_in(&set, &withheld)).await??
        }
        (None, None) => 0,
    };
    let sends = match target.filter(|_| to_encode > 0) {
        Some(set) => sends(service, pools, set).await?,
        None => None,
    };
    Ok(ReembedReply {
        active: NamedModel { id: sets.active.model.clone(), state: state_of(&sets.active) },
        configured: NamedModel {
            id: configured_id.clone(),
            state: configured.state().as_str().to_owned(),
        },
        re_embedding,
        to_encode,
        sends,
        declined: declined.is_some_and(|declined| declined == configured_id),
        kept: kept.iter().map(to_kept).collect(),
    })
}

/// Returns what the encoding of the memories that a set lacks would send; `None` for a model on this machine.
async fn sends(
    service: &Service,
    pools: &StorePools,
    set: String,
) -> Result<Option<SentTexts>, Failure> {
    let Some(api) = service.api() else { return Ok(None) };
    let withheld = service.withheld_from(service.models.configured(), pools);
    let missing = move |reader: &mut Reader| reader.missing_bytes_in(&set, &withheld);
    let bytes = pools.readers.run(missing).await??;
    Ok(Some(SentTexts {
        host: api.config.target.host.clone(),
        tokens: tokens_of_bytes(bytes),
        daily_tokens: api.config.daily_tokens,
    }))
}

fn to_kept(kept: &KeptSet) -> KeptVectors {
    KeptVectors {
        id: kept.set.model.clone(),
        set: kept.set.name.clone(),
        complete: kept.was_active,
        kept_until: kept.since.plus(KEPT_FOR).iso(),
    }
}
