//! `store_memory` through the shim, with the real model.

use crate::home::TestHome;
use serde_json::json;

#[test]
fn the_same_fact_in_other_words_is_merged_and_a_changed_one_is_not() {
    let home = TestHome::new();
    let mut agent = home.session();
    let first = agent.store("semantic", "The staging server runs on Debian 12");
    let again = agent.store_with(
        json!({"content": "The staging server is running on Debian 12.", "type": "semantic"}),
    );
    assert_eq!((&again["deduplicated"], &again["id"]), (&json!(true), &json!(first)));
    let changed = agent
        .store_with(json!({"content": "The staging server runs on Debian 13", "type": "semantic"}));
    assert_eq!(changed["deduplicated"], false);
    assert_eq!(changed["similar"], json!([first]));
}

#[test]
fn a_negation_of_a_fact_is_stored_separately() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store("semantic", "The user likes coriander in salads");
    let reply = agent.store_with(
        json!({"content": "The user does not like coriander in salads", "type": "semantic"}),
    );
    assert_eq!(reply["deduplicated"], false);
    assert_eq!(agent.recall("coriander").len(), 2);
}

#[test]
fn a_superseded_memory_is_found_only_by_id() {
    let home = TestHome::new();
    let mut agent = home.session();
    let old = agent.store("semantic", "Anna works at Initech");
    let new = agent.store_with(
        json!({"content": "Anna works at Globex", "type": "semantic", "supersedes": old}),
    );
    assert_eq!(new["superseded"], json!(old));
    assert_eq!(agent.recall("Where does Anna work?"), ["Anna works at Globex"]);
    let shown = agent.call("recall_memory", json!({"ids": [old]})).expect("the call succeeds");
    assert_eq!(
        (&shown["results"][0]["status"], &shown["results"][0]["superseded_by"]),
        (&json!("superseded"), &new["id"])
    );
}

#[test]
fn the_answer_has_the_fields_of_the_specification() {
    let home = TestHome::new();
    let mut agent = home.session();
    let reply =
        agent.store_with(json!({"content": "Releases are cut on Thursdays", "type": "procedural"}));
    let mut fields: Vec<&str> = reply.keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, ["deduplicated", "id", "superseded", "type"]);
}

#[test]
fn a_long_text_is_found_by_its_end() {
    let home = TestHome::new();
    home.configure("[retrieval]\nvector_weight = 1.0\n");
    let mut agent = home.session();
    let filler =
        "The quarterly report lists revenue by region, with notes on currency and seasonality. "
            .repeat(40);
    agent.store(
        "episodic",
        &format!("{filler} {}", "The zoo's elephants have got a new swimming pool. ".repeat(16)),
    );
    let answer = agent
        .call("recall_memory", json!({"query": "Where do the elephants of the zoo bathe?"}))
        .expect("the call succeeds");
    let score = answer["results"][0]["score"].as_f64().expect("a JSON number");
    assert!(score > 0.4, "the first 256 tokens alone have a cosine of about 0: {score}");
}
