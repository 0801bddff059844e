//! `ModelSource`: which model the daemon loads, and the text by which a store remembers it.
//!
//! Not here: loading (`onnx`, `custom_model`), the keys of the configuration (`config`).

use crate::embedding::custom_model::CustomConfig;
use crate::embedding::encoder::{EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{
    Condition, Fingerprint, LoadError, ModelConfig, ModelStatus, check_files,
};
use crate::embedding::pinned_files::{Artifact, MODEL_ID};
use loci_engine::model::vector_set::VectorSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A model and where its files are.
#[derive(Debug, Clone)]
pub enum ModelSource {
    /// The pinned model in the models folder.
    Pinned(ModelConfig),
    /// A model of the user's own.
    Custom(CustomConfig),
}

impl From<ModelConfig> for ModelSource {
    fn from(config: ModelConfig) -> Self {
        Self::Pinned(config)
    }
}

impl ModelSource {
    /// Returns the text by which a store remembers the source: the folder of a model of the user's own, else nothing.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Pinned(_) => String::new(),
            Self::Custom(config) => config.folder.to_string_lossy().into_owned(),
        }
    }

    /// Returns the source of the model of a vector set; `None` if the set does not say where its files are. `pinned` is the models folder.
    #[must_use]
    pub fn of_set(set: &VectorSet, pinned: &ModelConfig) -> Option<Self> {
        if set.model == MODEL_ID {
            return Some(Self::Pinned(pinned.clone()));
        }
        let folder = PathBuf::from(&set.source);
        folder.is_absolute().then(|| {
            Self::Custom(CustomConfig {
                folder,
                expected: Some(set.model.clone()),
                runtime: pinned.clone(),
            })
        })
    }

    /// Returns the models folder and the runtime.
    #[must_use]
    pub fn pinned(&self) -> &ModelConfig {
        match self {
            Self::Pinned(config) => config,
            Self::Custom(config) => &config.runtime,
        }
    }

    /// Returns the pinned files that the model needs: a model of the user's own needs only the runtime.
    #[must_use]
    pub fn artifacts(&self) -> Vec<&'static Artifact> {
        match self {
            Self::Pinned(config) => config.artifacts(),
            Self::Custom(config) => config.runtime.runtime().into_iter().collect(),
        }
    }

    /// Checks every file; takes about 0.1 s.
    #[must_use]
    pub fn status(&self) -> ModelStatus {
        let pinned = self.pinned();
        let (id, own) = match self {
            Self::Pinned(_) => (MODEL_ID.to_owned(), Vec::new()),
            Self::Custom(config) => config.status(),
        };
        let mut files = check_files(&pinned.models, self.artifacts());
        files.extend(own);
        ModelStatus {
            id,
            folder: pinned.models.clone(),
            complete: files.iter().all(|file| file.condition == Condition::Present),
            ort_lib: pinned.ort_lib.clone(),
            files,
        }
    }

    fn source(&self) -> &dyn EncoderSource {
        match self {
            Self::Pinned(config) => config,
            Self::Custom(config) => config,
        }
    }
}

impl EncoderSource for ModelSource {
    fn id(&self) -> Option<Arc<str>> {
        self.source().id()
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        self.source().fingerprint()
    }

    fn load(&self) -> Result<LoadedEncoder, LoadError> {
        self.source().load()
    }
}
