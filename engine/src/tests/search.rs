//! Search as a caller sees it: compared with the reference, next to other projects, and without
//! token codes.
//!
//! Not here: large stores (`coarse_to_fine`), other languages (`languages`).

use crate::index::OrderKey;
use crate::model::encoding::{
    DIMENSIONS, DocumentEncoding, Embedding, QueryEncoding, SIGN_CODE_BYTES, SignCode,
};
use crate::ranking::bm25::{CorpusStats, FTS5_PARAMS, Posting};
use crate::ranking::fusion::Fusion;
use crate::search::types::NEIGHBOUR_CUTOFF;
use crate::tests::fixture::{TestStore, asked, axis, code, coded, id, leaning};
use crate::{Settings, db::lexical};
use serde::Deserialize;
use serde_json::{Value, json};

/// Results of the reference (numpy) for sixteen texts in three orders: in order, shuffled, and
/// nearly in order. Its vectors are quantised as in the index, so the test compares formulas and
/// not the error of quantisation, which `index::quantized` bounds.
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
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("is hexadecimal");
    }
    SignCode::from_bytes(&bytes)
}

/// Pads a short vector with zeros.
fn padded(few: &[f32]) -> Embedding {
    Embedding::new(few.iter().copied().chain(std::iter::repeat(0.0)).take(DIMENSIONS).collect())
        .expect("has a direction")
}

fn episode(text: &str) -> Value {
    json!({"content": text, "type": "episodic"})
}

fn scores(
    store: &TestStore,
    group: &str,
    query: &str,
    asked: &QueryEncoding,
) -> Vec<(String, f64)> {
    let everything = json!({"query": query, "max_results": 20, "token_budget": 1_000_000});
    let found = store.recall_asked(group, everything, Some(asked)).reply.results;
    found
        .into_iter()
        .map(|result| (result.content.unwrap_or_default(), result.score.unwrap_or_default()))
        .collect()
}

/// The scores without recency, which the reference does not have.
fn scores_without_recency(
    store: &TestStore,
    query: &str,
    asked: &QueryEncoding,
) -> Vec<(String, f64)> {
    let everything =
        json!({"query": query, "max_results": 20, "token_budget": 1_000_000, "explain": true});
    let without_recency = |result: loci_proto::requests::recall::RecalledMemory| {
        let parts = result.why.map(|why| why.parts).unwrap_or_default();
        let known = parts.iter().filter(|part| part.step != "recency");
        (result.content.unwrap_or_default(), known.map(|part| part.adds).sum())
    };
    let mut found: Vec<(String, f64)> = store
        .recall_asked("a", everything, Some(asked))
        .reply
        .results
        .into_iter()
        .map(without_recency)
        .collect();
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}

#[test]
fn every_score_equals_that_of_the_reference() {
    let reference: Reference = serde_json::from_str(include_str!("../../../tests/data/soft.json"))
        .expect("is a reference");
    for case in &reference.cases {
        let mut store = TestStore::new();
        for slot in &case.slots {
            let words = reference.codes[*slot].iter().map(|hex| from_hex(hex)).collect();
            let text = DocumentEncoding {
                pieces: vec![padded(&reference.vectors[*slot])],
                words: Some(words),
            };
            store.store_coded("a", episode(&reference.texts[*slot]), &text);
        }
        let order = OrderKey { group: 0, mask: 0 };
        let coherence = store.writer.shared.index().coherence(order, (0..case.slots.len()).rev());
        assert!((coherence - case.coherence).abs() < 1e-5, "{coherence}, not {}", case.coherence);
        for question in &case.questions {
            let words =
                question.words.iter().map(|(word, hex)| (word.clone(), from_hex(hex))).collect();
            let found = scores_without_recency(
                &store,
                &question.text,
                &QueryEncoding { vector: padded(&question.vector), words },
            );
            let mut expected: Vec<(&str, f64)> = case
                .slots
                .iter()
                .map(|slot| reference.texts[*slot].as_str())
                .zip(question.scores.iter().copied())
                .collect();
            expected.sort_by(|a, b| b.1.total_cmp(&a.1));
            // Memories that neither match nor have a good neighbour are not returned.
            let given = |text: &str| found.iter().any(|(of, _)| of == text);
            let best = expected[0].1;
            assert!(
                expected
                    .iter()
                    .all(|(text, score)| given(text) || *score < NEIGHBOUR_CUTOFF * best),
                "{}",
                question.text
            );
            expected.retain(|(text, _)| given(text));
            let order: Vec<&str> = found.iter().map(|(text, _)| text.as_str()).collect();
            assert_eq!(
                order,
                expected.iter().map(|(text, _)| *text).collect::<Vec<_>>(),
                "{}",
                question.text
            );
            for (text, score) in &found {
                let (_, expected) = expected.iter().find(|(of, _)| of == text).expect("is a text");
                assert!(
                    (score - expected).abs() < 1e-4,
                    "{}: {score}, not {expected}: {text}",
                    question.text
                );
            }
        }
    }
}

/// Stores a few texts in a project.
fn small(store: &mut TestStore) {
    for (number, text) in
        ["the kettle whistles", "Olek: who fed the cat?", "Marta: I fed it", "the boiler hums"]
            .iter()
            .enumerate()
    {
        store.store_coded("small", episode(text), &coded(text, leaning(0, number + 1, 0.7)));
    }
}

#[test]
fn no_text_of_another_project_changes_a_score() {
    let (mut alone, mut beside) = (TestStore::new(), TestStore::new());
    small(&mut alone);
    for round in 0..40 {
        let text = format!("Marta: the kettle of the cat number {round}?");
        beside.store_coded("large", episode(&text), &coded(&text, leaning(0, 20 + round, 0.9)));
        if round == 20 {
            small(&mut beside);
        }
    }
    for query in ["kettle", "Marta fed the cat", "boiler in May"] {
        let asked = asked(query, leaning(0, 9, 0.8));
        let found = scores(&alone, "small", query, &asked);
        assert!(!found.is_empty());
        assert_eq!(scores(&beside, "small", query, &asked), found, "{query}");
    }
}

#[test]
fn one_memory_without_token_codes_switches_the_whole_ranking_to_weighted() {
    let mut store = TestStore::new();
    let mut plain = TestStore::with(Settings {
        fusion: Fusion::Weighted { vector_weight: 0.5 },
        ..Settings::for_model("test")
    });
    small(&mut store);
    small(&mut plain);
    let question = asked("kettle", leaning(0, 1, 0.6));
    let soft = scores(&store, "small", "kettle", &question);
    assert_ne!(soft, scores(&plain, "small", "kettle", &question));
    for of in [&mut store, &mut plain] {
        of.store("small", episode("the oven ticks"), Some(&leaning(0, 7, 0.7)));
    }
    assert_eq!(
        scores(&store, "small", "kettle", &question),
        scores(&plain, "small", "kettle", &question)
    );
    let waiting = store.reader.without_vector(9).expect("lists");
    assert_eq!(
        waiting.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
        ["the oven ticks"]
    );
    store
        .writer
        .fill(waiting[0].0, &coded("the oven ticks", leaning(0, 7, 0.7)))
        .expect("is filled");
    assert!(store.reader.without_vector(9).expect("lists").is_empty());
    let again = scores(&store, "small", "kettle", &question);
    assert_ne!(again, scores(&plain, "small", "kettle", &question));
    assert_eq!(
        scores(&store.reopened(), "small", "kettle", &question),
        again,
        "codes are kept, and the same after a restart"
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
        let mut text_read = coded(text, leaning(0, number + 1, 0.5));
        if number == 0 {
            text_read.words.as_mut().expect("are read").push(code("car"));
        }
        store.store_coded("a", episode(text), &text_read);
    }
    assert_eq!(
        scores(&store, "a", "car", &asked("car", leaning(0, 9, 0.6)))[0].0,
        "an automobile stood there"
    );
}

#[test]
fn an_edited_memory_is_found_by_its_new_text() {
    let mut store = TestStore::new();
    let stored = store.store_coded(
        "a",
        episode("the kettle whistles"),
        &coded("the kettle whistles", axis(1)),
    );
    let request = crate::tests::fixture::parse(
        json!({"memory_id": id(&stored), "content": "the boiler hums"}),
    );
    store
        .writer
        .edit(&store.call("a", None), &request, &coded("the boiler hums", axis(2)))
        .expect("is changed");
    assert_eq!(scores(&store, "a", "boiler", &asked("boiler", axis(3))).len(), 1);
    assert!(scores(&store, "a", "kettle", &asked("kettle", axis(3))).is_empty());
    store.undo_last().expect("is taken back");
    assert_eq!(
        store.reader.without_vector(9).expect("lists").len(),
        1,
        "its codes were those of the other text"
    );
    assert_eq!(scores(&store, "a", "kettle", &asked("kettle", axis(3))).len(), 1);
}

#[test]
fn the_event_date_precedes_the_date_in_the_text_and_that_the_day_of_storing() {
    let best = |query: &str| {
        let mut store = TestStore::new();
        for (number, (text, date)) in [
            ("[2024-03-05] we met", None),
            ("[2024-03-05] we met again", Some("2023-07-01")),
            ("we met once more", None),
        ]
        .iter()
        .enumerate()
        {
            let mut arguments = episode(text);
            if let Some(date) = date {
                arguments["metadata"] = json!({"event_date": date});
            }
            store.store_coded("a", arguments, &coded("met", leaning(0, number + 1, 0.5)));
        }
        scores(&store, "a", query, &asked("met", leaning(0, 9, 0.5)))[0].0.clone()
    };
    assert_eq!(best("whom we met in March 2024"), "[2024-03-05] we met");
    assert_eq!(best("whom we met in July 2023"), "[2024-03-05] we met again");
    assert_eq!(best("whom we met on 1 February 2026"), "we met once more");
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
    let mean = (0..index.len()).map(|slot| f64::from(index.words().length(slot))).sum::<f64>()
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
        let posting = |(at, term_freq): (usize, u32)| Posting {
            at,
            term_freq,
            length: index.words().length(at),
        };
        let postings: Vec<Posting> = list.iter().map(posting).collect();
        let (ours, _) = FTS5_PARAMS.scores(&[postings], corpus(mean));
        let mut theirs = vec![0.0; index.len()];
        for (seq, score) in lexical::search(&store.writer.conn, word).expect("is searched") {
            theirs[index.slot(seq).expect("is known")] = score;
        }
        let far = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 1e-9, "{word}: {ours:?}, not {theirs:?}");
    }
}

/// Four meetings, dated by their text, by `event_date`, by the day of storing, and in the future.
fn meetings() -> TestStore {
    let mut store = TestStore::new();
    let texts =
        ["[2026-01-20] we met", "we met for a walk", "we met at the pier", "we shall have met"];
    for (number, (text, date)) in texts
        .into_iter()
        .zip([None, Some("2026-01-28"), None, Some("2026-02-03T08:00:00Z")])
        .enumerate()
    {
        let mut arguments = episode(text);
        if let Some(date) = date {
            arguments["metadata"] = json!({"event_date": date});
        }
        store.store_coded("a", arguments, &coded("met", leaning(0, number + 1, 0.5)));
    }
    store
}

fn given(store: &TestStore, mut arguments: Value) -> Vec<String> {
    arguments["query"] = json!("met");
    let found =
        store.recall_asked("a", arguments, Some(&asked("met", leaning(0, 9, 0.5)))).reply.results;
    let mut texts: Vec<String> = found.into_iter().filter_map(|result| result.content).collect();
    texts.sort();
    texts
}

#[test]
fn only_memories_within_the_date_filter_are_found() {
    let store = meetings();
    let [past, walk, pier, coming] =
        ["[2026-01-20] we met", "we met for a walk", "we met at the pier", "we shall have met"];
    assert_eq!(
        given(&store, json!({"date_from": "2026-01-28"})),
        [pier, walk, coming],
        "the first day is among them"
    );
    assert_eq!(
        given(&store, json!({"date_to": "2026-01-28T01:00:00+02:00"})),
        [past, walk],
        "and so is the last"
    );
    assert_eq!(given(&store, json!({"date_from": "2026-02-01", "date_to": "2026-02-01"})), [pier]);
    assert!(given(&store, json!({"date_from": "2027-01-01"})).is_empty());
    assert_eq!(given(&store, json!({})).len(), 4);
}

#[test]
fn an_invalid_date_is_rejected_with_its_field() {
    for (arguments, said) in [
        (
            json!({"query": "met", "date_from": "yesterday"}),
            "invalid: date_from must be a date (2026-12-31)",
        ),
        (json!({"query": "met", "date_to": "2026-02-30"}), "invalid: date_to must be a date"),
        (
            json!({"query": "met", "date_from": "2026-02-02", "date_to": "2026-02-01"}),
            "invalid: date_from is after date_to",
        ),
    ] {
        let request = crate::tests::fixture::parse(arguments);
        let refused = crate::operations::recall::prepare(request)
            .expect_err("is refused before the model is asked")
            .to_string();
        assert!(refused.starts_with(said), "{refused}");
    }
}

#[test]
fn a_relative_time_raises_scores_and_hides_nothing() {
    let store = meetings();
    let found = |query: &str| scores(&store, "a", query, &asked("met", leaning(0, 9, 0.5)));
    for (query, best) in [
        ("whom we met last week", "[2026-01-20] we met"),
        ("whom we met last Wednesday", "we met for a walk"),
        ("whom we met two weeks ago", "[2026-01-20] we met"),
        ("whom we met today", "we met at the pier"),
        ("whom we have met in the past 3 days", "we met at the pier"),
        ("whom we met next week", "we shall have met"),
    ] {
        let found = found(query);
        assert_eq!((found[0].0.as_str(), found.len()), (best, 4), "{query}: {found:?}");
    }
}

/// Two notes that say the same of different times, an event between them, and a note that only
/// mentions the event.
const KEPT: [(&str, &str); 4] = [
    ("2025-03-04", "plans for release"),
    ("2025-04-01", "files kept here"),
    ("2025-06-10", "release shipped"),
    ("2025-09-15", "files kept there"),
];

#[test]
fn an_event_or_a_date_with_a_preposition_raises_the_memories_on_that_side() {
    let mut store = TestStore::new();
    for (number, (day, text)) in KEPT.into_iter().enumerate() {
        let arguments =
            json!({"content": text, "type": "episodic", "metadata": {"event_date": day}});
        store.store_coded("a", arguments, &coded(text, leaning(0, number + 1, 0.5)));
    }
    let [here, there] = ["files kept here", "files kept there"];
    let first = |query: &str| {
        let found = scores(&store, "a", query, &asked(&query.replace(',', ""), leaning(0, 9, 0.5)));
        found
            .into_iter()
            .map(|(text, _)| text)
            .find(|text| text.starts_with("files"))
            .expect("both are found")
    };
    for (query, best) in [
        ("files kept before release shipped", here),
        ("before release shipped, files kept", here),
        ("files kept until release shipped", here),
        ("files kept after release shipped", there),
        ("files kept since release shipped", there),
        ("files kept before June 2025", here),
        ("files kept until 2025-06-10", here),
        ("files kept since 1 May 2025", there),
        ("files kept after April 2025", there),
    ] {
        assert_eq!(first(query), best, "{query}");
    }
    // No memory reports the first event, only a rule mentions the second, and the third is a
    // procedure.
    store.store_coded(
        "a",
        episode("before payday send reminders"),
        &coded("before payday send reminders", leaning(0, 5, 0.5)),
    );
    let steps = json!({"content": "invoice steps", "type": "procedural", "metadata": {"steps": ["write", "send"]}});
    store.store_coded("a", steps, &coded("invoice steps", leaning(0, 6, 0.5)));
    for query in [
        "files kept before merger concluded",
        "files kept before payday",
        "files kept before invoice steps",
    ] {
        let explained = json!({"query": query, "explain": true});
        let found = store
            .recall_asked("a", explained, Some(&asked(query, leaning(0, 9, 0.5))))
            .reply
            .results;
        let steps: Vec<String> = found
            .into_iter()
            .filter_map(|result| result.why)
            .flat_map(|why| why.parts)
            .map(|part| part.step)
            .collect();
        assert!(
            steps.iter().any(|step| step == "words") && steps.iter().all(|step| step != "date"),
            "{query}: {steps:?}"
        );
    }
}
