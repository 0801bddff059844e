//! The admin routes about HTTP clients: opens the HTTP server for as long as the caller stays connected, and changes its tokens.
//!
//! Not here: the HTTP server (`interface::http`).

use crate::interface::admin::context::{AdminContext, error_response};
use crate::interface::admin::open_while_connected;
use crate::interface::http::opening;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use loci_proto::error::Failure;
use loci_proto::group::GroupName;
use loci_proto::http::{AddTokenRequest, OpenRequest, OpenedBy, TokenName, TokensReply};

/// `POST /http/open`.
pub async fn open(State(admin): State<AdminContext>, Json(request): Json<OpenRequest>) -> Response {
    begin(&admin, request.port).await.unwrap_or_else(error_response)
}

async fn begin(admin: &AdminContext, port: Option<u16>) -> Result<Response, Failure> {
    let address = admin.service.config.config().server.http_bind_address(port)?;
    let server = opening::open(&admin.listener, address, OpenedBy::Command).await?;
    open_while_connected::response(&server.opened.clone(), server, admin.draining.clone())
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
