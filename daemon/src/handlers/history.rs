//! `history`: lists journal entries.

use crate::service::Service;
use loci_proto::error::Failure;
use loci_proto::requests::history::{HistoryReply, HistoryRequest};

pub(super) async fn handle(
    service: &Service,
    request: HistoryRequest,
) -> Result<HistoryReply, Failure> {
    service.read(move |reader| reader.history(&request)).await
}
