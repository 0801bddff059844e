//! `loci supersede` and `loci edit --supersedes`: one stored memory replaces another.

use crate::home::TestHome;
use serde_json::{Value, json};

fn add(home: &TestHome, text: &str) -> String {
    let output = home.loci(&["add", text, "--type", "semantic", "--json"]);
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    reply["id"].as_str().expect("the reply has an id").to_owned()
}

fn previews(home: &TestHome) -> Vec<String> {
    let output = home.loci(&["list", "--json"]);
    let reply: Value = serde_json::from_slice(&output.stdout).expect("valid JSON");
    let memories = reply["memories"].as_array().expect("a JSON array");
    memories
        .iter()
        .map(|memory| memory["preview"].as_str().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn the_old_memory_is_replaced_and_comes_back_with_the_undo() {
    let home = TestHome::without_model();
    let old = add(&home, "The staging server is called heron");
    let new = add(&home, "The staging server is called egret");
    for arguments in
        [vec!["supersede", &old[28..], &new[28..]], vec!["edit", &new, "--supersedes", &old]]
    {
        let output = home.loci(&arguments);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("undo: loci undo"), "{output:?}");
        assert_eq!(previews(&home), ["The staging server is called egret"]);
        assert!(home.loci(&["undo", "--last", "--yes"]).status.success());
        assert_eq!(previews(&home).len(), 2);
    }
    let refused = home.loci(&["supersede", &old, &old]);
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && text.contains("replacing memory itself"), "{text}");
}

#[test]
fn the_reply_of_a_store_shows_the_similar_text_and_the_command() {
    let home = TestHome::new();
    add(&home, "The staging server is called heron");
    let output = home.loci(&["add", "The staging server is called egret", "--type", "semantic"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("The staging server is called heron"), "{text}");
    assert!(text.contains("if it is out of date: loci supersede"), "{text}");
}

#[test]
fn versions_and_conflicts_are_named() {
    let home = TestHome::new();
    let mut agent = home.session();
    let old = agent.store("semantic", "The staging server is called heron");
    let new = json!({"content": "The staging server is called egret", "type": "semantic"});
    let stored = agent.store_with(new);
    assert_eq!(stored["conflicts"], json!([old]), "{stored:?}");
    let new = stored["id"].as_str().expect("the reply has an id").to_owned();
    assert!(home.loci(&["supersede", &old, &new]).status.success());
    let mut versions = |id: &str| {
        let page = agent.call("memory_inspect", json!({"memory_id": id})).expect("it is shown");
        page["versions"].clone()
    };
    let (first, second) = (versions(&old), versions(&new));
    assert_eq!((&first["version"], &first["is_latest"]), (&json!(1), &json!(false)), "{first}");
    assert_eq!((&second["version"], &second["is_latest"]), (&json!(2), &json!(true)), "{second}");
    assert_eq!((&second["root"], &second["supersedes"]), (&json!(old), &json!(old)), "{second}");
}

/// Facts and procedures, and what became of them, in other words.
const CHANGES: &[(&str, &str, &str)] = &[
    (
        "semantic",
        "The database runs on the small server in the office",
        "We moved the database to a managed instance in Frankfurt",
    ),
    (
        "procedural",
        "Deploy with `make ship` on the build machine",
        "Deploys go through the release pipeline; nobody runs make by hand",
    ),
    (
        "semantic",
        "Standup is at 9:30 in the kitchen",
        "From Monday the standup is a written thread",
    ),
    (
        "semantic",
        "Events are published to RabbitMQ",
        "RabbitMQ is switched off, NATS carries all events",
    ),
    (
        "semantic",
        "Our hourly rate for consulting is 95 euros",
        "Clients pay 110 euros an hour for consulting since July",
    ),
    (
        "semantic",
        "Die Rechnungen gehen am Monatsende per Post raus",
        "Rechnungen werden jetzt sofort per E-Mail verschickt",
    ),
    (
        "procedural",
        "To rotate the signing key run keytool and copy it to vault for the gateway",
        "The signing key rotates by itself; the gateway reads it from vault",
    ),
];

#[test]
fn a_store_names_what_a_change_in_ordinary_words_is_about() {
    let home = TestHome::new();
    let mut agent = home.session();
    for (kind, old, _) in CHANGES {
        agent.store(kind, old);
    }
    for (kind, old, new) in CHANGES {
        let reply = agent.store_with(json!({"content": new, "type": kind}));
        let named: Vec<&str> = reply
            .get("similar_texts")
            .and_then(Value::as_array)
            .map(|texts| texts.iter().filter_map(|text| text["preview"].as_str()).collect())
            .unwrap_or_default();
        assert_eq!(named, [*old], "{new}");
    }
    let unrelated = json!({"content": "The cat sleeps on the radiator", "type": "semantic"});
    assert!(!agent.store_with(unrelated).contains_key("similar"));
}
