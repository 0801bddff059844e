//! `store_memory` through the shim, with the real model.

use crate::home::{Agent, TestHome};
use crate::wire::wait_until;
use serde_json::{Value, json};

#[test]
fn the_same_wording_is_merged_other_words_are_folded_and_a_changed_fact_is_neither() {
    let home = TestHome::new();
    let mut agent = home.session();
    let first = agent.store("semantic", "The staging server runs on Debian 12");
    let store = |agent: &mut Agent, text: &str| {
        agent.store_with(json!({"content": text, "type": "semantic"}))
    };
    let again = store(&mut agent, "A staging server runs on Debian 12.");
    assert_eq!((&again["deduplicated"], &again["id"]), (&json!(true), &json!(first)));
    let merged = json!({"id": first, "preview": "The staging server runs on Debian 12"});
    assert_eq!(again["merged"], merged);
    let reworded = store(&mut agent, "The staging server is running on Debian 12.");
    assert_eq!(reworded["deduplicated"], false);
    let found =
        agent.call("recall_memory", json!({"query": "What does the staging server run on?"}));
    let found = found.expect("the call succeeds")["results"].clone();
    assert_eq!(found.as_array().map(Vec::len), Some(1), "{found}");
    let ids = [&found[0]["id"], &found[0]["also"][0]];
    assert!(ids.contains(&&json!(first)) && ids.contains(&&reworded["id"]), "{found}");
    let changed = agent
        .store_with(json!({"content": "The staging server runs on Debian 13", "type": "semantic"}));
    assert_eq!(changed["deduplicated"], false);
    assert!(changed["similar"].as_array().is_some_and(|of| of.contains(&json!(first))));
    assert_eq!(agent.recall("staging server").len(), 2);
    let brief = agent.request("resources/read", json!({"uri": "loci://group"}));
    let brief = brief["result"]["contents"][0]["text"].as_str().expect("a text").to_owned();
    assert_eq!(brief.matches("Debian 12").count(), 1, "{brief}");
    assert!(brief.contains("1 more in other words"), "{brief}");
}

#[test]
fn an_agent_that_repeats_a_person_is_answered_with_the_persons_memory() {
    let home = TestHome::new();
    let added = home.loci(&["add", "The office is in Ghent.", "--type", "semantic", "--json"]);
    let added: Value = serde_json::from_slice(&added.stdout).expect("valid JSON");
    let mut agent = home.session();
    let again = agent.store_with(json!({"content": "The office is in Ghent!", "type": "semantic"}));
    assert_eq!((&again["id"], &again["deduplicated"]), (&added["id"], &json!(true)), "{again:?}");
    assert_eq!(again.get("flagged"), None, "{again:?}");
}

#[test]
fn one_merge_is_undone_alone_and_its_wording_becomes_a_memory() {
    let home = TestHome::new();
    let mut agent = home.session();
    let first = agent.store("semantic", "The staging server runs on Debian 12");
    let wording = "A staging server runs on Debian 12.";
    let given = json!({"content": wording, "type": "semantic", "category": "fact", "metadata": {"ticket": "OPS-7"}});
    let merged = agent.store_with(given);
    assert_eq!(merged["id"], json!(first));
    assert!(
        merged["note"].as_str().is_some_and(|note| note.contains("category is fact now")),
        "{merged:?}"
    );
    let history = home.loci(&["history", &first]).stdout;
    assert!(String::from_utf8_lossy(&history).contains("merge"), "the history of a memory has it");
    let act = merged["act"].as_i64().expect("the merge has a number").to_string();
    let ids = || {
        let listed = home.loci(&["list", "--json"]).stdout;
        let listed: Value = serde_json::from_slice(&listed).expect("valid JSON");
        let memories = listed["memories"].as_array().expect("a JSON array").iter();
        memories.map(|memory| memory["id"].clone()).collect::<Vec<_>>()
    };
    let before = ids();

    let undone = home.loci(&["undo", &act, "--yes"]);
    let shown = String::from_utf8_lossy(&undone.stdout).into_owned();
    assert!(undone.status.success() && shown.contains(wording), "{undone:?}");
    wait_until("both are folded when they are read", || agent.recall("staging server").len() == 1);
    assert_eq!(ids().len(), 2);
    let own = ids().into_iter().find(|id| *id != json!(first)).expect("it has an id");
    let inspected = home.loci(&["inspect", own.as_str().expect("a text"), "--json"]).stdout;
    let inspected: Value = serde_json::from_slice(&inspected).expect("valid JSON");
    assert_eq!(inspected["memory"]["metadata"]["ticket"], "OPS-7", "{inspected}");

    assert!(home.loci(&["redo", "--yes"]).status.success());
    assert_eq!(ids(), before);
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
