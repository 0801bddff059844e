//! `loci undo` after `loci add`: what a person stored is an act, what an agent stored is none.

use crate::home::{TestHome, printed};
use serde_json::Value;

fn texts(home: &TestHome) -> Vec<String> {
    let listed = home.json(&["list", "--json"]);
    let memories = listed["memories"].as_array().expect("a JSON array").iter();
    memories.map(|memory| memory["preview"].as_str().unwrap_or_default().to_owned()).collect()
}

fn undo_last(home: &TestHome) -> Value {
    home.json(&["undo", "--last", "--yes", "--json"])
}

#[test]
fn what_a_person_added_is_taken_back_by_undo_last_and_comes_back_by_redo() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "The printer is on the second floor");
    let added = home.json(&["add", "The staging server is called heron", "--json"]);
    let act = added["act"].as_i64().expect("an add is an act");
    agent.store("semantic", "The office closes at six");
    let history = printed(&home.loci(&["history"]));
    assert!(history.contains("add") && history.contains("heron"), "{history}");
    assert!(!history.contains("printer") && !history.contains("closes"), "{history}");

    assert_eq!(undo_last(&home)["undone"][0]["id"], act);
    assert_eq!(texts(&home), ["The office closes at six", "The printer is on the second floor"]);
    assert!(home.loci(&["redo", "--yes"]).status.success());
    assert!(texts(&home).iter().any(|text| text.contains("heron")));
    let shown = printed(&home.loci(&["add", "The backup runs at night"]));
    assert!(shown.contains("to take it back: loci undo "), "{shown}");
}

#[test]
fn an_add_of_what_is_known_is_taken_back_whole_and_the_memory_stays() {
    let home = TestHome::without_model();
    let first = home.json(&["add", "The staging server runs on Debian 12", "--json"]);
    let again = home.json(&["add", "The staging server runs on Debian 12.", "--json"]);
    assert_eq!((&again["id"], &again["deduplicated"]), (&first["id"], &Value::Bool(true)));
    let undone = undo_last(&home);
    assert_eq!(undone["undone"][0]["id"], again["act"], "{undone}");
    assert_eq!(texts(&home), ["The staging server runs on Debian 12"]);
    undo_last(&home);
    assert_eq!(texts(&home), [""; 0]);
}
