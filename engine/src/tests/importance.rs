//! Importance: set when a memory is stored, raised by use, and counted only if that is configured.
//!
//! Not here: how it is computed (`model::importance`), what it does to decay (`model::decay`).

use crate::handles::settings::Settings;
use crate::model::encoding::{DocumentEncoding, Embedding};
use crate::model::time::HOUR;
use crate::search::{RecencyLambda, Weights};
use crate::tests::fixture::{TestStore, axis, between_axes};
use crate::transaction::access::{Accesses, Boosting};
use loci_proto::memory::MemoryId;
use loci_proto::requests::explain::ScoreBreakdown;
use serde_json::json;
use std::collections::HashMap;

fn store(test_store: &mut TestStore, group: &str, text: &str, vector: &Embedding) -> MemoryId {
    let arguments = json!({"content": text, "type": "episodic"});
    test_store.store(group, arguments, Some(vector)).id
}

fn importance(test_store: &TestStore, group: &str, id: &MemoryId) -> Option<f64> {
    let inspected = test_store.inspect(group, json!({"memory_id": id}));
    inspected.expect("the memory is visible").memory.importance
}

/// Records what a recall counts as accesses.
fn use_results(test_store: &mut TestStore, arguments: serde_json::Value) {
    let answer = test_store.recall("a", arguments, None);
    let accesses: HashMap<i64, Accesses> =
        answer.accessed.iter().map(|seq| (*seq, Accesses::boosting(1))).collect();
    let now = test_store.now;
    test_store.writer.touch(&accesses, now, Boosting::On).expect("the accesses are counted");
}

fn weighted(weights: Weights) -> TestStore {
    TestStore::with(Settings { weights, ..Settings::for_model("test") })
}

#[test]
fn a_new_memory_is_as_important_as_it_differs_from_what_its_project_can_see() {
    let mut test_store = TestStore::new();
    let first = store(&mut test_store, "a", "The kettle is in the kitchen", &axis(0));
    let alike = store(&mut test_store, "a", "A kettle stands there", &between_axes(0, 1, 0.8));
    let other = store(&mut test_store, "a", "The boat is in the harbour", &axis(7));
    let elsewhere = store(&mut test_store, "b", "A kettle is there too", &axis(0));
    assert_eq!(importance(&test_store, "a", &first), Some(1.0), "nothing to compare with");
    assert_eq!(importance(&test_store, "a", &alike), Some(0.86), "0.7 + 0.8 × 0.2");
    assert_eq!(importance(&test_store, "a", &other), Some(1.5));
    assert_eq!(importance(&test_store, "b", &elsewhere), Some(1.0), "b does not see a");
}

#[test]
fn a_new_version_is_not_less_important_than_the_old_one() {
    let mut test_store = TestStore::new();
    store(&mut test_store, "a", "The kettle is in the kitchen", &axis(0));
    let old = store(&mut test_store, "a", "The boat is called heron", &axis(7));
    let arguments =
        json!({"content": "The boat is called egret", "type": "episodic", "supersedes": old});
    let new = test_store.store("a", arguments, Some(&between_axes(7, 8, 0.99))).id;
    assert_eq!(importance(&test_store, "a", &new), Some(1.5));
}

#[test]
fn a_memory_that_is_encoded_later_is_compared_with_what_was_known_before_it() {
    let mut test_store = TestStore::new();
    store(&mut test_store, "a", "The kettle is in the kitchen", &axis(0));
    let arguments = json!({"content": "A kettle stands there", "type": "episodic"});
    let later = test_store.store("a", arguments, None).id;
    let seq = test_store.recall("a", json!({"ids": [later]}), None).accessed[0];
    store(&mut test_store, "a", "Another kettle stands there", &between_axes(0, 1, 0.85));
    assert_eq!(importance(&test_store, "a", &later), None);
    test_store.fill(seq, DocumentEncoding::from(vec![between_axes(0, 1, 0.8)]));
    assert_eq!(importance(&test_store, "a", &later), Some(0.86));
    test_store.fill(seq, DocumentEncoding::from(vec![axis(9)]));
    assert_eq!(importance(&test_store, "a", &later), Some(0.86), "set once");
}

#[test]
fn a_use_raises_importance_at_most_once_an_hour_and_a_preview_or_dry_run_does_not() {
    let mut test_store = TestStore::new();
    let id = store(&mut test_store, "a", "The kettle is in the kitchen", &axis(0));
    use_results(&mut test_store, json!({"ids": [id], "dry_run": true}));
    use_results(&mut test_store, json!({"query": "kettle", "summary_only": true}));
    assert_eq!(importance(&test_store, "a", &id), Some(1.0));
    use_results(&mut test_store, json!({"ids": [id]}));
    use_results(&mut test_store, json!({"query": "kettle"}));
    assert_eq!(importance(&test_store, "a", &id), Some(1.02));
    for _ in 0..30 {
        test_store.now = test_store.now.plus(HOUR);
        use_results(&mut test_store, json!({"query": "kettle"}));
    }
    assert_eq!(importance(&test_store, "a", &id), Some(1.5), "the cap");
    let restarted = test_store.reopened();
    assert_eq!(importance(&restarted, "a", &id), Some(1.5));
}

/// Stores two notes that match a query equally, a month apart, and one that does not. Returns the
/// results of the query, and how their scores came about.
fn recalled_with(weights: Weights) -> (Vec<String>, Vec<ScoreBreakdown>) {
    let mut test_store = weighted(weights);
    let notes = [
        ("The kettle of Anna is blue", 0, "2026-01-01"),
        ("The oven of Anna is white", 40, "2026-01-31"),
        ("The kettle of Anna is green", 0, "2026-01-31"),
    ];
    for (number, (text, at, date)) in notes.into_iter().enumerate() {
        let vector = between_axes(at, 10 + number, 0.6);
        let metadata = json!({"event_date": date});
        let arguments = json!({"content": text, "type": "episodic", "metadata": metadata});
        test_store.store("a", arguments, Some(&vector));
    }
    let request = json!({"query": "kettle", "explain": true});
    let reply = test_store.recall("a", request, Some(&axis(0))).reply;
    let texts = reply.results.iter().filter_map(|result| result.content.clone()).take(2).collect();
    let whys = reply.results.iter().filter_map(|result| result.why.clone()).take(2).collect();
    (texts, whys)
}

fn has(why: &ScoreBreakdown, step: &str) -> bool {
    why.parts.iter().any(|part| part.step == step)
}

fn adds(why: &ScoreBreakdown, step: &str) -> f64 {
    why.parts.iter().filter(|part| part.step == step).map(|part| part.adds).sum()
}

#[test]
fn importance_ranks_only_if_that_is_configured_and_explain_says_so() {
    let (_, plain) = recalled_with(Weights::default());
    assert!(plain.iter().all(|why| !has(why, "importance") && why.importance.is_some()));
    let (found, whys) = recalled_with(Weights { importance: 1.0, ..Weights::default() });
    assert_eq!(found[0], "The kettle of Anna is green");
    assert_eq!(whys[0].importance, Some(1.21), "cosine 0.36 to the other kettle");
    assert_eq!(whys[1].importance, Some(1.0), "the first memory of the project");
    let score: f64 = whys[0].parts.iter().map(|part| part.adds).sum();
    let added = adds(&whys[0], "importance");
    assert!((added / (score - added) - 0.21).abs() < 1e-3, "{added} of {score}");
    assert!(!has(&whys[1], "importance"));
}

#[test]
fn older_events_rank_lower_only_if_that_is_configured() {
    let (_, plain) = recalled_with(Weights::default());
    assert!(plain.iter().all(|why| !has(why, "age")));
    let recency = RecencyLambda { episodic: 0.1, ..RecencyLambda::default() };
    let (found, whys) = recalled_with(Weights { recency, ..Weights::default() });
    assert_eq!(found[0], "The kettle of Anna is green", "a day old, the other a month");
    let before = |why: &ScoreBreakdown| {
        why.parts.iter().filter(|part| part.step != "age").map(|part| part.adds).sum::<f64>()
    };
    let share = adds(&whys[1], "age") / before(&whys[1]);
    assert!((share - ((-3.1_f64).exp() - 1.0)).abs() < 1e-3, "31 days: {share}");
    let other = RecencyLambda { semantic: 0.1, ..RecencyLambda::default() };
    let (_, unchanged) = recalled_with(Weights { recency: other, ..Weights::default() });
    assert!(unchanged.iter().all(|why| !has(why, "age")), "of another type");
}
