//! Keyword search in several languages: how often the answer is first, and among the first five.
//!
//! The sets are in tests/data/languages. `bench/finding.py` also runs them with the model; its
//! figures are in docs/retrieval.md.

use crate::tests::fixture::TestStore;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Pair {
    note: String,
    question: String,
}

/// A test set and the least numbers of answers found.
struct LanguageSet {
    language: &'static str,
    jsonl: &'static str,
    min_first: usize,
    min_in_five: usize,
}

const fn set(
    language: &'static str,
    jsonl: &'static str,
    min_first: usize,
    min_in_five: usize,
) -> LanguageSet {
    LanguageSet { language, jsonl, min_first, min_in_five }
}

const SETS: [LanguageSet; 8] = [
    set("de", include_str!("../../../tests/data/languages/de.jsonl"), 19, 20),
    set("en", include_str!("../../../tests/data/languages/en.jsonl"), 20, 20),
    set("es", include_str!("../../../tests/data/languages/es.jsonl"), 18, 19),
    set("fr", include_str!("../../../tests/data/languages/fr.jsonl"), 16, 17),
    set("ja", include_str!("../../../tests/data/languages/ja.jsonl"), 9, 10),
    set("ko", include_str!("../../../tests/data/languages/ko.jsonl"), 6, 6),
    set("pl", include_str!("../../../tests/data/languages/pl.jsonl"), 19, 20),
    set("zh", include_str!("../../../tests/data/languages/zh.jsonl"), 9, 10),
];

fn pairs(text: &str) -> Vec<Pair> {
    text.lines().map(|line| serde_json::from_str(line).expect("the line is a pair")).collect()
}

#[test]
fn inflected_forms_find_the_note_in_every_language() {
    let mut test_store = TestStore::new();
    for set in SETS {
        for pair in pairs(set.jsonl) {
            test_store.store("a", json!({"content": pair.note, "type": "semantic"}), None);
        }
    }
    for LanguageSet { language, jsonl, min_first, min_in_five } in SETS {
        let rank = |pair: &Pair| {
            test_store
                .found("a", json!({"query": pair.question, "max_results": 5}), None)
                .iter()
                .position(|text| *text == pair.note)
        };
        let ranks: Vec<Option<usize>> = pairs(jsonl).iter().map(rank).collect();
        let first = ranks.iter().filter(|rank| **rank == Some(0)).count();
        let in_five = ranks.iter().flatten().count();
        assert!(
            first >= min_first && in_five >= min_in_five,
            "{language}: {first} first, {in_five} in five, of {}: {ranks:?}",
            ranks.len()
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
        "a digit does not match its character, the word for storey does"
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
