//! The paths of the viewer, and what a page may ask for.
//!
//! The page and `/health` are open and hold nothing; everything under `/api` needs [`access`](super::access). Not here: what the verbs do.

use crate::interface::admin::context::{error_response, read_call};
use crate::interface::admin::{calls, transfer};
use crate::interface::http::own_address::{self, OwnAddress};
use crate::interface::http::refusal::Refusal;
use crate::interface::view::access::{EVENTS_PATH, authenticate};
use crate::interface::view::boot::{Boot, boot};
use crate::interface::view::context::ViewContext;
use crate::interface::view::events::events;
use crate::interface::view::page::page;
use axum::extract::{Path, Request, State};
use axum::http::header::{CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use loci_proto::admin::VerbCall;
use loci_proto::error::{Code, Failure};
use loci_proto::hello::Session;
use loci_proto::requests::Request as Verbs;
use loci_proto::requests::backup::BackupList;
use loci_proto::requests::verbs::{Access, InViewer};
use serde_json::{Map, Value};
use tower::limit::GlobalConcurrencyLimitLayer;

/// Arguments of the viewer's verbs that cannot be undone, or that change more than memories: the command line has them.
const REFUSED: [(&str, &str); 4] = [
    ("forget_memory", "hard_delete"),
    ("scan", "redact"),
    ("doctor", "fix"),
    ("doctor", "dismiss"),
];
/// Verbs that write and here only look: [`REFUSED`] has what else they do.
const LOOKS: [&str; 3] = ["bridge", "doctor", "scan"];
/// Maximum number of verbs that are served at the same time; further ones wait.
const MAX_VERBS: usize = 8;
/// The same for those without a deadline.
const MAX_LONG_VERBS: usize = 4;

/// Returns the router of a viewer at this address.
pub fn routes(view: &ViewContext, address: &OwnAddress) -> Router {
    let verbs = Router::new()
        .route("/api/verbs/{name}", post(verb))
        .layer(GlobalConcurrencyLimitLayer::new(MAX_VERBS))
        .layer(from_fn(calls::with_deadline));
    let long = Router::new()
        .route("/api/long/{name}", post(verb))
        .layer(GlobalConcurrencyLimitLayer::new(MAX_LONG_VERBS));
    let streams =
        Router::new().route("/api/status", get(calls::status)).with_state(view.admin.clone());
    let api = Router::new()
        .route("/api/boot", get(boot))
        .route(EVENTS_PATH, get(events))
        .route("/api/backups", get(backups))
        .route("/api/export", post(export))
        .route("/api/import", post(import))
        .merge(verbs)
        .merge(long)
        .with_state(view.clone())
        .merge(streams)
        .layer(from_fn_with_state(view.access.clone(), authenticate))
        .layer(from_fn(check_change))
        .layer(from_fn(check_site));
    Router::new()
        .route("/open/{token}", get(open))
        .route("/", get(async || page(&None::<Boot>, None)))
        .with_state(view.clone())
        .route("/health", get(async || "ok\n"))
        .merge(api)
        .fallback(async || Refusal::NotFound)
        .layer(from_fn_with_state(address.clone(), own_address::check_origin))
        .layer(from_fn_with_state(address.clone(), own_address::check_host))
        .layer(from_fn(own_address::set_headers))
}

/// `GET /open/TOKEN`: the page with the first data, and its cookie; once. The page of a used link asks for its data.
async fn open(
    State(view): State<ViewContext>,
    Path(token): Path<String>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    if method != Method::GET || !opens_page(&headers) || !view.access.knows(&token) {
        return page(&None::<Boot>, None);
    }
    // Read first: a link whose page cannot be shown still works.
    let boot = match Boot::read(&view).await {
        Ok(boot) => boot,
        Err(failure) => return error_response(failure),
    };
    if !view.access.take(&token) {
        return page(&None::<Boot>, None);
    }
    page(&boot, Some(view.access.set_cookie()))
}

/// Returns false for a request that only looks at the link, for example for a preview, and for one of a script: a service worker that an
/// earlier server left at this port would read the answer. Programs that are no browsers send none of these headers.
fn opens_page(headers: &HeaderMap) -> bool {
    let is = |name: &str, allowed: &str| {
        headers.get(name).is_none_or(|value| value.as_bytes() == allowed.as_bytes())
    };
    is("sec-fetch-dest", "document")
        && is("sec-fetch-mode", "navigate")
        && !headers.contains_key("sec-purpose")
        && !headers.contains_key("purpose")
}

/// `POST /api/verbs/NAME` and `POST /api/long/NAME`.
async fn verb(
    State(view): State<ViewContext>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    if Verbs::powers_of(&name).is_none_or(|powers| powers.in_viewer == InViewer::Hidden) {
        return refuse(&name);
    }
    let call = match read_call(request).await {
        Ok(call) => call,
        Err(refusal) => return refusal,
    };
    let is_refused = |(verb, argument): &(&str, &str)| {
        *verb == name && call.arguments.get(*argument).is_some_and(|value| *value != false)
    };
    if let Some((verb, argument)) = REFUSED.iter().find(|refused| is_refused(refused)) {
        return refuse(&format!("{verb} with {argument}"));
    }
    if view.is_read_only() && changes(&name, &call.arguments) {
        return refuse_change();
    }
    // The page speaks for who opened it.
    let session = Session { shown: call.session.shown, ..view.session.clone() };
    calls::answer(&view.admin, &name, VerbCall { session, ..call }).await
}

/// Returns whether a call of the page changes the store.
fn changes(name: &str, arguments: &Map<String, Value>) -> bool {
    let is = |argument: &str| arguments.get(argument).is_some_and(|value| *value == true);
    let has = |argument: &&str| arguments.get(*argument).is_some_and(|value| !value.is_null());
    let powers = Verbs::powers_of(name);
    powers.is_none_or(|powers| powers.access == Access::Write)
        && match name {
            "review" => ["keep", "unkeep", "decline"].iter().any(has),
            "maintenance" => {
                let action = arguments.get("action").and_then(Value::as_str);
                !matches!(action, None | Some("status" | "plan"))
            }
            _ => !LOOKS.contains(&name) && !is("preview") && !is("dry_run"),
        }
}

/// A page that no person has opened only reads.
fn refuse_change() -> Response {
    let message = "this page only reads, because an agent or a script has opened it";
    let failure = Failure::new(Code::Conflict, message).hint("Run loci view in your own terminal");
    (StatusCode::FORBIDDEN, Json(failure)).into_response()
}

/// `POST /api/export`: for who opened the page.
async fn export(State(view): State<ViewContext>, request: Request) -> Response {
    let call = match read_call(request).await {
        Ok(call) => call,
        Err(refusal) => return refusal,
    };
    let call = VerbCall { session: view.session.clone(), ..call };
    transfer::answer_export(&view.admin, call).await
}

/// `POST /api/import`.
async fn import(State(view): State<ViewContext>, request: Request) -> Response {
    if view.is_read_only() {
        return refuse_change();
    }
    transfer::import(State(view.admin), request).await.into_response()
}

fn refuse(what: &str) -> Response {
    let failure = Failure::new(Code::Invalid, format!("the viewer does not call {what}"))
        .hint("Use the command line: loci help");
    (StatusCode::FORBIDDEN, Json(failure)).into_response()
}

/// `GET /api/backups`.
async fn backups(State(view): State<ViewContext>) -> Response {
    match view.admin.service.list_backups().await {
        Ok(backups) => Json(BackupList { backups }).into_response(),
        Err(failure) => error_response(failure),
    }
}

/// A request that does not come from the viewer's own page is refused, also one that only reads: pages on other ports of this machine are of
/// the same site, and their requests have the cookie.
async fn check_site(request: Request, next: Next) -> Result<Response, Refusal> {
    match request.headers().get("sec-fetch-site").map(HeaderValue::as_bytes) {
        None | Some(b"same-origin") => Ok(next.run(request).await),
        Some(_) => Err(Refusal::Foreign("Sec-Fetch-Site")),
    }
}

/// A request that changes something names the page that sends it, and has JSON, which no form can send.
async fn check_change(request: Request, next: Next) -> Result<Response, Refusal> {
    if request.method().is_safe() {
        return Ok(next.run(request).await);
    }
    if !request.headers().contains_key(ORIGIN) {
        return Err(Refusal::Foreign("Origin"));
    }
    let json = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let essence = json.and_then(|value| value.split(';').next()).map(str::trim);
    match essence {
        Some("application/json" | "application/x-ndjson") => Ok(next.run(request).await),
        _ => Err(Refusal::NotJson("Content-Type")),
    }
}
