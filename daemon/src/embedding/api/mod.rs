//! Embeddings by the API of a provider (`OpenAI`, Voyage), which is used only with `embedding.provider` and `embedding.consent`.
//!
//! The serving daemon opens no connection: a process of its own, `locid embed`, sends the texts and returns the vectors. It is started
//! when there is something to send and ends after a while without. Every text passes the rules for secrets and personal data before it
//! leaves the daemon, and every call is counted before it is made.
//!
//! Reading order: [`provider`] (requests and replies of a provider, PURE), [`messages`] (between the daemon and `locid embed`), [`key`]
//! and [`http`] (the only network code), [`program`] (`locid embed`), `process` (the daemon's side of it), `outgoing` (what is sent of a
//! text), [`usage`] (counters by day, the daily limit), `backoff`, `sender` (the threads). Not here: the keys of the configuration
//! (`config::api`), callers and their deadlines (`embedder`).

pub mod backoff;
pub mod http;
pub mod key;
pub mod messages;
pub mod outgoing;
mod process;
pub mod program;
pub mod provider;
pub mod sender;
pub mod usage;

use crate::config::current_policy::CurrentPolicy;
use crate::embedding::encoder::{EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{Fingerprint, LoadError, ModelConfig};
use messages::Settings;
use provider::Provider;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// A model behind an API.
#[derive(Debug, Clone)]
pub struct ApiConfig {
    /// The provider, model and address.
    pub target: ApiTarget,
    /// Maximum number of texts of one request.
    pub batch: usize,
    /// How long a request waits for further texts.
    pub flush: Duration,
    /// Maximum number of tokens that are sent on one day.
    pub daily_tokens: u64,
    /// The file of the counters.
    pub usage_file: PathBuf,
    /// The file of the key; `None`: the provider's environment variable.
    pub key_file: Option<PathBuf>,
    /// What a text may contain.
    pub policy: CurrentPolicy,
    /// Where the files of local models are: the earlier vectors of the store may be of one.
    pub local: ModelConfig,
}

/// Where texts are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiTarget {
    /// The provider, which determines the form of requests.
    pub provider: Provider,
    /// The provider's name of the model.
    pub model: String,
    /// How many numbers a vector has.
    pub dimensions: usize,
    /// The base URL, without a slash at the end.
    pub url: String,
    /// Host and port of the URL.
    pub host: String,
}

impl ApiTarget {
    /// Returns the id of the model, for example `openai/text-embedding-3-small/384`. A server other than the provider's own is part of it:
    /// it may have another model under the same name.
    #[must_use]
    pub fn id(&self) -> String {
        let id = format!("{}/{}/{}", self.provider.as_str(), self.model, self.dimensions);
        if self.host == self.provider.host() { id } else { format!("{id}@{}", self.host) }
    }

    /// Returns the value of `embedding.consent` that allows it.
    #[must_use]
    pub fn consent(&self) -> String {
        format!("send my memories and questions to {}", self.host)
    }
}

impl ApiConfig {
    /// Returns the settings that the daemon sends to `locid embed` at its start.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let ApiTarget { provider, model, dimensions, url, .. } = self.target.clone();
        Settings { provider, model, dimensions, url, key_file: self.key_file.clone() }
    }
}

impl EncoderSource for ApiConfig {
    fn id(&self) -> Option<Arc<str>> {
        Some(self.target.id().into())
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    fn load(&self) -> Result<LoadedEncoder, LoadError> {
        Err(LoadError::Refused("a model behind an API has no files".to_owned()))
    }
}
