//! `forget_many`: hides several memories in one transaction.

use crate::service::{Caller, Service};
use loci_proto::error::Failure;
use loci_proto::requests::forget_many::{ForgetManyReply, ForgetManyRequest};

pub(super) async fn handle(
    service: &Service,
    caller: Caller<'_>,
    request: ForgetManyRequest,
) -> Result<ForgetManyReply, Failure> {
    service.write_with_reserve(caller, move |writer, call| writer.forget_many(call, &request)).await
}
