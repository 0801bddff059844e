//! The graph boost: memories linked to an entity of the query rank higher.

use crate::tests::fixture::{TestStore, axis, between_axes, document_encoding};
use crate::tests::graph::entity;
use loci_proto::memory::MemoryId;
use serde_json::json;

/// Stores where four people have moved, and that Anna reports to Piotr; returns Piotr.
fn store_moves(test_store: &mut TestStore) -> MemoryId {
    let (anna, piotr) =
        (entity(test_store, "a", "Anna", &["Ania"]), entity(test_store, "a", "Piotr", &[]));
    for (number, name) in ["Olga", "Piotr", "Jonas", "Mei"].iter().enumerate() {
        let text = format!("{name} has moved to house {number}");
        test_store.store_encoded(
            "a",
            json!({"content": text, "type": "semantic"}),
            &document_encoding(&text, between_axes(0, 5 + number, 0.6)),
        );
    }
    test_store
        .relate("a", json!({"subject_id": anna, "predicate": "reports_to", "object_id": piotr}))
        .expect("the relation is stored");
    piotr
}

/// Returns the notes about moves that a query about Anna's boss finds, best first.
fn moves_found(test_store: &TestStore) -> Vec<String> {
    let query = json!({"query": "Where has Anna's boss moved to?", "max_results": 10});
    test_store
        .found("a", query, Some(&axis(0)))
        .into_iter()
        .filter(|text| text.contains("moved"))
        .collect()
}

#[test]
fn memories_linked_to_a_named_entity_rank_first_among_equals() {
    let mut test_store = TestStore::new();
    store_moves(&mut test_store);
    assert_eq!(moves_found(&test_store)[0], "Piotr has moved to house 1", "Anna reports to Piotr");
    test_store.undo_last().expect("the last act is undone");
    assert_eq!(
        moves_found(&test_store)[0],
        "Mei has moved to house 3",
        "the newest of equal scores"
    );
    let mut test_store = test_store.reopened();
    assert_eq!(moves_found(&test_store)[0], "Mei has moved to house 3");
    store_moves(&mut test_store);
    assert_eq!(
        moves_found(&test_store.reopened())[0],
        "Piotr has moved to house 1",
        "links are loaded at the start"
    );
}

#[test]
fn a_forgotten_entity_boosts_nothing_and_a_deleted_one_leaves_no_link() {
    let mut test_store = TestStore::new();
    let piotr = store_moves(&mut test_store);
    test_store.forget("a", json!({"memory_id": piotr})).expect("the memory is forgotten");
    assert_eq!(moves_found(&test_store)[0], "Mei has moved to house 3");
    test_store.undo_last().expect("the last act is undone");
    assert_eq!(moves_found(&test_store)[0], "Piotr has moved to house 1");
    test_store
        .forget("a", json!({"memory_id": piotr, "hard_delete": true}))
        .expect("the memory is hard-deleted");
    assert_eq!(moves_found(&test_store)[0], "Mei has moved to house 3");
    test_store.dump();
}

#[test]
fn the_graph_boost_is_a_step_of_the_explanation() {
    let mut test_store = TestStore::new();
    store_moves(&mut test_store);
    let query =
        json!({"query": "Where has Anna's boss moved to?", "explain": true, "max_results": 10});
    let reply = test_store.recall("a", query, Some(&axis(0))).reply;
    let best = reply
        .results
        .iter()
        .find(|result| result.content.as_deref() == Some("Piotr has moved to house 1"))
        .expect("the entity is found");
    let parts = &best.why.as_ref().expect("the result is explained").parts;
    let sum: f64 = parts.iter().map(|part| part.adds).sum();
    assert!(parts.iter().any(|part| part.step == "graph" && part.adds > 0.0), "{parts:?}");
    assert!(
        (best.score.expect("the result has a score") - sum).abs() < 1e-4,
        "{sum}, not {:?}",
        best.score
    );
}
