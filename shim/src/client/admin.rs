//! One HTTP/1.1 request over the admin socket; the answer is JSON.
//!
//! Not here: starting a daemon; a status request must not start one.

use crate::client::socket::{connect, peer_pid};
use crate::client::unreachable::Unreachable;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use loci_proto::error::Failure;
use loci_proto::paths::Paths;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// Time limit of requests without a body, all of which are short.
const SHORT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit of a verb; the daemon's own limit is slightly shorter and gives a better error.
const VERB_TIMEOUT: Duration = Duration::from_secs(35);
/// Maximum size of an answer in bytes.
const MAX_ANSWER_BYTES: usize = 16 * 1024 * 1024;

/// Why a request failed.
#[derive(Debug)]
pub enum RequestError {
    /// The daemon was not reached, or did not answer.
    Unreachable(Unreachable),
    /// The daemon refused the request or failed.
    Refused(Failure),
}

impl From<Unreachable> for RequestError {
    fn from(reason: Unreachable) -> Self {
        Self::Unreachable(reason)
    }
}

/// Sends a GET request and returns the JSON answer.
///
/// # Errors
/// No daemon, no answer, or an invalid one.
pub async fn get(paths: &Paths, path: &str) -> Result<Bytes, RequestError> {
    request_without_body(paths, Method::GET, path).await
}

/// Sends a POST request without a body and returns the JSON answer.
///
/// # Errors
/// The daemon cannot be reached, does not answer, or refuses the request.
pub async fn post(paths: &Paths, path: &str) -> Result<Bytes, RequestError> {
    request_without_body(paths, Method::POST, path).await
}

/// Sends a POST request with a JSON body and returns the JSON answer.
///
/// # Errors
/// The daemon cannot be reached, does not answer within 35 s, or refuses the request.
pub async fn post_json(paths: &Paths, path: &str, body: Vec<u8>) -> Result<Bytes, RequestError> {
    request(paths, Method::POST, path, body.into(), VERB_TIMEOUT).await
}

async fn request_without_body(
    paths: &Paths,
    method: Method,
    path: &str,
) -> Result<Bytes, RequestError> {
    request(paths, method, path, Bytes::new(), SHORT_TIMEOUT).await
}

async fn request(
    paths: &Paths,
    method: Method,
    path: &str,
    body: Bytes,
    time_limit: Duration,
) -> Result<Bytes, RequestError> {
    let stream = connect(&paths.admin_socket).await?;
    let pid = peer_pid(&stream);
    let (status, body) = match timeout(time_limit, exchange(stream, method, path, body)).await {
        Ok(answer) => answer.map_err(|error| Unreachable::Broken(error.to_string()))?,
        Err(_) => return Err(Unreachable::NoAnswer { pid }.into()),
    };
    if status.is_success() {
        return Ok(body);
    }
    match serde_json::from_slice(&body) {
        Ok(failure) => Err(RequestError::Refused(failure)),
        Err(_) => Err(Unreachable::Broken(format!("{path}: {status}")).into()),
    }
}

type AnyError = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(
    stream: UnixStream,
    method: Method,
    path: &str,
    body: Bytes,
) -> Result<(StatusCode, Bytes), AnyError> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request = request.header("content-type", "application/json").body(Full::new(body))?;
    let answer = async move {
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES).collect().await?.to_bytes();
        Ok::<_, AnyError>((status, body))
    };
    tokio::pin!(answer);
    tokio::select! {
        answer = &mut answer => answer,
        // The connection may finish before the answer is polled; the answer is ready then.
        ended = connection => { ended?; (&mut answer).await }
    }
}
