//! The models whose files are pinned: a row for each.
//!
//! Not here: the hashes of the downloaded files (`pinned_files`), what the ranking makes of a model's cosines (`calibration` of the engine),
//! running a model (`onnx`).

use crate::embedding::blocks::Blocks;
use crate::embedding::pinned_files::{
    MODEL_ID, MULTILINGUAL_WEIGHTS, PinnedFiles, TOKENIZER, WEIGHTS,
};
use crate::embedding::profile::Profile;
use crate::embedding::{blocks, q4_file};

/// A model.
#[derive(Debug)]
pub struct PinnedModel {
    /// Stored with every vector.
    pub id: &'static str,
    /// The values of `embedding.model`.
    pub names: &'static [&'static str],
    /// Its files.
    pub files: PinnedFiles,
    /// The file that this machine makes of the weights.
    pub blocks: Option<Blocks>,
    /// Put in front of a query, and of each chunk of a text.
    pub prefixes: [&'static str; 2],
    /// The similarities of the sentences of a self-test: first and second, first and third, second and third.
    pub similarities: [f32; 3],
    /// How far from them a machine may be.
    pub tolerance: f32,
}

/// All of them; the first is the default.
pub static PINNED_MODELS: [PinnedModel; 3] = [
    PinnedModel {
        id: MODEL_ID,
        names: &[MODEL_ID, "minilm"],
        files: PinnedFiles {
            weights: &WEIGHTS,
            tokenizer: Some(&TOKENIZER),
            graph: ("graph-2.onnx", include_bytes!("graph.onnx")),
        },
        blocks: None,
        prefixes: ["", ""],
        // Published by sentence-transformers.
        similarities: [0.6660, 0.1046, 0.1411],
        tolerance: 1e-4,
    },
    PinnedModel {
        id: "all-MiniLM-L6-v2-fast",
        names: &["minilm-fast"],
        files: PinnedFiles {
            weights: &WEIGHTS,
            tokenizer: Some(&TOKENIZER),
            // Made by bench/fast_graph.py.
            graph: ("graph-fast-1.onnx", include_bytes!("graph-fast.onnx")),
        },
        blocks: Some(Blocks {
            size: 11_280_384,
            sha256: "25955f0d8769137e536f7ca1e7d4a20fffd610cb483251ef99319f1803d36092",
            write: blocks::write_eight_bits,
        }),
        prefixes: ["", ""],
        similarities: [0.6660, 0.1046, 0.1411],
        tolerance: 0.02,
    },
    PinnedModel {
        id: "multilingual-e5-small-q4",
        names: &["multilingual"],
        files: PinnedFiles {
            weights: &MULTILINGUAL_WEIGHTS,
            tokenizer: None,
            // Made by bench/multilingual_graph.py, with the means that are subtracted.
            graph: ("graph-1.onnx", include_bytes!("graph-multilingual.onnx")),
        },
        blocks: Some(Blocks {
            size: 13_271_040,
            sha256: "6e9abe7508b8c15267d13ee79f64dc67f4772e1681cc3622914508b1ae11d06d",
            write: q4_file::write_products,
        }),
        prefixes: ["query: ", "passage: "],
        // Those of the engine of the package, centred.
        similarities: [0.6036, 0.2052, 0.2293],
        tolerance: 0.02,
    },
];

impl PinnedModel {
    /// Returns the default model.
    #[must_use]
    pub fn standard() -> &'static Self {
        &PINNED_MODELS[0]
    }

    /// Returns the model that a value of `embedding.model` selects.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PINNED_MODELS.iter().find(|model| model.names.contains(&name))
    }

    /// Returns the model with an id.
    #[must_use]
    pub fn with_id(id: &str) -> Option<&'static Self> {
        PINNED_MODELS.iter().find(|model| model.id == id)
    }

    /// Returns how it is used.
    #[must_use]
    pub fn profile(&self) -> Profile {
        let [query_prefix, passage_prefix] = self.prefixes.map(str::to_owned);
        Profile { query_prefix, passage_prefix, ..Profile::default() }
    }
}
