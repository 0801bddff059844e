//! `edit`: changes one memory in place.

use crate::service::{Caller, Service};
use loci_engine::Writer;
use loci_engine::model::encoding::TextEncodings;
use loci_engine::operations::edit;
use loci_engine::transaction::change::CallContext;
use loci_proto::error::Failure;
use loci_proto::requests::edit::{ChangedReply, EditRequest};
use std::sync::Arc;

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    mut request: EditRequest,
) -> Result<ChangedReply, Failure> {
    let mut encodings = TextEncodings::default();
    edit::clean(&mut request)?;
    if let Some(text) = &request.content {
        encodings = service.encode_document(text).await?;
    }
    let (encodings, is_new_text) = (Arc::new(encodings), request.content.is_some());
    let stored = Arc::clone(&encodings);
    let edit = move |writer: &mut Writer, call: &CallContext| writer.edit(call, &request, &stored);
    let edited = service.write(caller, edit).await;
    if is_new_text {
        service.note_encoded(&encodings);
    }
    edited
}
