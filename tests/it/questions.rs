//! The questions that a memory answers, with the real model: they find it in words that its text
//! does not have, and no agent pays for them in a reply.

use crate::home::{TestHome, contents};
use serde_json::json;

const OTHERS: &[&str] = &[
    "The canary takes twenty minutes",
    "Grafana runs on the host magpie",
    "The mobile team meets on Tuesdays at nine",
    "Builds are cached for fourteen days",
    "The licence of the map server ends in March",
];
const TEXT: &str = "The relay RX-7 drops frames above 60 degrees; a fan on the lid cures it";
const QUESTIONS: [&str; 2] =
    ["Why does the radio lose packets in summer?", "What do I do about overheating?"];

#[test]
fn questions_find_a_memory_and_are_not_in_the_replies_to_agents() {
    let home = TestHome::new();
    let mut agent = home.session();
    agent.store_all("semantic", OTHERS.iter().copied());
    let arguments = json!({"content": TEXT, "type": "semantic", "questions": QUESTIONS});
    let stored = agent.call("store_memory", arguments).expect("the memory is stored");
    for query in ["radio loses packets in the summer", "overheating"] {
        let reply = agent.call("recall_memory", json!({"query": query})).expect("it is answered");
        assert_eq!(contents(&reply)[0], TEXT, "{query}: {reply}");
        assert!(reply["degraded"].is_null() && reply["weak"].is_null(), "{reply}");
        assert!(!reply.to_string().contains("summer"), "{reply}");
    }
    let memory = agent.call("memory_inspect", json!({"memory_id": stored["id"]}));
    let memory = memory.expect("it is inspected");
    assert_eq!(memory["memory"]["metadata"]["questions"], json!(QUESTIONS), "{memory}");
}

#[test]
fn an_export_has_the_questions_and_an_import_finds_by_them() {
    let home = TestHome::new();
    home.session().store_all("semantic", OTHERS.iter().copied());
    let file = home.path("memories.jsonl");
    let file = file.to_str().expect("the path is UTF-8");
    let questions = ["--question", QUESTIONS[0], "--question", QUESTIONS[1]];
    let added = home
        .loci(&[&["add", TEXT, "--type", "semantic", "--group", "radio"], &questions[..]].concat());
    assert!(added.status.success(), "{added:?}");
    assert!(home.loci(&["export", "--output", file]).status.success());
    let other = TestHome::new();
    let imported = other.loci(&["import", file, "--json"]);
    assert!(imported.status.success(), "{imported:?}");
    let found = other.loci(&["search", "overheating", "--group", "radio"]);
    let found = String::from_utf8_lossy(&found.stdout).into_owned();
    assert!(found.contains("RX-7"), "{found}");
}
