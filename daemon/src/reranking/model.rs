//! A cross-encoder in ONNX Runtime: a folder with `model.onnx` and `tokenizer.json`.
//!
//! The graph has the inputs `input_ids` and `attention_mask`, and `token_type_ids` if it wants them. Its first output of two dimensions has
//! one number for each pair, the logit of "the text answers the query". Not here: the thread (`super`).

use crate::config::rerank::CrossEncoderConfig;
use crate::embedding::bounded_file::{self, MAX_TOKENIZER};
use crate::embedding::encoder::catch_panic;
use crate::embedding::onnx::{Runtime, intra_threads, message};
use crate::embedding::run_limit::{MAX_PASS, RunLimit};
use crate::embedding::{ModelConfig, resident_memory};
use ort::session::Session;
use ort::value::{Outlet, TensorRef, ValueType};
use std::time::Instant;
use tokenizers::{Encoding, Tokenizer, TruncationParams};

/// Maximum tokens of a pair: what models of the shape of BERT can read.
const MAX_TOKENS: usize = 512;
/// Pairs of one forward pass: more make its memory larger, not its time shorter.
const BATCH: usize = 8;
const INPUTS: [&str; 3] = ["input_ids", "attention_mask", "token_type_ids"];

/// A loaded cross-encoder.
pub(super) struct Model {
    session: Session,
    limit: RunLimit,
    tokenizer: Tokenizer,
    has_token_types: bool,
    /// The output with the logits.
    output: String,
}

impl Model {
    /// Loads the model and compares one pair as a test.
    ///
    /// # Errors
    /// A sentence that names the file at fault.
    pub fn load(config: &CrossEncoderConfig, runtime: &ModelConfig) -> Result<Self, String> {
        let (graph, tokenizer) =
            (config.folder.join("model.onnx"), config.folder.join("tokenizer.json"));
        let of_file =
            |path: &std::path::Path, reason: &str| format!("{}: {reason}", path.display());
        if let Some(missing) = [&tokenizer, &graph].into_iter().find(|path| !path.is_file()) {
            let is_there = missing.exists();
            let reason = if is_there { "it is not a regular file" } else { "the file is missing" };
            return Err(of_file(missing, reason));
        }
        let json = bounded_file::read(&tokenizer, MAX_TOKENIZER)
            .map_err(|e| of_file(&tokenizer, &e.to_string()))?;
        let tokenizer = pair_tokenizer(&json).map_err(|e| of_file(&tokenizer, &e))?;
        let (library, pin) = runtime.library().map_err(|e| e.to_string())?;
        let runtime = Runtime::open(&library, pin).map_err(|e| e.to_string())?;
        let refused = |reason: String| of_file(&graph, &reason);
        let session = {
            let _mappings = resident_memory::lock_mappings();
            runtime.open_session(&graph, intra_threads()).map_err(|e| refused(message(e)))?
        };
        let inputs: Vec<&str> = session.inputs().iter().map(Outlet::name).collect();
        if let Some(missing) = INPUTS[..2].iter().find(|name| !inputs.contains(name)) {
            return Err(refused(format!("the graph has no input {missing}")));
        }
        if let Some(other) = inputs.iter().find(|name| !INPUTS.contains(name)) {
            return Err(refused(format!(
                "the graph has the input {other}, which loci does not know"
            )));
        }
        let has_token_types = inputs.contains(&INPUTS[2]);
        let output = logits(&session).map_err(refused)?;
        let limit = RunLimit::new().map_err(refused)?;
        let mut model = Self { session, limit, tokenizer, has_token_types, output };
        let test = ["The backup runs at two".to_owned()];
        model.score("When is the backup?", &test, Instant::now() + MAX_PASS).map_err(refused)?;
        Ok(model)
    }

    /// Returns for each text how likely it answers the query: the logistic function of the logit. Ends at `until`.
    ///
    /// # Errors
    /// The message of the tokenizer or of ONNX Runtime; that the time is over.
    pub fn score(
        &mut self,
        query: &str,
        texts: &[String],
        until: Instant,
    ) -> Result<Vec<f64>, String> {
        let pairs: Vec<(&str, &str)> = texts.iter().map(|text| (query, text.as_str())).collect();
        let encodings =
            self.tokenizer.encode_batch(pairs, true).map_err(|e| format!("tokenizer: {e}"))?;
        let mut scores = Vec::with_capacity(texts.len());
        for batch in encodings.chunks(BATCH) {
            let logits = catch_panic(|| self.run(batch, until))?;
            scores.extend(logits.into_iter().map(|logit| 1.0 / (1.0 + (-f64::from(logit)).exp())));
        }
        if scores.iter().all(|score| score.is_finite()) {
            Ok(scores)
        } else {
            Err("the model returned no numbers".to_owned())
        }
    }

    fn run(&mut self, batch: &[Encoding], until: Instant) -> Result<Vec<f32>, String> {
        let padded = PaddedPairs::new(batch);
        let tensor = |numbers| TensorRef::from_array_view((padded.shape, numbers)).map_err(message);
        let mut inputs =
            vec![(INPUTS[0], tensor(&padded.ids[..])?), (INPUTS[1], tensor(&padded.mask)?)];
        if self.has_token_types {
            inputs.push((INPUTS[2], tensor(&padded.types)?));
        }
        let Self { session, limit, output, .. } = self;
        limit.run(until, |options| {
            let outputs = session.run_with_options(inputs, options).map_err(message)?;
            let (shape, logits) =
                outputs[output.as_str()].try_extract_tensor::<f32>().map_err(message)?;
            if logits.len() != batch.len() {
                return Err(format!(
                    "the output {output} has the shape {shape:?}, not one number a pair"
                ));
            }
            Ok(logits.to_vec())
        })
    }
}

/// Parses a `tokenizer.json`; pairs are cut to [`MAX_TOKENS`], the longer text first.
fn pair_tokenizer(json: &[u8]) -> Result<Tokenizer, String> {
    let mut tokenizer = Tokenizer::from_bytes(json).map_err(|e| e.to_string())?;
    let truncation = TruncationParams { max_length: MAX_TOKENS, ..TruncationParams::default() };
    tokenizer.with_padding(None).with_truncation(Some(truncation)).map_err(|e| e.to_string())?;
    Ok(tokenizer)
}

/// Returns the name of the first output of two dimensions, which has one number for each pair.
fn logits(session: &Session) -> Result<String, String> {
    for output in session.outputs() {
        let ValueType::Tensor { shape, .. } = output.dtype() else { continue };
        match shape.as_ref() {
            [_, 1 | -1] => return Ok(output.name().to_owned()),
            [_, count] => {
                return Err(format!(
                    "the output {} has {count} numbers for each pair; a cross-encoder has one",
                    output.name()
                ));
            }
            _ => {}
        }
    }
    Err("the graph has no output with a number for each pair (two dimensions)".to_owned())
}

/// The tokens of a batch of pairs; shorter ones are padded to the longest.
struct PaddedPairs {
    /// Number of pairs, and the length of the longest.
    shape: [usize; 2],
    ids: Vec<i64>,
    /// 1 for a token, 0 for padding.
    mask: Vec<i64>,
    /// 0 for tokens of the query, 1 for those of the text.
    types: Vec<i64>,
}

impl PaddedPairs {
    fn new(batch: &[Encoding]) -> Self {
        let longest = batch.iter().map(|pair| pair.get_ids().len()).max().unwrap_or(0);
        let mut padded = Self {
            shape: [batch.len(), longest],
            ids: Vec::new(),
            mask: Vec::new(),
            types: Vec::new(),
        };
        for (row, pair) in batch.iter().enumerate() {
            let end = (row + 1) * longest;
            padded.ids.extend(pair.get_ids().iter().map(|id| i64::from(*id)));
            padded.types.extend(pair.get_type_ids().iter().map(|kind| i64::from(*kind)));
            padded.mask.resize(padded.ids.len(), 1);
            for numbers in [&mut padded.ids, &mut padded.mask, &mut padded.types] {
                numbers.resize(end, 0);
            }
        }
        padded
    }
}
