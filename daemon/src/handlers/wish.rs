//! Notes what a refused request asked for, if it is an act on single memories that a person may do: it waits in `loci review`.
//!
//! Not here: what is refused (`powers`, the engine), the list of wishes (`list`).

use crate::interface::agents::session::Session;
use crate::service::{Caller, Service};
use loci_engine::operations::wish::{MAX_WISHES, Wished};
use loci_proto::error::Failure;
use loci_proto::group::GroupName;
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::Request;
use loci_proto::wish::WishKind;

/// Returns what a request asks to do to single memories, if its caller is no person.
pub(super) fn of(session: &Session, request: &Request) -> Option<Wished> {
    if session.actor().origin == Origin::Person {
        return None;
    }
    let wished = |kind, ids: &[MemoryId], group: &_| {
        Some(Wished { kind, ids: ids.to_vec(), to: None, group: Option::clone(group) })
    };
    match request {
        Request::Forget(forget) if !forget.rejected => {
            let kind = if forget.hard_delete { WishKind::Delete } else { WishKind::Forget };
            wished(kind, std::slice::from_ref(&forget.memory_id), &forget.group)
        }
        Request::ForgetMany(forget) => wished(WishKind::Forget, &forget.memory_ids, &forget.group),
        Request::Restore(restore) => {
            wished(WishKind::Restore, std::slice::from_ref(&restore.memory_id), &restore.group)
        }
        Request::Confirm(confirm) if !confirm.preview => {
            wished(WishKind::Confirm, confirm.memory_id.as_slice(), &confirm.group)
        }
        Request::MoveTo(request) => {
            let to = Some(request.to.clone());
            let wished = wished(WishKind::Move, &request.memory_ids, &request.group)?;
            Some(Wished { to, ..wished })
        }
        _ => None,
    }
    .filter(|wished| !wished.ids.is_empty())
}

/// Notes a wish, and says so in the refusal.
pub(super) async fn note(
    service: &Service,
    caller: Caller<'_>,
    wished: Wished,
    refusal: Failure,
) -> Failure {
    let refusal = match wished.ids.as_slice() {
        [id] => {
            let command = wished.kind.command(id, wished.to.as_ref().map(GroupName::as_str));
            Failure { field: refusal.field, ..Failure::only_person(refusal.message, &command) }
        }
        _ => refusal,
    };
    let noted = service.write(caller, move |writer, call| writer.wish(call, &wished)).await;
    let hint = refusal.hint.clone().unwrap_or_default();
    match noted {
        Ok(true) => {
            refusal.hint(format!("{hint}. Until then it waits for the user in loci review"))
        }
        Ok(false) => refusal.hint(format!(
            "{hint}. It is not on the list of loci review, which has {MAX_WISHES} already"
        )),
        // The caller sees none of the memories, or the store cannot be written: the refusal stands.
        Err(failure) => {
            tracing::debug!(%failure, "a wish was not noted");
            refusal
        }
    }
}
