//! One request over the admin socket: HTTP/1.1, JSON back.
//!
//! The admin socket never starts a daemon: who asks for the state must not change it.

use crate::client::{Unreachable, connect, peer_pid};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use loci_proto::error::Failure;
use loci_proto::paths::Paths;
use std::time::Duration;
use tokio::net::UnixStream;
use tokio::time::timeout;

/// How long an answer may take; nothing asked for here needs the database for long.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long an answer to a verb may take; the daemon gives up a little earlier and says so.
const LONG: Duration = Duration::from_secs(35);
/// Most bytes of an answer.
const MOST: usize = 16 * 1024 * 1024;

/// Why a request was not done.
#[derive(Debug)]
pub enum NotDone {
    /// No daemon to ask.
    Unreachable(Unreachable),
    /// It was asked, and refused or failed.
    Refused(Failure),
}

impl From<Unreachable> for NotDone {
    fn from(reason: Unreachable) -> Self {
        Self::Unreachable(reason)
    }
}

/// Asks for something; the answer is JSON.
///
/// # Errors
/// No daemon, no answer, or an unreadable one.
pub async fn get(paths: &Paths, path: &str) -> Result<Bytes, NotDone> {
    call(paths, Method::GET, path).await
}

/// Has something done; the answer is JSON.
///
/// # Errors
/// No daemon, no answer, or a refusal.
pub async fn post(paths: &Paths, path: &str) -> Result<Bytes, NotDone> {
    call(paths, Method::POST, path).await
}

/// Has something done that is told in JSON; the answer is JSON.
///
/// # Errors
/// No daemon, no answer within [`LONG`], or a refusal.
pub async fn send(paths: &Paths, path: &str, body: Vec<u8>) -> Result<Bytes, NotDone> {
    call_with(paths, Method::POST, path, body.into(), LONG).await
}

async fn call(paths: &Paths, method: Method, path: &str) -> Result<Bytes, NotDone> {
    call_with(paths, method, path, Bytes::new(), PATIENCE).await
}

async fn call_with(
    paths: &Paths,
    method: Method,
    path: &str,
    body: Bytes,
    patience: Duration,
) -> Result<Bytes, NotDone> {
    let stream = connect(&paths.admin_socket).await?;
    let pid = peer_pid(&stream);
    let (status, body) = match timeout(patience, exchange(stream, method, path, body)).await {
        Ok(answer) => answer.map_err(|error| Unreachable::Broken(error.to_string()))?,
        Err(_) => return Err(Unreachable::NoAnswer { pid }.into()),
    };
    if status.is_success() {
        return Ok(body);
    }
    match serde_json::from_slice(&body) {
        Ok(failure) => Err(NotDone::Refused(failure)),
        Err(_) => Err(Unreachable::Broken(format!("{path}: {status}")).into()),
    }
}

type Anything = Box<dyn std::error::Error + Send + Sync>;

async fn exchange(
    stream: UnixStream,
    method: Method,
    path: &str,
    body: Bytes,
) -> Result<(StatusCode, Bytes), Anything> {
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let request = Request::builder().method(method).uri(path).header("host", "localhost");
    let request = request.header("content-type", "application/json").body(Full::new(body))?;
    let exchange = async move {
        let answer = sender.send_request(request).await?;
        let status = answer.status();
        let body = Limited::new(answer.into_body(), MOST).collect().await?.to_bytes();
        Ok::<_, Anything>((status, body))
    };
    tokio::pin!(exchange);
    tokio::select! {
        answer = &mut exchange => answer,
        // The connection may end as soon as the answer has come; the answer itself then is ready at once.
        ended = connection => { ended?; (&mut exchange).await }
    }
}
