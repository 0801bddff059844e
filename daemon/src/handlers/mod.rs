//! One handler per verb, and [`handle`], which dispatches a request to its handler.
//!
//! A handler encodes texts where needed and runs an operation of the engine on the writer or a reader. `Request::parse` has checked its
//! arguments. Not here: who may call which verb (`interface`), what a verb means (the engine), `export` and `import`, which are streams
//! (`interface::admin::transfer`).

mod backup;
pub(crate) mod binding;
mod bridge;
mod cleanup;
mod compact;
mod confirm;
mod diff;
mod doctor;
mod edit;
mod eval;
mod facets;
mod find;
mod forget;
mod forget_many;
mod groups;
mod history;
mod hook;
mod injected;
mod inspect;
mod isolation;
mod list;
mod maintenance;
mod move_to;
mod pin;
mod purge_backups;
mod recall;
mod redo;
mod reembed;
mod relate;
mod reset;
mod restore;
mod review;
mod scan;
mod stats;
mod store;
mod supersede;
mod switches;
mod topics;
mod undo;
mod wander;

use crate::interface::agents::session::Session;
use crate::service::switches::off_by_itself;
use crate::service::{Caller, Service};
use loci_engine::privacy;
use loci_proto::error::{Code, Failure};
use loci_proto::memory::Origin;
use loci_proto::requests::Request;
use serde::Serialize;
use serde_json::Value;
use std::pin::Pin;
use std::time::Instant;

/// Handles one call and returns the reply as JSON.
///
/// # Errors
/// The verb's own; `busy`, `storage_failed`.
pub fn handle<'a>(
    service: &'a Service,
    caller: Caller<'a>,
    request: Request,
) -> Pin<Box<dyn Future<Output = Result<Value, Failure>> + Send + 'a>> {
    // Boxed: otherwise the future of every caller would contain a copy of those of all handlers.
    Box::pin(handle_request(service, caller, request))
}

async fn handle_request(
    service: &Service,
    caller: Caller<'_>,
    mut request: Request,
) -> Result<Value, Failure> {
    // Before anything is encoded, queued or written.
    let policy = service.config.policy();
    privacy::request::check_group(&policy, "group", &caller.session.group.name)?;
    let original = caller.session;
    let redirected = find_group(service, original).await?;
    let caller = Caller { session: redirected.as_ref().unwrap_or(original), key: caller.key };
    binding::apply(caller.session, &mut request)?;
    switches::check(service, caller.session, &request).await?;
    let group = groups::project_of(service, caller.session, &request).await;
    let redacted = privacy::request::screen(&service.config.policy_of(&group), &mut request)?;
    isolation::apply(service, caller.session).await?;
    if isolation::concerns_whole_store(&request) {
        isolation::check_whole_store(service, caller.session).await?;
    }
    // Looking after background work must not count as a call, which would slow that work down.
    if !matches!(request, Request::Maintenance(_) | Request::Reembed(_)) {
        service.scheduler.record_call();
    }
    let (verb, started) = (request.name(), Instant::now());
    let reply = call_verb(service, caller, request).await;
    service.latencies.record(verb, started.elapsed(), reply.is_err());
    let reply = reply?;
    service.record_folder(original).await;
    Ok(with_redacted(reply, redacted))
}

/// Checks the session's project, and isolates it if its folder says so. If it was merged into another, or its folder was moved, returns a
/// copy of the session in the project that it has now.
///
/// # Errors
/// `off` where loci is switched off; `invalid` for the name of the project; `not_found` for an isolated one that the session names from
/// outside; `busy`.
pub async fn enter_group(service: &Service, session: &Session) -> Result<Option<Session>, Failure> {
    let redirected = find_group(service, session).await?;
    let entered = redirected.as_ref().unwrap_or(session);
    switches::check_on(service, entered).await?;
    isolation::apply(service, entered).await?;
    Ok(redirected)
}

/// Returns a copy of the session in the project that it has now; `None` if that is its own.
async fn find_group(service: &Service, session: &Session) -> Result<Option<Session>, Failure> {
    // Of a session that is off by itself nothing is recorded, also not its folder.
    if off_by_itself(session).is_none() {
        service.recognise(session).await;
    }
    let redirected = service.resolved(session).await;
    if redirected.is_none() {
        groups::check_name(service, session).await?;
    }
    Ok(redirected)
}

/// Refuses what concerns every project, an export or an import for example, to an agent while a project is isolated, or where loci is off.
///
/// # Errors
/// `conflict`, `off`.
pub async fn check_whole_store(service: &Service, session: &Session) -> Result<(), Failure> {
    if session.actor().origin != Origin::Person {
        let entered = service.resolved(session).await;
        switches::check_on(service, entered.as_ref().unwrap_or(session)).await?;
    }
    isolation::check_whole_store(service, session).await
}

/// Lists in the reply what was replaced in the texts of the request.
fn with_redacted(mut reply: Value, redacted: Vec<String>) -> Value {
    if let (Value::Object(fields), false) = (&mut reply, redacted.is_empty()) {
        fields.insert("redacted".to_owned(), Value::from(redacted));
    }
    reply
}

async fn call_verb(
    service: &Service,
    caller: Caller<'_>,
    request: Request,
) -> Result<Value, Failure> {
    match request {
        Request::Store(request) => json(&store::handle(service, caller, request).await?),
        Request::Recall(request) => json(&recall::handle(service, caller, request).await?),
        Request::Forget(request) => json(&forget::handle(service, caller, request).await?),
        Request::Stats(request) => json(&stats::handle(service, caller, request).await?),
        Request::Inspect(request) => json(&inspect::handle(service, caller, request).await?),
        Request::Relate(request) => json(&relate::handle(service, caller, request).await?),
        Request::Restore(request) => json(&restore::handle(service, caller, request).await?),
        Request::Compact(request) => json(&compact::handle(service, caller, request).await?),
        Request::Confirm(request) => json(&confirm::handle(service, caller, request).await?),
        Request::Diff(request) => json(&diff::handle(service, caller, request).await?),
        Request::Topics(request) => json(&topics::handle(service, caller, request).await?),
        Request::Wander(request) => json(&wander::handle(service, caller, request).await?),
        Request::Config(_) => json(&service.config.reply()),
        Request::List(request) => json(&list::handle(service, caller, request).await?),
        Request::Facets(request) => json(&facets::handle(service, caller, request).await?),
        Request::Find(request) => json(&find::handle(service, caller, request).await?),
        Request::Edit(request) => json(&edit::handle(service, caller, request).await?),
        Request::Supersede(request) => json(&supersede::handle(service, caller, request).await?),
        Request::Review(request) => json(&review::handle(service, caller, request).await?),
        Request::Pin(request) => json(&pin::handle(service, caller, request).await?),
        Request::MoveTo(request) => json(&move_to::handle(service, caller, request).await?),
        Request::ForgetMany(request) => json(&forget_many::handle(service, caller, request).await?),
        Request::Undo(request) => json(&undo::handle(service, caller, request).await?),
        Request::Redo(request) => json(&redo::handle(service, caller, request).await?),
        Request::Hook(request) => json(&hook::handle(service, caller, request).await?),
        Request::Injected(request) => json(&injected::handle(service, caller, request).await?),
        Request::History(request) => json(&history::handle(service, request).await?),
        Request::Eval(request) => json(&eval::handle(service, request).await?),
        Request::Maintenance(request) => json(&maintenance::handle(service, request).await?),
        Request::Cleanup(request) => json(&cleanup::handle(service, caller, request).await?),
        Request::Groups(_) => json(&groups::list(service, caller).await?),
        Request::GroupsRename(request) => json(&groups::rename(service, caller, request).await?),
        Request::GroupsMerge(request) => json(&groups::merge(service, caller, request).await?),
        Request::GroupsJoin(request) => json(&groups::join(service, caller, request).await?),
        Request::GroupsAlias(request) => json(&groups::alias(service, caller, request).await?),
        Request::GroupsSwitch(request) => json(&switches::switch(service, caller, request).await?),
        Request::Incognito(request) => json(&switches::incognito(service, caller, request).await?),
        Request::Bridge(request) => json(&bridge::status(service, request).await?),
        Request::BridgeSwitch(request) => json(&bridge::switch(service, caller, request).await?),
        Request::BridgeFile(request) => json(&bridge::file(service, request).await?),
        Request::BridgeBlock(request) => json(&bridge::block(service, caller, request).await?),
        Request::Backup(_) => json(&backup::handle(service).await?),
        Request::Reset(request) => json(&reset::handle(service, caller, request).await?),
        Request::PurgeBackups(request) => json(&purge_backups::handle(service, request).await?),
        Request::Scan(request) => json(&scan::handle(service, caller, request).await?),
        Request::Reembed(request) => json(&reembed::handle(service, request).await?),
        Request::Doctor(request) => json(&doctor::handle(service, caller, request).await?),
    }
}

fn json(reply: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(reply).map_err(|e| Failure::new(Code::Internal, e.to_string()))
}
