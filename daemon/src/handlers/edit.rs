//! `edit`: changes one memory in place.

use crate::service::{Caller, Service};
use loci_engine::model::encoding::DocumentEncoding;
use loci_engine::operations::edit;
use loci_proto::error::Failure;
use loci_proto::requests::edit::{ChangedReply, EditRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    mut request: EditRequest,
) -> Result<ChangedReply, Failure> {
    let mut encoding = DocumentEncoding::default();
    edit::clean(&mut request)?;
    if let Some(text) = &request.content {
        encoding = service.encode_document(text).await?.unwrap_or_default();
    }
    service.write(caller, move |writer, call| writer.edit(call, &request, &encoding)).await
}
