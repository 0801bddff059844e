//! `ModelSource`: which model the daemon loads, and the text by which a store remembers it.
//!
//! Not here: loading (`onnx`, `custom_model`), the keys of the configuration (`config`).

use crate::config::current_policy::CurrentPolicy;
use crate::embedding::api::ApiConfig;
use crate::embedding::custom_model::CustomConfig;
use crate::embedding::encoder::{EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{
    Condition, Fingerprint, LoadError, ModelConfig, ModelStatus, check_files,
};
use crate::embedding::named_models::Named;
use crate::embedding::pinned_files::Artifact;
use crate::embedding::pinned_models::PinnedModel;
use crate::embedding::pinned_source::PinnedSource;
use loci_engine::model::vector_set::VectorSet;
use std::path::PathBuf;
use std::sync::Arc;

/// A model and where its files are.
#[derive(Debug, Clone)]
pub enum ModelSource {
    /// A model with pinned files in the models folder.
    Pinned(PinnedSource),
    /// A model in a folder: one of the user's own, or one with a name.
    Custom(CustomConfig),
    /// A model behind an API.
    Api(ApiConfig),
}

/// The text by which a store remembers a model behind an API: it has no files, and is used only while it is the configured one.
const API: &str = "api";

impl From<ModelConfig> for ModelSource {
    fn from(config: ModelConfig) -> Self {
        Self::Pinned(PinnedSource { model: PinnedModel::standard(), config })
    }
}

impl ModelSource {
    /// Returns the text by which a store remembers the source: the folder of a model of the user's own, the name of one with a name, else
    /// nothing.
    #[must_use]
    pub fn to_text(&self) -> String {
        match self {
            Self::Pinned(_) => String::new(),
            Self::Api(_) => API.to_owned(),
            Self::Custom(CustomConfig { named: Some(named), .. }) => named.to_text(),
            Self::Custom(config) => config.folder.to_string_lossy().into_owned(),
        }
    }

    /// Returns the source of the model of a vector set; `None` if the set does not say where its files are. `pinned` is the models folder.
    #[must_use]
    pub fn of_set(set: &VectorSet, pinned: &ModelConfig) -> Option<Self> {
        if let Some(model) = PinnedModel::with_id(&set.model) {
            return Some(Self::Pinned(PinnedSource { model, config: pinned.clone() }));
        }
        let (expected, runtime) = (Some(set.model.clone()), pinned.clone());
        if let Some(named) = Named::from_text(&set.source) {
            let folder = named.folder(&pinned.models);
            return Some(Self::Custom(CustomConfig {
                folder,
                named: Some(named),
                expected,
                runtime,
            }));
        }
        let folder = PathBuf::from(&set.source);
        folder.is_absolute().then_some(Self::Custom(CustomConfig {
            folder,
            named: None,
            expected,
            runtime,
        }))
    }

    /// Returns the model with a name and the models folder of `runtime`.
    #[must_use]
    pub fn named(named: Named, runtime: ModelConfig) -> Self {
        let folder = named.folder(&runtime.models);
        Self::Custom(CustomConfig { folder, named: Some(named), expected: None, runtime })
    }

    /// Returns the source with a policy that follows the configuration; only an API has one.
    #[must_use]
    pub fn with_policy(self, policy: CurrentPolicy) -> Self {
        match self {
            Self::Api(config) => Self::Api(ApiConfig { policy, ..config }),
            local => local,
        }
    }

    /// Returns the models folder and the runtime.
    #[must_use]
    pub fn pinned(&self) -> &ModelConfig {
        match self {
            Self::Pinned(source) => &source.config,
            Self::Custom(config) => &config.runtime,
            Self::Api(config) => &config.local,
        }
    }

    /// Returns the pinned files that the model needs: a model that is not pinned needs only the runtime.
    #[must_use]
    pub fn artifacts(&self) -> Vec<&'static Artifact> {
        match self {
            Self::Pinned(source) => source.artifacts(),
            Self::Custom(config) => config.runtime.runtime().into_iter().collect(),
            Self::Api(_) => Vec::new(),
        }
    }

    /// Checks every file; takes about 0.1 s.
    #[must_use]
    pub fn status(&self) -> ModelStatus {
        let pinned = self.pinned();
        let (id, own) = match self {
            Self::Pinned(source) => {
                (source.model.id.to_owned(), source.blocks_status().into_iter().collect())
            }
            Self::Custom(config) => config.status(),
            Self::Api(config) => (config.target.id(), Vec::new()),
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
            Self::Pinned(source) => source,
            Self::Custom(config) => config,
            Self::Api(config) => config,
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
