//! Every verb by its name: the one list behind both doors, MCP's `tools/call` and the command line's `POST /verbs/NAME`.
//!
//! A verb's arguments are checked by `proto::arguments`; what it means is the engine's. Not here: who may call what (the doors).

mod keeping;

use crate::eval;
use crate::runs;
use crate::service::Service;
use crate::session::Session;
use loci_engine::change::Call;
use loci_engine::store::check_content;
use loci_engine::{Reader, Writer};
use loci_proto::arguments;
use loci_proto::config::ConfigRequest;
use loci_proto::error::{Code, Failure};
use loci_proto::forget::RestoreRequest;
use loci_proto::group::{self, Hint};
use loci_proto::inspect::InspectRequest;
use loci_proto::people::{EditRequest, FindRequest, ForgetManyRequest, ListRequest, PinRequest};
use loci_proto::relate::RelateRequest;
use loci_proto::undo::{HistoryRequest, UndoRequest};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// One call of a verb.
pub struct Asked<'a> {
    /// Who asks.
    pub session: &'a Session,
    /// The verb.
    pub name: &'a str,
    /// Its arguments.
    pub given: Map<String, Value>,
    /// The idempotency key, where the shim stamped one.
    pub key: Option<String>,
}

/// Does what was asked.
///
/// # Errors
/// `invalid` for an unknown verb or its arguments; else the verb's own.
pub async fn call(service: &Service, asked: Asked<'_>) -> Result<Value, Failure> {
    let Asked { session, name, given, key } = asked;
    // A session whose group was merged into another works in that one, from its next call on.
    let led = service.lead(&session.group).await.map(|group| session.in_group(group));
    if led.is_none() {
        check_group_name(service, session).await?;
    }
    let session = led.as_ref().unwrap_or(session);
    if name != "maintenance" {
        service.runs.somebody_calls();
    }
    match name {
        "store_memory" => answer(service.store(session, parse(given)?, key).await?),
        "recall_memory" => answer(service.recall(session, parse(given)?).await?),
        "memory_stats" => answer(service.stats(session, parse(given)?).await?),
        "forget_memory" => {
            answer(keeping::forget(service, Asked { session, name, given, key }).await?)
        }
        "restore_memory" => {
            let request: RestoreRequest = parse(given)?;
            let restored =
                write(service, session, key, move |writer, call| writer.restore(call, &request))
                    .await?;
            service.vectors_may_be_missing();
            answer(restored)
        }
        "store_relation" => {
            let request: RelateRequest = parse(given)?;
            answer(
                write(service, session, key, move |writer, call| writer.relate(call, &request))
                    .await?,
            )
        }
        "memory_inspect" => {
            let request: InspectRequest = parse(given)?;
            service.flush_accesses_at_once().await?;
            let (own, now) = (session.group.clone(), service.now());
            answer(read(service, move |reader| reader.inspect(&request, &own, now)).await?)
        }
        "compact_memories" => {
            answer(runs::compact_as_told(service, session, parse(given)?, key).await?)
        }
        _ => of_people(service, Asked { session, name, given, key }).await,
    }
}

/// Refuses a session whose project was given a name that no new project may have, unless the store has that project already.
///
/// # Errors
/// `invalid`, naming the variable or the file; `busy`.
async fn check_group_name(service: &Service, session: &Session) -> Result<(), Failure> {
    let (field, name) = match &session.hello.group {
        Hint::Named(name) => ("LOCI_GROUP", name),
        Hint::ProjectNamed { name, .. } => ("group in .loci.toml", name),
        // `config` checks `storage.default_group`; the name of a folder is cleaned.
        Hint::Folder(_) | Hint::Default => return Ok(()),
    };
    let Err(why) = group::check_name(name.as_str()) else { return Ok(()) };
    let id = session.group.id.clone();
    if read(service, move |reader| reader.has_group(&id)).await? {
        return Ok(());
    }
    Err(Failure::invalid(field, why).hint(group::NAME_HINT))
}

/// Verbs that only people have.
async fn of_people(service: &Service, asked: Asked<'_>) -> Result<Value, Failure> {
    let Asked { session, name, given, key } = asked;
    match name {
        "config" => {
            let ConfigRequest {} = parse(given)?;
            answer(service.settled.told())
        }
        "list" => {
            let request: ListRequest = parse(given)?;
            let (own, now) = (session.group.clone(), service.now());
            answer(read(service, move |reader| reader.list(&request, &own, now)).await?)
        }
        "find" => {
            let request: FindRequest = parse(given)?;
            let (own, now) = (session.group.clone(), service.now());
            answer(read(service, move |reader| reader.find(&request, &own, now)).await?)
        }
        "edit" => answer(edit(service, session, parse(given)?, key).await?),
        "pin" => {
            let request: PinRequest = parse(given)?;
            answer(
                write(service, session, key, move |writer, call| writer.pin(call, &request))
                    .await?,
            )
        }
        "forget_many" => {
            let request: ForgetManyRequest = parse(given)?;
            answer(
                write(service, session, key, move |writer, call| {
                    writer.forget_many(call, &request)
                })
                .await?,
            )
        }
        "undo" => {
            let request: UndoRequest = parse(given)?;
            let undone =
                write(service, session, key, move |writer, call| writer.undo(call, &request))
                    .await?;
            service.vectors_may_be_missing();
            answer(undone)
        }
        "eval" => answer(eval::run(service, parse(given)?).await?),
        "history" => {
            let request: HistoryRequest = parse(given)?;
            answer(read(service, move |reader| reader.history(&request)).await?)
        }
        "maintenance" => answer(runs::maintenance(service, parse(given)?).await?),
        "cleanup" => answer(runs::cleanup(service, session, parse(given)?).await?),
        _ => keeping::call(service, Asked { session, name, given, key }).await,
    }
}

async fn edit(
    service: &Service,
    session: &Session,
    request: EditRequest,
    key: Option<String>,
) -> Result<loci_proto::people::ChangedReply, Failure> {
    let mut pieces = loci_engine::embedding::Coded::default();
    if let Some(text) = &request.content {
        check_content(text)?;
        pieces = service.vectors(text).await?.unwrap_or_default();
    }
    write(service, session, key, move |writer, call| writer.edit(call, &request, &pieces)).await
}

/// Has the writer do something in one transaction.
///
/// # Errors
/// What the engine refuses; `busy`.
pub async fn write<T: Send + 'static>(
    service: &Service,
    session: &Session,
    key: Option<String>,
    work: impl FnOnce(&mut Writer, &Call) -> loci_engine::error::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let pools = service.pools().await?;
    let call = Call { now: service.now(), actor: session.actor(), key };
    let done = pools.writer.run(move |writer| work(writer, &call)).await?;
    service.wants_checkpoint();
    Ok(done?)
}

/// Has a reader look something up.
///
/// # Errors
/// What the engine refuses; `busy`.
pub async fn read<T: Send + 'static>(
    service: &Service,
    work: impl FnOnce(&Reader) -> loci_engine::error::Result<T> + Send + 'static,
) -> Result<T, Failure> {
    let pools = service.pools().await?;
    Ok(pools.readers.run(move |reader| work(reader)).await??)
}

fn parse<T: DeserializeOwned + JsonSchema + 'static>(
    given: Map<String, Value>,
) -> Result<T, Failure> {
    arguments::parse(given)
}

fn answer(reply: impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(reply).map_err(|e| Failure::new(Code::Internal, e.to_string()))
}
