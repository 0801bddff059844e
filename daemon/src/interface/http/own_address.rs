//! The address of a server on loopback, and the layers that refuse what was sent to another one.
//!
//! A page in a browser can send requests to a loopback address. It cannot choose `Host` and `Origin`. Not here: who may use the server
//! (`guard`, `view::access`).

use crate::interface::http::refusal::Refusal;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, HOST, ORIGIN, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use std::net::SocketAddr;
use std::sync::Arc;

/// The names under which a server on loopback is reached.
#[derive(Clone)]
pub struct OwnAddress {
    hosts: Arc<[String; 3]>,
    origins: Arc<[String; 3]>,
}

impl OwnAddress {
    /// The names of a server that listens at this address.
    #[must_use]
    pub fn new(address: SocketAddr) -> Self {
        let port = address.port();
        let hosts = ["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}"));
        let origins = hosts.each_ref().map(|host| format!("http://{host}"));
        Self { hosts: hosts.into(), origins: origins.into() }
    }

    fn is_own_host(&self, value: &[u8]) -> bool {
        self.hosts.iter().any(|host| host.as_bytes() == value)
    }
}

/// Refuses a request that was sent to another name: a page of another site whose name now leads to this machine (DNS rebinding).
///
/// # Errors
/// The refusal.
pub async fn check_host(
    State(own): State<OwnAddress>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let foreign = || Refusal::Foreign("Host");
    let host = only(request.headers(), &HOST).ok().flatten().ok_or_else(foreign)?;
    // An absolute request target names the server as well.
    let target =
        request.uri().authority().map_or(host.as_bytes(), |named| named.as_str().as_bytes());
    if !own.is_own_host(host.as_bytes()) || target != host.as_bytes() {
        return Err(foreign());
    }
    Ok(next.run(request).await)
}

/// Refuses a request that a page of another site has sent.
///
/// # Errors
/// The refusal.
pub async fn check_origin(
    State(own): State<OwnAddress>,
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let is_own = |origin: &HeaderValue| own.origins.iter().any(|own| origin == own.as_str());
    match only(request.headers(), &ORIGIN) {
        Ok(None) => {}
        Ok(Some(origin)) if is_own(origin) => {}
        _ => return Err(Refusal::Foreign("Origin")),
    }
    Ok(next.run(request).await)
}

/// Adds the headers of every answer: it is for this client alone, and no page may read it.
pub async fn set_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

/// A header that may be given once is given more than once.
pub(super) struct Repeated;

/// Returns the value of a header that may be given once; `None` without it.
pub(super) fn only<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a HeaderValue>, Repeated> {
    let mut values = headers.get_all(name).iter();
    let first = values.next();
    if values.next().is_some() { Err(Repeated) } else { Ok(first) }
}
