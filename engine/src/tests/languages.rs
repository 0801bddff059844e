//! Keyword search in several languages: how often the answer is first, and among the first five.
//!
//! The sets are tests/data/languages; `bench/finding.py` runs them with the model too, and
//! docs/retrieval.md has its figures.

use crate::tests::fixture::TestStore;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Pair {
    note: String,
    question: String,
}

/// Each set, and how many answers must be first, and among the first five.
const SETS: [(&str, &str, usize, usize); 8] = [
    ("de", include_str!("../../../tests/data/languages/de.jsonl"), 19, 20),
    ("en", include_str!("../../../tests/data/languages/en.jsonl"), 20, 20),
    ("es", include_str!("../../../tests/data/languages/es.jsonl"), 18, 19),
    ("fr", include_str!("../../../tests/data/languages/fr.jsonl"), 16, 17),
    ("ja", include_str!("../../../tests/data/languages/ja.jsonl"), 9, 10),
    ("ko", include_str!("../../../tests/data/languages/ko.jsonl"), 6, 6),
    ("pl", include_str!("../../../tests/data/languages/pl.jsonl"), 19, 20),
    ("zh", include_str!("../../../tests/data/languages/zh.jsonl"), 9, 10),
];

fn pairs(text: &str) -> Vec<Pair> {
    text.lines().map(|line| serde_json::from_str(line).expect("is a pair")).collect()
}

#[test]
fn inflected_forms_find_the_note_in_every_language() {
    let mut test_store = TestStore::new();
    for (_, text, ..) in SETS {
        for pair in pairs(text) {
            test_store.store("a", json!({"content": pair.note, "type": "semantic"}), None);
        }
    }
    for (name, text, first, among) in SETS {
        let place = |pair: &Pair| {
            test_store
                .found("a", json!({"query": pair.question, "max_results": 5}), None)
                .iter()
                .position(|text| *text == pair.note)
        };
        let places: Vec<Option<usize>> = pairs(text).iter().map(place).collect();
        let found = (
            places.iter().filter(|place| **place == Some(0)).count(),
            places.iter().flatten().count(),
        );
        assert!(
            found.0 >= first && found.1 >= among,
            "{name}: {found:?} of {}: {places:?}",
            places.len()
        );
    }
}

#[test]
fn one_character_finds_only_the_sentence_that_contains_it() {
    let mut test_store = TestStore::new();
    for text in ["猫の餌は七時に双子がやる", "会議室は三階", "The cat is fed at seven"]
    {
        test_store.store("a", json!({"content": text, "type": "semantic"}), None);
    }
    assert_eq!(test_store.found("a", json!({"query": "猫"}), None), ["猫の餌は七時に双子がやる"]);
    assert_eq!(
        test_store.found("a", json!({"query": "３階"}), None),
        ["会議室は三階"],
        "a digit of another script is another, the storey is the same"
    );
}

#[test]
fn width_case_and_diacritics_do_not_matter() {
    let mut test_store = TestStore::new();
    test_store.store(
        "a",
        json!({"content": "Der Server ＬＯＣＩ steht in Łódź", "type": "semantic"}),
        None,
    );
    for query in ["loci", "lodz", "ŁÓDŹ", "Ｌｏｃｉ"] {
        assert_eq!(test_store.found("a", json!({"query": query}), None).len(), 1, "{query}");
    }
}
