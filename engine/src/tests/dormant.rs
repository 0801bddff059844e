//! Dormant memories: left out of recall unless they are asked for, shown everywhere else, never changed.

use crate::handles::settings::Settings;
use crate::model::time::DAY;
use crate::tests::fixture::{TestStore, named, parse};
use loci_proto::memory::{Confidence, MemoryId};
use loci_proto::requests::pin::PinRequest;
use serde_json::{Value, json};

const YEARS: i64 = 364;

fn store_with(threshold: Option<f64>) -> (TestStore, Vec<MemoryId>) {
    let dormant_threshold = threshold.and_then(|number| Confidence::new(number).ok());
    let mut test_store =
        TestStore::with(Settings { dormant_threshold, ..Settings::for_model("test") });
    let mut ids = Vec::new();
    for (text, confidence) in [("a kettle of old", 0.1), ("a kettle in use", 1.0)] {
        let arguments = json!({"content": text, "type": "episodic", "confidence": confidence});
        ids.push(test_store.store("a", arguments, None).id);
    }
    // 0.1 × 0.95^52 is 0.007, and 0.95^52 is 0.07.
    test_store.now = test_store.now.plus(YEARS * DAY);
    (test_store, ids)
}

fn found(test_store: &TestStore, arguments: Value) -> Vec<(String, Option<String>)> {
    let results = test_store.recall("a", arguments, None).reply.results;
    let found =
        results.into_iter().map(|result| (result.content.unwrap_or_default(), result.status));
    found.collect()
}

#[test]
fn a_dormant_memory_is_recalled_only_on_request_or_by_its_id_and_says_so() {
    let (test_store, ids) = store_with(Some(0.01));
    let kettle = |more: Value| {
        let mut request = json!({"query": "kettle"});
        request
            .as_object_mut()
            .expect("an object")
            .extend(more.as_object().cloned().unwrap_or_default());
        found(&test_store, request)
    };
    assert_eq!(kettle(json!({})), [("a kettle in use".to_owned(), None)]);
    let with_dormant = kettle(json!({"include_dormant": true}));
    let dormant = ("a kettle of old".to_owned(), Some("dormant".to_owned()));
    assert!(with_dormant.len() == 2 && with_dormant.contains(&dormant), "{with_dormant:?}");
    assert_eq!(found(&test_store, json!({"ids": [ids[0]]})), [dormant]);
    let inspected = test_store.inspect("a", json!({"memory_id": ids[0]}));
    assert_eq!(inspected.expect("it is inspected").memory.status, "dormant");
    let list = |status: &str| {
        let request = parse(json!({"status": status}));
        let group = named("a");
        let listed = test_store.reader.list(&request, &group, test_store.now);
        let listed = listed.expect("it is listed").memories;
        listed.into_iter().map(|memory| (memory.id, memory.status)).collect::<Vec<_>>()
    };
    assert_eq!(list("dormant"), [(ids[0].clone(), "dormant".to_owned())]);
    assert_eq!(list("active").len(), 2, "a list hides nothing");
}

#[test]
fn topics_and_walks_leave_dormant_memories_out_unless_a_walk_starts_at_one() {
    let (test_store, ids) = store_with(Some(0.01));
    let topics = test_store.reader.topics(&parse(json!({})), (&named("a")).into(), test_store.now);
    let topics = topics.expect("the topics are listed");
    assert_eq!(topics.grouped + topics.without_vector, 1, "{topics:?}");
    let walk = |arguments: Value| {
        let walk =
            test_store.reader.wander(&parse(arguments), (&named("a")).into(), test_store.now);
        walk.expect("walks").start.expect("has a start").id
    };
    for day in 1..20 {
        assert_eq!(walk(json!({"date": format!("2026-03-{day:02}")})), ids[1]);
    }
    assert_eq!(walk(json!({"start": ids[0]})), ids[0]);
}

#[test]
fn without_a_threshold_nothing_is_dormant() {
    let (test_store, _) = store_with(None);
    let all = found(&test_store, json!({"query": "kettle"}));
    assert!(all.len() == 2 && all.iter().all(|(_, status)| status.is_none()), "{all:?}");
}

#[test]
fn a_pinned_memory_and_one_of_an_earlier_time_are_not_dormant() {
    let (mut test_store, ids) = store_with(Some(0.01));
    let then = found(&test_store, json!({"query": "kettle", "as_of": "2026-02-01"}));
    assert_eq!(then.len(), 2, "decay is a function of time: {then:?}");
    let call = test_store.call("a", None);
    let pin = PinRequest { memory_id: ids[0].clone(), pinned: true, group: None };
    test_store.writer.pin(&call, &pin).expect("the memory is pinned");
    assert_eq!(found(&test_store, json!({"query": "kettle"})).len(), 2);
}
