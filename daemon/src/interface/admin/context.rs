//! Shared by all routes of the admin socket: the state of the router, reading the body of a call, and the conversion of a failure to a
//! response.
//!
//! Not here: the bodies of imports, which are streams (`transfer`).

use crate::interface::agents::listen::ListenerContext;
use crate::interface::agents::session::{Session, SessionKind};
use crate::service::Service;
use axum::Json;
use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use axum::http::header::CONTENT_LENGTH;
use axum::response::{IntoResponse, Response};
use loci_engine::model::actor;
use loci_proto::admin::VerbCall;
use loci_proto::error::{Code, Failure};
use loci_proto::group::GroupName;
use loci_proto::hello;
use loci_proto::hello::Speaker;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum time from the headers of a call to the end of its body.
const BODY_DEADLINE: Duration = Duration::from_secs(10);
/// Maximum size of the body of a call, in bytes.
const MAX_BODY_BYTES: u64 = 2 << 20;

/// The state of the router.
#[derive(Clone)]
pub(crate) struct AdminContext {
    pub(crate) service: Arc<Service>,
    pub(crate) draining: CancellationToken,
    pub(crate) default_group: GroupName,
    /// What the HTTP server for clients shares with the agents' socket.
    pub(crate) listener: ListenerContext,
    /// Permits of imports whose body is being received.
    pub(crate) uploads: Arc<Semaphore>,
}

impl AdminContext {
    /// Creates the session of one request of the command line, with one recorded call.
    pub(crate) fn session(&self, hello: hello::Session) -> Session {
        let session =
            Session::new(hello, SessionKind::CommandLine, &self.default_group, self.service.now());
        let client = match (session.hello.hook, &session.hello.speaker) {
            (Some(hook), _) => hook.to_string(),
            (None, Speaker::Person) => actor::person_client(loci_proto::VERSION),
            (None, speaker) => speaker.name().to_owned(),
        };
        session.record_call(Some(client));
        session
    }
}

/// Reads the body of a call; the response refuses one that is too large, that does not arrive in time, or that is not a call.
pub(crate) async fn read_call(request: Request) -> Result<VerbCall, Response> {
    let length = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if length.and_then(|length| length.parse().ok()).is_some_and(|n: u64| n > MAX_BODY_BYTES) {
        return Err(error_response(Failure::new(
            Code::TooLarge,
            format!("the body has more than {MAX_BODY_BYTES} bytes"),
        )));
    }
    match timeout(BODY_DEADLINE, Json::from_request(request, &())).await {
        Ok(Ok(Json(call))) => Ok(call),
        Ok(Err(rejection)) => Err(rejection.into_response()),
        Err(_) => {
            let seconds = BODY_DEADLINE.as_secs();
            let failure =
                Failure::new(Code::Invalid, format!("the body did not arrive within {seconds} s"));
            Err(error_response(failure.hint("Send the whole request at once")))
        }
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
