//! The model in ONNX Runtime: loads verified files, tests the model on three published sentences, encodes one batch at a time.
//!
//! Not here: scheduling (`worker`), which chunks are encoded together (`batch`).

use crate::embedding::blocks;
use crate::embedding::chunk::{Chunk, ChunkOutput, Chunker, TextKind};
use crate::embedding::encoder::Encoder;
use crate::embedding::model_files::{LoadError, ModelConfig, ModelPaths, verify};
use crate::embedding::pinned_files::Artifact;
use crate::embedding::pinned_models::PinnedModel;
use crate::embedding::pooling::sign_codes;
use crate::embedding::q4_file::Q4File;
use crate::embedding::resident_memory;
use crate::embedding::tokenizer::TextTokenizer;
use crate::embedding::unigram::Unigram;
use loci_engine::model::encoding::{DIMENSIONS, dot};
use ort::environment::Environment;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{RunOptions, Session};
use ort::value::TensorRef;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, thread};

/// Maximum threads of one forward pass. A second thread shortens a query by a third; more threads would compete with the user's own
/// programs.
pub const INTRA_THREADS: usize = 2;

/// How long a thread of ONNX Runtime spins for its next step before it sleeps, in µs. A longer time saves nothing (measured) and occupies
/// a core.
const SPIN_US: &str = "10";

/// The first minor version of ONNX Runtime known to respect [`SPIN_US`]; earlier ones may spin for a whole forward pass.
const SPIN_LIMIT_SINCE: u32 = 27;

/// Returns the number of threads of one forward pass on this machine.
pub(crate) fn intra_threads() -> usize {
    INTRA_THREADS.min(thread::available_parallelism().map_or(1, usize::from))
}

/// The environment variable that switches telemetry off.
const TELEMETRY: &str = "ORT_DISABLE_TELEMETRY";

/// The first minor version of ONNX Runtime whose official builds carry telemetry.
const TELEMETRY_SINCE: u32 = 29;

/// The sentences of the self-test. sentence-transformers publishes the similarities of the default model.
pub const TEST_SENTENCES: [&str; 3] =
    ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."];

/// Switches the telemetry of ONNX Runtime off. `main` calls it first, before any thread starts.
///
/// The pinned runtime has no telemetry. This protects users who provide a newer one with `LOCI_ORT_LIB`, and a later change of the pin.
pub fn switch_off_telemetry() {
    #[expect(
        clippy::disallowed_methods,
        reason = "ONNX Runtime reads only the environment, and no other thread runs yet"
    )]
    // SAFETY: called before any other thread starts, so nothing else accesses the environment at the same time.
    unsafe {
        std::env::set_var(TELEMETRY, "1");
    }
}

/// The loaded model.
pub struct Model {
    /// `None` only while the model is dropped.
    session: Option<Session>,
    options: RunOptions,
    pinned: &'static PinnedModel,
    /// The rows of the tokens, if the graph takes them instead of the tokens.
    rows: Option<Q4File>,
    /// The file from which the session maps its weights.
    weights: PathBuf,
    /// True once the session's memory has been moved to huge pages.
    uses_huge_pages: bool,
    /// The tokenizer of the model.
    pub chunker: Chunker,
}

impl Model {
    /// Verifies every file's hash, loads the model with `threads` threads, and tests it on [`TEST_SENTENCES`]. Takes about 0.2 s.
    ///
    /// Returns the model and warnings for the user, in sentences.
    ///
    /// # Errors
    /// [`LoadError`], which names the file at fault.
    pub fn load(
        pinned: &'static PinnedModel,
        config: &ModelConfig,
        threads: usize,
    ) -> Result<(Self, Vec<String>), LoadError> {
        require_no_telemetry()?;
        let files = ModelPaths::find(config, &pinned.files)?;
        files.write_graph()?;
        // Hashing the weights (91 MB) takes longer than all other steps before the session, so it runs in a thread of its own.
        let (weights_check, prepared) = thread::scope(|scope| {
            let weights_check = scope.spawn(|| verify(&files.weights, pinned.files.weights));
            let prepared = prepare(&files, pinned);
            (weights_check.join(), prepared)
        });
        weights_check.map_err(|_| {
            LoadError::Refused(format!("hashing {} panicked", pinned.files.weights.name))
        })??;
        let (runtime, tokenizer) = prepared?;
        let (tokenizer, rows) = if let Some(tokenizer) = tokenizer {
            (tokenizer, None)
        } else {
            let (rows, vocabulary) = Q4File::open(&files.weights)
                .map_err(|source| LoadError::File { path: files.weights.clone(), source })?;
            (TextTokenizer::Unigram(Box::new(Unigram::new(vocabulary))), Some(rows))
        };
        let chunker = Chunker::new(tokenizer, &pinned.profile()).map_err(LoadError::Refused)?;
        if let Some(blocks) = &pinned.blocks {
            blocks.ensure(&files.weights)?;
        }
        let session = {
            let _mappings = resident_memory::lock_mappings();
            Some(runtime.open_session(&files.graph, threads).map_err(refused)?)
        };
        let options = run_options().map_err(refused)?;
        let warnings = runtime.warnings;
        let (weights, uses_huge_pages) = (files.weights, false);
        let mut model = Self { session, options, pinned, rows, weights, uses_huge_pages, chunker };
        model.self_test()?;
        model.trim_memory();
        Ok((model, warnings))
    }

    /// Encodes a batch in one forward pass; returns for each chunk a vector of length 1 and the token sketches of its words. Shorter chunks
    /// are padded to the longest.
    ///
    /// Token states are not returned, because the states of a word use 32 times the memory of its sketch.
    ///
    /// # Errors
    /// The message of ONNX Runtime.
    pub fn encode(&mut self, batch: &[&Chunk]) -> Result<Vec<ChunkOutput>, String> {
        let Padded { shape, ids, mask } = Padded::new(batch);
        let longest = shape[1];
        let mask = TensorRef::from_array_view((shape, &mask[..])).map_err(message)?;
        let mut rows = Vec::new();
        let inputs = match &mut self.rows {
            None => {
                let ids = TensorRef::from_array_view((shape, &ids[..])).map_err(message)?;
                ort::inputs!["input_ids" => ids, "attention_mask" => mask]
            }
            Some(file) => {
                for chunk in batch {
                    file.rows(&chunk.ids, &mut rows).map_err(|error| error.to_string())?;
                    let padding = (longest - chunk.ids.len()) * DIMENSIONS;
                    rows.resize(rows.len() + padding, 0.0);
                }
                let shape = [shape[0], longest, DIMENSIONS];
                let rows = TensorRef::from_array_view((shape, &rows[..])).map_err(message)?;
                ort::inputs!["word_embeddings" => rows, "attention_mask" => mask]
            }
        };
        let session = self.session.as_mut().ok_or("the model is being dropped")?;
        let outputs = session.run_with_options(inputs, &self.options).map_err(message)?;
        let (_, values) =
            outputs["sentence_embedding"].try_extract_tensor::<f32>().map_err(message)?;
        let (_, states) = outputs["token_states"].try_extract_tensor::<f32>().map_err(message)?;
        let rows =
            values.chunks_exact(DIMENSIONS).zip(states.chunks_exact(longest.max(1) * DIMENSIONS));
        Ok(rows
            .zip(batch)
            .map(|((vector, states), chunk)| ChunkOutput {
                vector: vector.to_vec(),
                codes: sign_codes(states, DIMENSIONS, chunk),
            })
            .collect())
    }

    /// Unmaps the weights that the last batches read; the next batch maps what it reads.
    pub fn trim_memory(&mut self) {
        resident_memory::release_file_pages(&self.weights);
        if self.pinned.blocks.is_some() {
            resident_memory::release_file_pages(&blocks::path_beside(&self.weights));
        }
    }

    /// Moves the session's memory to huge pages, at the first call only; takes up to 0.2 s.
    pub fn use_huge_pages(&mut self) {
        if !std::mem::replace(&mut self.uses_huge_pages, true) {
            resident_memory::collapse_into_huge_pages();
        }
    }

    fn self_test(&mut self) -> Result<(), LoadError> {
        let computed = self.test_similarities().map_err(LoadError::Refused)?;
        let is_equal = computed
            .iter()
            .zip(self.pinned.similarities)
            .all(|(computed, expected)| (computed - expected).abs() < self.pinned.tolerance);
        if is_equal {
            Ok(())
        } else {
            Err(LoadError::SelfTest { computed, expected: self.pinned.similarities })
        }
    }

    /// Computes the similarities of [`TEST_SENTENCES`] with the loaded model.
    ///
    /// # Errors
    /// The message of the tokenizer or of ONNX Runtime.
    pub fn test_similarities(&mut self) -> Result<[f32; 3], String> {
        let chunks = TEST_SENTENCES
            .iter()
            .map(|text| self.chunker.split(text, TextKind::Document))
            .collect::<Result<Vec<_>, _>>()?
            .concat();
        let batch: Vec<&Chunk> = chunks.iter().collect();
        match self.encode(&batch)?.as_slice() {
            [a, b, c] => Ok([
                dot(&a.vector, &b.vector),
                dot(&a.vector, &c.vector),
                dot(&b.vector, &c.vector),
            ]),
            others => Err(format!("three sentences gave {} vectors", others.len())),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        let _mappings = resident_memory::lock_mappings();
        self.session = None;
    }
}

/// The token ids of a batch; shorter chunks are padded to the longest.
pub(crate) struct Padded {
    /// Number of chunks, and the length of the longest.
    pub shape: [usize; 2],
    /// Token ids, chunk by chunk.
    pub ids: Vec<i64>,
    /// 1 for a token, 0 for padding.
    pub mask: Vec<i64>,
}

impl Padded {
    /// Pads a batch.
    pub fn new(batch: &[&Chunk]) -> Self {
        let longest = batch.iter().map(|chunk| chunk.ids.len()).max().unwrap_or(0);
        let (mut ids, mut mask) =
            (vec![0_i64; batch.len() * longest], vec![0_i64; batch.len() * longest]);
        for (row, chunk) in batch.iter().enumerate() {
            for (column, &id) in chunk.ids.iter().enumerate() {
                ids[row * longest + column] = i64::from(id);
                mask[row * longest + column] = 1;
            }
        }
        Self { shape: [batch.len(), longest], ids, mask }
    }
}

impl Encoder for Model {
    fn id(&self) -> Arc<str> {
        self.pinned.id.into()
    }

    fn chunks(&self, text: &str, kind: TextKind) -> Result<Vec<Chunk>, String> {
        self.chunker.split(text, kind)
    }

    fn encode(&mut self, batch: &[&Chunk]) -> Result<Vec<ChunkOutput>, String> {
        Self::encode(self, batch)
    }

    fn trim_memory(&mut self) {
        Self::trim_memory(self);
    }

    fn use_huge_pages(&mut self) {
        Self::use_huge_pages(self);
    }
}

/// The opened runtime library.
pub(crate) struct Runtime {
    environment: Environment,
    /// True if the runtime respects [`SPIN_US`].
    spin: bool,
    /// Warnings for the user, in sentences.
    pub warnings: Vec<String>,
}

impl Runtime {
    /// Verifies and opens the library; `pin` is `None` for a library of the user's own.
    pub fn open(library: &Path, pin: Option<&'static Artifact>) -> Result<Self, LoadError> {
        require_no_telemetry()?;
        let (minor, warning) = if let Some(pin) = pin {
            verify(library, pin)?;
            (minor_version(pin.folder, &[]), None)
        } else {
            let minor = minor_version(&library.to_string_lossy(), &read(library)?);
            (minor, warning_for(library, minor))
        };
        Ok(Self {
            environment: environment(library)?,
            spin: minor.is_some_and(|minor| minor >= SPIN_LIMIT_SINCE),
            warnings: warning.into_iter().collect(),
        })
    }

    /// Opens a session of a graph with `threads` threads.
    pub fn open_session(&self, graph: &Path, threads: usize) -> ort::Result<Session> {
        open_session(&self.environment, graph, threads, self.spin)
    }
}

/// Returns the options of a forward pass.
pub(crate) fn run_options() -> ort::Result<RunOptions> {
    let mut options = RunOptions::new()?;
    // Without this option the session keeps the memory of its largest batch.
    options.set("memory.enable_memory_arena_shrinkage", "cpu:0")?;
    Ok(options)
}

fn require_no_telemetry() -> Result<(), LoadError> {
    let is_off = std::env::var_os(TELEMETRY).is_some_and(|value| value == "1");
    if is_off { Ok(()) } else { Err(LoadError::Telemetry) }
}

/// Verifies and opens the runtime library, and reads the tokenizer, if it is a file of its own.
fn prepare(
    files: &ModelPaths,
    pinned: &PinnedModel,
) -> Result<(Runtime, Option<TextTokenizer>), LoadError> {
    let runtime = Runtime::open(&files.library, files.library_pin)?;
    let (Some(path), Some(pin)) = (&files.tokenizer, pinned.files.tokenizer) else {
        return Ok((runtime, None));
    };
    verify(path, pin)?;
    let tokenizer = TextTokenizer::from_json(&read(path)?).map_err(LoadError::Refused)?;
    Ok((runtime, Some(tokenizer)))
}

/// Returns the process's only environment. ONNX Runtime allows no second one, not even after the first was dropped, so it is never dropped.
fn environment(library: &Path) -> Result<Environment, LoadError> {
    static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);
    let mut shared = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*shared {
        return Ok(environment.clone());
    }
    let builder =
        ort::init_from(library).map_err(|e| LoadError::Refused(format!("ONNX Runtime: {e}")))?;
    let environment = builder.with_name("loci").with_telemetry(false).build().map_err(refused)?;
    Ok(shared.insert(environment).clone())
}

fn open_session(
    environment: &Environment,
    graph: &Path,
    threads: usize,
    spin: bool,
) -> ort::Result<Session> {
    Session::builder(environment)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(threads)?
        .with_intra_op_spinning(spin)?
        .with_config_entry("session.intra_op.spin_duration_us", SPIN_US)?
        // Threads sleep between forward passes.
        .with_config_entry("session.force_spinning_stop", "1")?
        .commit_from_file(graph)
}

/// Returns a warning about a runtime library that the user provides.
fn warning_for(library: &Path, minor: Option<u32>) -> Option<String> {
    match minor {
        Some(minor) if minor < TELEMETRY_SINCE => None,
        Some(minor) => Some(format!(
            "LOCI_ORT_LIB names ONNX Runtime 1.{minor}; official builds since 1.{TELEMETRY_SINCE} have telemetry, which loci switches off"
        )),
        None => Some(format!(
            "LOCI_ORT_LIB names an ONNX Runtime of unknown version: {}",
            library.display()
        )),
    }
}

/// Returns the minor version of a runtime library: from the symbol version in Linux builds, else from the file's name.
fn minor_version(name: &str, library: &[u8]) -> Option<u32> {
    const SYMBOL: &[u8] = b"VERS_1.";
    let after_symbol = library
        .windows(SYMBOL.len())
        .position(|window| window == SYMBOL)
        .map(|start| &library[start + SYMBOL.len()..]);
    let after_name = name
        .rsplit_once("onnxruntime")
        .and_then(|(_, rest)| rest.split_once("1."))
        .map(|(_, rest)| rest.as_bytes());
    let digits = after_symbol.or(after_name)?.iter().take_while(|byte| byte.is_ascii_digit());
    digits.map(|digit| char::from(*digit)).collect::<String>().parse().ok()
}

fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    fs::read(path).map_err(|source| LoadError::File { path: path.to_owned(), source })
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
fn refused<T>(error: ort::Error<T>) -> LoadError {
    LoadError::Refused(format!("ONNX Runtime: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "the signature that map_err needs")]
pub(crate) fn message<T>(error: ort::Error<T>) -> String {
    format!("ONNX Runtime: {error}")
}

#[cfg(test)]
mod tests {
    use super::{SPIN_LIMIT_SINCE, minor_version};
    use crate::embedding::pinned_files::RUNTIME_VERSION;

    #[test]
    fn the_version_is_taken_from_the_symbol_or_else_from_the_file_name() {
        assert_eq!(minor_version("/x/libonnxruntime.so", b"..VERS_1.31.1\0"), Some(31));
        assert_eq!(minor_version("/x/libonnxruntime.so.1.27.0", b""), Some(27));
        assert_eq!(minor_version("/onnxruntime-1.20/libonnxruntime.1.30.0.dylib", b""), Some(30));
        assert_eq!(minor_version("/x/onnxruntime.dll", b""), None);
        assert!(
            minor_version(&format!("onnxruntime-{RUNTIME_VERSION}"), &[])
                .is_some_and(|minor| minor >= SPIN_LIMIT_SINCE),
            "the pinned runtime respects the spin time"
        );
    }
}
