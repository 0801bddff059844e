//! Tests of the cross-encoder on tiny models, against a reference.

use super::*;
use crate::embedding::model_files::path_of;
use crate::embedding::onnx_model::TinyCrossEncoder;
use crate::embedding::pinned_files::TOKENIZER;
use crate::embedding::test_encoder::config as runtime;
use std::fs;
use tokenizers::Tokenizer;

fn bert_tokenizer() -> Vec<u8> {
    fs::read(path_of(&runtime().models, &TOKENIZER)).expect("the tokenizer exists")
}

fn config(folder: &Path) -> CrossEncoderConfig {
    CrossEncoderConfig { folder: folder.to_owned(), depth: 20, floor: 0.1 }
}

/// Returns a model whose weights differ from token to token.
fn uneven() -> TinyCrossEncoder {
    let mut model = TinyCrossEncoder::preferring(&[], &bert_tokenizer());
    let weight = |id: usize| ((id * 7919) % 1009) as f32 / 1009.0 - 0.5;
    model.weights.iter_mut().enumerate().for_each(|(id, w)| *w = weight(id));
    model
}

#[test]
fn scores_equal_the_reference_for_short_and_long_texts_in_every_batch() {
    let folder = tempfile::tempdir().expect("a folder is created");
    let (tiny, json) = (uneven(), bert_tokenizer());
    tiny.write(folder.path(), &json);
    let mut model = Model::load(&config(folder.path()), &runtime()).expect("the model loads");
    let mut tokenizer = Tokenizer::from_bytes(&json).expect("the tokenizer is valid");
    tokenizer.with_padding(None).with_truncation(None).expect("no truncation is valid");
    let query = "When is the backup made, and who checks it?";
    let texts: Vec<String> = (0..20)
        .map(|number| match number {
            19 => "red oak sun map cat ".repeat(300),
            _ => format!("Note {number}: the backup runs at two {}", "and again ".repeat(number)),
        })
        .collect();
    let scores = model
        .score(query, &texts, Instant::now() + DEADLINE * 600)
        .expect("the pairs are compared");
    assert_eq!(scores.len(), texts.len());
    let query_tokens = tokenizer.encode(query, false).expect("is tokenized").get_ids().len();
    for (text, score) in texts.iter().zip(scores) {
        let ids = tokenizer.encode(text.as_str(), false).expect("is tokenized").get_ids().to_vec();
        // [CLS] query [SEP] text [SEP]: 512 in all.
        let kept = ids.len().min(512 - 3 - query_tokens);
        let weight = |id: u32| f64::from(tiny.weights[id as usize]);
        let sep = tokenizer.token_to_id("[SEP]").expect("it has one");
        let logit = ids[..kept].iter().map(|id| weight(*id)).sum::<f64>() + weight(sep);
        let expected = 1.0 / (1.0 + (-logit).exp());
        assert!((score - expected).abs() < 1e-5, "{score}, {expected}: {text:.60}");
    }
}

#[test]
fn a_model_that_is_no_cross_encoder_is_refused_with_the_file_and_the_reason() {
    let folder = tempfile::tempdir().expect("a folder is created");
    let refusal =
        || Model::load(&config(folder.path()), &runtime()).err().expect("the model is refused");
    assert!(refusal().contains("tokenizer.json"), "{}", refusal());
    let json = bert_tokenizer();
    fs::write(folder.path().join("tokenizer.json"), &json).expect("is written");
    assert!(refusal().ends_with("model.onnx: the file is missing"), "{}", refusal());
    TinyCrossEncoder { outputs: 3, ..uneven() }.write(folder.path(), &json);
    assert!(refusal().contains("has 3 numbers for each pair"), "{}", refusal());
    crate::embedding::onnx_model::TinyModel::new(1).write(folder.path(), &json);
    assert!(refusal().contains("no output with a number for each pair"), "{}", refusal());
    fs::write(folder.path().join("model.onnx"), "not a graph").expect("is written");
    assert!(refusal().contains("model.onnx: ONNX Runtime"), "{}", refusal());
    let encoder = CrossEncoder::start(config(folder.path()), runtime()).expect("a thread starts");
    while encoder.state() == State::Loading {
        std::thread::yield_now();
    }
    assert!(matches!(encoder.state(), State::Failed(_)));
    assert_eq!(encoder.score("query", &["text"], DEADLINE), None);
}

#[test]
fn a_comparison_that_nobody_waits_for_is_not_made() {
    let folder = tempfile::tempdir().expect("a folder is created");
    uneven().write(folder.path(), &bert_tokenizer());
    let (queue, comparisons) = sync_channel(2);
    let comparison = |deadline| {
        let (scores, answer) = sync_channel(1);
        let (query, texts) = ("q".to_owned(), vec!["t".to_owned()]);
        queue.send(Comparison { query, texts, deadline, scores }).expect("the queue is open");
        answer
    };
    let (late, waiting) = (comparison(Instant::now()), comparison(Instant::now() + DEADLINE * 600));
    drop(queue);
    run(&config(folder.path()), &runtime(), &comparisons, &Mutex::new(State::Loading));
    assert!(late.try_recv().is_err(), "it was not compared");
    assert_eq!(waiting.try_recv().map(|scores| scores.len()), Ok(1));
}

#[tokio::test]
async fn a_recall_waits_for_its_turn_and_its_scores_no_longer_than_a_second_in_all() {
    let folder = tempfile::tempdir().expect("a folder is created");
    TinyCrossEncoder { endless_above: Some(1), ..uneven() }.write(folder.path(), &bert_tokenizer());
    let reranker = Reranker::start(config(folder.path()), runtime()).expect("a thread starts");
    while reranker.encoder.state() == State::Loading {
        tokio::task::yield_now().await;
    }
    let first = reranker.turn().await;
    assert!(first.permit.is_some() && first.left > DEADLINE / 2);
    assert_eq!(first.score("one", &["text"]).map(|scores| scores.len()), Some(1));
    // Others wait, but not with a reader of the store, and the time counts.
    let second = reranker.turn().await;
    assert!(second.permit.is_none());
    assert_eq!(second.score("one", &["text"]), None);
    let started = Instant::now();
    assert_eq!(first.score("two", &["text", "text"]), None, "the graph does not end");
    assert!(started.elapsed() < DEADLINE * 3, "{:?}", started.elapsed());
    // Now it is known to be slow, so nobody waits for a turn.
    let started = Instant::now();
    assert!(reranker.turn().await.permit.is_none());
    assert!(started.elapsed() < DEADLINE / 2);
    drop(first);
    // The endless comparison was ended, so the model can be used again.
    let mut scores = None;
    while scores.is_none() {
        scores = reranker.turn().await.score("one", &["text"]);
    }
    reranker.encoder.stop();
    assert!(reranker.encoder.join_within(DEADLINE * 60), "it has ended");
}
