//! Calls the API of a provider over HTTPS. Runs in `locid embed` only, never in the serving daemon.
//!
//! No redirect is followed: the key and the texts go to the configured address and nowhere else. Not here: what is sent (`provider`), how
//! often (`sender`).

use crate::embedding::api::key::Key;
use crate::embedding::api::messages::{ApiFailure, FailureKind, Reply, Request, Settings};
use crate::embedding::api::provider::{Vectors, read_reply};
use std::time::Duration;
use ureq::Agent;
use ureq::http::Response;
use ureq::tls::{RootCerts, TlsConfig};

/// Maximum time for a name, and for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum time of a whole call for queries, which nobody waits for any longer.
pub const QUERY_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time of a whole call for texts to store.
pub const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(15);
/// Maximum size of a reply: 128 vectors of 384 numbers take about 1 MiB.
const MAX_REPLY: u64 = 16 << 20;
/// Longest pause that a provider may ask for, in seconds.
const MAX_PAUSE: u64 = 3600;

/// A client of one provider.
pub struct Client {
    agent: Agent,
    key: Key,
    settings: Settings,
}

impl Client {
    /// Creates a client; connects to nothing yet.
    #[must_use]
    pub fn new(settings: Settings, key: Key) -> Self {
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .user_agent(format!("loci/{}", loci_proto::VERSION))
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_resolve(Some(CONNECT_TIMEOUT))
            .timeout_connect(Some(CONNECT_TIMEOUT));
        // Only a loopback address may be without TLS, and no proxy reaches it.
        let is_local = settings.url.starts_with("http://");
        let config = if is_local { config.proxy(None) } else { config.https_only(true) };
        Self { agent: config.build().new_agent(), key, settings }
    }

    /// Sends texts and returns their vectors.
    #[must_use]
    pub fn embed(&self, request: &Request) -> Reply {
        match self.call(request) {
            Ok(Vectors { vectors, tokens }) => Reply::Done { vectors, tokens },
            Err(failure) => Reply::Failed(failure),
        }
    }

    fn call(&self, request: &Request) -> Result<Vectors, ApiFailure> {
        let Settings { provider, model, dimensions, url, .. } = &self.settings;
        let body = provider.body(model, *dimensions, request.kind(), &request.texts).to_string();
        let timeout = if request.is_query { QUERY_TIMEOUT } else { DOCUMENT_TIMEOUT };
        let lost = |reason: String| ApiFailure {
            may_be_counted: true,
            ..ApiFailure::new(FailureKind::Unavailable, reason)
        };
        let sent = self
            .agent
            .post(format!("{url}/embeddings"))
            .config()
            .timeout_global(Some(timeout))
            .build()
            .header("Authorization", self.key.authorization())
            .header("Content-Type", "application/json")
            .send(body.as_bytes());
        let mut response = sent.map_err(|error| ApiFailure {
            may_be_counted: was_sent(&error),
            ..lost(self.reason(&error))
        })?;
        if response.status() != 200 {
            return Err(self.refusal(&response));
        }
        let reply = response.body_mut().with_config().limit(MAX_REPLY).read_to_vec();
        let reply = reply.map_err(|error| lost(self.reason(&error)))?;
        read_reply(&reply, request.texts.len(), *dimensions)
            .map_err(|reason| lost(format!("the reply of {url} cannot be used: {reason}")))
    }

    /// Says why there is no reply. The system says so where a service file forbids the network.
    fn reason(&self, error: &ureq::Error) -> String {
        let reason = match error {
            ureq::Error::Timeout(_) => "it does not answer in time".to_owned(),
            other => other.to_string(),
        };
        let url = &self.settings.url;
        if reason.contains("Address family not supported") {
            return format!(
                "{url} cannot be reached: the service of locid has no network; see docs/models.md"
            );
        }
        format!("{url} cannot be reached: {reason}")
    }

    /// Says why the provider refuses; its own message may repeat texts, and is not read.
    fn refusal<B>(&self, response: &Response<B>) -> ApiFailure {
        let status = response.status().as_u16();
        let (kind, what) = match status {
            401 | 403 => (FailureKind::Key, "does not accept the key"),
            429 => (FailureKind::Busy, "allows no more requests at the moment"),
            408 | 500.. => (FailureKind::Unavailable, "has a fault"),
            _ => (FailureKind::Refused, "does not accept the request"),
        };
        let message = format!("{} {what} (HTTP status {status})", self.settings.url);
        let header = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let retry_after_s = header
            .and_then(|value| value.trim().parse::<u64>().ok())
            .map(|seconds| seconds.min(MAX_PAUSE));
        ApiFailure { retry_after_s, ..ApiFailure::new(kind, message) }
    }
}

/// Returns false if there was no connection, so that the provider has seen nothing.
fn was_sent(error: &ureq::Error) -> bool {
    use ureq::Timeout::{Connect, Resolve};
    match error {
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::Timeout(Connect | Resolve) => false,
        ureq::Error::Io(error) => error.kind() != std::io::ErrorKind::ConnectionRefused,
        _ => true,
    }
}
