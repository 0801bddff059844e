//! Search as a caller sees it: compared with the reference, in several projects, with and without
//! sign codes.
//!
//! Not here: large stores (`coarse_to_fine`), other languages (`languages`), dates (`dates`).

use crate::index::OrderKey;
use crate::model::encoding::{
    DIMENSIONS, DocumentEncoding, Embedding, QueryEncoding, QueryWord, SIGN_CODE_BYTES, SignCode,
};
use crate::ranking::bm25::{CorpusStats, FTS5_PARAMS, Posting};
use crate::ranking::fusion::Fusion;
use crate::search::types::NEIGHBOUR_CUTOFF;
use crate::tests::fixture::{
    TestStore, axis, between_axes, by_test_model, code, document_encoding, id, query_encoding,
};
use crate::{Settings, db::lexical};
use serde::Deserialize;
use serde_json::{Value, json};

/// Results of the numpy reference for sixteen texts in three orders: in order, shuffled, and nearly
/// in order. Its vectors are quantised as in the index, so that the test compares the formulas;
/// `index::quantized` tests the error of quantisation.
#[derive(Deserialize)]
struct Reference {
    texts: Vec<String>,
    vectors: Vec<Vec<f32>>,
    codes: Vec<Vec<String>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    slots: Vec<usize>,
    #[serde(rename = "link")]
    coherence: f64,
    questions: Vec<ReferenceQuery>,
}

#[derive(Deserialize)]
struct ReferenceQuery {
    text: String,
    vector: Vec<f32>,
    words: Vec<(String, String)>,
    scores: Vec<f64>,
}

fn from_hex(hex: &str) -> SignCode {
    let mut bytes = [0; SIGN_CODE_BYTES];
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("the code is hexadecimal");
    }
    SignCode::from_bytes(&bytes)
}

/// Pads a short vector with zeros.
fn padded(numbers: &[f32]) -> Embedding {
    Embedding::new(numbers.iter().copied().chain(std::iter::repeat(0.0)).take(DIMENSIONS).collect())
        .expect("the vector is not zero")
}

pub(super) fn episode(text: &str) -> Value {
    json!({"content": text, "type": "episodic"})
}

/// Returns the contents and scores of the results.
pub(super) fn scores(
    store: &TestStore,
    group: &str,
    query: &str,
    encoding: &QueryEncoding,
) -> Vec<(String, f64)> {
    let request = json!({"query": query, "max_results": 20, "token_budget": 1_000_000});
    let results = store.recall_encoded(group, request, Some(encoding)).reply.results;
    results
        .into_iter()
        .map(|result| (result.content.unwrap_or_default(), result.score.unwrap_or_default()))
        .collect()
}

/// As [`scores`] for project `a`, without recency, which the reference does not have.
fn scores_without_recency(
    store: &TestStore,
    query: &str,
    encoding: &QueryEncoding,
) -> Vec<(String, f64)> {
    let request =
        json!({"query": query, "max_results": 20, "token_budget": 1_000_000, "explain": true});
    let without_recency = |result: loci_proto::requests::recall::RecalledMemory| {
        let parts = result.why.map(|why| why.parts).unwrap_or_default();
        let other_parts = parts.iter().filter(|part| part.step != "recency");
        (result.content.unwrap_or_default(), other_parts.map(|part| part.adds).sum())
    };
    let mut scores: Vec<(String, f64)> = store
        .recall_encoded("a", request, Some(encoding))
        .reply
        .results
        .into_iter()
        .map(without_recency)
        .collect();
    scores.sort_by(|a, b| b.1.total_cmp(&a.1));
    scores
}

fn encoding_of(question: &ReferenceQuery) -> QueryEncoding {
    let word = |(text, hex): &(String, String)| QueryWord {
        text: text.clone(),
        code: from_hex(hex),
        legibility: 1.0,
    };
    QueryEncoding {
        model: "test".into(),
        vector: padded(&question.vector),
        words: question.words.iter().map(word).collect(),
        has_sign_codes: true,
    }
}

#[test]
fn every_score_equals_that_of_the_reference() {
    let reference: Reference = serde_json::from_str(include_str!("../../../tests/data/soft.json"))
        .expect("the file is a reference");
    for case in &reference.cases {
        let mut store = TestStore::new();
        for slot in &case.slots {
            let words = reference.codes[*slot].iter().map(|hex| from_hex(hex)).collect();
            let encoding = DocumentEncoding {
                vectors: vec![padded(&reference.vectors[*slot])],
                words: Some(words),
            };
            store.store_encoded("a", episode(&reference.texts[*slot]), &encoding);
        }
        let order = OrderKey { group: 0, mask: 0 };
        let coherence = store.writer.shared.index().coherence(order, (0..case.slots.len()).rev());
        assert!((coherence - case.coherence).abs() < 1e-5, "{coherence}, not {}", case.coherence);
        // The reference knows no word with one wrong letter ("learn" is not found by "learnt"), and
        // no time that counts as much as its words.
        let differs = |text: &str| text.contains(" learn,") || text.contains(" May");
        for question in case.questions.iter().filter(|question| !differs(&question.text)) {
            let found = scores_without_recency(&store, &question.text, &encoding_of(question));
            let mut expected: Vec<(&str, f64)> = case
                .slots
                .iter()
                .map(|slot| reference.texts[*slot].as_str())
                .zip(question.scores.iter().copied())
                .collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1));
            // Memories that neither match nor have a good neighbour are not returned.
            let is_returned = |text: &str| found.iter().any(|(content, _)| content == text);
            let best = expected[0].1;
            assert!(
                expected
                    .iter()
                    .all(|(text, score)| is_returned(text) || *score < NEIGHBOUR_CUTOFF * best),
                "{}",
                question.text
            );
            expected.retain(|(text, _)| is_returned(text));
            let order: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
            assert_eq!(
                order,
                expected.iter().map(|(text, _)| *text).collect::<Vec<_>>(),
                "{}",
                question.text
            );
            for (text, score) in &found {
                let (_, expected) = expected
                    .iter()
                    .find(|(content, _)| content == text)
                    .expect("the text is in the reference");
                assert!(
                    (score - expected).abs() < 1e-4,
                    "{}: {score}, not {expected}: {text}",
                    question.text
                );
            }
        }
    }
}

/// Stores four texts in the project `small`.
fn store_small_project(store: &mut TestStore) {
    for (number, text) in
        ["the kettle whistles", "Olek: who fed the cat?", "Marta: I fed it", "the boiler hums"]
            .iter()
            .enumerate()
    {
        store.store_encoded(
            "small",
            episode(text),
            &document_encoding(text, between_axes(0, number + 1, 0.7)),
        );
    }
}

#[test]
fn no_text_of_another_project_changes_a_score() {
    let (mut alone, mut with_others) = (TestStore::new(), TestStore::new());
    store_small_project(&mut alone);
    for round in 0..40 {
        let text = format!("Marta: the kettle of the cat number {round}?");
        with_others.store_encoded(
            "large",
            episode(&text),
            &document_encoding(&text, between_axes(0, 20 + round, 0.9)),
        );
        if round == 20 {
            store_small_project(&mut with_others);
        }
    }
    for query in ["kettle", "Marta fed the cat", "boiler in May"] {
        let encoding = query_encoding(query, between_axes(0, 9, 0.8));
        let expected = scores(&alone, "small", query, &encoding);
        assert!(!expected.is_empty());
        assert_eq!(scores(&with_others, "small", query, &encoding), expected, "{query}");
    }
}

#[test]
fn one_memory_without_token_codes_switches_the_whole_ranking_to_weighted() {
    let mut store = TestStore::new();
    let mut weighted = TestStore::with(Settings {
        fusion: Fusion::Weighted { vector_weight: 0.5 },
        ..Settings::for_model("test")
    });
    store_small_project(&mut store);
    store_small_project(&mut weighted);
    let question = query_encoding("kettle", between_axes(0, 1, 0.6));
    let soft_scores = scores(&store, "small", "kettle", &question);
    assert_ne!(soft_scores, scores(&weighted, "small", "kettle", &question));
    for each in [&mut store, &mut weighted] {
        each.store("small", episode("the oven ticks"), Some(&between_axes(0, 7, 0.7)));
    }
    assert_eq!(
        scores(&store, "small", "kettle", &question),
        scores(&weighted, "small", "kettle", &question)
    );
    let waiting = store.reader.without_vector(9).expect("the memories are listed");
    assert_eq!(
        waiting.iter().map(|(_, document)| document.content.as_str()).collect::<Vec<_>>(),
        ["the oven ticks"]
    );
    store.fill(waiting[0].0, document_encoding("the oven ticks", between_axes(0, 7, 0.7)));
    assert!(store.reader.without_vector(9).expect("the memories are listed").is_empty());
    let soft_scores = scores(&store, "small", "kettle", &question);
    assert_ne!(soft_scores, scores(&weighted, "small", "kettle", &question));
    assert_eq!(
        scores(&store.reopened(), "small", "kettle", &question),
        soft_scores,
        "sign codes are loaded at a restart"
    );
}

#[test]
fn a_word_of_the_same_meaning_matches_without_occurring() {
    let mut store = TestStore::new();
    for (number, text) in
        ["an automobile stood there", "a tulip stood there", "a tower stood there"]
            .iter()
            .enumerate()
    {
        let mut encoding = document_encoding(text, between_axes(0, number + 1, 0.5));
        if number == 0 {
            encoding.words.as_mut().expect("the words are encoded").push(code("car"));
        }
        store.store_encoded("a", episode(text), &encoding);
    }
    assert_eq!(
        scores(&store, "a", "car", &query_encoding("car", between_axes(0, 9, 0.6)))[0].0,
        "an automobile stood there"
    );
}

#[test]
fn an_edited_memory_is_found_by_its_new_text() {
    let mut store = TestStore::new();
    let stored = store.store_encoded(
        "a",
        episode("the kettle whistles"),
        &document_encoding("the kettle whistles", axis(1)),
    );
    let request = crate::tests::fixture::parse(
        json!({"memory_id": id(&stored), "content": "the boiler hums"}),
    );
    store
        .writer
        .edit(
            &store.call("a", None),
            &request,
            &by_test_model(document_encoding("the boiler hums", axis(2))),
        )
        .expect("the memory is edited");
    assert_eq!(scores(&store, "a", "boiler", &query_encoding("boiler", axis(3))).len(), 1);
    assert!(scores(&store, "a", "kettle", &query_encoding("kettle", axis(3))).is_empty());
    store.undo_last().expect("the last act is undone");
    assert_eq!(
        store.reader.without_vector(9).expect("the memories are listed").len(),
        1,
        "the encoding of the edited text is removed"
    );
    assert_eq!(scores(&store, "a", "kettle", &query_encoding("kettle", axis(3))).len(), 1);
}

#[test]
fn bm25_of_the_warm_index_equals_that_of_fts5() {
    let mut store = TestStore::new();
    let texts = [
        "The ships shipped a ship; shipping ships is the shipper's shipment",
        "Naïve cafés in Łódź, and C++ users' e-mails",
        "Deployment of the billing service failed: port 8443",
        "billing",
        "Billing services were deployed, and the deploying deployment was billed twice for the services",
    ];
    for text in texts {
        store.store("a", episode(text), None);
    }
    let index = store.writer.shared.index();
    let corpus = |mean_length| CorpusStats { count: texts.len(), mean_length };
    let mean =
        (0..index.slot_count()).map(|slot| f64::from(index.words().length(slot))).sum::<f64>()
            / texts.len() as f64;
    for word in [
        "ship", "shipping", "naive", "Łódź", "deployed", "billing", "the", "8443", "service",
        "nowhere", "c",
    ] {
        let list = index
            .words()
            .list(&index.words().terms_of(word)[..1])
            .map(std::borrow::Cow::into_owned)
            .unwrap_or_default();
        let posting = |(slot, term_freq): (usize, u32)| Posting {
            at: slot,
            term_freq,
            length: index.words().length(slot),
        };
        let postings: Vec<Posting> = list.iter().map(posting).collect();
        let (ours, _) = FTS5_PARAMS.scores(&[postings], corpus(mean));
        let mut theirs = vec![0.0; index.slot_count()];
        for (seq, score) in lexical::search(&store.writer.conn, word).expect("FTS5 is searched") {
            theirs[index.slot(seq).expect("the memory has a slot")] = score;
        }
        let max_difference =
            ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(max_difference < 1e-9, "{word}: {ours:?}, not {theirs:?}");
    }
}
