//! The interface between the worker thread and a model: `Encoder`, and `EncoderSource`, which loads one.
//!
//! Not here: the implementations with ONNX Runtime (`onnx`, `custom_model`) and the fake ones (`hash_encoder`, `test_encoder`).

use crate::embedding::chunk::{Chunk, ChunkOutput, TextKind};
use crate::embedding::model_files::{Fingerprint, LoadError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Turns texts into vectors: the model, or a fake encoder in tests.
pub(crate) trait Encoder {
    /// Returns the id of the model.
    fn id(&self) -> Arc<str>;
    /// Splits a text into chunks, at least one.
    fn chunks(&self, text: &str, kind: TextKind) -> Result<Vec<Chunk>, String>;
    /// Encodes a batch in one forward pass; returns one output per chunk, in order.
    fn encode(&mut self, batch: &[&Chunk]) -> Result<Vec<ChunkOutput>, String>;
    /// Returns memory to the system; called when the queue has been empty for a while.
    fn trim_memory(&mut self) {}
    /// Moves what the encoder keeps in memory to huge pages; called when memory is trimmed, once many batches have run.
    fn use_huge_pages(&mut self) {}
}

/// An encoder that is ready to serve.
pub(crate) struct LoadedEncoder {
    pub encoder: Box<dyn Encoder>,
    /// SHA-256 of the weights or of the graph with its weights, in hexadecimal.
    pub sha256: String,
    /// Warnings for the user, in sentences.
    pub warnings: Vec<String>,
}

/// Loads an encoder for the worker thread.
pub(crate) trait EncoderSource: Send {
    /// Returns the id of the model; `None` if only a load shows it.
    fn id(&self) -> Option<Arc<str>>;
    /// Returns the fingerprint of the model's files; `None` if the source has no files.
    fn fingerprint(&self) -> Option<Fingerprint>;
    /// Loads the encoder.
    fn load(&self) -> Result<LoadedEncoder, LoadError>;
}

/// Calls third-party code and turns a panic into an error.
pub(crate) fn catch_panic<T>(call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", message.unwrap_or_else(|| "no message".to_owned())))
    })
}
