//! Encodes texts and queries with the model, and reports degraded search while the model is not available.
//!
//! Not here: the model and its queue (`embedding`).

use crate::embedding::{EmbedError, Priority};
use crate::service::Service;
use loci_engine::model::encoding::{DocumentEncoding, QueryEncoding};
use loci_proto::degraded::Degraded;
use loci_proto::error::{Code, Failure};

/// A query's encoding, and the parts that the answer must report as degraded.
#[derive(Debug)]
pub struct EncodedQuery {
    /// `None` if the model could not encode the query.
    pub encoding: Option<QueryEncoding>,
    /// The parts that do not work at the moment.
    pub degraded: Degraded,
}

impl Service {
    /// Encodes a text that is to be stored; `None` while there is no model.
    ///
    /// # Errors
    /// `embed_failed` if the model returned unusable vectors; `busy`.
    pub async fn encode_document(&self, text: &str) -> Result<Option<DocumentEncoding>, Failure> {
        self.embedder.reload_if_due().await;
        match self.embedder.document(text.to_owned(), Priority::Interactive).await {
            Ok(encoding) => Ok(Some(encoding)),
            Err(EmbedError::Unavailable { .. } | EmbedError::Failed(_)) => {
                self.auto_fetch.fetch_if_missing(&self.embedder);
                Ok(None)
            }
            Err(error @ EmbedError::Busy) => Err(busy(&error)),
            Err(error @ EmbedError::InvalidVector(_)) => {
                Err(Failure::new(Code::EmbedFailed, error.to_string())
                    .hint("Nothing was stored; run loci model download to check the model"))
            }
        }
    }

    /// Encodes a query.
    ///
    /// # Errors
    /// `busy`.
    pub async fn encode_query(&self, text: String) -> Result<EncodedQuery, Failure> {
        self.embedder.reload_if_due().await;
        match self.embedder.query(text).await {
            Ok(encoding) => {
                Ok(EncodedQuery { encoding: Some(encoding), degraded: self.degraded() })
            }
            Err(EmbedError::Unavailable { .. }) => {
                self.auto_fetch.fetch_if_missing(&self.embedder);
                Ok(EncodedQuery { encoding: None, degraded: self.degraded() })
            }
            Err(error @ EmbedError::Busy) => Err(busy(&error)),
            Err(error @ (EmbedError::Failed(_) | EmbedError::InvalidVector(_))) => {
                Ok(EncodedQuery { encoding: None, degraded: keywords_only(&error.to_string()) })
            }
        }
    }

    /// Returns `embedding` with a hint while the model is missing or has failed; nothing otherwise.
    #[must_use]
    pub fn degraded(&self) -> Degraded {
        let state = self.embedder.state();
        match state.hint() {
            Some(_) if self.auto_fetch.is_fetching() => keywords_only(
                "the model is being downloaded; run loci model download to wait for it",
            ),
            Some(hint) => keywords_only(hint),
            None => Degraded::default(),
        }
    }
}

fn busy(error: &EmbedError) -> Failure {
    Failure::new(Code::Busy, error.to_string()).hint("Call again in a moment")
}

fn keywords_only(reason: &str) -> Degraded {
    Degraded {
        parts: vec!["embedding".to_owned()],
        hint: Some(format!("Searching by keywords only: {reason}")),
    }
}
