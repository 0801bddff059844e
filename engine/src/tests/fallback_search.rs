//! Fallback search while the index is loading: it finds what a keyword search of the index finds
//! later, and nothing else.

use crate::handles::open::open_cold;
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::handles::writer::Writer;
use crate::index::warmup::LoadCount;
use crate::model::time::DAY;
use crate::tests::fixture::{T0, TestStore, axis, compacted, named, parse};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A reopened store whose index is not loaded.
struct Cold {
    test_store: TestStore,
}

impl Cold {
    fn of(test_store: TestStore) -> Self {
        let TestStore { folder, writer, reader, now } = test_store;
        drop(reader);
        writer.close().expect("closes");
        let (writer, reader) = opened(&folder);
        Self { test_store: TestStore { folder, writer, reader, now } }
    }

    fn found(&self, group: &str, question: &Value) -> Vec<String> {
        let mut found = self.test_store.found(group, question.clone(), None);
        found.sort();
        found
    }
}

fn opened(folder: &TempDir) -> (Writer, Reader) {
    let writer = open_cold(&folder.path().join("memory.db"), Settings::for_model("test"), T0)
        .expect("opens");
    let reader = writer.reader().expect("opens");
    (writer, reader)
}

fn reply_json(test_store: &TestStore, question: Value) -> Value {
    serde_json::to_value(test_store.recall("a", question, Some(&axis(1))).reply).expect("is JSON")
}

#[test]
fn the_reply_says_that_the_index_is_loading_and_only_keywords_were_searched() {
    let mut test_store = TestStore::new();
    let kettle = test_store
        .store(
            "a",
            json!({"content": "The kettle is on the stove", "type": "semantic"}),
            Some(&axis(1)),
        )
        .id;
    test_store.store(
        "a",
        json!({"content": "Nothing of the kind", "type": "semantic"}),
        Some(&axis(1)),
    );
    let mut cold = Cold::of(test_store);
    assert_eq!(
        cold.test_store.reader.shared.warmup.progress(),
        Some(LoadCount { loaded: 0, total: 2 })
    );
    let early =
        reply_json(&cold.test_store, json!({"query": "Where are the kettles?", "explain": true}));
    assert_eq!(early["degraded"], json!(["index"]), "{early}");
    assert!(
        early["hint"].as_str().is_some_and(|hint| hint.contains("the index is being loaded")),
        "{early}"
    );
    assert_eq!(
        early["results"].as_array().map(Vec::len),
        Some(1),
        "near in meaning is not found yet: {early}"
    );
    assert_eq!(
        (&early["results"][0]["id"], &early["explain"]["in_store"]),
        (&json!(kettle), &json!(2))
    );
    // A recall by id and the statistics need no index.
    let shown = reply_json(&cold.test_store, json!({"ids": [kettle]}));
    assert!(
        shown["results"][0]["content"].is_string() && shown.get("degraded").is_none(),
        "{shown}"
    );
    assert_eq!(
        cold.test_store
            .reader
            .stats(&parse(json!({})), &named("a"), T0)
            .expect("counts")
            .total_memories,
        2
    );
    cold.test_store.writer.load().expect("loads");
    let warm = reply_json(&cold.test_store, json!({"query": "Where are the kettles?"}));
    assert!(
        warm.get("degraded").is_none() && warm["results"].as_array().map(Vec::len) == Some(2),
        "{warm}"
    );
}

#[test]
fn calls_that_need_the_whole_index_are_rejected_and_a_store_loads_it_first() {
    let mut test_store = TestStore::new();
    let first = test_store
        .store("a", json!({"content": "The kettle is on the stove", "type": "semantic"}), None)
        .id;
    let mut cold = Cold::of(test_store).test_store;
    assert!(
        cold.reader.examine().is_err()
            && cold.reader.plan(T0).is_err()
            && cold.reader.eval_set(1, 1, T0).is_err()
    );
    let again =
        cold.store("a", json!({"content": "The kettle is on the stove", "type": "semantic"}), None);
    assert!(
        again.deduplicated && again.id == first && cold.reader.shared.warmup.progress().is_none()
    );
    assert!(
        cold.reader
            .examine()
            .expect("looks")
            .iter()
            .all(|finding| finding.verdict == loci_proto::requests::doctor::Verdict::Ok)
    );
}

#[test]
fn a_stopped_load_fails_and_loses_nothing() {
    let mut test_store = TestStore::new();
    test_store.store(
        "a",
        json!({"content": "The kettle is on the stove", "type": "semantic"}),
        Some(&axis(1)),
    );
    let mut cold = Cold::of(test_store).test_store;
    cold.writer.warmup().stop();
    assert!(
        cold.writer.load().is_err()
            && cold.try_store("a", json!({"content": "x", "type": "semantic"}), None).is_err()
    );
    let cold = Cold::of(cold);
    assert_eq!(cold.found("a", &json!({"query": "kettle"})), ["The kettle is on the stove"]);
}

#[test]
fn a_summarised_memory_is_returned_with_its_summary() {
    let mut test_store = TestStore::new();
    let below =
        test_store.store("a", json!({"content": "The kettle broke", "type": "semantic"}), None).id;
    let summary =
        test_store.store("a", json!({"content": "A week of repairs", "type": "semantic"}), None).id;
    compacted(&mut test_store, &below, Some(&summary));
    let mut cold = Cold::of(test_store).test_store;
    let early = cold.recall("a", json!({"query": "kettle"}), None).reply.results;
    cold.writer.load().expect("loads");
    assert_eq!(cold.recall("a", json!({"query": "kettle"}), None).reply.results, early);
    assert_eq!((early[0].id.clone(), early[0].sources[0].id.clone()), (summary, below));
}

/// A memory: project, age in days, arguments of the store, and what happens to it later.
fn memory() -> impl Strategy<Value = (usize, i64, Value, u8)> {
    let (kinds, scopes) = (["episodic", "semantic", "procedural", "entity"], ["group", "global"]);
    let confidence = prop::sample::select(vec![0.05, 0.1, 0.3, 1.0]);
    let said = prop::sample::select(vec!["", "[2025-12-24] ", "Anna: ", "[2026-01-20] Joan: "]);
    (0..3_usize, 0..60_i64, (0..4_usize, 0..2_usize, confidence, said, prop::option::of(1..60_i64)), 0..5_u8).prop_map(
        move |(group, age, (kind, scope, confidence, said, days), fate)| {
            let content = format!("{said}The kettle is known");
            let mut memory = json!({"content": content, "type": kinds[kind], "scope": scopes[scope], "confidence": confidence});
            if kind == 3 {
                memory["metadata"] = json!({"name": "Kettle"});
            }
            if let Some(days) = days {
                memory["ttl_seconds"] = json!(days * 86_400);
            }
            (group, age, memory, fate)
        },
    )
}

fn question() -> impl Strategy<Value = Value> {
    let kind = prop::option::of(prop::sample::select(vec![
        "episodic",
        "semantic",
        "procedural",
        "entity",
    ]));
    let scope = prop::option::of(prop::sample::select(vec!["group", "global"]));
    let least = prop::option::of(prop::sample::select(vec![0.0, 0.2, 0.9]));
    let from = prop::option::of(prop::sample::select(vec!["2025-12-24", "2026-01-15"]));
    (kind, scope, least, from).prop_map(|(kind, scope, least, from)| {
        let mut question =
            json!({"query": "kettles", "max_results": 20, "token_budget": 1_000_000});
        let given = [
            ("type", kind.map(|v| json!(v))),
            ("scope", scope.map(|v| json!(v))),
            ("min_confidence", least.map(|v| json!(v))),
        ];
        for (key, value) in given.into_iter().chain([("date_from", from.map(|v| json!(v)))]) {
            if let Some(value) = value {
                question[key] = value;
            }
        }
        question
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// The same memories are admitted before and after the index is loaded.
    #[test]
    fn the_same_memories_are_found_before_and_after_the_load(
        memories in prop::collection::vec(memory(), 1..18), questions in prop::collection::vec(question(), 1..6),
    ) {
        let mut test_store = TestStore::new();
        let groups = ["a", "b", "c"];
        for (number, (group, age, mut memory, fate)) in memories.into_iter().enumerate() {
            test_store.now = T0.plus(-age * DAY);
            memory["content"] = json!(format!("{} of number{number}", memory["content"].as_str().unwrap_or_default()));
            let id = test_store.store(groups[group], memory, None).id;
            match fate {
                0 => drop(test_store.forget(groups[group], json!({"memory_id": id})).expect("is forgotten")),
                1 => compacted(&mut test_store, &id, None),
                _ => {}
            }
        }
        test_store.now = T0;
        let mut cold = Cold::of(test_store);
        let ask = |cold: &Cold| -> Vec<Vec<String>> {
            questions.iter().flat_map(|question| groups.map(|group| cold.found(group, question))).collect()
        };
        let early = ask(&cold);
        prop_assert_eq!(cold.test_store.reader.shared.warmup.progress().is_some(), true);
        cold.test_store.writer.load().expect("loads");
        prop_assert_eq!(early, ask(&cold));
    }
}
