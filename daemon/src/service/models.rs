//! `Models`: the embedders of the configured model, and of other models whose vectors the store uses: the earlier model while all memories
//! are being encoded again.
//!
//! Another model is loaded when it is needed first, and unloaded when no vector set in use is of it. Not here: which set is in use (the
//! engine), encoding (`embedding`).

use crate::embedding::{Embedder, ModelSource, ModelState};
use loci_engine::model::vector_set::{ModelRef, VectorSet, VectorSets};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The models of the daemon.
pub struct Models {
    configured: Embedder,
    source: ModelSource,
    others: Mutex<Vec<OtherModel>>,
}

/// A model that is not the configured one.
struct OtherModel {
    id: String,
    embedder: Embedder,
}

impl Models {
    /// Starts the configured model.
    #[must_use]
    pub fn start(source: ModelSource) -> Self {
        Self::with_embedder(Embedder::start(source.clone()), source)
    }

    /// Uses an embedder as that of the configured model.
    #[must_use]
    pub fn with_embedder(configured: Embedder, source: ModelSource) -> Self {
        Self { configured, source, others: Mutex::default() }
    }

    fn others(&self) -> MutexGuard<'_, Vec<OtherModel>> {
        self.others.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the embedder of the configured model.
    #[must_use]
    pub fn configured(&self) -> &Embedder {
        &self.configured
    }

    /// Returns the configured model if it is ready.
    #[must_use]
    pub fn ready_model(&self) -> Option<ModelRef> {
        let id = self.configured.id()?.to_string();
        let is_ready = matches!(self.configured.state(), ModelState::Ready { .. });
        is_ready.then(|| ModelRef { id, source: self.source.to_text() })
    }

    /// Returns the embedder of the model of a set; `None` if it is not known where its files are. Starts to load a model that is not loaded.
    /// Waits a few seconds while only the load of the configured model can show its id.
    pub async fn of(&self, set: &VectorSet) -> Option<Embedder> {
        let is_same_place = set.source == self.source.to_text();
        if self.configured.id().is_none() && is_same_place {
            self.configured.wait_briefly_until_loaded().await;
        }
        self.of_now(set)
    }

    /// Like [`Models::of`], but does not wait.
    #[must_use]
    pub fn of_now(&self, set: &VectorSet) -> Option<Embedder> {
        let is_configured = match self.configured.id() {
            _ if set.name.is_empty() => true,
            Some(id) => *id == *set.model,
            // Its files cannot be loaded; it says why.
            None => set.source == self.source.to_text(),
        };
        if is_configured {
            return Some(self.configured.clone());
        }
        let mut others = self.others();
        if let Some(other) = others.iter().find(|other| other.id == set.model) {
            return Some(other.embedder.clone());
        }
        let source = ModelSource::of_set(set, self.source.pinned())?;
        tracing::info!(model = set.model, "loading the model of the vectors in use");
        let embedder = Embedder::start(source);
        others.push(OtherModel { id: set.model.clone(), embedder: embedder.clone() });
        Some(embedder)
    }

    /// Unloads the models that no set in use is of, and nobody waits for.
    pub fn keep_only(&self, sets: &VectorSets) {
        self.others().retain(|other| {
            let is_used =
                other.embedder.is_shared() || sets.in_use().any(|set| set.model == other.id);
            if !is_used {
                tracing::info!(model = other.id, "the earlier model is unloaded");
                other.embedder.stop();
            }
            is_used
        });
    }

    /// Returns the number of texts that wait for their vectors.
    #[must_use]
    pub fn pending(&self) -> usize {
        let others: usize = self.others().iter().map(|other| other.embedder.pending()).sum();
        self.configured.pending() + others
    }

    /// Asks all threads to end; returns at once.
    pub fn stop(&self) {
        self.configured.stop();
        self.others().iter().for_each(|other| other.embedder.stop());
    }

    /// Waits for all threads to end, after [`Models::stop`]; returns false if one still runs after `limit`.
    #[must_use]
    pub fn join_within(&self, limit: Duration) -> bool {
        let until = Instant::now() + limit;
        let has_ended = |embedder: &Embedder| {
            embedder.join_within(until.saturating_duration_since(Instant::now()))
        };
        has_ended(&self.configured) & self.others().iter().all(|other| has_ended(&other.embedder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::ModelConfig;
    use std::path::PathBuf;

    #[test]
    fn a_model_that_somebody_waits_for_is_not_unloaded() {
        let source = ModelConfig { models: PathBuf::new(), ort_lib: None };
        let models = Models::with_embedder(Embedder::with_hash_vectors(), source.into());
        let kept = VectorSet {
            name: "kept".to_owned(),
            model: "custom-0".to_owned(),
            source: "/nowhere".to_owned(),
        };
        let waiting = models.of_now(&kept).expect("its place is known");
        models.keep_only(&VectorSets::default());
        assert_eq!(models.others().len(), 1);
        drop(waiting);
        models.keep_only(&VectorSets::default());
        assert!(models.others().is_empty());
    }
}
