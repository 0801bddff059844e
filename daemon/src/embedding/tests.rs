//! Tests of the real model against golden vectors and token sketches, and of the worker thread with a fake encoder that the test steps.

use crate::embedding::chunk::{Chunk, ChunkOutput, TextKind};
use crate::embedding::model_files::{LoadError, path_of};
use crate::embedding::onnx::Model;
use crate::embedding::pinned_files::{TOKENIZER, WEIGHTS};
use crate::embedding::pinned_models::PinnedModel;
use crate::embedding::test_encoder::{
    BatchOutcome, SteppedSource, Stepper, config, linked_folder, load, model, standard,
    switch_off_telemetry_once,
};
use crate::embedding::*;
use loci_engine::model::encoding::{
    Embedding, EmbeddingError, MAX_SIGN_CODES, ModelEncoding, QueryEncoding, SIGN_CODE_BYTES,
    SignCode,
};
use loci_proto::limits::QUEUE_LENGTH;
use serde::Deserialize;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};
use tokio::task::JoinHandle;

/// A golden text with its token ids and its vector.
#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

fn golden() -> Vec<Golden> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/golden.json");
    serde_json::from_slice(&fs::read(path).expect("the golden file exists"))
        .expect("the golden file is valid")
}

fn encode(model: &mut Model, batch: &[Chunk]) -> Vec<ChunkOutput> {
    model.encode(&batch.iter().collect::<Vec<_>>()).expect("the texts are encoded")
}

fn vectors(model: &mut Model, batch: &[Chunk]) -> Vec<Embedding> {
    encode(model, batch)
        .into_iter()
        .map(|output| Embedding::new(output.vector).expect("the vector is valid"))
        .collect()
}

/// A golden text with its token sketches.
#[derive(Deserialize)]
struct GoldenSketches {
    text: String,
    /// Each content word and its token sketch in hexadecimal.
    words: Vec<(String, String)>,
}

fn sketch(hex: &str) -> SignCode {
    let mut bytes = [0; SIGN_CODE_BYTES];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * index..2 * index + 2], 16)
            .expect("the golden sketch is hexadecimal");
    }
    SignCode::from_bytes(&bytes)
}

/// Maximum number of differing signs: some states are so close to zero that another processor rounds them to the other sign.
const MAX_DIFFERING_SIGNS: u32 = 4;

#[test]
fn token_sketches_equal_the_golden_ones_alone_and_in_a_batch_with_a_longer_text() {
    let mut model = model();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/codes.json");
    let golden: Vec<GoldenSketches> =
        serde_json::from_slice(&fs::read(path).expect("the golden file exists"))
            .expect("the golden file is valid");
    let long = model
        .chunker
        .split(&"an elephant ".repeat(60), TextKind::Document)
        .expect("the text is tokenized")
        .remove(0);
    for GoldenSketches { text, words } in golden {
        let chunk = model
            .chunker
            .split(&text, TextKind::Document)
            .expect("the text is tokenized")
            .remove(0);
        let content_words: Vec<&str> = chunk.words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(
            content_words,
            words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(),
            "{text}"
        );
        let alone = encode(&mut model, std::slice::from_ref(&chunk)).remove(0);
        let in_batch = encode(&mut model, &[long.clone(), chunk]).remove(1);
        for output in [alone, in_batch] {
            let differing = output
                .codes
                .iter()
                .zip(&words)
                .map(|(code, (_, hex))| code.distance(&sketch(hex)))
                .max();
            assert!(
                output.codes.len() == words.len() && differing <= Some(MAX_DIFFERING_SIGNS),
                "{differing:?}: {text}"
            );
        }
    }
}

#[test]
fn a_long_text_keeps_its_most_distinctive_words_within_the_limit() {
    let model = model();
    let text = format!(
        "{} xylograph {}",
        "the cat sat and the dog ran ".repeat(90),
        "bird fish tree stone river cloud ".repeat(40)
    );
    let chunks = model.chunker.split(&text, TextKind::Document).expect("the text is tokenized");
    let words: Vec<&str> =
        chunks.iter().flat_map(|chunk| &chunk.words).map(|word| word.text.as_str()).collect();
    assert_eq!((chunks.len() > 2, words.len()), (true, MAX_SIGN_CODES));
    for word in ["cat", "sat", "dog", "ran", "xylograph", "bird", "cloud"] {
        assert!(words.contains(&word), "{word}");
    }
    for chunk in &chunks {
        for word in &chunk.words {
            assert!(word.tokens.end < chunk.ids.len() && !word.tokens.is_empty(), "{word:?}");
        }
    }
    let query = model.chunker.split(&text, TextKind::Query).expect("the text is tokenized");
    assert!(query[0].words.len() > MAX_SIGN_CODES, "a query keeps all its words");
}

#[test]
fn date_and_speaker_are_content_words_of_a_query_but_not_of_a_document() {
    let model = model();
    let text = "[2023-05-08] Anna Kowalska: I was in Łódź's café";
    let words = |kind| {
        model.chunker.split(text, kind).expect("the text is tokenized")[0]
            .words
            .iter()
            .map(|word| word.text.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(words(TextKind::Document), ["łódź", "café"]);
    assert_eq!(words(TextKind::Query), ["2023", "05", "08", "anna", "kowalska", "łódź", "café"]);
}

#[test]
fn fifty_texts_have_the_golden_tokens_and_vectors() {
    let mut model = model();
    let golden = golden();
    assert_eq!(golden.len(), 50);
    for Golden { text, ids, vector } in golden {
        let chunks = model.chunker.split(&text, TextKind::Document).expect("the text is tokenized");
        // The longest golden text was cut at 256 tokens.
        assert_eq!(chunks[0].ids, ids, "{text}");
        assert_eq!(chunks.len() > 1, text.len() > 7000);
        let expected = Embedding::new(vector).expect("the vector is valid");
        let cosine = vectors(&mut model, &chunks[..1])[0].cosine(&expected);
        assert!(cosine >= 0.99999, "{cosine}: {text}");
    }
}

#[test]
fn the_model_computes_the_published_similarities_to_four_decimals() {
    let similarities = model().test_similarities().expect("the texts are encoded");
    let rounded = similarities.map(|similarity| format!("{similarity:.4}"));
    assert_eq!(
        rounded,
        PinnedModel::standard().similarities.map(|similarity| format!("{similarity:.4}"))
    );
}

#[test]
fn a_long_text_is_cut_into_overlapping_windows() {
    let model = model();
    let words = |count: usize| "cat dog ".repeat(count / 2);
    let lengths = |count: usize| {
        let chunks =
            model.chunker.split(&words(count), TextKind::Document).expect("the text is tokenized");
        chunks.iter().map(|chunk| chunk.ids.len()).collect::<Vec<_>>()
    };
    assert_eq!(lengths(254), [256]);
    assert_eq!(lengths(256), [256, 36]);
    // Windows start every 222 tokens: at 0, 222 and 444 of 600.
    assert_eq!(lengths(600), [256, 256, 158]);

    let irregular: Vec<&str> =
        (0..400).map(|i| ["red", "oak", "sun", "map"][(i * i / 3) % 4]).collect();
    let chunks = model
        .chunker
        .split(&irregular.join(" "), TextKind::Document)
        .expect("the text is tokenized");
    let window = |chunk: &Chunk| chunk.ids[1..chunk.ids.len() - 1].to_vec();
    assert_eq!(window(&chunks[0])[222..], window(&chunks[1])[..32]);
    assert!(chunks.iter().all(|chunk| chunk.ids[0] == 101 && chunk.ids.last() == Some(&102)));
}

#[test]
fn a_batch_of_mixed_lengths_gives_the_vectors_of_single_chunks() {
    let mut model = model();
    let golden = golden();
    let batch: Vec<Chunk> = golden
        .iter()
        .take(12)
        .map(|golden| Chunk { ids: golden.ids.clone(), words: Vec::new() })
        .collect();
    let together = vectors(&mut model, &batch);
    for (chunk, together) in batch.iter().zip(together) {
        let alone = vectors(&mut model, std::slice::from_ref(chunk));
        let difference = alone[0]
            .as_slice()
            .iter()
            .zip(together.as_slice())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(difference < 1e-5, "{difference}");
    }
}

#[test]
fn the_error_names_a_truncated_changed_or_missing_file() {
    let (_folder, config) = linked_folder();
    let load_error = || load(&config).err().expect("they are refused");
    for artifact in standard(config.clone()).artifacts() {
        let path = path_of(&config.models, artifact);
        let whole = fs::read(&path).expect("the file exists");
        let mut changed = whole.clone();
        changed[1000] ^= 1;
        for (bytes, expected_reason) in [(&whole[..1000], "1000 bytes"), (&changed[..], "SHA-256")]
        {
            fs::remove_file(&path).expect("the file is removed");
            fs::write(&path, bytes).expect("the file is written");
            let message = load_error().to_string();
            let says = |part: &str| message.contains(part);
            assert!(says(artifact.name) && says(expected_reason), "{message}");
        }
        fs::remove_file(&path).expect("the file is removed");
        let is_named = |path: &Path| path.ends_with(artifact.name);
        assert!(matches!(load_error(), LoadError::Missing(path) if is_named(&path)));
        fs::write(&path, whole).expect("the file is written");
    }
    load(&config).expect("the model loads again");
}

#[cfg(unix)]
#[test]
fn the_models_folder_may_be_a_symbolic_link_but_the_weights_may_not() {
    let (folder, config) = linked_folder();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&config.models, &link).expect("the file is linked");
    let linked = ModelConfig { models: link, ort_lib: None };
    load(&linked).expect("the model loads through the link");

    let weights = path_of(&config.models, &WEIGHTS);
    fs::rename(&weights, folder.path().join("elsewhere")).expect("the file is moved");
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &weights)
        .expect("the file is linked");
    let message = load(&linked).err().expect("the model is refused").to_string();
    assert!(message.contains("link"), "{message}");
}

#[test]
fn the_runtime_that_the_user_names_must_exist() {
    switch_off_telemetry_once();
    let config = ModelConfig { ort_lib: Some("/nowhere/libonnxruntime.so".into()), ..config() };
    let error = load(&config).err().expect("the model is refused");
    assert!(error.hint().contains("LOCI_ORT_LIB"), "{error}");
}

#[tokio::test]
async fn the_embedder_loads_a_model_that_is_installed_later() {
    let (_folder, config) = linked_folder();
    let (weights, aside) = (path_of(&config.models, &WEIGHTS), config.models.join("aside"));
    fs::rename(&weights, &aside).expect("the file is moved");
    let embedder = Embedder::start(config.clone());
    assert_eq!(
        embedder.wait_until_loaded().await,
        ModelState::Missing { hint: "run `loci model download`".to_owned() }
    );
    let refused = embedder.query("cats".to_owned()).await.expect_err("there is no model");
    assert!(
        matches!(refused, EmbedError::Unavailable { hint } if hint.contains("loci model download"))
    );

    // The interval since the start is too short, so this does nothing.
    embedder.reload_if_due().await;
    fs::rename(&aside, &weights).expect("the file is moved back");
    embedder.expire_reload_interval();
    embedder.reload_if_due().await;
    let encoding = embedder.query("cats".to_owned()).await.expect("the query waits for the load");
    assert!((encoding.vector.cosine(&encoding.vector) - 1.0).abs() < 1e-5);
    assert_eq!(encoding.words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), ["cats"]);
    assert_eq!(embedder.state().as_str(), "ready");

    let long = "The cat sat on the mat, and the dog looked on. ".repeat(60);
    let document = embedder
        .document(long.clone(), Priority::Bulk)
        .await
        .expect("the text is encoded")
        .encoding;
    assert!(document.vectors.len() > 2);
    assert!(document.words.is_some_and(|words| words.len() == MAX_SIGN_CODES));
    assert_eq!(
        embedder.query(long).await.expect("the text is encoded").vector.as_slice().len(),
        384
    );
    embedder.stop();
    assert!(embedder.join_within(std::time::Duration::from_mins(1)));
    assert!(embedder.query("dogs".to_owned()).await.is_err());
    assert_eq!(
        embedder.query("cats".to_owned()).await,
        Ok(encoding),
        "a cached query needs no model"
    );
    embedder.reload();
}

#[tokio::test]
async fn a_wrong_tokenizer_is_reported_as_the_reason_of_the_failure() {
    let (_folder, config) = linked_folder();
    let tokenizer = path_of(&config.models, &TOKENIZER);
    fs::remove_file(&tokenizer).expect("the file is removed");
    fs::write(&tokenizer, "{}").expect("the file is written");
    let embedder = Embedder::start(config);
    let ModelState::Failed { reason, hint } = embedder.wait_until_loaded().await else {
        panic!("{:?}", embedder.state())
    };
    assert!(
        reason.contains("tokenizer.json") && hint.contains("loci model download"),
        "{reason}; {hint}"
    );
}

/// An embedder that encodes its first batch, of text 0, and waits for the test to decide the outcome.
struct BusyEmbedder {
    embedder: Embedder,
    /// Receives the further batches.
    batches: Receiver<Vec<u32>>,
    /// Decides the outcomes, beginning with the first batch.
    outcomes: Sender<BatchOutcome>,
    /// The call that submitted text 0.
    first: JoinHandle<Result<ModelEncoding, EmbedError>>,
}

async fn start_busy() -> BusyEmbedder {
    let (source, Stepper { batches, outcomes }) = SteppedSource::new();
    let embedder = Embedder::with_source(source);
    embedder.wait_until_loaded().await;
    let first = spawn_document(&embedder, "0", Priority::Bulk).await;
    assert_eq!(batches.recv(), Ok(vec![0]));
    BusyEmbedder { embedder, batches, outcomes, first }
}

/// Submits a document in a task of its own; returns when it is queued or refused.
async fn spawn_document(
    embedder: &Embedder,
    text: &str,
    priority: Priority,
) -> JoinHandle<Result<ModelEncoding, EmbedError>> {
    let (pending_before, task_embedder, text) =
        (embedder.pending(), embedder.clone(), text.to_owned());
    let task = tokio::spawn(async move { task_embedder.document(text, priority).await });
    while embedder.pending() == pending_before && !task.is_finished() {
        tokio::task::yield_now().await;
    }
    task
}

/// Submits a query in a task of its own; returns when it is queued.
async fn spawn_query(
    embedder: &Embedder,
    text: &str,
) -> JoinHandle<Result<QueryEncoding, EmbedError>> {
    let (pending_before, task_embedder, text) =
        (embedder.pending(), embedder.clone(), text.to_owned());
    let task = tokio::spawn(async move { task_embedder.query(text).await });
    while embedder.pending() == pending_before {
        tokio::task::yield_now().await;
    }
    task
}

#[tokio::test]
async fn a_query_waits_for_one_batch_at_most_and_stores_precede_bulk_texts() {
    let BusyEmbedder { embedder, batches, outcomes, first } = start_busy().await;
    let bulk = spawn_document(&embedder, "1\n2\n3", Priority::Bulk).await;
    let store = spawn_document(&embedder, "4\n5", Priority::Interactive).await;
    let query = spawn_query(&embedder, "6\n7").await;
    assert_eq!(embedder.pending(), 4);
    let mut order = Vec::new();
    for _ in 0..3 {
        outcomes.send(BatchOutcome::Succeed).expect("the encoder waits for an outcome");
        order.extend(batches.recv().expect("a batch is encoded"));
    }
    // A second query in the middle of the store is encoded next.
    let late = spawn_query(&embedder, "8").await;
    drop(outcomes);
    order.extend(batches.iter().take(4).flatten());
    assert_eq!(order, [6, 4, 5, 8, 1, 2, 3]);
    assert_eq!(
        bulk.await.expect("the task ends").expect("the text is encoded").encoding.vectors.len(),
        3
    );
    assert_eq!(
        store.await.expect("the task ends").expect("the text is encoded").encoding.vectors.len(),
        2
    );
    assert!(
        query.await.expect("the task ends").is_ok()
            && late.await.expect("the task ends").is_ok()
            && first.await.expect("the task ends").is_ok()
    );
    assert_eq!(embedder.pending(), 0);
}

#[tokio::test]
async fn a_full_queue_is_busy_and_abandoned_texts_are_not_encoded() {
    let BusyEmbedder { embedder, batches, outcomes, first: _first } = start_busy().await;
    let mut tasks = Vec::new();
    for text in 1..=QUEUE_LENGTH {
        tasks.push(spawn_document(&embedder, &text.to_string(), Priority::Bulk).await);
    }
    assert_eq!(embedder.document("9".to_owned(), Priority::Bulk).await, Err(EmbedError::Busy));
    let _last = tasks.pop();
    for task in tasks {
        task.abort();
        assert!(task.await.is_err_and(|e| e.is_cancelled()));
    }
    drop(outcomes);
    assert_eq!(batches.recv().map(|batch| batch[0] as usize), Ok(QUEUE_LENGTH));
}

#[tokio::test]
async fn an_invalid_vector_fails_its_text_and_three_failures_in_a_row_fail_the_model() {
    let BusyEmbedder { embedder, batches: _batches, outcomes, first } = start_busy().await;
    outcomes.send(BatchOutcome::ReturnNan).expect("the encoder waits for an outcome");
    assert_eq!(
        first.await.expect("the task ends"),
        Err(EmbedError::InvalidVector(EmbeddingError::NotFinite))
    );
    assert_eq!(
        embedder.document("seven".to_owned(), Priority::Bulk).await,
        Err(EmbedError::Failed("not a number".to_owned()))
    );
    for outcome in [BatchOutcome::Fail, BatchOutcome::Panic, BatchOutcome::Fail] {
        assert_eq!(embedder.state().as_str(), "ready");
        outcomes.send(outcome).expect("the encoder waits for an outcome");
        let refused = embedder.query("1".to_owned()).await.expect_err("the batch fails");
        assert!(matches!(refused, EmbedError::Failed(_)), "{refused}");
    }
    while embedder.state().as_str() == "ready" {
        tokio::task::yield_now().await;
    }
    assert_eq!(embedder.state().as_str(), "failed");
    assert!(matches!(embedder.query("1".to_owned()).await, Err(EmbedError::Unavailable { .. })));

    embedder.reload();
    while embedder.state().as_str() == "failed" {
        tokio::task::yield_now().await;
    }
    drop(outcomes);
    embedder.query("1".to_owned()).await.expect("the reloaded model encodes");
}

#[tokio::test]
async fn callers_of_a_model_that_makes_no_progress_wait_a_short_time_and_only_once() {
    let BusyEmbedder { embedder, batches: _batches, outcomes, first } = start_busy().await;
    let late = embedder.query("1".to_owned()).await.expect_err("no batch ends");
    assert!(late.to_string().contains("the embedding model did not answer in time"), "{late}");
    assert!(embedder.is_late());
    let started = std::time::Instant::now();
    for _ in 0..=QUEUE_LENGTH.min(5) {
        assert!(embedder.query("2".to_owned()).await.is_err());
    }
    let document = embedder.document("3".to_owned(), Priority::Interactive).await;
    assert!(matches!(document, Err(EmbedError::Unavailable { .. })), "{document:?}");
    assert!(started.elapsed().as_millis() < 1900, "{:?}", started.elapsed());
    drop(outcomes);
    assert!(first.await.expect("the task ends").is_ok(), "background work waits longer");
    // The thread records its progress just after it has answered.
    while embedder.is_late() {
        tokio::task::yield_now().await;
    }
    embedder.query("1".to_owned()).await.expect("the query is encoded");
}

#[tokio::test]
async fn stopping_answers_all_waiting_callers() {
    let BusyEmbedder { embedder, batches: _batches, outcomes, first } = start_busy().await;
    let bulk = spawn_document(&embedder, "1", Priority::Bulk).await;
    embedder.stop();
    outcomes.send(BatchOutcome::Succeed).expect("the encoder waits for an outcome");
    assert!(embedder.join_within(std::time::Duration::from_mins(1)));
    assert!(first.await.expect("the task ends").is_ok());
    assert!(matches!(bulk.await.expect("the task ends"), Err(EmbedError::Unavailable { .. })));
    embedder.expire_reload_interval();
    embedder.reload_if_due().await;
}
