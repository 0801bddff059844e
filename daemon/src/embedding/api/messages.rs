//! The lines of JSON between the daemon and `locid embed`: settings, then requests and replies, one at a time.
//!
//! The key of the provider is in none of them. Not here: reading and writing them (`process`, `program`).

use crate::embedding::api::provider::Provider;
use crate::embedding::profile::TextKind;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The first line to `locid embed`. It answers with a [`Reply`] without vectors, or with a failure.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Settings {
    /// The provider.
    pub provider: Provider,
    /// The provider's name of the model.
    pub model: String,
    /// How many numbers a vector has.
    pub dimensions: usize,
    /// The base URL.
    pub url: String,
    /// The file of the key; `None`: the provider's environment variable.
    pub key_file: Option<PathBuf>,
}

/// Texts to encode.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    /// True for queries.
    pub is_query: bool,
    /// The texts, as they are sent.
    pub texts: Vec<String>,
}

impl Request {
    /// Returns what the texts are.
    #[must_use]
    pub fn kind(&self) -> TextKind {
        if self.is_query { TextKind::Query } else { TextKind::Document }
    }
}

/// The answer to a line.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// One vector per text; none in answer to the settings.
    Done {
        /// The vectors, in the order of the texts.
        vectors: Vec<Vec<f32>>,
        /// How many tokens the provider counted.
        tokens: Option<u64>,
    },
    /// No vectors.
    Failed(ApiFailure),
}

/// Why a call has no vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApiFailure {
    /// What kind of failure.
    pub kind: FailureKind,
    /// The reason, without any text of the user.
    pub message: String,
    /// Seconds after which the provider wants the next call.
    #[serde(default)]
    pub retry_after_s: Option<u64>,
    /// True if the texts were sent, so that the provider may have counted them.
    #[serde(default)]
    pub may_be_counted: bool,
}

/// The kinds of failures, by what is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// The key is missing or not accepted.
    Key,
    /// The request is not accepted: a wrong model or address.
    Refused,
    /// Too many requests.
    Busy,
    /// No answer, or not a usable one.
    Unavailable,
    /// The limit of the day is reached.
    Limit,
    /// The counters cannot be read or written.
    Usage,
}

impl ApiFailure {
    /// Creates a failure.
    #[must_use]
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), retry_after_s: None, may_be_counted: false }
    }

    /// Returns the next step for the user.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self.kind {
            FailureKind::Key => {
                "correct embedding.key_file or the key in it; then run loci ctl restart"
            }
            FailureKind::Refused => {
                "correct embedding.model, embedding.dimensions or embedding.api_url; then run loci ctl restart"
            }
            FailureKind::Busy | FailureKind::Unavailable => "loci tries again by itself",
            FailureKind::Limit => {
                "it goes on tomorrow; loci ctl cost shows the use, embedding.daily_tokens sets the limit"
            }
            FailureKind::Usage => "move the file away; the counters begin again",
        }
    }
}
