//! The store as it was known at an earlier time, for people and agents, and `loci diff`.

use crate::home::TestHome;
use serde_json::{Value, json};

/// Runs a command with `--json`; returns its reply.
fn reply(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(&[arguments, &["--json"]].concat());
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&output.stderr)))
}

fn add(home: &TestHome, text: &str) -> String {
    let stored = reply(home, &["add", text, "--type", "semantic"]);
    stored["id"].as_str().expect("an id").to_owned()
}

fn created(home: &TestHome, id: &str) -> String {
    let shown = reply(home, &["inspect", id]);
    shown["memory"]["created_at"].as_str().expect("a time").to_owned()
}

fn contents(reply: &Value, list: &str, field: &str) -> Vec<String> {
    let memories = reply[list].as_array().expect("a JSON array");
    memories.iter().map(|memory| memory[field].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn people_list_search_inspect_and_export_what_was_known_then() {
    let home = TestHome::without_model();
    let server = add(&home, "The staging server is called heron");
    let printer = add(&home, "The printer is behind the staging server");
    let then = created(&home, &printer);
    let edit = ["edit", &server, "--content", "The staging server is called egret"];
    assert!(home.loci(&edit).status.success());
    assert!(home.loci(&["forget", &printer]).status.success());

    let list = reply(&home, &["list", "--as-of", &then]);
    let known = ["The printer is behind the staging server", "The staging server is called heron"];
    assert_eq!(contents(&list, "memories", "preview"), known);
    assert_eq!(list["as_of"]["at"], json!(then));
    assert_eq!(
        contents(&reply(&home, &["list"]), "memories", "preview"),
        ["The staging server is called egret"]
    );
    let search = reply(&home, &["search", "staging server", "--as-of", &then]);
    let mut found = contents(&search, "results", "preview");
    found.sort();
    assert_eq!(found, known);
    let text = home.loci(&["search", "staging server", "--as-of", &then]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("heron") && !text.contains("egret"), "{text}");
    let shown = reply(&home, &["inspect", &server, "--as-of", &then]);
    assert_eq!(shown["memory"]["content"], "The staging server is called heron");
    let export = home.loci(&["export", "--as-of", &then]);
    let lines = String::from_utf8_lossy(&export.stdout).into_owned();
    assert!(lines.contains("heron") && lines.contains("printer") && !lines.contains("egret"));
    let stderr = String::from_utf8_lossy(&export.stderr).into_owned();
    assert!(stderr.contains("every change since"), "{stderr}");

    let other = TestHome::without_model();
    let file = other.path("then.jsonl");
    std::fs::write(&file, &lines).expect("the file is written");
    let imported = other.loci(&["import", &file.display().to_string()]);
    assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
    let refused = home.loci(&["list", "--as-of", "2999-01-01"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && stderr.contains("is in the future"), "{stderr}");
}

#[test]
fn agents_recall_and_inspect_what_was_known_then_by_meaning_too() {
    let home = TestHome::new();
    let mut agent = home.session();
    let lead = agent.store("semantic", "Anna leads the engineering team of the shop");
    agent.store("semantic", "The canteen closes at two in the afternoon");
    let then = created(&home, &lead);
    let edit = ["edit", &lead, "--content", "The garden has a pond with seven goldfish"];
    assert!(home.loci(&edit).status.success());
    let arguments = json!({"query": "who is the boss of the developers", "as_of": then});
    let found = agent.call("recall_memory", arguments).expect("a reply");
    assert_eq!(found["results"][0]["content"], "Anna leads the engineering team of the shop");
    assert!(found["as_of"]["note"].is_null(), "{found}");
    let arguments = json!({"memory_id": lead, "as_of": then});
    let shown = agent.call("memory_inspect", arguments).expect("a reply");
    assert_eq!(shown["memory"]["content"], "Anna leads the engineering team of the shop");
    let inbox = agent.request("resources/read", json!({"uri": "loci://review"})).to_string();
    assert!(inbox.contains("Nothing to review"), "{inbox}");
}

#[test]
fn a_diff_shows_the_changed_words_and_who_changed_them() {
    let home = TestHome::without_model();
    let server = add(&home, "The staging server is called heron");
    let canteen = add(&home, "The canteen closes at two");
    let since = created(&home, &canteen);
    let edit = ["edit", &server, "--content", "The staging server is called egret"];
    assert!(home.loci(&edit).status.success());
    let all = reply(&home, &["diff", "--since", &since]);
    assert_eq!(contents(&all, "changes", "change"), ["changed", "new"]);
    assert_eq!(all["changes"][0]["before"], "The staging server is called heron");
    let text = home.loci(&["diff", "--since", &since]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("called [-heron-]{+egret+}"), "{text}");
    let text = home.loci(&["diff", "--since", "1h"]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("2 memories changed from"), "{text}");
    let refused = home.loci(&["diff", "--since", "soon"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && stderr.contains("since"), "{stderr}");
}

#[test]
fn a_fact_says_until_when_it_is_true() {
    let home = TestHome::without_model();
    let text = "The office of the shop is in Ghent";
    let add = |arguments: &[&str]| home.loci(&[&["add", text], arguments].concat());
    let refused = add(&["--valid-from", "2026-01-02", "--valid-to", "2026-01-01"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && stderr.contains("valid_to"), "{stderr}");
    assert!(add(&["--valid-to", "2025-12-31"]).status.success());
    let found = reply(&home, &["search", "office of the shop"]);
    assert_eq!(found["results"][0]["outdated"], "valid until 2025-12-31");
    let then = reply(&home, &["search", "office of the shop", "--valid-at", "2025-06-01"]);
    assert!(then["results"][0]["outdated"].is_null(), "{then}");
    let list = home.loci(&["list"]);
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    assert!(list.contains("valid to 2025-12-31"), "{list}");
}
