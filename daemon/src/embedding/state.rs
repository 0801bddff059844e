//! The state of the model as callers see it, and the errors that they receive. Not here: who changes the state (`worker`).

use loci_engine::model::encoding::EmbeddingError;

/// State of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelState {
    /// The files are being checked and loaded; submitted texts wait for the outcome.
    Loading,
    /// The model serves.
    Ready {
        /// SHA-256 of the weights, in hexadecimal.
        sha256: String,
    },
    /// A file is not on this machine.
    Missing {
        /// The next step for the user.
        hint: String,
    },
    /// The files are on this machine, but the model cannot be used.
    Failed {
        /// The fault, naming the file where one is at fault.
        reason: String,
        /// The next step for the user.
        hint: String,
    },
}

impl ModelState {
    /// Returns `loading`, `ready`, `missing` or `failed`.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Loading => "loading",
            Self::Ready { .. } => "ready",
            Self::Missing { .. } => "missing",
            Self::Failed { .. } => "failed",
        }
    }

    /// Returns the next step for the user if the model is missing or has failed.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Loading | Self::Ready { .. } => None,
            Self::Missing { hint } | Self::Failed { hint, .. } => Some(hint),
        }
    }

    /// Returns the fault if the model has failed.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Failed { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// Why a text got no vector.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The model is missing or failed: continue without vectors.
    #[error("the embedding model is not available: {hint}")]
    Unavailable {
        /// The next step for the user.
        hint: String,
    },
    /// The queue of this priority is full: try again later.
    #[error("the queue of the embedding model is full")]
    Busy,
    /// The model's output is not a valid embedding.
    #[error("the embedding model returned an invalid vector: {0}")]
    InvalidVector(EmbeddingError),
    /// Tokenizing or the forward pass failed.
    #[error("the embedding model failed: {0}")]
    Failed(String),
}
