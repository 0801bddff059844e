//! Fallback search while the index is loading. It finds the same memories as a keyword search of
//! the loaded index.

use crate::handles::open::open_cold;
use crate::handles::reader::Reader;
use crate::handles::settings::Settings;
use crate::handles::writer::Writer;
use crate::index::warmup::LoadCount;
use crate::model::time::DAY;
use crate::tests::fixture::{T0, TestStore, axis, mark_compacted, named, parse};
use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A reopened store whose index is not loaded.
struct ColdStore {
    test_store: TestStore,
}

impl ColdStore {
    fn reopen(test_store: TestStore) -> Self {
        let TestStore { folder, writer, reader, now, .. } = test_store;
        drop(reader);
        writer.close().expect("the store closes");
        let (writer, reader) = open_without_index(&folder);
        Self { test_store: TestStore::of(folder, writer, reader, now) }
    }

    /// Returns the contents of the results in alphabetical order.
    fn sorted_contents(&self, group: &str, request: &Value) -> Vec<String> {
        let mut contents = self.test_store.found(group, request.clone(), None);
        contents.sort();
        contents
    }
}

fn open_without_index(folder: &TempDir) -> (Writer, Reader) {
    let writer = open_cold(&folder.path().join("memory.db"), Settings::for_model("test"), T0)
        .expect("the store opens");
    let reader = writer.reader().expect("the reader opens");
    (writer, reader)
}

fn reply_json(test_store: &TestStore, request: Value) -> Value {
    serde_json::to_value(test_store.recall("a", request, Some(&axis(1))).reply)
        .expect("the reply is serialisable")
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
    let mut cold = ColdStore::reopen(test_store);
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
        "a memory of similar meaning is not found yet: {early}"
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
            .expect("the statistics are counted")
            .total_memories,
        2
    );
    cold.test_store.writer.load().expect("the index loads");
    let warm = reply_json(&cold.test_store, json!({"query": "Where are the kettles?"}));
    assert_eq!(warm["degraded"], json!(["vectors"]), "no memory has codes of its words: {warm}");
    assert_eq!(warm["results"].as_array().map(Vec::len), Some(2), "{warm}");
}

#[test]
fn calls_that_need_the_whole_index_are_rejected_and_a_store_loads_it_first() {
    let mut test_store = TestStore::new();
    let first = test_store
        .store("a", json!({"content": "The kettle is on the stove", "type": "semantic"}), None)
        .id;
    let mut cold = ColdStore::reopen(test_store).test_store;
    assert!(
        cold.reader.examine_index().is_err()
            && cold.reader.plan(T0).is_err()
            && cold.reader.eval_set(1, 1, T0).is_err()
    );
    let again =
        cold.store("a", json!({"content": "The kettle is on the stove", "type": "semantic"}), None);
    assert!(
        again.deduplicated && again.id == first && cold.reader.shared.warmup.progress().is_none()
    );
    assert!(
        cold.findings()
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
    let mut cold = ColdStore::reopen(test_store).test_store;
    cold.writer.warmup().stop();
    assert!(
        cold.writer.load().is_err()
            && cold.try_store("a", json!({"content": "x", "type": "semantic"}), None).is_err()
    );
    let cold = ColdStore::reopen(cold);
    assert_eq!(
        cold.sorted_contents("a", &json!({"query": "kettle"})),
        ["The kettle is on the stove"]
    );
}

#[test]
fn a_summarised_memory_is_returned_with_its_summary() {
    let mut test_store = TestStore::new();
    let summarised =
        test_store.store("a", json!({"content": "The kettle broke", "type": "semantic"}), None).id;
    let summary =
        test_store.store("a", json!({"content": "A week of repairs", "type": "semantic"}), None).id;
    mark_compacted(&mut test_store, &summarised, Some(&summary));
    let mut cold = ColdStore::reopen(test_store).test_store;
    let early = cold.recall("a", json!({"query": "kettle"}), None).reply.results;
    cold.writer.load().expect("the index loads");
    assert_eq!(cold.recall("a", json!({"query": "kettle"}), None).reply.results, early);
    assert_eq!((early[0].id.clone(), early[0].sources[0].id.clone()), (summary, summarised));
}

/// A generated memory.
#[derive(Debug, Clone)]
struct GeneratedMemory {
    /// Index of the project.
    group: usize,
    age_days: i64,
    arguments: Value,
    fate: Fate,
}

/// The operation on a memory after it was stored.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Forgotten,
    Compacted,
    Unchanged,
}

fn memory() -> impl Strategy<Value = GeneratedMemory> {
    let (kinds, scopes) = (["episodic", "semantic", "procedural", "entity"], ["group", "global"]);
    let confidence = prop::sample::select(vec![0.05, 0.1, 0.3, 1.0]);
    let prefix = prop::sample::select(vec!["", "[2025-12-24] ", "Anna: ", "[2026-01-20] Joan: "]);
    let fate = prop_oneof![1 => Just(Fate::Forgotten), 1 => Just(Fate::Compacted), 3 => Just(Fate::Unchanged)];
    let fields = (0..4_usize, 0..2_usize, confidence, prefix, prop::option::of(1..60_i64));
    (0..3_usize, 0..60_i64, fields, fate).prop_map(
        move |(group, age_days, (kind, scope, confidence, prefix, ttl_days), fate)| {
            let content = format!("{prefix}The kettle is known");
            let mut arguments = json!({"content": content, "type": kinds[kind], "scope": scopes[scope], "confidence": confidence});
            if kind == 3 {
                arguments["metadata"] = json!({"name": "Kettle"});
            }
            if let Some(days) = ttl_days {
                arguments["ttl_seconds"] = json!(days * 86_400);
            }
            GeneratedMemory { group, age_days, arguments, fate }
        },
    )
}

/// The arguments of a recall.
fn request() -> impl Strategy<Value = Value> {
    let kind = prop::option::of(prop::sample::select(vec![
        "episodic",
        "semantic",
        "procedural",
        "entity",
    ]));
    let scope = prop::option::of(prop::sample::select(vec!["group", "global"]));
    let min_confidence = prop::option::of(prop::sample::select(vec![0.0, 0.2, 0.9]));
    let from = prop::option::of(prop::sample::select(vec!["2025-12-24", "2026-01-15"]));
    (kind, scope, min_confidence, from).prop_map(|(kind, scope, min_confidence, from)| {
        let mut request = json!({"query": "kettles", "max_results": 20, "token_budget": 1_000_000});
        let filters = [
            ("type", kind.map(|v| json!(v))),
            ("scope", scope.map(|v| json!(v))),
            ("min_confidence", min_confidence.map(|v| json!(v))),
            ("date_from", from.map(|v| json!(v))),
        ];
        for (key, value) in filters {
            if let Some(value) = value {
                request[key] = value;
            }
        }
        request
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn the_same_memories_are_found_before_and_after_the_load(
        memories in prop::collection::vec(memory(), 1..18), requests in prop::collection::vec(request(), 1..6),
    ) {
        let mut test_store = TestStore::new();
        let groups = ["a", "b", "c"];
        for (number, GeneratedMemory { group, age_days, mut arguments, fate }) in memories.into_iter().enumerate() {
            test_store.now = T0.plus(-age_days * DAY);
            arguments["content"] = json!(format!("{} of number{number}", arguments["content"].as_str().unwrap_or_default()));
            let id = test_store.store(groups[group], arguments, None).id;
            match fate {
                Fate::Forgotten => drop(test_store.forget(groups[group], json!({"memory_id": id})).expect("the memory is forgotten")),
                Fate::Compacted => mark_compacted(&mut test_store, &id, None),
                Fate::Unchanged => {}
            }
        }
        test_store.now = T0;
        let mut cold = ColdStore::reopen(test_store);
        let recall_all = |cold: &ColdStore| -> Vec<Vec<String>> {
            requests.iter().flat_map(|request| groups.map(|group| cold.sorted_contents(group, request))).collect()
        };
        let early = recall_all(&cold);
        prop_assert!(cold.test_store.reader.shared.warmup.progress().is_some());
        cold.test_store.writer.load().expect("the index loads");
        prop_assert_eq!(early, recall_all(&cold));
    }
}
