//! A model of the user's own: a folder with `model.onnx` and `tokenizer.json`, run by ONNX Runtime.
//!
//! The graph has the inputs `input_ids` and `attention_mask`, and `token_type_ids` if it wants them. Its first output of three dimensions
//! has the states of the tokens. Their mean over the tokens is the vector of the text, as for the pinned model. The id of the model comes
//! from the contents of its files. Not here: the pinned model (`onnx`), downloads (the folder is the user's).

use crate::embedding::chunk::{Chunk, ChunkOutput, Chunker, TextKind};
use crate::embedding::encoder::{Encoder, EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{
    Condition, FileStatus, Fingerprint, LoadError, ModelConfig, sha256_of,
};
use crate::embedding::onnx::{Padded, Runtime, intra_threads, message, run_options, sign_codes};
use crate::embedding::resident_memory;
use loci_engine::model::encoding::{DIMENSIONS, Embedding};
use ort::session::{RunOptions, Session};
use ort::value::{Outlet, TensorRef, ValueType};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The file of the graph.
const GRAPH: &str = "model.onnx";
/// The file of the tokenizer.
const TOKENIZER: &str = "tokenizer.json";
/// The text that a load encodes as a test.
const TEST_TEXT: &str = "The weather is lovely today.";
/// The next step for a folder that cannot be used.
const HINT: &str = "correct embedding.path, or remove embedding.model for the pinned model; then run loci ctl restart";

/// Where a model of the user's own is.
#[derive(Debug, Clone)]
pub struct CustomConfig {
    /// The folder; `embedding.path`.
    pub folder: PathBuf,
    /// The id that the files must have: that of the vectors in the store. `None` for the configured model.
    pub expected: Option<String>,
    /// Where the runtime is.
    pub runtime: ModelConfig,
}

impl CustomConfig {
    fn graph(&self) -> PathBuf {
        self.folder.join(GRAPH)
    }

    fn tokenizer(&self) -> PathBuf {
        self.folder.join(TOKENIZER)
    }

    /// Returns the files of the model: the tokenizer, the graph, and files with weights outside the graph (`model.onnx_data`).
    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut weights: Vec<PathBuf> = entries
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(GRAPH))
            .map(|entry| entry.path())
            .filter(|path| *path != self.graph() && path.is_file())
            .collect();
        weights.sort();
        [self.tokenizer(), self.graph()].into_iter().chain(weights).collect()
    }

    /// Returns the id of the model, and the condition of its two files. Without them the id is `custom`.
    pub(crate) fn status(&self) -> (String, Vec<FileStatus>) {
        let file = |name: &'static str| {
            let path = self.folder.join(name);
            let sha256 = fs::File::open(&path).and_then(sha256_of).ok();
            let condition = if sha256.is_some() { Condition::Present } else { Condition::Missing };
            let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
            FileStatus { name, path, size, sha256: sha256.unwrap_or_default(), condition }
        };
        let id = self.identify().map_or("custom".to_owned(), |identity| identity.id.to_string());
        (id, vec![file(GRAPH), file(TOKENIZER)])
    }

    /// Returns the id of the model and the SHA-256 of the graph.
    fn identify(&self) -> Result<Identity, LoadError> {
        let mut all = Sha256::new();
        let mut graph_sha256 = String::new();
        for path in self.files() {
            let sha256 = fs::File::open(&path)
                .and_then(sha256_of)
                .map_err(|error| refuse(&path, &error.to_string()))?;
            all.update(&sha256);
            if path == self.graph() {
                graph_sha256 = sha256;
            }
        }
        let id = format!("custom-{}", &format!("{:x}", all.finalize())[..16]);
        Ok(Identity { id: id.into(), graph_sha256 })
    }
}

/// What the files of a model contain.
struct Identity {
    id: Arc<str>,
    graph_sha256: String,
}

fn refuse(path: &Path, reason: &str) -> LoadError {
    LoadError::Custom { path: path.to_owned(), reason: reason.to_owned(), hint: HINT.to_owned() }
}

impl EncoderSource for CustomConfig {
    fn id(&self) -> Option<Arc<str>> {
        self.expected.as_deref().map(Into::into)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        let library = self.runtime.library().ok().map(|(path, _)| path);
        Some(Fingerprint::of(self.files().into_iter().chain(library)))
    }

    fn load(&self) -> Result<LoadedEncoder, LoadError> {
        for path in [self.graph(), self.tokenizer()] {
            if !path.is_file() {
                return Err(refuse(&path, "the file is missing"));
            }
        }
        let before = Self::fingerprint(self);
        let identity = self.identify()?;
        if self.expected.as_ref().is_some_and(|expected| *expected != *identity.id) {
            return Err(refuse(&self.folder, "the files are of another version of the model"));
        }
        let (library, pin) = self.runtime.library()?;
        let runtime = Runtime::open(&library, pin)?;
        let model = CustomModel::load(self, &identity, &runtime)?;
        if Self::fingerprint(self) != before {
            return Err(refuse(&self.folder, "the files were changed while they were loaded"));
        }
        Ok(LoadedEncoder {
            encoder: Box::new(model),
            sha256: identity.graph_sha256,
            warnings: runtime.warnings,
        })
    }
}

/// A loaded model of the user's own.
struct CustomModel {
    id: Arc<str>,
    session: Session,
    options: RunOptions,
    chunker: Chunker,
    /// True if the graph has the input `token_type_ids`.
    has_token_types: bool,
    /// The output with the states of the tokens.
    output: String,
    uses_huge_pages: bool,
}

impl CustomModel {
    fn load(
        config: &CustomConfig,
        identity: &Identity,
        runtime: &Runtime,
    ) -> Result<Self, LoadError> {
        let (graph, tokenizer) = (config.graph(), config.tokenizer());
        let json = fs::read(&tokenizer).map_err(|e| refuse(&tokenizer, &e.to_string()))?;
        let chunker = Chunker::from_json(&json).map_err(|e| refuse(&tokenizer, &e))?;
        let refused = |reason: String| refuse(&graph, &reason);
        let session =
            runtime.open_session(&graph, intra_threads()).map_err(|e| refused(message(e)))?;
        let inputs: Vec<&str> = session.inputs().iter().map(Outlet::name).collect();
        let known = ["input_ids", "attention_mask", "token_type_ids"];
        if let Some(missing) = known[..2].iter().find(|name| !inputs.contains(name)) {
            return Err(refused(format!("the graph has no input {missing}")));
        }
        if let Some(other) = inputs.iter().find(|name| !known.contains(name)) {
            return Err(refused(format!(
                "the graph has the input {other}, which loci does not know"
            )));
        }
        let has_token_types = inputs.contains(&known[2]);
        let output = token_states(&session).map_err(refused)?;
        let options = run_options().map_err(|e| refused(message(e)))?;
        let mut model = Self {
            id: Arc::clone(&identity.id),
            session,
            options,
            chunker,
            has_token_types,
            output,
            uses_huge_pages: false,
        };
        model.test().map_err(refused)?;
        Ok(model)
    }

    /// Encodes a text, so that a model that cannot be used is found when it is loaded.
    fn test(&mut self) -> Result<(), String> {
        let chunks = self.chunker.split(TEST_TEXT, TextKind::Document)?;
        let outputs = self.run(&chunks.iter().collect::<Vec<_>>())?;
        for output in outputs {
            Embedding::new(output.vector).map_err(|e| format!("the test text: {e}"))?;
        }
        Ok(())
    }

    fn run(&mut self, batch: &[&Chunk]) -> Result<Vec<ChunkOutput>, String> {
        let Padded { shape, ids, mask } = Padded::new(batch);
        let types = vec![0_i64; ids.len()];
        let tensor = |numbers| TensorRef::from_array_view((shape, numbers)).map_err(message);
        let mut inputs = vec![("input_ids", tensor(&ids[..])?), ("attention_mask", tensor(&mask)?)];
        if self.has_token_types {
            inputs.push(("token_type_ids", tensor(&types)?));
        }
        let outputs = self.session.run_with_options(inputs, &self.options).map_err(message)?;
        let (found, states) =
            outputs[self.output.as_str()].try_extract_tensor::<f32>().map_err(message)?;
        check_dimension(found.last().copied())?;
        let longest = shape[1].max(1);
        if states.len() != batch.len() * longest * DIMENSIONS {
            return Err(format!("the output {} has the shape {found:?}", self.output));
        }
        let rows = states.chunks_exact(longest * DIMENSIONS).zip(batch);
        Ok(rows
            .map(|(states, chunk)| ChunkOutput {
                vector: mean(states, chunk.ids.len()),
                codes: sign_codes(states, chunk),
            })
            .collect())
    }
}

impl Encoder for CustomModel {
    fn id(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    fn chunks(&self, text: &str, kind: TextKind) -> Result<Vec<Chunk>, String> {
        self.chunker.split(text, kind)
    }

    fn encode(&mut self, batch: &[&Chunk]) -> Result<Vec<ChunkOutput>, String> {
        self.run(batch)
    }

    fn use_huge_pages(&mut self) {
        if !std::mem::replace(&mut self.uses_huge_pages, true) {
            resident_memory::collapse_into_huge_pages();
        }
    }
}

/// Returns the name of the first output of three dimensions.
///
/// # Errors
/// The reason if there is none, or its last dimension is not [`DIMENSIONS`].
fn token_states(session: &Session) -> Result<String, String> {
    for output in session.outputs() {
        if let ValueType::Tensor { shape, .. } = output.dtype()
            && shape.len() == 3
        {
            // -1: known only when the model runs.
            if let Some(size) = shape.last().copied().filter(|size| *size >= 0) {
                check_dimension(Some(size))?;
            }
            return Ok(output.name().to_owned());
        }
    }
    Err("the graph has no output with the states of the tokens (three dimensions)".to_owned())
}

fn check_dimension(found: Option<i64>) -> Result<(), String> {
    match found {
        Some(found) if usize::try_from(found) == Ok(DIMENSIONS) => Ok(()),
        Some(found) => Err(format!(
            "the model has {found} dimensions; this version of loci supports models with {DIMENSIONS}"
        )),
        None => Err("the output has no dimensions".to_owned()),
    }
}

/// Returns the mean of the states of the tokens, scaled to length 1.
fn mean(states: &[f32], tokens: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; DIMENSIONS];
    for state in states.chunks_exact(DIMENSIONS).take(tokens) {
        sum.iter_mut().zip(state).for_each(|(sum, value)| *sum += value);
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    sum.iter().map(|value| value / length).collect()
}
