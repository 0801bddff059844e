//! Shared by the tests of `embedding`: the real model, and a fake encoder that the test steps through.

use crate::embedding::chunk::{Chunk, ChunkOutput, TextKind};
use crate::embedding::encoder::{Encoder, EncoderSource, LoadedEncoder};
use crate::embedding::fetch;
use crate::embedding::model_files::{Fingerprint, LoadError, ModelConfig, path_of};
use crate::embedding::model_source::ModelSource;
use crate::embedding::onnx::{INTRA_THREADS, Model, switch_off_telemetry};
use crate::embedding::pinned_models::PinnedModel;
use crate::embedding::pinned_source::PinnedSource;
use loci_engine::model::encoding::DIMENSIONS;
use std::fs;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, Once, OnceLock, PoisonError};

/// Returns the models folder of this machine: `LOCI_MODELS`, else `~/.loci/models`. Downloads the model once if it is missing.
pub fn config() -> ModelConfig {
    static CONFIG: OnceLock<ModelConfig> = OnceLock::new();
    switch_off_telemetry_once();
    let find = || {
        let home = || {
            directories::BaseDirs::new()
                .expect("the user has a home folder")
                .home_dir()
                .join(".loci/models")
        };
        let config = ModelConfig {
            models: std::env::var_os("LOCI_MODELS").map_or_else(home, PathBuf::from),
            ort_lib: None,
        };
        let source = ModelSource::from(config.clone());
        if !source.status().complete {
            fetch::fetch(&source, None, None).expect("the model can be downloaded");
        }
        config
    };
    CONFIG.get_or_init(find).clone()
}

/// Returns a new models folder whose files are hard links to the real ones.
pub fn linked_folder() -> (tempfile::TempDir, ModelConfig) {
    let real = config();
    let folder = tempfile::tempdir_in(real.models.parent().expect("the path has a parent"))
        .expect("a folder is created");
    let models = folder.path().join("models");
    for artifact in standard(real.clone()).artifacts() {
        let path = path_of(&models, artifact);
        fs::create_dir_all(path.parent().expect("the path has a parent"))
            .expect("a folder is created");
        fs::hard_link(path_of(&real.models, artifact), path).expect("the file is linked");
    }
    (folder, ModelConfig { models, ort_lib: None })
}

/// Switches telemetry off, once for all tests.
pub fn switch_off_telemetry_once() {
    static DONE: Once = Once::new();
    DONE.call_once(switch_off_telemetry);
}

/// Returns the default model in a folder.
pub fn standard(config: ModelConfig) -> PinnedSource {
    PinnedSource { model: PinnedModel::standard(), config }
}

/// Loads the default model from a folder.
pub fn load(config: &ModelConfig) -> Result<(Model, Vec<String>), LoadError> {
    Model::load(PinnedModel::standard(), config, 1)
}

/// Returns the real model, which all tests share.
pub fn model() -> MutexGuard<'static, Model> {
    static MODEL: OnceLock<Mutex<Model>> = OnceLock::new();
    let load = || {
        Mutex::new(
            Model::load(PinnedModel::standard(), &config(), INTRA_THREADS)
                .expect("the model loads")
                .0,
        )
    };
    MODEL.get_or_init(load).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Source of a fake encoder that reports each batch and waits for the test to decide its outcome.
pub struct SteppedSource {
    /// Sends each batch to the test: the first token id of each chunk.
    batches: Sender<Vec<u32>>,
    /// Each batch waits for one outcome.
    outcomes: Arc<Mutex<Receiver<BatchOutcome>>>,
}

/// The test's side of a [`SteppedSource`].
pub struct Stepper {
    /// Receives each batch before it is encoded: the first token id of each chunk.
    pub batches: Receiver<Vec<u32>>,
    /// Decides the outcome of each batch; once this is dropped, every batch succeeds.
    pub outcomes: Sender<BatchOutcome>,
}

/// The outcome of a fake batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchOutcome {
    Succeed,
    Fail,
    Panic,
    ReturnNan,
}

impl SteppedSource {
    /// Returns the source and the test's side of it.
    pub fn new() -> (Self, Stepper) {
        let ((batch_sender, batches), (outcomes, outcome_receiver)) = (channel(), channel());
        let outcome_receiver = Arc::new(Mutex::new(outcome_receiver));
        (Self { batches: batch_sender, outcomes: outcome_receiver }, Stepper { batches, outcomes })
    }
}

impl EncoderSource for SteppedSource {
    fn id(&self) -> Option<Arc<str>> {
        Some("stepped".into())
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        None
    }

    fn load(&self) -> Result<LoadedEncoder, LoadError> {
        let encoder =
            SteppedEncoder { batches: self.batches.clone(), outcomes: Arc::clone(&self.outcomes) };
        Ok(LoadedEncoder {
            encoder: Box::new(encoder),
            sha256: "stepped".to_owned(),
            warnings: Vec::new(),
        })
    }
}

struct SteppedEncoder {
    batches: Sender<Vec<u32>>,
    outcomes: Arc<Mutex<Receiver<BatchOutcome>>>,
}

impl Encoder for SteppedEncoder {
    fn id(&self) -> Arc<str> {
        "stepped".into()
    }

    /// Returns one chunk per line, filled with the line's number, and so long that no two chunks fit into one batch.
    fn chunks(&self, text: &str, _: TextKind) -> Result<Vec<Chunk>, String> {
        text.lines()
            .map(|line| {
                line.parse()
                    .map(|id| Chunk { ids: vec![id; 1500], words: Vec::new() })
                    .map_err(|_| "not a number".to_owned())
            })
            .collect()
    }

    fn encode(&mut self, batch: &[&Chunk]) -> Result<Vec<ChunkOutput>, String> {
        let filled_with = |value: f32| {
            batch
                .iter()
                .map(|_| ChunkOutput { vector: vec![value; DIMENSIONS], codes: Vec::new() })
                .collect()
        };
        self.batches
            .send(batch.iter().map(|chunk| chunk.ids[0]).collect())
            .map_err(|e| e.to_string())?;
        let outcomes = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = outcomes.recv().unwrap_or(BatchOutcome::Succeed);
        drop(outcomes);
        match outcome {
            BatchOutcome::Succeed => Ok(filled_with(1.0)),
            BatchOutcome::ReturnNan => Ok(filled_with(f32::NAN)),
            BatchOutcome::Fail => Err("the test requested a failure".to_owned()),
            BatchOutcome::Panic => panic!("the test requested a panic"),
        }
    }
}
