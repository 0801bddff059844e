//! Encodes texts and queries with the models in use, and reports degraded search while the model is not available.
//!
//! Not here: a model and its queue (`embedding`), which models are loaded (`models`).

use crate::embedding::{EmbedError, Embedder, ModelState, Priority};
use crate::service::Service;
use crate::service::store_state::StoreState;
use loci_engine::model::document::Document;
use loci_engine::model::encoding::{ModelEncoding, QueryEncoding, TextEncodings};
use loci_engine::model::vector_set::{VectorSet, VectorSets};
use loci_proto::degraded::Degraded;
use loci_proto::error::{Code, Failure};
use std::sync::Arc;

/// A query's encoding, and the parts that the answer must report as degraded.
#[derive(Debug)]
pub struct EncodedQuery {
    /// `None` if the model could not encode the query.
    pub encoding: Option<QueryEncoding>,
    /// The parts that do not work at the moment.
    pub degraded: Degraded,
}

impl Service {
    /// Returns the vector sets in use; none while the store is not open.
    #[must_use]
    pub fn vector_sets(&self) -> Arc<VectorSets> {
        match &*self.store.borrow() {
            StoreState::Open(pools) => pools.sets.get(),
            _ => Arc::default(),
        }
    }

    /// Encodes the texts of a memory that is to be stored: with the model whose vectors are searched, and with the next one while all memories are being
    /// encoded again. Empty while there is no model.
    ///
    /// # Errors
    /// `embed_failed` if the model returned unusable vectors; `busy`.
    pub async fn encode_document(&self, document: &Document) -> Result<TextEncodings, Failure> {
        let sets = self.vector_sets();
        let (active, next) = tokio::join!(
            self.encode_with(&sets.active, document),
            self.encode_with_next(&sets, document),
        );
        Ok(active?.into_iter().chain(next).collect())
    }

    async fn encode_with(
        &self,
        set: &VectorSet,
        document: &Document,
    ) -> Result<Option<ModelEncoding>, Failure> {
        let Some(embedder) = self.models.of(set).await else { return Ok(None) };
        embedder.reload_if_due().await;
        match embedder.document(document.clone(), Priority::Interactive).await {
            Ok(encoding) => Ok(Some(encoding)),
            Err(EmbedError::Unavailable { .. } | EmbedError::Failed(_)) => {
                self.auto_fetch.fetch_if_missing(self.models.configured());
                Ok(None)
            }
            Err(error @ EmbedError::Busy) => Err(busy(&error)),
            Err(error @ EmbedError::InvalidVector(_)) => {
                Err(Failure::new(Code::EmbedFailed, error.to_string())
                    .hint("Nothing was stored; run loci model download to check the model"))
            }
        }
    }

    /// Encodes texts with the next model, if there is one that is ready. A failure is no error: they are encoded later.
    async fn encode_with_next(
        &self,
        sets: &VectorSets,
        document: &Document,
    ) -> Option<ModelEncoding> {
        let next = sets.filling.as_ref().filter(|next| next.model != sets.active.model)?;
        let embedder = self.models.of_now(next).filter(|model| model.is_ready_as(&next.model))?;
        embedder.document(document.clone(), Priority::Interactive).await.ok()
    }

    /// Records that a memory may lack a vector, unless its encodings have one of the set that is searched now. Call it after the write.
    pub fn note_encoded(&self, encodings: &TextEncodings) {
        if encodings.by(&self.vector_sets().active.model).is_none() {
            self.set_vectors_missing(true);
        }
    }

    /// Encodes a query with the model whose vectors are searched.
    ///
    /// # Errors
    /// `busy`.
    pub async fn encode_query(&self, text: String) -> Result<EncodedQuery, Failure> {
        loop {
            let active = self.vector_sets().active.clone();
            let Some(embedder) = self.models.of(&active).await else {
                return Ok(EncodedQuery { encoding: None, degraded: self.degraded() });
            };
            embedder.reload_if_due().await;
            match embedder.query(text.clone()).await {
                Ok(encoding) => {
                    return Ok(EncodedQuery {
                        encoding: Some(encoding),
                        degraded: self.degraded(),
                    });
                }
                // The model was unloaded because the active set has changed.
                Err(EmbedError::Unavailable { .. }) if self.vector_sets().active != active => {}
                Err(EmbedError::Unavailable { .. }) => {
                    self.auto_fetch.fetch_if_missing(self.models.configured());
                    return Ok(EncodedQuery { encoding: None, degraded: self.degraded() });
                }
                Err(error @ EmbedError::Busy) => return Err(busy(&error)),
                Err(error @ (EmbedError::Failed(_) | EmbedError::InvalidVector(_))) => {
                    let degraded = keywords_only(&error.to_string());
                    return Ok(EncodedQuery { encoding: None, degraded });
                }
            }
        }
    }

    /// Returns the embedder of the vectors that are searched; `None` if it is not known where the files of their model are.
    #[must_use]
    pub fn active_embedder(&self) -> Option<Embedder> {
        self.models.of_now(&self.vector_sets().active)
    }

    /// Returns `embedding` with a hint while the model is missing or has failed, and the model that serves while the store changes to another
    /// one; nothing otherwise.
    #[must_use]
    pub fn degraded(&self) -> Degraded {
        let sets = self.vector_sets();
        let is_changing = sets.filling.as_ref().is_some_and(|next| next.model != sets.active.model);
        let degraded = self.degraded_embedding(&sets);
        let is_serving = is_changing && degraded.parts.is_empty();
        Degraded { model: is_serving.then(|| sets.active.model.clone()), ..degraded }
    }

    fn degraded_embedding(&self, sets: &VectorSets) -> Degraded {
        let embedder = self.models.of_now(&sets.active);
        let state = embedder.as_ref().map(Embedder::state);
        let hint = match &state {
            Some(state) => state.hint(),
            None => Some("it is not known where its files are"),
        };
        match (hint, &sets.filling) {
            (None, _) if embedder.is_some_and(|embedder| embedder.is_late()) => {
                keywords_only("the embedding model does not answer in time; run loci doctor")
            }
            (None, _) => Degraded::default(),
            (Some(_), Some(_)) => keywords_only(&format!(
                "the model of the vectors, {}, cannot be loaded; the memories are being encoded again (loci ctl status)",
                sets.active.model
            )),
            (Some(_), None) if self.auto_fetch.is_fetching() => keywords_only(
                "the model is being downloaded; run loci model download to wait for it",
            ),
            (Some(hint), None) => match state.as_ref().and_then(ModelState::reason) {
                Some(reason) => keywords_only(&format!("{reason}; {hint}")),
                None => keywords_only(hint),
            },
        }
    }
}

fn busy(error: &EmbedError) -> Failure {
    Failure::new(Code::Busy, error.to_string()).hint("Call again in a moment")
}

/// Returns `embedding` with a hint.
pub(crate) fn keywords_only(reason: &str) -> Degraded {
    Degraded {
        parts: vec!["embedding".to_owned()],
        hint: Some(format!("Searching by keywords only: {reason}")),
        model: None,
    }
}
