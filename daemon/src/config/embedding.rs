//! The section `[embedding]` of `config.toml`: which model encodes texts, and where its files are.
//!
//! Not here: the models (`crate::embedding`).

use crate::config::allowed::not_in_this_version;
use crate::config::path_value::expand;
use crate::embedding::MODEL_ID;
use crate::embedding::named_models::{NAMED_MODELS, Named, can_be_cut};
use crate::embedding::pinned_models::{PINNED_MODELS, PinnedModel};
use loci_proto::error::Failure;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The value of `embedding.model` for a model of the user's own.
const CUSTOM: &str = "custom";
/// The value of `embedding.provider` for a model on this machine.
pub(crate) const LOCAL: &str = "local";
/// Allowed values of `embedding.dimensions`.
const DIMENSIONS: std::ops::RangeInclusive<u16> = 64..=384;

/// Returns all values of `embedding.model`.
fn model_names() -> Vec<&'static str> {
    let pinned = PINNED_MODELS.iter().flat_map(|model| model.names);
    let named = NAMED_MODELS.iter().map(|model| model.name);
    pinned.copied().chain(named).chain([CUSTOM]).collect()
}

/// `[embedding]`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Embedding {
    /// `local`, or `openai` or `voyage` to have an API encode the texts.
    pub provider: String,
    /// `all-MiniLM-L6-v2` (or `minilm`), `minilm-fast`, `multilingual`, `large`, or `custom` for the model in the folder `path`; with an
    /// API, its own name of a model.
    pub model: String,
    /// The folder of a `custom` model; `~/` is the home folder.
    pub path: Option<String>,
    /// How many dimensions of the model `large`, or of the model of an API, are kept.
    pub dimensions: Option<u16>,
    /// The folder of the model files; `~/` is the home folder. `LOCI_MODELS` overrides it.
    pub cache_dir: Option<String>,
    /// Download the model when the first text needs it.
    pub download: bool,
    /// URL of a mirror of the model files, used instead of the model hub.
    pub url: Option<String>,
    /// The sentence that allows an API to be used: it names the host.
    pub consent: Option<String>,
    /// The private file with the key of the API; `~/` is the home folder.
    pub key_file: Option<String>,
    /// The base URL of the API; default: that of the provider.
    pub api_url: Option<String>,
    /// Maximum number of texts in one request to the API.
    pub batch: i64,
    /// How long a request to the API waits for further texts, in milliseconds.
    pub flush_ms: i64,
    /// Maximum number of tokens that are sent to the API on one day.
    pub daily_tokens: i64,
    /// The price of a million tokens, for `loci ctl cost`.
    pub price: Option<f64>,
    /// Not supported in this version: refused.
    #[serde(skip_serializing)]
    pub api: Option<toml::Table>,
}

impl Default for Embedding {
    fn default() -> Self {
        Self {
            provider: "local".to_owned(),
            model: MODEL_ID.to_owned(),
            path: None,
            dimensions: None,
            cache_dir: None,
            download: true,
            url: None,
            consent: None,
            key_file: None,
            api_url: None,
            batch: 64,
            flush_ms: 50,
            daily_tokens: 1_000_000,
            price: None,
            api: None,
        }
    }
}

impl Embedding {
    /// Returns the configured model if it is one whose files are pinned.
    #[must_use]
    pub fn pinned(&self) -> Option<&'static PinnedModel> {
        if self.provider == LOCAL { PinnedModel::named(&self.model) } else { None }
    }

    /// Returns the configured model if it is one whose files are not pinned.
    #[must_use]
    pub fn named(&self) -> Option<Named> {
        if self.provider != LOCAL {
            return None;
        }
        Named::find(&self.model, self.dimensions.map(usize::from))
    }

    /// Returns the folder of a model of the user's own; `None` if another model is configured.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn custom_folder(&self) -> Result<Option<PathBuf>, Failure> {
        match (self.model == CUSTOM && self.provider == LOCAL, &self.path) {
            (false, _) => Ok(None),
            (true, Some(path)) => expand("embedding.path", path).map(Some),
            (true, None) => {
                Err(Failure::invalid("embedding.model", "\"custom\" needs embedding.path")
                    .hint("Set embedding.path to the folder with model.onnx and tokenizer.json"))
            }
        }
    }

    /// Checks the values.
    ///
    /// # Errors
    /// `invalid` or `not_in_this_version`, naming the key.
    pub fn check(&self) -> Result<(), Failure> {
        if self.api.is_some() {
            return Err(not_in_this_version("embedding.api", "is")
                .hint("The keys of an API are in [embedding]; see docs/configuration.md"));
        }
        if let Some(path) = &self.path {
            expand("embedding.path", path)?;
        }
        self.check_api_numbers()?;
        if self.provider != LOCAL {
            return self.api_target().map(drop);
        }
        let models = model_names();
        if !models.contains(&self.model.as_str()) {
            let message = format!("= \"{}\" is", self.model);
            let names: Vec<String> = models.iter().map(|name| format!("\"{name}\"")).collect();
            let names = names.join(", ");
            let similarity = |name: &&str| strsim::jaro_winkler(name, &self.model);
            let nearest = models.into_iter().max_by(|a, b| similarity(a).total_cmp(&similarity(b)));
            let nearest = nearest.filter(|name| similarity(name) > 0.8);
            let meant = nearest.map(|name| format!("Did you mean {name}? ")).unwrap_or_default();
            return Err(not_in_this_version("embedding.model", &message)
                .hint(format!("{meant}Set it to one of {names}")));
        }
        self.check_dimensions()?;
        self.custom_folder().map(drop)
    }

    fn check_dimensions(&self) -> Result<(), Failure> {
        let Some(dimensions) = self.dimensions else { return Ok(()) };
        let (key, (min, max)) = ("embedding.dimensions", (DIMENSIONS.start(), DIMENSIONS.end()));
        if !can_be_cut(&self.model) {
            let message = format!("does not apply to the model \"{}\"", self.model);
            return Err(Failure::invalid(key, message)
                .hint("Remove it; a custom model has dimensions in its loci-profile.toml"));
        }
        if !DIMENSIONS.contains(&dimensions) {
            let message = format!("must be from {min} to {max}, not {dimensions}");
            return Err(Failure::invalid(key, message));
        }
        Ok(())
    }
}
