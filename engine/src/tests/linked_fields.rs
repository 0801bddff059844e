//! The two lexical fields of linked entities: their names and their relations.

use crate::handles::settings::Settings;
use crate::search::FieldWeights;
use crate::tests::fixture::{TestStore, axis, between_axes};
use loci_proto::memory::MemoryId;
use serde_json::json;

/// Stores Anna, alias Ania, who reports to Piotr, and notes that match the query alike; returns the note
/// that mentions Anna by her alias, and the one that mentions Piotr.
fn store(test_store: &mut TestStore) -> (MemoryId, MemoryId) {
    let mut entity = |name: &str, aliases: &[&str], number: usize| {
        let metadata = json!({"name": name, "aliases": aliases});
        let arguments = json!({"content": format!("{} is somebody", aliases[0]), "type": "entity", "metadata": metadata});
        test_store.store("a", arguments, Some(&axis(number))).id
    };
    let (anna, piotr) = (entity("Anna Kowalska", &["Ania"], 50), entity("Piotr", &["Piotrek"], 51));
    let relation = json!({"subject_id": anna, "predicate": "shares_office", "object_id": piotr});
    test_store.relate("a", relation).expect("the relation is stored");
    let mut note = |text: &str, number: usize| {
        let arguments = json!({"content": text, "type": "episodic"});
        test_store.store("a", arguments, Some(&between_axes(0, number, 0.6))).id
    };
    let (of_anna, of_piotr) = (note("Ania moved the desk", 5), note("Piotrek moved the desk", 6));
    note("Somebody moved the desk", 7);
    (of_anna, of_piotr)
}

fn with(entity: f64, relation: f64) -> TestStore {
    let fields = FieldWeights { entity, relation };
    TestStore::with(Settings { fields, ..Settings::for_model("test") })
}

/// Returns what a step adds to the score of a memory.
fn added(test_store: &TestStore, query: &str, step: &str, id: &MemoryId) -> f64 {
    let query = json!({"query": query, "explain": true, "max_results": 10});
    let reply = test_store.recall("a", query, Some(&axis(0))).reply;
    let found = reply.results.iter().find(|result| result.id == *id).expect("it is found");
    let why = found.why.as_ref().expect("it is explained");
    let sum: f64 = why.parts.iter().map(|part| part.adds).sum();
    assert!((found.score.expect("it has a score") - sum).abs() < 1e-4, "{why:?}");
    why.parts.iter().find(|part| part.step == step).map_or(0.0, |part| part.adds)
}

#[test]
fn a_memory_is_raised_by_the_names_of_the_entities_that_it_mentions() {
    let mut test_store = with(0.2, 0.0);
    let (of_anna, of_piotr) = store(&mut test_store);
    let query = "desk of Kowalska";
    assert!(added(&test_store, query, "entities", &of_anna) > 0.0, "she is mentioned by her alias");
    assert!(added(&test_store, query, "entities", &of_piotr).abs() < f64::EPSILON);
    assert!(added(&test_store, query, "relations", &of_anna).abs() < f64::EPSILON);
    assert!(added(&test_store, "desk", "entities", &of_anna).abs() < f64::EPSILON);
}

#[test]
fn a_memory_is_raised_by_the_relations_of_the_entities_that_it_mentions() {
    let mut test_store = with(0.0, 0.2);
    let (of_anna, of_piotr) = store(&mut test_store);
    let by_predicate = "whose desk is in a shared office";
    for id in [&of_anna, &of_piotr] {
        assert!(added(&test_store, by_predicate, "relations", id) > 0.0, "by the predicate");
    }
    assert!(
        added(&test_store, "desk near Kowalska", "relations", &of_piotr) > 0.0,
        "the other end"
    );
    assert!(added(&test_store, "desk near Kowalska", "relations", &of_anna).abs() < f64::EPSILON);
}

#[test]
fn with_weight_0_scores_and_results_are_what_they_were() {
    let (mut plain, mut weighted) = (TestStore::new(), with(0.3, 0.3));
    store(&mut plain);
    store(&mut weighted);
    let scores = |test_store: &TestStore| -> Vec<(Option<String>, Option<f64>)> {
        let query = json!({"query": "desk of Kowalska in the office", "max_results": 10});
        let reply = test_store.recall("a", query, Some(&axis(0))).reply;
        reply.results.into_iter().map(|result| (result.content, result.score)).collect()
    };
    assert_ne!(scores(&plain), scores(&weighted));
    weighted.writer.set_settings(Settings::for_model("test"));
    assert_eq!(scores(&plain), scores(&weighted));
}

#[test]
fn entities_of_another_project_raise_nothing() {
    let mut test_store = with(0.3, 0.3);
    store(&mut test_store);
    let hidden = json!({"content": "Olek is somebody", "type": "entity", "scope": "group", "metadata": {"name": "Olek Nowak"}});
    test_store.store("b", hidden, Some(&axis(60)));
    let note = json!({"content": "Olek moved the desk", "type": "episodic"});
    let note = test_store.store("a", note, Some(&between_axes(0, 8, 0.6))).id;
    assert!(added(&test_store, "desk of Nowak", "entities", &note).abs() < f64::EPSILON);
}
