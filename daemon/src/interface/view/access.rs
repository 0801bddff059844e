//! Who may use the viewer: the browser that opened the link.
//!
//! The link has a token that is valid once. The page that it opens gets a cookie and a key. A cookie of this host goes to every port of it,
//! so a server of another user could read it; the key is kept by the page, which its origin protects, port included. Every request needs
//! both, but for the stream of events, to which a page cannot add a header, and which holds only numbers. Not here: host and origin (`http::own_address`).

use axum::extract::{Request, State};
use axum::http::header::{COOKIE, HeaderName};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use loci_proto::error::{Code, Failure};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use subtle::ConstantTimeEq as _;

/// The name of the cookie, before the port: viewers on several ports have one each.
const COOKIE_PREFIX: &str = "loci_view_";
/// The header with the key of the page.
const KEY_HEADER: HeaderName = HeaderName::from_static("loci-view-key");
/// The stream of events.
pub const EVENTS_PATH: &str = "/api/events";
/// Bytes of a secret, from the operating system.
const SECRET_BYTES: usize = 32;

/// The secrets of one viewer.
#[derive(Clone)]
pub struct Access(Arc<Secrets>);

struct Secrets {
    /// The token of the link; `None` once it was used.
    token: Mutex<Option<String>>,
    cookie_name: String,
    cookie: String,
    key: String,
    /// What only this server and its page know; it is never sent again.
    proof_secret: String,
}

impl Access {
    /// Creates the secrets of a viewer at this port, and returns the token of the link.
    ///
    /// # Errors
    /// `internal` if the system has no random numbers.
    pub fn new(port: u16) -> Result<(Self, String), Failure> {
        let token = secret()?;
        let secrets = Secrets {
            token: Mutex::new(Some(token.clone())),
            cookie_name: format!("{COOKIE_PREFIX}{port}"),
            cookie: secret()?,
            key: secret()?,
            proof_secret: secret()?,
        };
        Ok((Self(Arc::new(secrets)), token))
    }

    /// Returns true for the token of the link, until it was taken.
    pub fn knows(&self, given: &str) -> bool {
        let token = self.0.token.lock().unwrap_or_else(PoisonError::into_inner);
        token.as_deref().is_some_and(|token| is_equal(token, given))
    }

    /// Returns true for the token of the link, once.
    pub fn take(&self, given: &str) -> bool {
        let mut token = self.0.token.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it = token.as_deref().is_some_and(|token| is_equal(token, given));
        if is_it {
            *token = None;
        }
        is_it
    }

    /// Returns the header `Set-Cookie` of the page that the link opens.
    #[must_use]
    pub fn set_cookie(&self) -> String {
        let Secrets { cookie_name, cookie, .. } = &*self.0;
        format!("{cookie_name}={cookie}; HttpOnly; SameSite=Strict; Path=/")
    }

    /// Returns what the page sends with each request.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.0.key
    }

    /// Returns what the page knows this server by.
    #[must_use]
    pub fn proof_secret(&self) -> &str {
        &self.0.proof_secret
    }

    /// Returns the answer to a number that the page has chosen: it shows that this is the server that made the page, and not another one
    /// that listens at the port since.
    #[must_use]
    pub fn proof(&self, nonce: &str) -> String {
        hexadecimal(&Sha256::digest(format!("{}:{nonce}", self.0.proof_secret)))
    }

    fn has_key(&self, headers: &HeaderMap) -> bool {
        let mut keys = headers.get_all(KEY_HEADER).iter();
        let key = keys.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
        is_equal(&self.0.key, key) && keys.next().is_none()
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let cookies = headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|all| all.split(';').filter_map(|cookie| cookie.trim().split_once('=')));
        let mut own = cookies.filter(|(name, _)| *name == self.0.cookie_name);
        own.any(|(_, value)| is_equal(&self.0.cookie, value))
    }
}

/// Refuses a request that does not come from the page.
///
/// # Errors
/// The answer 401.
pub async fn authenticate(
    State(access): State<Access>,
    request: Request,
    next: Next,
) -> Result<Response, Response> {
    let headers = request.headers();
    let is_stream = request.uri().path() == EVENTS_PATH;
    if access.has_cookie(headers) && (is_stream || access.has_key(headers)) {
        return Ok(next.run(request).await);
    }
    let failure = Failure::new(Code::Invalid, "this page is not signed in")
        .hint("Run loci view again and open its link");
    Err((StatusCode::UNAUTHORIZED, axum::Json(failure)).into_response())
}

fn is_equal(secret: &str, given: &str) -> bool {
    secret.as_bytes().ct_eq(given.as_bytes()).into()
}

fn secret() -> Result<String, Failure> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|e| {
        Failure::new(Code::Internal, format!("the system gives no random numbers: {e}"))
    })?;
    Ok(hexadecimal(&bytes))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookie: &str, key: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, cookie.parse().expect("a header"));
        headers.insert(KEY_HEADER, key.parse().expect("a header"));
        headers
    }

    #[test]
    fn the_link_works_once() {
        let (access, token) = Access::new(7434).expect("the secrets are made");
        assert!(!access.take("") && !access.take(&token[1..]));
        assert!(access.take(&token));
        assert!(!access.take(&token));
    }

    #[test]
    fn a_request_needs_cookie_and_key() {
        let (access, token) = Access::new(7434).expect("the secrets are made");
        let admits = |headers: &HeaderMap| access.has_cookie(headers) && access.has_key(headers);
        let (cookie, key) = (access.0.cookie.clone(), access.key().to_owned());
        let own = format!("theme=dark; {COOKIE_PREFIX}7434={cookie}");
        assert!(admits(&headers(&own, &key)));
        assert!(!admits(&headers(&own, &cookie)));
        assert!(!admits(&headers(&own, &token)));
        assert!(!admits(&headers(&format!("{COOKIE_PREFIX}7434={key}"), &key)));
        assert!(!admits(&headers("", "")));
        let mut twice = headers(&own, &key);
        twice.append(KEY_HEADER, "another".parse().expect("a header"));
        assert!(!admits(&twice));
    }
}
