//! The layers before MCP: each refuses what the next one must not see. `routes` gives their order.
//!
//! A page in a browser cannot send JSON to another site without asking first, and does not know a token. Not here: host and origin
//! (`own_address`), the answers (`refusal`), the tokens (`tokens`).

use crate::interface::agents::faults::{self, Fault};
use crate::interface::agents::transport::fault_answer;
use crate::interface::http::own_address::{Repeated, only};
use crate::interface::http::refusal::Refusal;
use crate::interface::http::sessions::HttpCaller;
use crate::interface::http::tokens::{Token, Tokens};
use crate::service::Service;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, TRANSFER_ENCODING, USER_AGENT,
};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use loci_proto::error::{Code, Failure};
use loci_proto::group::{Group, GroupHint, GroupName};
use loci_proto::http::GROUP_HEADER;
use loci_proto::limits;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Maximum size of a body, in bytes: that of a line on the agents' socket.
pub const MAX_BODY_BYTES: usize = limits::LINE_BYTES;
/// Maximum time for a body to arrive.
const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// Maximum time to read the body of a request that is refused for its token's rate.
const DISCARD_DEADLINE: Duration = Duration::from_secs(1);
/// Maximum number of requests in progress; further ones wait, so that agents on the socket go on being served.
const MAX_REQUESTS: usize = 6;
/// Maximum time for which a request waits until it may begin.
const WAIT_LIMIT: Duration = Duration::from_secs(10);

/// Who may use the server.
#[derive(Clone)]
pub enum Access {
    /// Who has a token of the file.
    Tokens(Arc<Tokens>),
    /// Everybody who reaches it, for the conformance suite, which sends no token. `locid` never serves so.
    Everybody,
}

/// What the layers compare a request with.
#[derive(Clone)]
pub struct Guard {
    service: Arc<Service>,
    access: Access,
    requests: Arc<Semaphore>,
}

impl Guard {
    /// Creates the guard of a server.
    #[must_use]
    pub fn new(service: Arc<Service>, access: Access) -> Self {
        Self { service, access, requests: Arc::new(Semaphore::new(MAX_REQUESTS)) }
    }
}

/// Refuses a request without a valid token, and one for a project that its token may not use. Passes an [`HttpCaller`] on.
///
/// # Errors
/// The refusal.
pub async fn authenticate(
    State(guard): State<Guard>,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let headers = request.headers();
    let user_agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
    let user_agent = user_agent.map(str::to_owned);
    let caller = match &guard.access {
        Access::Everybody => HttpCaller {
            token: "everybody".into(),
            group: GroupHint::Default,
            is_bound: false,
            user_agent,
        },
        Access::Tokens(tokens) => {
            let token = presented_token(tokens, headers)?;
            if let Err(seconds) = token.count_request() {
                discard(request.into_body()).await;
                return Err(Refusal::TooMany(seconds));
            }
            let group = project(&guard.service, &token, named_group(headers)?).await?;
            let is_bound = token.project.is_some();
            HttpCaller { token: Arc::clone(&token.name), group, is_bound, user_agent }
        }
    };
    // Nothing behind this layer sees the token.
    request.headers_mut().remove(AUTHORIZATION);
    request.extensions_mut().insert(caller);
    Ok(next.run(request).await)
}

/// Reads what a client is sending, so that it gets the answer: with an unread body the connection is reset.
async fn discard(body: Body) {
    let mut body = Limited::new(body, MAX_BODY_BYTES);
    let _ =
        timeout(DISCARD_DEADLINE, async { while let Some(Ok(_)) = body.frame().await {} }).await;
}

fn presented_token(tokens: &Tokens, headers: &HeaderMap) -> Result<Arc<Token>, Refusal> {
    let given =
        only(headers, &AUTHORIZATION).map_err(|Repeated| Refusal::Unauthorized { given: true })?;
    let given = given.ok_or(Refusal::Unauthorized { given: false })?.as_bytes();
    let invalid = Refusal::Unauthorized { given: true };
    let Some((scheme, secret)) = given.split_at_checked(b"Bearer ".len()) else {
        return Err(invalid);
    };
    if !scheme.eq_ignore_ascii_case(b"Bearer ") {
        return Err(invalid);
    }
    tokens.find(secret).map_err(Refusal::Tokens)?.ok_or(invalid)
}

/// Returns the project that the header names.
fn named_group(headers: &HeaderMap) -> Result<Option<GroupName>, Refusal> {
    let name = HeaderName::from_static(GROUP_HEADER);
    let refuse = |fault: &str| Refusal::Header("Loci-Group", fault.to_owned());
    let value = only(headers, &name).map_err(|Repeated| refuse("is given twice"))?;
    let Some(value) = value else { return Ok(None) };
    let text = std::str::from_utf8(value.as_bytes()).map_err(|_| refuse("is not UTF-8"))?;
    if text.contains("${") {
        return Err(refuse("contains a variable that the client did not expand"));
    }
    text.parse().map(Some).map_err(|fault: String| refuse(&fault))
}

/// Returns the project of a request: that of the header, if the token may use it, else that of the token.
async fn project(
    service: &Service,
    token: &Token,
    named: Option<GroupName>,
) -> Result<GroupHint, Refusal> {
    match (named, &token.project) {
        (None, None) => Ok(GroupHint::Default),
        (Some(name), None) => meant(service, name).await,
        (None, Some(own)) => Ok(GroupHint::Named(own.clone())),
        (Some(name), Some(own)) if is_same(service, &name, own).await => {
            Ok(GroupHint::Named(own.clone()))
        }
        (Some(_), Some(_)) => Err(Refusal::OtherProject),
    }
}

/// Returns the project that a name means: by its id, an alias or its display name, else a new one.
async fn meant(service: &Service, name: GroupName) -> Result<GroupHint, Refusal> {
    let asked = name.clone();
    match service.read(move |reader| reader.group_named_by_person(&asked)).await {
        Ok(group) => Ok(GroupHint::Named(group.id.parse().unwrap_or(name))),
        Err(Failure { code: Code::Invalid, message, .. }) => {
            Err(Refusal::Header("Loci-Group", message))
        }
        // The store is being opened: the call itself waits for it.
        Err(_) => Ok(GroupHint::Named(name)),
    }
}

/// Returns whether a name means a token's project: by its id, an alias, or its display name.
async fn is_same(service: &Service, name: &GroupName, own: &GroupName) -> bool {
    let resolve = async |name: &GroupName| {
        let group = Group::named(name);
        service.resolve_group(&group).await.unwrap_or(group)
    };
    let own = resolve(own).await;
    if name.as_str() == own.name || resolve(name).await.id == own.id {
        return true;
    }
    let shown = service.read(move |reader| reader.group_names(&[own.id])).await;
    shown.is_ok_and(|names| names.iter().any(|shown| shown == name.as_str()))
}

/// Refuses a body that is not plain JSON of a bounded size, and reads it; limits how many requests are in progress.
///
/// # Errors
/// The refusal, or the answer that names the fault of the body.
pub async fn read_body(
    State(guard): State<Guard>,
    request: Request,
    next: Next,
) -> Result<Response, Response> {
    check_body_headers(request.headers()).map_err(IntoResponse::into_response)?;
    let (parts, body) = request.into_parts();
    // Before it counts as in progress, so that a client that sends slowly holds up no other.
    let body = receive(body).await.map_err(IntoResponse::into_response)?;
    let permit = wait_for_permit(&guard).await.map_err(IntoResponse::into_response)?;
    if let Some(fault) = faults::find(&body) {
        return Err(fault_response(fault));
    }
    let response = next.run(Request::from_parts(parts, Body::from(body))).await;
    // The permit is freed when the client has the whole answer, or has gone.
    Ok(response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _ = &permit;
            frame
        }))
    }))
}

fn check_body_headers(headers: &HeaderMap) -> Result<(), Refusal> {
    if headers.contains_key(TRANSFER_ENCODING) && headers.contains_key(CONTENT_LENGTH) {
        let fault = "and Content-Length cannot be given together".to_owned();
        return Err(Refusal::Header("Transfer-Encoding", fault));
    }
    let json = only(headers, &CONTENT_TYPE).ok().flatten().and_then(|value| value.to_str().ok());
    let essence = json.and_then(|value| value.split(';').next()).map(str::trim);
    if !essence.is_some_and(|essence| essence.eq_ignore_ascii_case("application/json")) {
        return Err(Refusal::NotJson("Content-Type"));
    }
    let encodings = headers.get_all(CONTENT_ENCODING);
    if encodings.iter().any(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(Refusal::NotJson("Content-Encoding"));
    }
    let length = headers.get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    // A length that no integer holds is refused as well.
    if length.is_some_and(|length| !length.parse().is_ok_and(|n: usize| n <= MAX_BODY_BYTES)) {
        return Err(Refusal::TooLarge);
    }
    Ok(())
}

async fn wait_for_permit(guard: &Guard) -> Result<OwnedSemaphorePermit, Refusal> {
    let permit = timeout(WAIT_LIMIT, Arc::clone(&guard.requests).acquire_owned()).await;
    permit.ok().and_then(Result::ok).ok_or(Refusal::Busy)
}

async fn receive(body: Body) -> Result<Bytes, Refusal> {
    let received = timeout(BODY_DEADLINE, Limited::new(body, MAX_BODY_BYTES).collect()).await;
    match received.map_err(|_| Refusal::Slow)? {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Refusal::TooLarge),
        Err(_) => Err(Refusal::Header("the body", "is not complete".to_owned())),
    }
}

/// Returns the answer to a body with a fault that rmcp would not see. A fault of an argument is an answer to the call.
fn fault_response(fault: Fault) -> Response {
    let status = match fault {
        Fault::NotJson(_) | Fault::NotARequest(..) => StatusCode::BAD_REQUEST,
        Fault::Argument(..) => StatusCode::OK,
    };
    (status, axum::Json(fault_answer(fault))).into_response()
}
