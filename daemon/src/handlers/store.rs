//! `store_memory`: encodes the text outside any lock, then stores it in one transaction that may share its commit with others.

use crate::handlers::groups;
use crate::handlers::handle::Handle;
use crate::service::project_files::CheckoutFiles;
use crate::service::store_state::StorePools;
use crate::service::{Caller, Service};
use loci_engine::operations::store::Draft;
use loci_proto::error::Failure;
use loci_proto::requests::store::{StoreReply, StoreRequest};
use std::sync::Arc;
use std::time::Instant;

impl Handle for StoreRequest {
    /// # Errors
    /// The errors of the engine; `embed_failed` if the model returned unusable vectors; `busy`. Nothing is stored then.
    async fn handle(self, service: &Service, caller: Caller<'_>) -> Result<StoreReply, Failure> {
        let session = caller.session;
        let pools = service.pools().await?;
        if let Some(answer) = earlier_answer(&pools, caller.key.clone()).await? {
            session.record_store();
            return Ok(answer);
        }
        let is_unnamed = self.group.is_none();
        let group = groups::named_project(service, session, self.group.clone()).await;
        let draft = Draft::new(self, service.now())?
            .with_shown(caller.session.shown.seqs())
            .with_default_scope(service.config.scope_of(&group));
        service.repeat_limiter.count(&caller.session.group.id, draft.content(), Instant::now())?;
        let draft = with_files(service, &caller, draft).await;
        let encodings = Arc::new(service.encode_document(&draft.document()).await?);
        let encoded = Arc::clone(&encodings);
        let (call, moment) = (service.call_context(caller), service.first_moment());
        let stored = match pools.writer() {
            Ok(writer) => {
                writer
                    .run_grouped(move |writer| {
                        moment.record(writer);
                        writer.store(&call, &draft, &encoded)
                    })
                    .await
            }
            Err(failure) => Err(failure),
        };
        let stored = stored.and_then(|stored| stored.map_err(Failure::from));
        service.note_encoded(&encodings);
        if stored.as_ref().is_ok_and(|stored| stored.deduplicated) {
            // The known memory may have got the questions of this one.
            service.set_vectors_missing(true);
        }
        service.health.record_write(&stored, service.now());
        service.request_checkpoint();
        let stored = stored?;
        session.record_store();
        let group = match stored.group {
            None if session.names_project() => Some(service.project_name(session).await),
            other => other,
        };
        let is_outside = is_unnamed && !stored.deduplicated && session.is_outside_projects();
        let outside = group.as_deref().filter(|_| is_outside).map(|group| {
            format!("This session is in no project; what it stores goes to project {group}")
        });
        let note = match (stored.note, outside) {
            (Some(note), Some(outside)) => Some(format!("{note}. {outside}")),
            (note, outside) => note.or(outside),
        };
        Ok(StoreReply { degraded: service.degraded(), group, note, ..stored })
    }
}

/// Records the contents of the files that the memory names, off the threads that serve sessions.
async fn with_files(service: &Service, caller: &Caller<'_>, draft: Draft) -> Draft {
    let checkout = caller.session.actor().checkout;
    match CheckoutFiles::of(&service.file_thread, checkout.as_ref()) {
        Some(files) if draft.names_files() => {
            let recorded = draft.clone();
            let record = move || recorded.with_files(&files);
            tokio::task::spawn_blocking(record).await.unwrap_or(draft)
        }
        _ => draft,
    }
}

/// Returns the stored answer if the call is a retry, which the shim sends if the daemon died before it answered. Nothing is encoded or
/// queued then.
async fn earlier_answer(
    pools: &StorePools,
    key: Option<String>,
) -> Result<Option<StoreReply>, Failure> {
    match key {
        Some(key) => Ok(pools.readers.run(move |reader| reader.answered(&key)).await??),
        None => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use crate::embedding::Embedder;
    use crate::service::test_fixture::ServiceFixture;
    use loci_proto::error::Code;
    use serde_json::json;

    #[tokio::test]
    async fn a_vector_of_nan_is_refused_and_nothing_is_stored() {
        let folder = tempfile::tempdir().expect("a temporary folder is created");
        let fixture = ServiceFixture::warm(&folder, Embedder::with_nan_vectors());
        let arguments = json!({"content": "x", "type": "semantic"});
        let refused =
            fixture.call("store_memory", arguments).await.expect_err("the store is refused");
        assert_eq!(refused.code, Code::EmbedFailed, "{refused}");
        let stats =
            fixture.call("memory_stats", json!({})).await.expect("the memories are counted");
        assert_eq!(stats["total_memories"], 0);
        let answer = fixture.call("recall_memory", json!({"query": "x"})).await;
        assert_eq!(answer.expect("keyword search answers")["degraded"], json!(["embedding"]));
    }
}
