//! `groups_switch`, `incognito`: switch a project off or on, and make a running session incognito; and which verbs a session may call where
//! loci is off.
//!
//! Not here: whether loci is off (`service::switches`).

use crate::handlers::handle::Handle;
use crate::interface::agents::session::Session;
use crate::service::switches::ids_of;
use crate::service::{Caller, Service};
use loci_proto::error::{Code, Failure};
use loci_proto::memory::Origin;
use loci_proto::requests::Request;
use loci_proto::requests::groups::{GroupSwitchedReply, SwitchRequest};
use loci_proto::requests::hook::{HookEvent, HookRequest};
use loci_proto::requests::incognito::{IncognitoReply, IncognitoRequest};
use loci_proto::requests::verbs::WhereOff;
use std::collections::BTreeSet;

/// Minimum characters of the beginning of a session's id.
const MIN_PREFIX: usize = 4;

/// Refuses a call where loci is off. A person may still look, delete, export, and switch it on.
///
/// # Errors
/// `off`.
pub(super) async fn check(
    service: &Service,
    session: &Session,
    request: &Request,
) -> Result<(), Failure> {
    let is_person = session.actor().origin == Origin::Person;
    let is_served = match request.powers().where_off {
        WhereOff::Nobody => false,
        WhereOff::Person => is_person,
        WhereOff::Command => !session.is_agent(),
        WhereOff::Everybody => true,
    };
    if is_served {
        return Ok(());
    }
    if let Request::Hook(HookRequest { event: HookEvent::SessionEnd, session: Some(id), .. }) =
        request
    {
        // Also where nothing else is served: the next session of the client must find that this one has ended.
        service.hooks.sessions.end(id);
    }
    check_on(service, session).await
}

/// Refuses everything where loci is off.
///
/// # Errors
/// `off`.
pub(super) async fn check_on(service: &Service, session: &Session) -> Result<(), Failure> {
    match service.off(session).await {
        Some(reason) => Err(reason.failure(&service.project_name(session).await)),
        None => Ok(()),
    }
}

impl Handle for SwitchRequest {
    async fn handle(
        self,
        service: &Service,
        caller: Caller<'_>,
    ) -> Result<GroupSwitchedReply, Failure> {
        let root = caller.session.hello.place.as_ref().and_then(|place| place.root.clone());
        let switched = service
            .write(caller, move |writer, call| writer.switch_group(call, &self, root.as_ref()))
            .await;
        // What was stored or imported while the project was off was not sent to an API.
        service.set_vectors_missing(true);
        switched
    }
}

impl Handle for IncognitoRequest {
    async fn handle(
        self,
        service: &Service,
        caller: Caller<'_>,
    ) -> Result<IncognitoReply, Failure> {
        let incognito = !self.off;
        let sessions = find_session(service, &self.session)?;
        let reply = IncognitoReply { sessions: sessions.clone(), incognito };
        let set = service
            .write(caller, move |writer, call| writer.set_incognito(call, &sessions, incognito))
            .await;
        set.map(|()| reply)
    }
}

/// Returns the ids of the session that a text names: the id of a session with hooks, the beginning of the id of a connected one, or the
/// process id of its shim.
fn find_session(service: &Service, text: &str) -> Result<Vec<String>, Failure> {
    if service.hooks.sessions.has(text) {
        let joined = service.joined_sessions(text, &service.hooks.sessions.ancestors(text));
        let ids: BTreeSet<&str> = joined.iter().flat_map(|own| ids_of(own)).chain([text]).collect();
        return Ok(ids.into_iter().map(str::to_owned).collect());
    }
    let mut found: Vec<Vec<String>> = Vec::new();
    for session in service.sessions.all() {
        let hello = &session.hello;
        let ids: Vec<String> = ids_of(&session).map(str::to_owned).collect();
        let has_prefix = text.len() >= MIN_PREFIX && ids.iter().any(|id| id.starts_with(text));
        if has_prefix || hello.pid.to_string() == text {
            found.push(ids);
        }
    }
    match (found.pop(), found.len()) {
        (Some(ids), 0) => Ok(ids),
        (Some(_), others) => {
            Err(Failure::invalid("session", format!("is the beginning of {} sessions", others + 1))
                .hint("Use the process id: loci ctl ps"))
        }
        (None, _) => Err(Failure::new(Code::NotFound, "names no connected session")
            .at("session")
            .hint("Use the id or the process id of loci ctl ps --json")),
    }
}
