//! The real model for examples that pass vectors to the engine; each text is encoded once. Not here: stores and queries.

use loci_engine::model::encoding::{QueryEncoding, TextEncodings};
use locid::embedding::{Embedder, ModelConfig, Priority};
use std::collections::HashMap;
use std::path::PathBuf;

pub type AnyError = Box<dyn std::error::Error>;

/// The real model and a cache of its encodings.
pub struct Model {
    runtime: tokio::runtime::Runtime,
    embedder: Embedder,
    documents: HashMap<String, TextEncodings>,
    queries: HashMap<String, QueryEncoding>,
}

impl Model {
    /// Starts the model of a models folder.
    pub fn start(models: PathBuf) -> Result<Self, AnyError> {
        locid::embedding::onnx::switch_off_telemetry();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let embedder = Embedder::start(ModelConfig { models, ort_lib: None });
        Ok(Self { runtime, embedder, documents: HashMap::new(), queries: HashMap::new() })
    }

    /// Encodes a text to store.
    pub fn encode_document(&mut self, text: &str) -> Result<TextEncodings, AnyError> {
        if let Some(encoding) = self.documents.get(text) {
            return Ok(encoding.clone());
        }
        let encoded = self.runtime.block_on(async {
            self.embedder.wait_until_loaded().await;
            self.embedder.document(text.to_owned(), Priority::Interactive).await
        })?;
        let encoding: TextEncodings = std::iter::once(encoded).collect();
        self.documents.insert(text.to_owned(), encoding.clone());
        Ok(encoding)
    }

    /// Encodes a query.
    pub fn encode_query(&mut self, query: &str) -> Result<QueryEncoding, AnyError> {
        if let Some(encoding) = self.queries.get(query) {
            return Ok(encoding.clone());
        }
        let encoding = self.runtime.block_on(async {
            self.embedder.wait_until_loaded().await;
            self.embedder.query(query.to_owned()).await
        })?;
        self.queries.insert(query.to_owned(), encoding.clone());
        Ok(encoding)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.embedder.stop();
    }
}
