//! Calls of verbs over HTTP: for the command line, and for the page of the viewer.
//!
//! Not here: the paths (`http`, `view::routes`), what the verbs do (`handlers`).

use crate::handlers;
use crate::interface::admin::context::{AdminContext, error_response, read_call};
use crate::service::Caller;
use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use loci_proto::admin::{Status, VerbCall};
use loci_proto::error::{Code, Failure};
use loci_proto::requests::Request as VerbRequest;
use std::time::Duration;

/// Maximum duration of a request.
const DEADLINE: Duration = Duration::from_secs(30);

/// Answers `busy` if a request takes too long.
pub(crate) async fn with_deadline(request: Request, next: Next) -> Response {
    match tokio::time::timeout(DEADLINE, next.run(request)).await {
        Ok(response) => response,
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            Json(Failure::new(Code::Busy, "the request took too long")),
        )
            .into_response(),
    }
}

/// `GET /status`.
pub(crate) async fn status(State(admin): State<AdminContext>) -> Json<Status> {
    Json(admin.service.status().await)
}

/// `POST /verbs/NAME` and `POST /long/NAME`: every verb, both the tools of agents and the verbs for people.
pub(crate) async fn verb(
    State(admin): State<AdminContext>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let call = match read_call(request).await {
        Ok(call) => call,
        Err(refusal) => return refusal,
    };
    answer(&admin, &name, call).await
}

/// Calls a verb for a person, and returns the reply or the failure.
pub(crate) async fn answer(admin: &AdminContext, name: &str, call: VerbCall) -> Response {
    let session = admin.session(call.session);
    let caller = Caller { session: &session, key: None };
    let answer = match VerbRequest::parse(name, call.arguments) {
        Ok(request) => handlers::handle(&admin.service, caller, request).await,
        Err(failure) => Err(failure),
    };
    match answer {
        Ok(answer) => Json(answer).into_response(),
        Err(failure) => error_response(failure),
    }
}
