//! `recall_memory`: encodes the query, searches on a reader thread, and records the results as usage.

use crate::service::encoding::EncodedQuery;
use crate::service::{Caller, Service};
use loci_engine::Reader;
use loci_engine::error::Error;
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_proto::error::Failure;
use loci_proto::requests::recall::{RecallReply, RecallRequest};
use std::sync::Arc;

/// How often a query is encoded if the model is changed meanwhile.
const MAX_ATTEMPTS: usize = 3;

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: RecallRequest,
) -> Result<RecallReply, Failure> {
    let prepared = Arc::new(prepare(request)?);
    let pools = service.pools().await?;
    let previewed_query = prepared.preview_query().map(str::to_owned);
    let mut attempt = 1;
    let answer = loop {
        let text = prepared.text_to_embed().map(str::to_owned);
        let EncodedQuery { encoding, degraded } = match text {
            Some(text) => service.encode_query(text).await?,
            None => EncodedQuery { encoding: None, degraded: service.degraded() },
        };
        let (actor, now) = (caller.session.actor(), service.now());
        let client = caller.session.client();
        let omits_defaults = caller.session.is_agent();
        let prepared = Arc::clone(&prepared);
        let recall = move |reader: &mut Reader| {
            let context = RecallContext {
                viewer: (&actor).into(),
                client: client.as_deref(),
                encoding: encoding.as_ref(),
                now,
                degraded: &degraded,
                fusion: None,
                omits_defaults,
            };
            reader.recall(&prepared, context)
        };
        match pools.readers.run(recall).await? {
            // The active vector set has changed since the query was encoded.
            Err(Error::OtherModel) if attempt < MAX_ATTEMPTS => attempt += 1,
            answer => break answer?,
        }
    };
    service.record_usage(caller.session, previewed_query, &answer);
    Ok(answer.reply)
}
