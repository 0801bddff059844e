//! The keys `retrieval.rerank` and `retrieval.rerank_*`: a cross-encoder of the user's own.
//!
//! Not here: the model (`crate::reranking`).

use crate::config::Retrieval;
use crate::config::allowed::check_one_of;
use crate::config::path_value::expand;
use loci_proto::error::Failure;
use std::path::PathBuf;

/// The values of `retrieval.rerank`.
const NONE: &str = "none";
const CROSS_ENCODER: &str = "cross-encoder";

/// A cross-encoder, and how it is used.
#[derive(Debug, Clone, PartialEq)]
pub struct CrossEncoderConfig {
    /// The folder with `model.onnx` and `tokenizer.json`.
    pub folder: PathBuf,
    /// Number of results that are compared with the query.
    pub depth: usize,
    /// A recall whose best result has a lower score is called weak; 0 to 1.
    pub floor: f64,
}

impl Retrieval {
    /// Returns the configured cross-encoder.
    ///
    /// # Errors
    /// `invalid`, naming the key.
    pub fn cross_encoder(&self) -> Result<Option<CrossEncoderConfig>, Failure> {
        check_one_of("retrieval.rerank", &self.rerank, &[NONE, CROSS_ENCODER])?;
        let folder = self
            .rerank_path
            .as_deref()
            .map(|path| expand("retrieval.rerank_path", path))
            .transpose()?;
        match (self.rerank == CROSS_ENCODER, folder) {
            (false, _) => Ok(None),
            (true, Some(folder)) => Ok(Some(CrossEncoderConfig {
                folder,
                depth: usize::try_from(self.rerank_depth).unwrap_or(0),
                floor: self.rerank_floor,
            })),
            (true, None) => Err(Failure::invalid(
                "retrieval.rerank",
                format!("\"{CROSS_ENCODER}\" needs retrieval.rerank_path"),
            )
            .hint("Set retrieval.rerank_path to the folder with model.onnx and tokenizer.json")),
        }
    }
}
