//! The model in ONNX Runtime: loaded from checked files, tried on three published sentences, run on one batch at a time.
//!
//! Not here: who may run it and when (`thread`), which texts go together (`round`).

use crate::embedding::chunk::{Piece, Pieces, Use};
use crate::embedding::model_files::{Files, LoadError, ModelConfig, check};
use crate::embedding::pinned_files::{TOKENIZER, WEIGHTS};
use crate::embedding::resident_memory;
use loci_engine::model::encoding::{DIMENSIONS, SignCode, dot};
use ort::environment::Environment;
use ort::session::builder::GraphOptimizationLevel;
use ort::session::{RunOptions, Session};
use ort::value::TensorRef;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::{fs, thread};

/// Cores that one run uses. A second one takes a third off a query; further ones would be taken from the person's own work.
pub const INTRA_THREADS: usize = 2;

/// How long a core that has done its share of a step waits for the next step before it sleeps. Longer saves nothing more, and is taken from
/// other programs that want the core.
const AWAKE_US: &str = "10";

/// The first minor version of ONNX Runtime that is known to heed it; earlier ones would stay awake for a whole run.
const AWAKE_SINCE: u32 = 27;

const TELEMETRY: &str = "ORT_DISABLE_TELEMETRY";

/// The first minor version of ONNX Runtime whose official builds carry telemetry.
const TELEMETRY_SINCE: u32 = 29;

/// Three sentences whose similarities sentence-transformers publishes for this model.
pub const PUBLISHED_SENTENCES: [&str; 3] =
    ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."];

/// The similarities of [`PUBLISHED_SENTENCES`]: first and second, first and third, second and third.
pub const PUBLISHED_SIMILARITIES: [f32; 3] = [0.6660, 0.1046, 0.1411];

/// Tells ONNX Runtime to send nothing; the first act of `main`, before any thread starts.
///
/// The pinned runtime has no telemetry. This guards the person who brings a newer one, and the day when the pin moves.
pub fn switch_off_telemetry() {
    #[expect(
        clippy::disallowed_methods,
        reason = "ONNX Runtime reads nothing but the environment, and no thread runs yet"
    )]
    // SAFETY: called before any thread starts, so nothing reads the environment meanwhile.
    unsafe {
        std::env::set_var(TELEMETRY, "1");
    }
}

/// What the model gives for one piece.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// Of length 1.
    pub vector: Vec<f32>,
    /// One for each word that was asked for.
    pub codes: Vec<SignCode>,
}

/// The loaded model.
pub struct Model {
    session: Session,
    options: RunOptions,
    /// The file that the session reads its weights from.
    weights: PathBuf,
    /// Its memory has been put into large pages.
    settled: bool,
    /// The tokenizer that belongs to it.
    pub pieces: Pieces,
}

impl Model {
    /// Checks every file's hash, loads the model with `threads` cores, and tries it on the published sentences.
    ///
    /// Gives the model and warnings for the person. About 0.2 s.
    ///
    /// # Errors
    /// [`LoadError`]: what is wrong and with which file.
    pub fn load(config: &ModelConfig, threads: usize) -> Result<(Self, Vec<String>), LoadError> {
        if std::env::var_os(TELEMETRY).is_none_or(|value| value != "1") {
            return Err(LoadError::Telemetry);
        }
        let files = Files::find(config)?;
        files.write_graph()?;
        // Hashing 91 MB takes longer than all else before the session, so it gets the other core.
        let (weights, rest) = thread::scope(|scope| {
            let weights = scope.spawn(|| check(&files.weights, &WEIGHTS));
            let rest = prepare(&files);
            (weights.join(), rest)
        });
        weights
            .map_err(|_| LoadError::Refused("hashing model.safetensors panicked".to_owned()))??;
        let Prepared { environment, pieces, minor, warnings } = rest?;
        let awake = minor.is_some_and(|minor| minor >= AWAKE_SINCE);
        let session = open_session(&environment, &files.graph, threads, awake).map_err(refused)?;
        let mut options = RunOptions::new().map_err(refused)?;
        // Without this a long batch's memory is kept for ever.
        options.set("memory.enable_memory_arena_shrinkage", "cpu:0").map_err(refused)?;
        let mut model = Self { session, options, weights: files.weights, settled: false, pieces };
        model.test_itself()?;
        resident_memory::give_back(&model.weights);
        Ok((model, warnings))
    }

    /// One forward pass: a vector of length 1 for each piece, and the codes of its words. Shorter pieces are padded to the longest.
    ///
    /// The states of the tokens do not leave this function: a word's take 32 times the room of its code.
    ///
    /// # Errors
    /// What ONNX Runtime said.
    pub fn run(&mut self, batch: &[&Piece]) -> Result<Vec<Run>, String> {
        let longest = batch.iter().map(|piece| piece.ids.len()).max().unwrap_or(0);
        let (mut ids, mut mask) =
            (vec![0_i64; batch.len() * longest], vec![0_i64; batch.len() * longest]);
        for (row, piece) in batch.iter().enumerate() {
            for (column, &id) in piece.ids.iter().enumerate() {
                ids[row * longest + column] = i64::from(id);
                mask[row * longest + column] = 1;
            }
        }
        let shape = [batch.len(), longest];
        let inputs = ort::inputs![
            "input_ids" => TensorRef::from_array_view((shape, &ids[..])).map_err(said)?,
            "attention_mask" => TensorRef::from_array_view((shape, &mask[..])).map_err(said)?,
        ];
        let outputs = self.session.run_with_options(inputs, &self.options).map_err(said)?;
        let (_, values) =
            outputs["sentence_embedding"].try_extract_tensor::<f32>().map_err(said)?;
        let (_, states) = outputs["token_states"].try_extract_tensor::<f32>().map_err(said)?;
        let rows =
            values.chunks_exact(DIMENSIONS).zip(states.chunks_exact(longest.max(1) * DIMENSIONS));
        Ok(rows
            .zip(batch)
            .map(|((vector, states), piece)| Run {
                vector: vector.to_vec(),
                codes: codes(states, piece),
            })
            .collect())
    }

    /// Gives back what the last runs have read of the weights; the next run takes what it reads. The first time it settles for good, which
    /// takes up to .2 s.
    pub fn rest(&mut self) {
        resident_memory::give_back(&self.weights);
        if !std::mem::replace(&mut self.settled, true) {
            resident_memory::in_large_pages();
        }
    }

    fn test_itself(&mut self) -> Result<(), LoadError> {
        let found = self.published_similarities().map_err(LoadError::Refused)?;
        let near = found
            .iter()
            .zip(PUBLISHED_SIMILARITIES)
            .all(|(found, expected)| (found - expected).abs() < 1e-4);
        if near {
            Ok(())
        } else {
            Err(LoadError::SelfTest { found, expected: PUBLISHED_SIMILARITIES })
        }
    }

    /// The similarities of [`PUBLISHED_SENTENCES`] as this machine computes them.
    ///
    /// # Errors
    /// What the tokenizer or ONNX Runtime said.
    pub fn published_similarities(&mut self) -> Result<[f32; 3], String> {
        let pieces = PUBLISHED_SENTENCES
            .iter()
            .map(|text| self.pieces.of(text, Use::Document))
            .collect::<Result<Vec<_>, _>>()?
            .concat();
        let batch: Vec<&Piece> = pieces.iter().collect();
        match self.run(&batch)?.as_slice() {
            [a, b, c] => Ok([
                dot(&a.vector, &b.vector),
                dot(&a.vector, &c.vector),
                dot(&b.vector, &c.vector),
            ]),
            others => Err(format!("three sentences gave {} vectors", others.len())),
        }
    }
}

/// The code of each word: the signs of the sum of its tokens' states in the last layer.
fn codes(states: &[f32], piece: &Piece) -> Vec<SignCode> {
    let code = |word: &crate::embedding::chunk::Word| {
        let mut sum = [0.0_f32; DIMENSIONS];
        for token in word.tokens.clone() {
            sum.iter_mut()
                .zip(&states[token * DIMENSIONS..])
                .for_each(|(sum, value)| *sum += value);
        }
        SignCode::of(&sum)
    };
    piece.words.iter().map(code).collect()
}

/// Everything but weights and session.
struct Prepared {
    environment: Environment,
    pieces: Pieces,
    /// The minor version of the runtime, where it can be told.
    minor: Option<u32>,
    warnings: Vec<String>,
}

/// Checks the library and opens it, and reads the tokenizer.
fn prepare(files: &Files) -> Result<Prepared, LoadError> {
    let (minor, warning) = if let Some(pin) = files.library_pin {
        check(&files.library, pin)?;
        (minor_version(pin.folder, &[]), None)
    } else {
        let minor = minor_version(&files.library.to_string_lossy(), &read(&files.library)?);
        (minor, warning_about(&files.library, minor))
    };
    let environment = environment(&files.library)?;
    check(&files.tokenizer, &TOKENIZER)?;
    let pieces = Pieces::from_json(&read(&files.tokenizer)?).map_err(LoadError::Refused)?;
    Ok(Prepared { environment, pieces, minor, warnings: warning.into_iter().collect() })
}

/// The process's one environment. ONNX Runtime allows no second, not even after the first was dropped, so it stays for good.
fn environment(library: &Path) -> Result<Environment, LoadError> {
    static ENVIRONMENT: Mutex<Option<Environment>> = Mutex::new(None);
    let mut known = ENVIRONMENT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(environment) = &*known {
        return Ok(environment.clone());
    }
    let builder =
        ort::init_from(library).map_err(|e| LoadError::Refused(format!("ONNX Runtime: {e}")))?;
    let environment = builder.with_name("loci").with_telemetry(false).build().map_err(refused)?;
    Ok(known.insert(environment).clone())
}

fn open_session(
    environment: &Environment,
    graph: &Path,
    threads: usize,
    awake: bool,
) -> ort::Result<Session> {
    Session::builder(environment)?
        .with_optimization_level(GraphOptimizationLevel::All)?
        .with_intra_threads(threads)?
        .with_intra_op_spinning(awake)?
        .with_config_entry("session.intra_op.spin_duration_us", AWAKE_US)?
        // From run to run it sleeps.
        .with_config_entry("session.force_spinning_stop", "1")?
        .commit_from_file(graph)
}

/// What the person should know about a runtime of their own.
fn warning_about(library: &Path, minor: Option<u32>) -> Option<String> {
    match minor {
        Some(minor) if minor < TELEMETRY_SINCE => None,
        Some(minor) => Some(format!(
            "LOCI_ORT_LIB names ONNX Runtime 1.{minor}; official builds from 1.{TELEMETRY_SINCE} on have telemetry, which loci switches off"
        )),
        None => Some(format!(
            "LOCI_ORT_LIB names an ONNX Runtime of unknown version: {}",
            library.display()
        )),
    }
}

/// The minor version of a runtime: from the symbol version that Linux builds carry, else from the file's name.
fn minor_version(name: &str, library: &[u8]) -> Option<u32> {
    const SYMBOL: &[u8] = b"VERS_1.";
    let after_symbol = library
        .windows(SYMBOL.len())
        .position(|window| window == SYMBOL)
        .map(|at| &library[at + SYMBOL.len()..]);
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

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn refused<T>(error: ort::Error<T>) -> LoadError {
    LoadError::Refused(format!("ONNX Runtime: {error}"))
}

#[expect(clippy::needless_pass_by_value, reason = "made for map_err")]
fn said<T>(error: ort::Error<T>) -> String {
    format!("ONNX Runtime: {error}")
}

#[cfg(test)]
mod tests {
    use super::{AWAKE_SINCE, minor_version};
    use crate::embedding::pinned_files::RUNTIME_VERSION;

    #[test]
    fn the_version_comes_from_the_symbol_and_else_from_the_name() {
        assert_eq!(minor_version("/x/libonnxruntime.so", b"..VERS_1.31.1\0"), Some(31));
        assert_eq!(minor_version("/x/libonnxruntime.so.1.27.0", b""), Some(27));
        assert_eq!(minor_version("/onnxruntime-1.20/libonnxruntime.1.30.0.dylib", b""), Some(30));
        assert_eq!(minor_version("/x/onnxruntime.dll", b""), None);
        assert!(
            minor_version(&format!("onnxruntime-{RUNTIME_VERSION}"), &[])
                .is_some_and(|minor| minor >= AWAKE_SINCE),
            "the pinned one heeds how long it may stay awake"
        );
    }
}
