//! Completes the parts of ids that agents give: replies and screens show the end of an id, and people type it into a chat.
//!
//! Not here: which memories an id may mean (the engine).

use crate::handlers;
use crate::handlers::binding;
use crate::interface::agents::session::Session;
use crate::service::Service;
use loci_engine::operations::short_id::IdPart;
use loci_proto::error::Failure;
use loci_proto::group::GroupName;
use loci_proto::limits;
use loci_proto::memory::MemoryId;
use serde_json::{Map, Value};

/// The arguments of tools that hold an id or a list of ids.
const ID_ARGUMENTS: [&str; 6] =
    ["memory_id", "ids", "supersedes", "subject_id", "object_id", "evidence"];

/// Completes the ids in the arguments of a call. A list that is too long is left to the verb, which refuses it.
///
/// # Errors
/// `not_found` or `invalid` at the argument; those of [`handlers::enter_group`].
pub async fn complete(
    service: &Service,
    session: &Session,
    arguments: &mut Map<String, Value>,
) -> Result<(), Failure> {
    let named = arguments.get("group").and_then(Value::as_str).and_then(|name| name.parse().ok());
    let (mut parts, mut places) = (Vec::new(), Vec::new());
    for (name, value) in arguments {
        match value {
            _ if !ID_ARGUMENTS.contains(&name.as_str()) => {}
            Value::Array(list) if list.len() > limits::RECALL_IDS => {}
            Value::Array(list) => list.iter_mut().enumerate().for_each(|(position, item)| {
                take(format!("{name}[{position}]"), item, &mut parts, &mut places);
            }),
            single => take(name.clone(), single, &mut parts, &mut places),
        }
    }
    if parts.is_empty() {
        return Ok(());
    }
    for (place, id) in places.into_iter().zip(complete_parts(service, session, parts, named).await?)
    {
        *place = id;
    }
    Ok(())
}

/// Takes up an argument that is a part of an id, with the place where the whole id goes.
fn take<'a>(
    field: String,
    value: &'a mut Value,
    parts: &mut Vec<IdPart>,
    places: &mut Vec<&'a mut String>,
) {
    if let Value::String(text) = value
        && MemoryId::is_part(text.trim())
    {
        parts.push(IdPart { field, text: text.clone() });
        places.push(text);
    }
}

/// Completes one id; returns any other text as it is.
///
/// # Errors
/// As [`complete`].
pub async fn complete_one(
    service: &Service,
    session: &Session,
    field: &str,
    text: String,
) -> Result<String, Failure> {
    if !MemoryId::is_part(text.trim()) {
        return Ok(text);
    }
    let part = IdPart { field: field.to_owned(), text };
    let mut ids = complete_parts(service, session, vec![part], None).await?;
    Ok(ids.pop().unwrap_or_default())
}

async fn complete_parts(
    service: &Service,
    session: &Session,
    parts: Vec<IdPart>,
    named: Option<GroupName>,
) -> Result<Vec<String>, Failure> {
    let redirected = handlers::enter_group(service, session).await?;
    let entered = redirected.as_ref().unwrap_or(session);
    let named = binding::allowed_name(entered, named)?;
    let actor = entered.actor();
    service.read(move |reader| reader.complete_ids(&parts, (&actor).into(), named.as_ref())).await
}
