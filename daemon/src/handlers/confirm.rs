//! `confirm`: marks memories as confirmed by a person.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::confirm::{ConfirmReply, ConfirmRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: ConfirmRequest,
) -> Result<ConfirmReply, Failure> {
    service.write(caller, move |writer, call| writer.confirm(call, &request)).await
}
