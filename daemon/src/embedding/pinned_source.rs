//! A model with pinned files, and where they are on this machine.
//!
//! Not here: the models (`pinned_models`), making the blocks (`blocks`), running the graph (`onnx`).

use crate::embedding::blocks::{BLOCKS_NAME, path_beside};
use crate::embedding::encoder::{EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{
    Condition, FileStatus, Fingerprint, LoadError, ModelConfig, check_hash, path_of,
};
use crate::embedding::onnx::{Model, intra_threads};
use crate::embedding::pinned_files::Artifact;
use crate::embedding::pinned_models::PinnedModel;
use std::sync::Arc;

/// A model with pinned files.
#[derive(Debug, Clone)]
pub struct PinnedSource {
    /// The model.
    pub model: &'static PinnedModel,
    /// The models folder and the runtime.
    pub config: ModelConfig,
}

impl PinnedSource {
    /// Returns the pinned files that this process needs. The runtime is one of them if the user provides none and one is
    /// pinned for the platform.
    #[must_use]
    pub fn artifacts(&self) -> Vec<&'static Artifact> {
        let files = &self.model.files;
        std::iter::once(files.weights).chain(files.tokenizer).chain(self.config.runtime()).collect()
    }

    /// Returns the condition of the blocks, if the model has some; the next load makes them if they are missing or wrong.
    pub(crate) fn blocks_status(&self) -> Option<FileStatus> {
        let blocks = self.model.blocks.as_ref()?;
        let path = path_beside(&path_of(&self.config.models, self.model.files.weights));
        let condition = match check_hash(&path, blocks.size, blocks.sha256) {
            Ok(()) => Condition::Present,
            Err(LoadError::Missing(_)) => Condition::Missing,
            Err(_) => Condition::Wrong,
        };
        let (size, sha256) = (blocks.size, blocks.sha256.to_owned());
        Some(FileStatus { name: BLOCKS_NAME, path, size, sha256, condition, unpinned: false })
    }
}

impl EncoderSource for PinnedSource {
    fn id(&self) -> Option<Arc<str>> {
        Some(self.model.id.into())
    }

    /// Size and modification time of every file, so that unchanged files need not be hashed again.
    fn fingerprint(&self) -> Option<Fingerprint> {
        let ModelConfig { models, ort_lib } = &self.config;
        let pinned = self.artifacts().into_iter().map(|artifact| path_of(models, artifact));
        Some(Fingerprint::of(pinned.chain(ort_lib.clone())))
    }

    fn load(&self) -> Result<LoadedEncoder, LoadError> {
        let (model, warnings) = Model::load(self.model, &self.config, intra_threads())?;
        let made = self.model.blocks.as_ref().map(|blocks| blocks.sha256);
        let sha256 = made.unwrap_or(self.model.files.weights.sha256).to_owned();
        Ok(LoadedEncoder { encoder: Box::new(model), sha256, warnings })
    }
}
