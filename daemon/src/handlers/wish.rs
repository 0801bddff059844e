//! Notes what a refused request asked for, if it is an act on one memory that a person may do: it waits in `loci review`.
//!
//! Not here: what is refused (`powers`, the engine), the list of wishes (`list`).

use crate::interface::agents::session::Session;
use crate::service::{Caller, Service};
use loci_engine::operations::wish::{MAX_WISHES, WishState, Wished};
use loci_proto::error::Failure;
use loci_proto::group::GroupName;
use loci_proto::memory::{MemoryId, Origin};
use loci_proto::requests::Request;
use loci_proto::wish::WishKind;

/// Returns what a request asks to do to one memory, if its caller is no person.
pub(super) fn of(session: &Session, request: &Request) -> Option<Wished> {
    if session.actor().origin == Origin::Person {
        return None;
    }
    let wished = |kind, id: &MemoryId, group: &Option<GroupName>| {
        Some(Wished { kind, id: id.clone(), to: None, group: group.clone() })
    };
    match request {
        Request::Forget(forget) if !forget.rejected => {
            let kind = if forget.hard_delete { WishKind::Delete } else { WishKind::Forget };
            wished(kind, &forget.memory_id, &forget.group)
        }
        Request::Restore(restore) => wished(WishKind::Restore, &restore.memory_id, &restore.group),
        Request::Confirm(confirm) if !confirm.preview => {
            wished(WishKind::Confirm, confirm.memory_id.as_ref()?, &confirm.group)
        }
        Request::MoveTo(request) => {
            let [id] = request.memory_ids.as_slice() else { return None };
            let wished = wished(WishKind::Move, id, &request.group)?;
            Some(Wished { to: Some(request.to.clone()), ..wished })
        }
        _ => None,
    }
}

/// Notes a wish, and says so in the refusal.
pub(super) async fn note(
    service: &Service,
    caller: Caller<'_>,
    wished: Wished,
    refusal: Failure,
) -> Failure {
    let command = wished.kind.command(&wished.id, wished.to.as_ref().map(GroupName::as_str));
    let noted = service.write(caller, move |writer, call| writer.wish(call, &wished)).await;
    let more = match noted {
        Ok(WishState::Waits) => "It waits for the user in loci review".to_owned(),
        Ok(WishState::Declined) => "The user has declined it; do not ask again".to_owned(),
        Ok(WishState::Done) => "The memory is so already".to_owned(),
        Ok(WishState::Full) => {
            format!("It is not in loci review, where {MAX_WISHES} wait already")
        }
        // The caller does not see the memory, or the store cannot be written: the refusal stands.
        Err(failure) => {
            tracing::debug!(%failure, "a wish was not noted");
            return refusal;
        }
    };
    let shown = Failure::only_person(refusal.message, &command);
    let hint = format!("{more}. {}", shown.hint.as_deref().unwrap_or_default());
    Failure { field: refusal.field, ..shown }.hint(hint)
}
