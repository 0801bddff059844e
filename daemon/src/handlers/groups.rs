//! `groups`, `groups_rename`, `groups_merge`, `groups_alias`: list and change groups.

use crate::service::{Caller, Service};
use loci_engine::Reader;
use loci_proto::error::Failure;
use loci_proto::requests::groups::{
    AliasRequest, GroupChangedReply, GroupsReply, MergeRequest, RenameRequest,
};

pub(super) async fn list(service: &Service) -> Result<GroupsReply, Failure> {
    service.read(Reader::groups).await
}

pub(super) async fn rename(
    service: &Service,
    caller: Caller<'_>,
    request: RenameRequest,
) -> Result<GroupChangedReply, Failure> {
    service.write(caller, move |writer, call| writer.rename_group(call, &request)).await
}

pub(super) async fn merge(
    service: &Service,
    caller: Caller<'_>,
    request: MergeRequest,
) -> Result<GroupChangedReply, Failure> {
    service.write(caller, move |writer, call| writer.merge_groups(call, &request)).await
}

pub(super) async fn alias(
    service: &Service,
    caller: Caller<'_>,
    request: AliasRequest,
) -> Result<GroupChangedReply, Failure> {
    service.write(caller, move |writer, call| writer.alias_group(call, &request)).await
}
