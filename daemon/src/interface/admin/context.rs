//! What every route of the admin socket shares: the service, and how a failure becomes a response.

use crate::interface::agents::session::Session;
use crate::service::Service;
use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use loci_proto::hello;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The state of the router.
#[derive(Clone)]
pub(crate) struct AdminContext {
    pub(crate) service: Arc<Service>,
    pub(crate) draining: CancellationToken,
    pub(crate) default_group: GroupName,
}

impl AdminContext {
    /// Returns a session for one request of the command line, and counts the call.
    pub(crate) fn session(&self, hello: hello::Session) -> Session {
        let session = Session::new(hello, &self.default_group, self.service.now());
        session.record_call(Some(format!("loci {}", loci_proto::VERSION)));
        session
    }
}

/// Returns a failure as a response: its code as the HTTP status, the failure as the body.
pub(crate) fn error_response(failure: Failure) -> Response {
    let status = match failure.code {
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::Conflict => StatusCode::CONFLICT,
        Code::Busy => StatusCode::SERVICE_UNAVAILABLE,
        Code::StorageFailed | Code::Internal | Code::EmbedFailed => {
            StatusCode::INTERNAL_SERVER_ERROR
        }
        _ => StatusCode::BAD_REQUEST,
    };
    (status, Json(failure)).into_response()
}
