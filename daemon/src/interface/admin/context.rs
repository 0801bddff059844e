//! Shared by all routes of the admin socket: the state of the router, and the conversion of a failure to a response.

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
    /// Creates the session of one request of the command line, with one recorded call.
    pub(crate) fn session(&self, hello: hello::Session) -> Session {
        let session = Session::new(hello, &self.default_group, self.service.now());
        session.record_call(Some(format!("loci {}", loci_proto::VERSION)));
        session
    }
}

/// Converts a failure to a response: its code determines the HTTP status, and the failure is the body.
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
