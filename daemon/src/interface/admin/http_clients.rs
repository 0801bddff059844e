//! The admin routes about HTTP clients: opens the HTTP server for as long as the caller stays connected, and changes its tokens.
//!
//! Not here: the HTTP server (`interface::http`).

use crate::interface::admin::context::{AdminContext, error_response};
use crate::interface::http::opening::{self, OpenServer};
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use http_body::Frame;
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use loci_proto::http::{AddTokenRequest, OpenRequest, OpenedBy, TokenName, TokensReply};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio_util::sync::WaitForCancellationFutureOwned;

/// The reply of `POST /http/open`: one line, then nothing until the daemon drains. Dropped when the caller disconnects, and the server with
/// it.
struct OpenBody {
    line: Option<Bytes>,
    draining: Pin<Box<WaitForCancellationFutureOwned>>,
    _server: OpenServer,
}

impl http_body::Body for OpenBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(line) = self.line.take() {
            return Poll::Ready(Some(Ok(Frame::data(line))));
        }
        ready!(self.draining.as_mut().poll(context));
        Poll::Ready(None)
    }
}

/// `POST /http/open`.
pub async fn open(State(admin): State<AdminContext>, Json(request): Json<OpenRequest>) -> Response {
    match begin(&admin, request.port).await {
        Ok(body) => ([(CONTENT_TYPE, "application/x-ndjson")], Body::new(body)).into_response(),
        Err(failure) => error_response(failure),
    }
}

async fn begin(admin: &AdminContext, port: Option<u16>) -> Result<OpenBody, Failure> {
    let server = admin.service.config.config().server;
    let address = server.http_bind_address(port)?;
    let server = opening::open(&admin.listener, address, OpenedBy::Command).await?;
    let mut line = serde_json::to_vec(&server.opened)
        .map_err(|e| Failure::new(Code::Internal, e.to_string()))?;
    line.push(b'\n');
    let draining = Box::pin(admin.draining.clone().cancelled_owned());
    Ok(OpenBody { line: Some(line.into()), draining, _server: server })
}

/// `GET /http/tokens`.
pub async fn tokens(State(admin): State<AdminContext>) -> Response {
    reply(admin.listener.tokens.list())
}

/// `POST /http/tokens/add`.
pub async fn add_token(
    State(admin): State<AdminContext>,
    Json(request): Json<AddTokenRequest>,
) -> Response {
    let project = match resolve(&admin, request.project).await {
        Ok(project) => project,
        Err(failure) => return error_response(failure),
    };
    reply(admin.listener.tokens.add(&request.name, project))
}

/// `POST /http/tokens/show`.
pub async fn show_token(
    State(admin): State<AdminContext>,
    Json(request): Json<TokenName>,
) -> Response {
    reply(admin.listener.tokens.show(&request.name))
}

/// `POST /http/tokens/remove`.
pub async fn remove_token(
    State(admin): State<AdminContext>,
    Json(request): Json<TokenName>,
) -> Response {
    reply(admin.listener.tokens.remove(&request.name))
}

/// Returns the id of the project that a person names, so that a later project of the same name is not meant.
async fn resolve(
    admin: &AdminContext,
    project: Option<GroupName>,
) -> Result<Option<GroupName>, Failure> {
    let Some(name) = project else { return Ok(None) };
    let group = admin.service.read(move |reader| reader.group_named_by_person(&name)).await?;
    let invalid = |fault: String| Failure::invalid("project", fault);
    group.id.parse().map(Some).map_err(invalid)
}

fn reply(reply: Result<TokensReply, Failure>) -> Response {
    match reply {
        Ok(reply) => Json(reply).into_response(),
        Err(failure) => error_response(failure),
    }
}
