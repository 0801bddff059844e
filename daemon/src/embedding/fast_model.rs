//! `minilm-fast`: the pinned model with its large products in 8-bit blocks. It has an id of its own, since its vectors differ slightly.
//!
//! Not here: making the blocks (`blocks`), running the graph (`onnx`).

use crate::embedding::blocks::{BLOCKS_NAME, BLOCKS_SHA256, BLOCKS_SIZE, path_beside};
use crate::embedding::encoder::{EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{
    Condition, FileStatus, Fingerprint, LoadError, ModelConfig, check_hash, path_of,
};
use crate::embedding::onnx::{Model, intra_threads};
use crate::embedding::pinned_files::{Precision, WEIGHTS};
use std::sync::Arc;

/// Where the files of the model are: those of the pinned model, and the blocks beside them.
#[derive(Debug, Clone)]
pub struct FastConfig(pub ModelConfig);

impl FastConfig {
    /// Returns the condition of the blocks; the next load makes them if they are missing or wrong.
    pub(crate) fn status(&self) -> FileStatus {
        let path = path_beside(&path_of(&self.0.models, &WEIGHTS));
        let condition = match check_hash(&path, BLOCKS_SIZE, BLOCKS_SHA256) {
            Ok(()) => Condition::Present,
            Err(LoadError::Missing(_)) => Condition::Missing,
            Err(_) => Condition::Wrong,
        };
        FileStatus {
            name: BLOCKS_NAME,
            path,
            size: BLOCKS_SIZE,
            sha256: BLOCKS_SHA256.to_owned(),
            condition,
            unpinned: false,
        }
    }
}

impl EncoderSource for FastConfig {
    fn id(&self) -> Option<Arc<str>> {
        Some(Precision::Blocks.id().into())
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        Some(self.0.fingerprint())
    }

    fn load(&self) -> Result<LoadedEncoder, LoadError> {
        let (model, warnings) = Model::load_as(&self.0, Precision::Blocks, intra_threads())?;
        let sha256 = BLOCKS_SHA256.to_owned();
        Ok(LoadedEncoder { encoder: Box::new(model), sha256, warnings })
    }
}
