//! The models that `embedding.model` selects by a name and whose files are not pinned: their profiles, and where their files come from.
//!
//! No published hash of these files could be checked when this was written, so they are recorded by their own hash when they are installed
//! (`fetch::unpinned`). Not here: the pinned model (`pinned_files`), running them (`custom_model`).

use crate::embedding::profile::{CHUNK_TOKENS, Pooling, Profile};
use std::path::{Path, PathBuf};

/// A model with a name.
#[derive(Debug, PartialEq, Eq)]
pub struct NamedModel {
    /// The value of `embedding.model`.
    pub name: &'static str,
    /// The folder in the models folder.
    pub folder: &'static str,
    /// The repository on the model hub.
    pub repository: &'static str,
    query_prefix: &'static str,
    passage_prefix: &'static str,
    layer_norm: bool,
    /// How many dimensions are kept if the configuration does not say; `None` if the model cannot be cut.
    cut_to: Option<usize>,
}

/// The names of the two files: in the folder, and in the repository.
pub const FILES: [(&str, &str); 2] =
    [("model.onnx", "onnx/model.onnx"), ("tokenizer.json", "tokenizer.json")];

/// All models with a name.
pub static NAMED_MODELS: [NamedModel; 1] = [NamedModel {
    name: "large",
    folder: "nomic-embed-text-v1.5",
    repository: "nomic-ai/nomic-embed-text-v1.5",
    query_prefix: "search_query: ",
    passage_prefix: "search_document: ",
    layer_norm: true,
    cut_to: Some(256),
}];

/// A model with a name, and how many of its dimensions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The model.
    pub model: &'static NamedModel,
    /// How many dimensions are kept; `None`: all.
    pub dimensions: Option<usize>,
}

impl Named {
    /// Returns the model with a name; `dimensions` is what the configuration says.
    #[must_use]
    pub fn find(name: &str, dimensions: Option<usize>) -> Option<Self> {
        let model = NAMED_MODELS.iter().find(|model| model.name == name)?;
        Some(Self { model, dimensions: model.cut_to.map(|cut_to| dimensions.unwrap_or(cut_to)) })
    }

    /// Returns the folder of its files.
    #[must_use]
    pub fn folder(&self, models: &Path) -> PathBuf {
        models.join(self.model.folder)
    }

    /// Returns the profile.
    #[must_use]
    pub fn profile(&self) -> Profile {
        Profile {
            query_prefix: self.model.query_prefix.to_owned(),
            passage_prefix: self.model.passage_prefix.to_owned(),
            pooling: Pooling::Mean,
            max_tokens: CHUNK_TOKENS,
            layer_norm: self.model.layer_norm,
            dimensions: self.dimensions,
        }
    }

    /// Returns the text by which a store remembers the model, for example `large/256`.
    #[must_use]
    pub fn to_text(self) -> String {
        let cut = self.dimensions.map(|dimensions| format!("/{dimensions}")).unwrap_or_default();
        format!("{}{cut}", self.model.name)
    }

    /// Reads the text of [`Named::to_text`].
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let (name, dimensions) = text.split_once('/').unwrap_or((text, ""));
        Self::find(name, dimensions.parse().ok())
    }
}

/// Returns true if `embedding.dimensions` applies to the model with this name.
#[must_use]
pub fn can_be_cut(name: &str) -> bool {
    NAMED_MODELS.iter().any(|model| model.name == name && model.cut_to.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_remembers_the_model_and_its_dimensions() {
        for (name, dimensions, text) in
            [("large", None, "large/256"), ("large", Some(384), "large/384")]
        {
            let named = Named::find(name, dimensions).expect("the name is known");
            assert_eq!(named.to_text(), text);
            assert_eq!(Named::from_text(text), Some(named));
        }
        assert_eq!(Named::from_text("/home/me/models/own"), None);
        assert_eq!(Named::find("multilingual", None), None);
    }
}
