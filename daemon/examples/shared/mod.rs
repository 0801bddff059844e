//! The real model for examples that hand the engine its vectors: each text is read once. Not here: what it is asked for.

use loci_engine::model::encoding::{DocumentEncoding, QueryEncoding};
use locid::embedding::{Embedder, Lane, ModelConfig};
use std::collections::HashMap;
use std::path::PathBuf;

pub type Anything = Box<dyn std::error::Error>;

/// The real model, and what it has said.
pub struct Model {
    runtime: tokio::runtime::Runtime,
    embedder: Embedder,
    known: HashMap<String, DocumentEncoding>,
    asked: HashMap<String, QueryEncoding>,
}

impl Model {
    /// The model of a folder.
    pub fn start(models: PathBuf) -> Result<Self, Anything> {
        locid::embedding::onnx::switch_off_telemetry();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let embedder = Embedder::start(ModelConfig { models, ort_lib: None });
        Ok(Self { runtime, embedder, known: HashMap::new(), asked: HashMap::new() })
    }

    /// What it reads in a text that is stored.
    pub fn reads(&mut self, text: &str) -> Result<DocumentEncoding, Anything> {
        if let Some(known) = self.known.get(text) {
            return Ok(known.clone());
        }
        let made = self.runtime.block_on(async {
            self.embedder.settled().await;
            self.embedder.document(text.to_owned(), Lane::Interactive).await
        })?;
        self.known.insert(text.to_owned(), made.clone());
        Ok(made)
    }

    /// What it reads in a question.
    pub fn is_asked(&mut self, question: &str) -> Result<QueryEncoding, Anything> {
        if let Some(asked) = self.asked.get(question) {
            return Ok(asked.clone());
        }
        let asked = self.runtime.block_on(async {
            self.embedder.settled().await;
            self.embedder.query(question.to_owned()).await
        })?;
        self.asked.insert(question.to_owned(), asked.clone());
        Ok(asked)
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.embedder.stop();
    }
}
