//! The answers to requests that the HTTP server refuses: a status, and a failure as JSON. They never repeat what the client has sent.

use axum::Json;
use axum::http::header::{ALLOW, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use loci_proto::error::{Code, Failure};
use loci_proto::limits;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The address or the page that the request names is not this server.
    Foreign(&'static str),
    /// No valid token; `given` if there was one at all.
    Unauthorized {
        /// A token was sent, but it is not valid.
        given: bool,
    },
    /// The token may not use the project that the header names.
    OtherProject,
    /// A header has a value that cannot be used.
    Header(&'static str, String),
    /// The body is not plain JSON.
    NotJson(&'static str),
    /// The body is too large.
    TooLarge,
    /// The body did not arrive in time.
    Slow,
    /// The token sends too many requests; seconds until the next one.
    TooMany(u64),
    /// Too many requests are in progress.
    Busy,
    /// The tokens cannot be read.
    Tokens(Failure),
    /// No such path.
    NotFound,
    /// The path has no such method.
    Method(&'static str),
}

/// Seconds after which a client may try again while too many requests are in progress.
const BUSY_RETRY_SECONDS: u64 = 1;

impl Refusal {
    fn status(&self) -> StatusCode {
        match self {
            Self::Foreign(_) | Self::OtherProject => StatusCode::FORBIDDEN,
            Self::Unauthorized { .. } => StatusCode::UNAUTHORIZED,
            Self::Header(..) => StatusCode::BAD_REQUEST,
            Self::NotJson(_) => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Busy | Self::Tokens(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::Method(_) => StatusCode::METHOD_NOT_ALLOWED,
        }
    }

    fn failure(&self) -> Failure {
        let invalid = |field: &'static str, message: &str| Failure::invalid(field, message);
        match self {
            Self::Foreign(header) => invalid(header, "does not name this server")
                .hint("Use the URL that loci ctl status shows"),
            Self::Unauthorized { given } => {
                let fault = if *given { "has no valid token" } else { "is missing" };
                invalid("Authorization", fault).hint(
                    "Send Authorization: Bearer TOKEN; loci serve token list names the tokens",
                )
            }
            Self::OtherProject => {
                invalid("Loci-Group", "names a project that this token may not use")
                    .hint("Leave out Loci-Group, or use another token")
            }
            Self::Header(header, fault) => invalid(header, fault),
            Self::NotJson(header) => invalid(header, "is not supported")
                .hint("Send the body as plain JSON: Content-Type: application/json"),
            Self::TooLarge => Failure::new(
                Code::TooLarge,
                format!("the body has more than {} bytes", limits::LINE_BYTES),
            ),
            Self::Slow => Failure::new(Code::Invalid, "the body did not arrive in time")
                .hint("Send the whole request at once"),
            Self::TooMany(seconds) => Failure::new(Code::Busy, "the token sends too many requests")
                .hint(format!("Send the next one in {seconds} s")),
            Self::Busy => Failure::new(Code::Busy, "too many requests are in progress")
                .hint("Send the request again"),
            Self::Tokens(failure) => failure.clone(),
            Self::NotFound => Failure::new(Code::NotFound, "there is nothing at this path")
                .hint("MCP is at /mcp, the viewer at /"),
            Self::Method(allowed) => {
                Failure::new(Code::Invalid, format!("this path has only the method {allowed}"))
            }
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = (self.status(), Json(self.failure())).into_response();
        let headers = response.headers_mut();
        match self {
            Self::Unauthorized { given } => {
                let error = if given { ", error=\"invalid_token\"" } else { "" };
                if let Ok(value) = format!("Bearer realm=\"loci\"{error}").parse() {
                    headers.insert(WWW_AUTHENTICATE, value);
                }
            }
            Self::TooMany(seconds) => {
                headers.insert(RETRY_AFTER, seconds.into());
            }
            Self::Busy => {
                headers.insert(RETRY_AFTER, BUSY_RETRY_SECONDS.into());
            }
            Self::Method(allowed) => {
                headers.insert(ALLOW, HeaderValue::from_static(allowed));
            }
            _ => {}
        }
        response
    }
}
