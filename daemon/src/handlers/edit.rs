//! `edit`: changes one memory in place.

use crate::service::{Caller, Service};
use loci_engine::model::encoding::DocumentEncoding;
use loci_engine::operations::store::check_content;
use loci_proto::error::Failure;
use loci_proto::requests::edit::{ChangedReply, EditRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: EditRequest,
) -> Result<ChangedReply, Failure> {
    let mut encoding = DocumentEncoding::default();
    if let Some(text) = &request.content {
        check_content(text)?;
        encoding = service.encode_document(text).await?.unwrap_or_default();
    }
    service.write(caller, move |writer, call| writer.edit(call, &request, &encoding)).await
}
