//! `recall_memory`: encodes the query, searches on a reader thread, and records the results as usage.

use crate::service::encoding::EncodedQuery;
use crate::service::{Caller, Service};
use loci_engine::operations::recall::{RecallContext, prepare};
use loci_proto::error::Failure;
use loci_proto::requests::recall::{RecallReply, RecallRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: RecallRequest,
) -> Result<RecallReply, Failure> {
    let prepared = prepare(request)?;
    let text = prepared.text_to_embed().map(str::to_owned);
    let pools = service.pools().await?;
    let EncodedQuery { encoding, degraded } = match text {
        Some(text) => service.encode_query(text).await?,
        None => EncodedQuery { encoding: None, degraded: service.degraded() },
    };
    let (group, now) = (caller.session.group.clone(), service.now());
    let client = caller.session.client();
    let previewed_query = prepared.preview_query().map(str::to_owned);
    let answer = pools
        .readers
        .run(move |reader| {
            let context = RecallContext {
                group: &group,
                client: client.as_deref(),
                encoding: encoding.as_ref(),
                now,
                degraded: &degraded,
                fusion: None,
            };
            reader.recall(&prepared, context)
        })
        .await??;
    service.record_usage(caller.session, previewed_query, &answer);
    Ok(answer.reply)
}
