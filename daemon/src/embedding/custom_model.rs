//! A model in a folder with `model.onnx` and `tokenizer.json`, run by ONNX Runtime: one of the user's own, or one with a name.
//!
//! The graph has the inputs `input_ids` and `attention_mask`, and `token_type_ids` if it wants them. Its first output of three dimensions
//! has the states of the tokens, which become the vector of the text as the profile says. The id of the model comes from the contents of
//! its files and from its profile. Not here: the pinned model (`onnx`), downloads (`fetch`).

use crate::embedding::bounded_file::{self, MAX_TEXT, MAX_TOKENIZER, MAX_WEIGHTS};
use crate::embedding::chunk::{Chunk, ChunkOutput, Chunker, TextKind};
use crate::embedding::encoder::{Encoder, EncoderSource, LoadedEncoder};
use crate::embedding::model_files::{
    Condition, FileStatus, Fingerprint, LoadError, ModelConfig, sha256_of,
};
use crate::embedding::named_models::Named;
use crate::embedding::onnx::{Padded, Runtime, intra_threads, message};
use crate::embedding::pooling::{sign_codes, vector};
use crate::embedding::profile::{PROFILE_FILE, Profile};
use crate::embedding::run_limit::{MAX_PASS, RunLimit};
use crate::embedding::{recorded_files, resident_memory};
use loci_engine::model::encoding::Embedding;
use ort::session::Session;
use ort::value::{Outlet, TensorRef, ValueType};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// The file of the graph.
const GRAPH: &str = "model.onnx";
/// The file of the tokenizer.
const TOKENIZER: &str = "tokenizer.json";
/// The text that a load encodes as a test.
const TEST_TEXT: &str = "The weather is lovely today.";
/// The next step for a folder that cannot be used.
const HINT: &str = "correct embedding.path, or remove embedding.model for the pinned model; then run loci ctl restart";
/// The next step for a model with a name whose files cannot be used.
const NAMED_HINT: &str = "delete the folder and run loci model download, or remove embedding.model for the pinned model; then run loci ctl restart";

/// Where a model in a folder is.
#[derive(Debug, Clone)]
pub struct CustomConfig {
    /// The folder: `embedding.path`, or that of the model with a name.
    pub folder: PathBuf,
    /// The model with a name; `None` for one of the user's own, whose profile is in the folder.
    pub named: Option<Named>,
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
            // What is no regular file is refused later: ONNX Runtime would open it too.
            .filter(|path| *path != self.graph() && !path.is_dir())
            .collect();
        weights.sort();
        [self.tokenizer(), self.graph()].into_iter().chain(weights).collect()
    }

    /// Returns the beginning of the id: `custom`, or the name.
    fn name(&self) -> &'static str {
        self.named.map_or("custom", |named| named.model.name)
    }

    /// Returns how the model is used.
    fn profile(&self) -> Result<Profile, LoadError> {
        if let Some(named) = self.named {
            return Ok(named.profile());
        }
        let path = self.folder.join(PROFILE_FILE);
        match bounded_file::read_text(&path, MAX_TEXT) {
            Ok(text) => Profile::from_toml(&text).map_err(|reason| self.refuse(&path, &reason)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Profile::default()),
            Err(error) => Err(self.refuse(&path, &error.to_string())),
        }
    }

    /// Returns the id of the model, and the condition of its two files. Without them the id is `custom`, or the name.
    pub(crate) fn status(&self) -> (String, Vec<FileStatus>) {
        let recorded = self.named.map(|_| recorded_files::read(&self.folder)).unwrap_or_default();
        let file = |name: &'static str| {
            let path = self.folder.join(name);
            let sha256 = bounded_file::open(&path, MAX_WEIGHTS).and_then(sha256_of).ok();
            let condition = match (&sha256, recorded.get(name)) {
                (None, _) if path.exists() => Condition::Wrong,
                (None, _) => Condition::Missing,
                (Some(sha256), Some(recorded)) if sha256 != recorded => Condition::Wrong,
                _ => Condition::Present,
            };
            let size = fs::metadata(&path).map_or(0, |metadata| metadata.len());
            let sha256 = sha256.unwrap_or_default();
            FileStatus { name, path, size, sha256, condition, unpinned: true }
        };
        let id = self.identify().map_or(self.name().to_owned(), |identity| identity.id.to_string());
        (id, vec![file(GRAPH), file(TOKENIZER)])
    }

    /// Returns the id of the model and the SHA-256 of the graph. A file of a model with a name must be the one that was installed.
    fn identify(&self) -> Result<Identity, LoadError> {
        let profile = self.profile()?;
        let recorded = self.named.map(|_| recorded_files::read(&self.folder)).unwrap_or_default();
        let mut all = Sha256::new();
        let mut graph_sha256 = String::new();
        for path in self.files() {
            let sha256 = bounded_file::open(&path, MAX_WEIGHTS)
                .and_then(sha256_of)
                .map_err(|error| self.refuse(&path, &error.to_string()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if recorded.get(&*name).is_some_and(|recorded| *recorded != sha256) {
                return Err(self.refuse(&path, "the file was changed since it was installed"));
            }
            all.update(&sha256);
            if path == self.graph() {
                graph_sha256 = sha256;
            }
        }
        all.update(profile.canonical());
        let id = format!("{}-{}", self.name(), &format!("{:x}", all.finalize())[..16]);
        Ok(Identity { id: id.into(), graph_sha256, profile })
    }

    fn refuse(&self, path: &Path, reason: &str) -> LoadError {
        let (key, hint) = match self.named {
            Some(_) => ("embedding.model", NAMED_HINT),
            None => ("embedding.path", HINT),
        };
        let (path, reason, hint) = (path.to_owned(), reason.to_owned(), hint.to_owned());
        LoadError::Custom { key, path, reason, hint }
    }
}

/// What the files of a model contain.
struct Identity {
    id: Arc<str>,
    graph_sha256: String,
    profile: Profile,
}

impl EncoderSource for CustomConfig {
    fn id(&self) -> Option<Arc<str>> {
        self.expected.as_deref().map(Into::into)
    }

    fn fingerprint(&self) -> Option<Fingerprint> {
        let library = self.runtime.library().ok().map(|(path, _)| path);
        let profile = self.folder.join(PROFILE_FILE);
        Some(Fingerprint::of(self.files().into_iter().chain([profile]).chain(library)))
    }

    fn load(&self) -> Result<LoadedEncoder, LoadError> {
        for path in [self.graph(), self.tokenizer()] {
            match self.named {
                _ if path.is_file() => {}
                None if path.exists() => {
                    return Err(self.refuse(&path, "it is not a regular file"));
                }
                Some(_) => return Err(LoadError::Missing(path)),
                None => return Err(self.refuse(&path, "the file is missing")),
            }
        }
        let before = Self::fingerprint(self);
        let identity = self.identify()?;
        if self.expected.as_ref().is_some_and(|expected| *expected != *identity.id) {
            return Err(self.refuse(&self.folder, "the files are of another version of the model"));
        }
        let (library, pin) = self.runtime.library()?;
        let runtime = Runtime::open(&library, pin)?;
        let model = CustomModel::load(self, &identity, &runtime)?;
        if Self::fingerprint(self) != before {
            return Err(self.refuse(&self.folder, "the files were changed while they were loaded"));
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
    limit: RunLimit,
    chunker: Chunker,
    /// True if the graph has the input `token_type_ids`.
    has_token_types: bool,
    profile: Profile,
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
        let (unusable, profile) = (|e: String| config.refuse(&tokenizer, &e), &identity.profile);
        let json =
            bounded_file::read(&tokenizer, MAX_TOKENIZER).map_err(|e| unusable(e.to_string()))?;
        let chunker = Chunker::from_json(&json, profile).map_err(unusable)?;
        let refused = |reason: String| config.refuse(&graph, &reason);
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
        let output = token_states(&session, profile).map_err(refused)?;
        let limit = RunLimit::new().map_err(refused)?;
        let mut model = Self {
            id: Arc::clone(&identity.id),
            session,
            limit,
            chunker,
            has_token_types,
            profile: profile.clone(),
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
        let Self { session, limit, output, profile, .. } = self;
        limit.run(Instant::now() + MAX_PASS, |options| {
            let outputs = session.run_with_options(inputs, options).map_err(message)?;
            let (found, states) =
                outputs[output.as_str()].try_extract_tensor::<f32>().map_err(message)?;
            let width = width_of(found.last().copied(), profile)?;
            let longest = shape[1].max(1);
            if states.len() != batch.len() * longest * width {
                return Err(format!("the output {output} has the shape {found:?}"));
            }
            let rows = states.chunks_exact(longest * width).zip(batch);
            Ok(rows
                .map(|(states, chunk)| ChunkOutput {
                    vector: vector(states, width, chunk.ids.len(), profile),
                    codes: sign_codes(states, width, chunk),
                })
                .collect())
        })
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
/// The reason if there is none, or the profile does not allow its last dimension.
fn token_states(session: &Session, profile: &Profile) -> Result<String, String> {
    for output in session.outputs() {
        if let ValueType::Tensor { shape, .. } = output.dtype()
            && shape.len() == 3
        {
            // -1: known only when the model runs.
            if let Some(size) = shape.last().copied().filter(|size| *size >= 0) {
                width_of(Some(size), profile)?;
            }
            return Ok(output.name().to_owned());
        }
    }
    Err("the graph has no output with the states of the tokens (three dimensions)".to_owned())
}

/// Returns the number of a state's dimensions if the profile allows it.
fn width_of(found: Option<i64>, profile: &Profile) -> Result<usize, String> {
    let width = found.and_then(|found| usize::try_from(found).ok());
    let width = width.ok_or_else(|| "the output has no dimensions".to_owned())?;
    profile.kept_of(width).map(|_| width)
}
