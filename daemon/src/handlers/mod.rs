//! [`handle`] checks a call and runs it: an operation of the engine on a reader or the writer, or a handler here for what needs more.
//! `Request::parse` has checked its
//! arguments. Not here: who may call which verb (`interface`), what a verb means (the engine), `export` and `import`, which are streams
//! (`interface::admin::transfer`).

mod backup;
pub(crate) mod binding;
mod bridge;
mod cleanup;
mod compact;
mod config;
mod doctor;
mod edit;
mod eval;
mod forget;
mod groups;
mod handle;
mod hook;
mod injected;
mod inspect;
mod isolation;
mod maintenance;
mod powers;
mod purge_backups;
mod recall;
mod reembed;
mod reset;
mod review;
mod scan;
mod stats;
mod store;
mod switches;
mod wish;

use crate::handlers::handle::Handle as _;
use crate::interface::agents::session::Session;
use crate::service::switches::off_by_itself;
use crate::service::{Caller, Service};
use loci_engine::operations::verbs::{self as operations, Effect};
use loci_engine::transaction::change::CallContext;
use loci_engine::{Writer, privacy};
use loci_proto::error::{Code, Failure};
use loci_proto::memory::Origin;
use loci_proto::requests::Request;
use loci_proto::requests::verbs::Concerns;
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
    let wished = wish::of(caller.session, &request);
    let reply = match (call_allowed(service, caller.clone(), request).await, wished) {
        (Err(refusal), Some(wished)) if refusal.only_person => {
            Err(wish::note(service, caller, wished, refusal).await)
        }
        (reply, _) => reply,
    };
    let reply = reply?;
    service.record_folder(original).await;
    Ok(with_redacted(reply, redacted))
}

/// Runs a verb that the caller may call, and counts the call.
async fn call_allowed(
    service: &Service,
    caller: Caller<'_>,
    request: Request,
) -> Result<Value, Failure> {
    powers::check(caller.session, &request)?;
    if request.powers().concerns == Concerns::Store {
        isolation::check_whole_store(service, caller.session).await?;
    }
    // Looking after background work must not count as a call, which would slow that work down.
    if !matches!(request, Request::Maintenance(_) | Request::Reembed(_)) {
        service.scheduler.record_call();
    }
    let (verb, started) = (request.name(), Instant::now());
    let reply = call_verb(service, caller, request).await;
    service.latencies.record(verb, started.elapsed(), reply.is_err());
    reply
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

/// Runs a verb that only reads the store.
async fn read<R: operations::Read>(
    service: &Service,
    caller: Caller<'_>,
    request: R,
) -> Result<R::Reply, Failure> {
    let call = service.call_context(caller);
    service.read(move |reader| request.run(reader, &call)).await
}

/// Runs a verb that only changes the store.
async fn write<W: operations::Write>(
    service: &Service,
    caller: Caller<'_>,
    request: W,
) -> Result<W::Reply, Failure> {
    let run = move |writer: &mut Writer, call: &CallContext| request.run(writer, call);
    let reply = match W::EFFECT {
        Effect::Smaller => service.write_with_reserve(caller, run).await?,
        Effect::Complete | Effect::MissingVectors => service.write(caller, run).await?,
    };
    if W::EFFECT == Effect::MissingVectors {
        service.set_vectors_missing(true);
    }
    Ok(reply)
}

/// Declares [`call_verb`] from the table of verbs.
macro_rules! dispatch {
    ($($(#[$doc:meta])* $name:literal => $variant:ident($request:ty) -> $reply:ty:
        $access:ident with $runner:ident, $($powers:tt),+;)+) => {
        async fn call_verb(
            service: &Service,
            caller: Caller<'_>,
            request: Request,
        ) -> Result<Value, Failure> {
            match request {
                $(Request::$variant(request) => {
                    json(&run!($access $runner, service, caller, request)?)
                })+
            }
        }
    };
}

/// Runs a verb as its row says.
macro_rules! run {
    (Read engine, $service:ident, $caller:ident, $request:ident) => {
        read($service, $caller, $request).await
    };
    (Write engine, $service:ident, $caller:ident, $request:ident) => {
        write($service, $caller, $request).await
    };
    ($access:ident handler, $service:ident, $caller:ident, $request:ident) => {
        $request.handle($service, $caller).await
    };
}

loci_proto::verbs!(dispatch);

fn json(reply: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(reply).map_err(|e| Failure::new(Code::Internal, e.to_string()))
}
