//! `recall_memory`: encodes the query, searches on a reader thread, and records the results as usage.

use crate::handlers::groups;
use crate::handlers::handle::Handle;
use crate::interface::agents::session::Session;
use crate::reranking::RerankTurn;
use crate::service::encoding::EncodedQuery;
use crate::service::project_files::CheckoutFiles;
use crate::service::{Caller, Service};
use loci_engine::error::{Error, Result};
use loci_engine::model::files::ProjectFiles;
use loci_engine::operations::recall::{PreparedRecall, RecallContext, prepare};
use loci_engine::{EncodedPast, Reader};
use loci_proto::error::Failure;
use loci_proto::requests::recall::{RecallReply, RecallRequest};
use std::sync::Arc;
use std::time::Instant;

/// How often a query is encoded if the model is changed meanwhile.
const MAX_ATTEMPTS: usize = 3;

impl Handle for RecallRequest {
    async fn handle(
        self,
        service: &Service,
        caller: Caller<'_>,
    ) -> std::result::Result<RecallReply, Failure> {
        let started = Instant::now();
        let is_in_own = self.group.is_none() && self.ids.is_none();
        let prepared = prepare(self, service.now())?;
        let prepared = Arc::new(with_encoded_past(service, caller.session, prepared).await?);
        let previewed_query = prepared.preview_query().map(str::to_owned);
        let recall = |reader: &Reader, prepared: &PreparedRecall, context: RecallContext<'_>| {
            reader.recall(prepared, context)
        };
        let mut answer = run(service, caller.session, &prepared, recall).await?;
        answer.set_latency(started.elapsed());
        service.record_usage(caller.session, previewed_query, &answer);
        let mut reply = answer.reply;
        if reply.results.is_empty() && is_in_own && reply.note.is_none() {
            reply.note = service.offer(caller.session).await.map(|offer| offer.for_agent().into());
        }
        Ok(reply)
    }
}

/// Adds the encodings of the earlier texts that a recall with `as_of` searches, while the model is loaded.
async fn with_encoded_past(
    service: &Service,
    session: &Session,
    prepared: PreparedRecall,
) -> std::result::Result<PreparedRecall, Failure> {
    if !prepared.is_search_of_past() {
        return Ok(prepared);
    }
    let (actor, now) = (session.actor(), service.now());
    let (prepared, documents) = service
        .read(move |reader| {
            let documents = reader.past_documents(&prepared, (&actor).into(), now)?;
            Ok((prepared, documents))
        })
        .await?;
    let mut encoded = Vec::with_capacity(documents.len());
    for (seq, document) in documents {
        let encodings = service.encode_document(&document).await?;
        encoded.push(EncodedPast { seq, document, encodings });
    }
    Ok(prepared.with_encoded_past(encoded))
}

/// Encodes the query of a prepared recall, and runs `work` with it on a reader.
///
/// # Errors
/// The errors of `work`; `busy`.
pub(super) async fn run<T: Send + 'static>(
    service: &Service,
    session: &Session,
    prepared: &Arc<PreparedRecall>,
    work: impl Fn(&Reader, &PreparedRecall, RecallContext<'_>) -> Result<T> + Clone + Send + 'static,
) -> std::result::Result<T, Failure> {
    let pools = service.pools().await?;
    let mut attempt = 1;
    loop {
        let text = prepared.text_to_embed().map(str::to_owned);
        let EncodedQuery { encoding, degraded } = match text {
            Some(text) => {
                let text = groups::outgoing_query(service, session, text).await;
                service.encode_query(text).await?
            }
            None => EncodedQuery { encoding: None, degraded: service.degraded() },
        };
        let (actor, now) = (session.actor(), service.now());
        let client = session.client();
        let is_agent = session.is_agent();
        let names_project = is_agent && session.names_project();
        let (prepared, work) = (Arc::clone(prepared), work.clone());
        // Before a reader is occupied: calls that do not need the model must not wait for it.
        let turn = match &service.reranker {
            Some(reranker) if prepared.text_to_embed().is_some() => Some(reranker.turn().await),
            _ => None,
        };
        let files = CheckoutFiles::of(&service.file_thread, actor.checkout.as_ref());
        let recall = move |reader: &mut Reader| {
            let context = RecallContext {
                viewer: (&actor).into(),
                client: client.as_deref(),
                encoding: encoding.as_ref(),
                now,
                degraded: &degraded,
                fusion: None,
                is_agent,
                names_project,
                rerank: turn.as_ref().map(RerankTurn::of_recall),
                files: files.as_ref().map(|files| files as &dyn ProjectFiles),
            };
            work(reader, &prepared, context)
        };
        match pools.readers.run(recall).await? {
            // The active vector set has changed since the query was encoded.
            Err(Error::OtherModel) if attempt < MAX_ATTEMPTS => attempt += 1,
            answer => return Ok(answer?),
        }
    }
}
