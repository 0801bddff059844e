//! The real model against its golden vectors and codes, and the thread against an encoder that obeys.

use crate::embedding::chunk::{Piece, Use};
use crate::embedding::model_files::{LoadError, path_of};
use crate::embedding::onnx::{Model, PUBLISHED_SIMILARITIES, Run};
use crate::embedding::pinned_files::{TOKENIZER, WEIGHTS};
use crate::embedding::test_encoder::{Obedient, Word, config, model, quiet};
use crate::embedding::*;
use loci_engine::model::encoding::{Embedding, MAX_SIGN_CODES, SIGN_CODE_BYTES, SignCode};
use loci_proto::limits::QUEUE_LENGTH;
use serde::Deserialize;
use std::fs;
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender};

#[derive(Deserialize)]
struct Golden {
    text: String,
    ids: Vec<u32>,
    vector: Vec<f32>,
}

fn golden() -> Vec<Golden> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/golden.json");
    serde_json::from_slice(&fs::read(path).expect("is there")).expect("is golden")
}

fn runs(model: &mut Model, batch: &[Piece]) -> Vec<Run> {
    model.run(&batch.iter().collect::<Vec<_>>()).expect("runs")
}

fn vectors(model: &mut Model, batch: &[Piece]) -> Vec<Embedding> {
    runs(model, batch)
        .into_iter()
        .map(|run| Embedding::new(run.vector).expect("is an embedding"))
        .collect()
}

/// A text with its content words and their codes, in hexadecimal.
#[derive(Deserialize)]
struct GoldenCodes {
    text: String,
    words: Vec<(String, String)>,
}

fn code(hex: &str) -> SignCode {
    let mut bytes = [0; SIGN_CODE_BYTES];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("is hexadecimal");
    }
    SignCode::from_bytes(&bytes)
}

/// Signs that may differ: of states so near to zero that another processor rounds them to the other side.
const ROUNDED: u32 = 4;

#[test]
fn golden_codes_of_words_alone_and_beside_a_longer_text() {
    let mut model = model();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/codes.json");
    let golden: Vec<GoldenCodes> =
        serde_json::from_slice(&fs::read(path).expect("is there")).expect("is golden");
    let long =
        model.pieces.of(&"an elephant ".repeat(60), Use::Document).expect("tokenizes").remove(0);
    for GoldenCodes { text, words } in golden {
        let piece = model.pieces.of(&text, Use::Document).expect("tokenizes").remove(0);
        let found: Vec<&str> = piece.words.iter().map(|word| word.text.as_str()).collect();
        assert_eq!(
            found,
            words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(),
            "{text}"
        );
        let alone = runs(&mut model, std::slice::from_ref(&piece)).remove(0);
        let beside = runs(&mut model, &[long.clone(), piece]).remove(1);
        for run in [alone, beside] {
            let far = run
                .codes
                .iter()
                .zip(&words)
                .map(|(found, (_, hex))| found.distance(&code(hex)))
                .max();
            assert!(run.codes.len() == words.len() && far <= Some(ROUNDED), "{far:?}: {text}");
        }
    }
}

#[test]
fn a_long_text_keeps_the_most_telling_words_each_read_once() {
    let model = model();
    let text = format!(
        "{} xylograph {}",
        "the cat sat and the dog ran ".repeat(90),
        "bird fish tree stone river cloud ".repeat(40)
    );
    let pieces = model.pieces.of(&text, Use::Document).expect("tokenizes");
    let words: Vec<&str> =
        pieces.iter().flat_map(|piece| &piece.words).map(|word| word.text.as_str()).collect();
    assert_eq!((pieces.len() > 2, words.len()), (true, MAX_SIGN_CODES));
    for word in ["cat", "sat", "dog", "ran", "xylograph", "bird", "cloud"] {
        assert!(words.contains(&word), "{word}");
    }
    for piece in &pieces {
        for word in &piece.words {
            assert!(word.tokens.end < piece.ids.len() && !word.tokens.is_empty(), "{word:?}");
        }
    }
    let query = model.pieces.of(&text, Use::Query).expect("tokenizes");
    assert!(query[0].words.len() > MAX_SIGN_CODES, "a question keeps its words");
}

#[test]
fn date_and_speaker_are_words_of_a_question_alone() {
    let model = model();
    let text = "[2023-05-08] Anna Kowalska: I was in Łódź's café";
    let words = |used| {
        model.pieces.of(text, used).expect("tokenizes")[0]
            .words
            .iter()
            .map(|word| word.text.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(words(Use::Document), ["łódź", "café"]);
    assert_eq!(words(Use::Query), ["2023", "05", "08", "anna", "kowalska", "łódź", "café"]);
}

#[test]
fn fifty_golden_vectors_and_their_tokens() {
    let mut model = model();
    let golden = golden();
    assert_eq!(golden.len(), 50);
    for Golden { text, ids, vector } in golden {
        let pieces = model.pieces.of(&text, Use::Document).expect("tokenizes");
        // The longest of them was cut at 256 tokens.
        assert_eq!(pieces[0].ids, ids, "{text}");
        assert_eq!(pieces.len() > 1, text.len() > 7000);
        let expected = Embedding::new(vector).expect("is an embedding");
        let cosine = vectors(&mut model, &pieces[..1])[0].cosine(&expected);
        assert!(cosine >= 0.99999, "{cosine}: {text}");
    }
}

#[test]
fn the_published_similarities_to_four_decimals() {
    let found = model().published_similarities().expect("runs");
    let rounded = found.map(|similarity| format!("{similarity:.4}"));
    assert_eq!(rounded, PUBLISHED_SIMILARITIES.map(|similarity| format!("{similarity:.4}")));
}

#[test]
fn a_long_text_is_cut_into_overlapping_windows() {
    let model = model();
    let words = |count: usize| "cat dog ".repeat(count / 2);
    let lengths = |count: usize| {
        let pieces = model.pieces.of(&words(count), Use::Document).expect("tokenizes");
        pieces.iter().map(|piece| piece.ids.len()).collect::<Vec<_>>()
    };
    assert_eq!(lengths(254), [256]);
    assert_eq!(lengths(256), [256, 36]);
    // Windows begin every 222 tokens: at 0, 222 and 444 of 600.
    assert_eq!(lengths(600), [256, 256, 158]);

    let irregular: Vec<&str> =
        (0..400).map(|i| ["red", "oak", "sun", "map"][(i * i / 3) % 4]).collect();
    let pieces = model.pieces.of(&irregular.join(" "), Use::Document).expect("tokenizes");
    let own = |piece: &Piece| piece.ids[1..piece.ids.len() - 1].to_vec();
    assert_eq!(own(&pieces[0])[222..], own(&pieces[1])[..32]);
    assert!(pieces.iter().all(|piece| piece.ids[0] == 101 && piece.ids.last() == Some(&102)));
}

#[test]
fn a_batch_of_mixed_lengths_gives_what_single_runs_give() {
    let mut model = model();
    let golden = golden();
    let batch: Vec<Piece> = golden
        .iter()
        .take(12)
        .map(|golden| Piece { ids: golden.ids.clone(), words: Vec::new() })
        .collect();
    let together = vectors(&mut model, &batch);
    for (piece, together) in batch.iter().zip(together) {
        let alone = vectors(&mut model, std::slice::from_ref(piece));
        let far = alone[0]
            .as_slice()
            .iter()
            .zip(together.as_slice())
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f32::max);
        assert!(far < 1e-5, "{far}");
    }
}

/// A models folder of its own whose files are hard links to the real ones.
fn linked_folder() -> (tempfile::TempDir, ModelConfig) {
    let real = config();
    let folder =
        tempfile::tempdir_in(real.models.parent().expect("has a parent")).expect("makes a folder");
    let models = folder.path().join("models");
    for artifact in real.artifacts() {
        let path = path_of(&models, artifact);
        fs::create_dir_all(path.parent().expect("has a parent")).expect("makes a folder");
        fs::hard_link(path_of(&real.models, artifact), path).expect("links");
    }
    (folder, ModelConfig { models, ort_lib: None })
}

#[test]
fn a_file_that_is_cut_short_or_changed_or_gone_is_named() {
    let (_folder, config) = linked_folder();
    let fault = |config: &ModelConfig| Model::load(config, 1).err().expect("is refused");
    for artifact in config.artifacts() {
        let path = path_of(&config.models, artifact);
        let whole = fs::read(&path).expect("is there");
        let mut changed = whole.clone();
        changed[1000] ^= 1;
        for (bytes, why) in [(&whole[..1000], "1000 bytes"), (&changed[..], "SHA-256")] {
            fs::remove_file(&path).expect("unlinks");
            fs::write(&path, bytes).expect("writes");
            let said = fault(&config).to_string();
            assert!(said.contains(artifact.name) && said.contains(why), "{said}");
        }
        fs::remove_file(&path).expect("removes");
        assert!(
            matches!(fault(&config), LoadError::Missing(named) if named.ends_with(artifact.name))
        );
        fs::write(&path, whole).expect("writes");
    }
    Model::load(&config, 1).expect("is whole again");
}

#[cfg(unix)]
#[test]
fn the_models_folder_may_be_a_link_but_the_weights_may_not() {
    let (folder, config) = linked_folder();
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(&config.models, &link).expect("links");
    let through = ModelConfig { models: link, ort_lib: None };
    Model::load(&through, 1).expect("loads through the link");

    let weights = path_of(&config.models, &WEIGHTS);
    fs::rename(&weights, folder.path().join("elsewhere")).expect("moves");
    std::os::unix::fs::symlink(folder.path().join("elsewhere"), &weights).expect("links");
    let said = Model::load(&through, 1).err().expect("is refused").to_string();
    assert!(said.contains("link"), "{said}");
}

#[test]
fn a_runtime_of_ones_own_must_exist() {
    quiet();
    let config = ModelConfig { ort_lib: Some("/nowhere/libonnxruntime.so".into()), ..config() };
    let fault = Model::load(&config, 1).err().expect("is refused");
    assert!(fault.hint().contains("LOCI_ORT_LIB"), "{fault}");
}

#[tokio::test]
async fn the_embedder_finds_a_model_that_comes_later() {
    let (_folder, config) = linked_folder();
    let (weights, aside) = (path_of(&config.models, &WEIGHTS), config.models.join("aside"));
    fs::rename(&weights, &aside).expect("moves");
    let embedder = Embedder::start(config.clone());
    assert_eq!(
        embedder.settled().await,
        State::Missing { hint: "run `loci model download`".to_owned() }
    );
    let refused = embedder.query("cats".to_owned()).await.expect_err("is out");
    assert!(
        matches!(refused, EmbedError::Unavailable { hint } if hint.contains("loci model download"))
    );

    // Too soon after the start, so nothing happens.
    embedder.look_again_if_due().await;
    fs::rename(&aside, &weights).expect("moves back");
    *embedder.0.looked.lock().expect("is whole") -= LOOK_EVERY;
    embedder.look_again_if_due().await;
    let asked = embedder.query("cats".to_owned()).await.expect("waits for the load");
    assert!((asked.vector.cosine(&asked.vector) - 1.0).abs() < 1e-5);
    assert_eq!(asked.words.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(), ["cats"]);
    assert_eq!(embedder.state().as_str(), "ready");

    let long = "The cat sat on the mat, and the dog looked on. ".repeat(60);
    let read = embedder.document(long.clone(), Lane::Bulk).await.expect("embeds");
    assert!(read.pieces.len() > 2 && read.words.is_some_and(|words| words.len() == MAX_SIGN_CODES));
    assert_eq!(embedder.query(long).await.expect("embeds").vector.as_slice().len(), 384);
    embedder.stop();
    embedder.join();
    assert!(embedder.query("dogs".to_owned()).await.is_err());
    assert_eq!(
        embedder.query("cats".to_owned()).await,
        Ok(asked),
        "what was asked before needs no model"
    );
    embedder.look_again();
}

#[tokio::test]
async fn a_wrong_tokenizer_is_a_failure_that_says_so() {
    let (_folder, config) = linked_folder();
    let tokenizer = path_of(&config.models, &TOKENIZER);
    fs::remove_file(&tokenizer).expect("unlinks");
    fs::write(&tokenizer, "{}").expect("writes");
    let embedder = Embedder::start(config);
    let State::Failed { reason, hint } = embedder.settled().await else {
        panic!("{:?}", embedder.state())
    };
    assert!(
        reason.contains("tokenizer.json") && hint.contains("loci model download"),
        "{reason}; {hint}"
    );
}

/// An embedder whose runs wait for words; it stands in the middle of a first run, of text 0.
async fn busy() -> (
    Embedder,
    Receiver<Vec<u32>>,
    Sender<Word>,
    tokio::task::JoinHandle<Result<DocumentEncoding, EmbedError>>,
) {
    let (source, runs, words) = Obedient::new();
    let embedder = Embedder::with_source(source);
    embedder.settled().await;
    let first = spawn(&embedder, "0", Lane::Bulk).await;
    assert_eq!(runs.recv(), Ok(vec![0]));
    (embedder, runs, words, first)
}

/// Submits a document and comes back when it stands in its lane.
async fn spawn(
    embedder: &Embedder,
    text: &str,
    lane: Lane,
) -> tokio::task::JoinHandle<Result<DocumentEncoding, EmbedError>> {
    let (before, of_task, text) = (embedder.waiting(), embedder.clone(), text.to_owned());
    let task = tokio::spawn(async move { of_task.document(text, lane).await });
    while embedder.waiting() == before && !task.is_finished() {
        tokio::task::yield_now().await;
    }
    task
}

async fn spawn_query(
    embedder: &Embedder,
    text: &str,
) -> tokio::task::JoinHandle<Result<QueryEncoding, EmbedError>> {
    let (before, of_task, text) = (embedder.waiting(), embedder.clone(), text.to_owned());
    let task = tokio::spawn(async move { of_task.query(text).await });
    while embedder.waiting() == before {
        tokio::task::yield_now().await;
    }
    task
}

#[tokio::test]
async fn a_query_waits_for_one_run_only_and_stores_go_before_bulk() {
    let (embedder, runs, words, first) = busy().await;
    let bulk = spawn(&embedder, "1\n2\n3", Lane::Bulk).await;
    let store = spawn(&embedder, "4\n5", Lane::Interactive).await;
    let query = spawn_query(&embedder, "6\n7").await;
    assert_eq!(embedder.waiting(), 4);
    let mut order = Vec::new();
    for _ in 0..3 {
        words.send(Word::Work).expect("is heard");
        order.extend(runs.recv().expect("runs"));
    }
    // In the middle of the store, a second query: it is next.
    let late = spawn_query(&embedder, "8").await;
    drop(words);
    order.extend(runs.iter().take(4).flatten());
    assert_eq!(order, [6, 4, 5, 8, 1, 2, 3]);
    assert_eq!(bulk.await.expect("ends").expect("embeds").pieces.len(), 3);
    assert_eq!(store.await.expect("ends").expect("embeds").pieces.len(), 2);
    assert!(
        query.await.expect("ends").is_ok()
            && late.await.expect("ends").is_ok()
            && first.await.expect("ends").is_ok()
    );
    assert_eq!(embedder.waiting(), 0);
}

#[tokio::test]
async fn a_full_lane_says_busy_and_a_caller_that_left_costs_no_run() {
    let (embedder, runs, words, _first) = busy().await;
    let mut tasks = Vec::new();
    for text in 1..=QUEUE_LENGTH {
        tasks.push(spawn(&embedder, &text.to_string(), Lane::Bulk).await);
    }
    assert_eq!(embedder.document("9".to_owned(), Lane::Bulk).await, Err(EmbedError::Busy));
    let _last = tasks.pop();
    for task in tasks {
        task.abort();
        assert!(task.await.is_err_and(|e| e.is_cancelled()));
    }
    drop(words);
    assert_eq!(runs.recv().map(|run| run[0] as usize), Ok(QUEUE_LENGTH));
}

#[tokio::test]
async fn a_flaw_is_the_texts_own_and_three_failures_in_a_row_are_the_models() {
    let (embedder, _runs, words, first) = busy().await;
    words.send(Word::GiveNan).expect("is heard");
    assert_eq!(first.await.expect("ends"), Err(EmbedError::Flawed(EmbeddingError::NotFinite)));
    assert_eq!(
        embedder.document("seven".to_owned(), Lane::Bulk).await,
        Err(EmbedError::Failed("not a number".to_owned()))
    );
    for word in [Word::Fail, Word::Panic, Word::Fail] {
        assert_eq!(embedder.state().as_str(), "ready");
        words.send(word).expect("is heard");
        let refused = embedder.query("1".to_owned()).await.expect_err("fails");
        assert!(matches!(refused, EmbedError::Failed(_)), "{refused}");
    }
    while embedder.state().as_str() == "ready" {
        tokio::task::yield_now().await;
    }
    assert_eq!(embedder.state().as_str(), "failed");
    assert!(matches!(embedder.query("1".to_owned()).await, Err(EmbedError::Unavailable { .. })));

    embedder.look_again();
    while embedder.state().as_str() == "failed" {
        tokio::task::yield_now().await;
    }
    drop(words);
    embedder.query("1".to_owned()).await.expect("works again");
}

#[tokio::test]
async fn stopping_leaves_nobody_waiting() {
    let (embedder, _runs, words, first) = busy().await;
    let bulk = spawn(&embedder, "1", Lane::Bulk).await;
    embedder.stop();
    words.send(Word::Work).expect("is heard");
    embedder.join();
    assert!(first.await.expect("ends").is_ok());
    assert!(matches!(bulk.await.expect("ends"), Err(EmbedError::Unavailable { .. })));
    *embedder.0.looked.lock().expect("is whole") -= LOOK_EVERY;
    embedder.look_again_if_due().await;
}
