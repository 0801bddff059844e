//! The admin route that opens a viewer for as long as the caller stays connected.
//!
//! Not here: the viewer (`interface::view`).

use crate::interface::admin::context::{AdminContext, error_response};
use crate::interface::admin::open_while_connected;
use crate::interface::view::opening;
use axum::Json;
use axum::extract::State;
use axum::response::Response;
use loci_proto::error::Failure;
use loci_proto::view::OpenRequest;

/// `POST /view/open`.
pub async fn open(State(admin): State<AdminContext>, Json(request): Json<OpenRequest>) -> Response {
    begin(&admin, request).await.unwrap_or_else(error_response)
}

async fn begin(admin: &AdminContext, request: OpenRequest) -> Result<Response, Failure> {
    let viewer = opening::open(admin, request).await?;
    open_while_connected::response(&viewer.opened.clone(), viewer, admin.draining.clone())
}
