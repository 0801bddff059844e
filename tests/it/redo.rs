//! History with texts, undo and redo through the real command line.

use crate::home::TestHome;
use serde_json::{Value, json};

fn done(home: &TestHome, arguments: &[&str]) -> Value {
    let mut typed = arguments.to_vec();
    typed.push("--json");
    let output = home.loci(&typed);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    serde_json::from_slice(&output.stdout).expect("the reply is JSON")
}

fn printed(home: &TestHome, arguments: &[&str]) -> String {
    String::from_utf8_lossy(&home.loci(arguments).stdout).into_owned()
}

fn content(home: &TestHome, id: &str) -> Value {
    done(home, &["inspect", id])["memory"]["content"].clone()
}

#[test]
fn an_undone_edit_is_redone_unless_the_memory_was_changed_since() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let id = agent.store("semantic", "Tea is served at four");
    let act = done(&home, &["edit", &id, "--content", "Tea is served at five"])["act"].to_string();
    let history = printed(&home, &["history"]);
    assert!(history.contains("Tea is served at four -> Tea is served at five"), "{history}");
    let asked = home.loci(&["undo", "--since", "1h"]);
    assert_eq!(asked.status.code(), Some(2), "it asks");
    assert!(String::from_utf8_lossy(&asked.stdout).contains("Tea is served at five"));
    done(&home, &["undo", "--since", "1h", "--yes"]);
    assert_eq!(content(&home, &id), "Tea is served at four");
    let asked = home.loci(&["redo"]);
    assert_eq!(asked.status.code(), Some(2), "it asks");
    assert!(String::from_utf8_lossy(&asked.stderr).contains("--yes"));
    let redone = done(&home, &["redo", "--yes"]);
    assert_eq!(redone["redone"][0]["id"].to_string(), act);
    assert_eq!(content(&home, &id), "Tea is served at five");
    let acts = done(&home, &["history"])["acts"].clone();
    assert_eq!((acts.as_array().map(Vec::len), &acts[0]["undone_at"]), (Some(1), &Value::Null));
    let nothing = home.loci(&["redo", "--yes"]);
    let stderr = String::from_utf8_lossy(&nothing.stderr).into_owned();
    assert!(stderr.contains("there is nothing to redo"), "{stderr}");

    done(&home, &["undo", &act, "--yes"]);
    done(&home, &["edit", &id, "--content", "Coffee is served at four"]);
    let refused = home.loci(&["redo", &act, "--yes"]);
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1));
    assert!(stderr.contains(&format!("the undo of act {act} cannot be taken back")), "{stderr}");
    assert_eq!(content(&home, &id), "Coffee is served at four");
}

#[test]
fn an_undone_store_that_replaced_a_memory_is_redone_and_found() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let old = agent.store("semantic", "The harbour gate opens at six");
    let new = json!({"content": "The harbour gate opens at seven", "type": "semantic", "supersedes": old});
    agent.store_with(new);
    done(&home, &["undo", "--last", "--yes"]);
    assert_eq!(agent.recall("harbour gate"), ["The harbour gate opens at six"]);
    done(&home, &["redo", "--yes"]);
    assert_eq!(agent.recall("harbour gate"), ["The harbour gate opens at seven"]);
    done(&home, &["undo", "--last", "--yes"]);
    assert_eq!(agent.recall("harbour gate"), ["The harbour gate opens at six"], "undone again");
}

#[test]
fn the_list_is_filtered_by_day_and_sorted() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("episodic", "2026-01-10: the queue stopped");
    agent.store("episodic", "The queue must be replaced by 3 May 2026");
    let listed = done(&home, &["list", "--from", "2026-01-10", "--to", "2026-01-10"]);
    assert_eq!(listed["total"], 1);
    assert_eq!(listed["memories"][0]["event_date_derived"], "2026-01-10");
    let oldest = done(&home, &["list", "--sort", "oldest"]);
    assert_eq!(oldest["memories"][0]["preview"], "2026-01-10: the queue stopped");
    let table = printed(&home, &["list"]);
    assert!(
        table.contains("2026-01-10*") && table.contains("* day that the text names"),
        "{table}"
    );
    let found = printed(&home, &["search", "queue", "stopped", "--full"]);
    assert!(found.contains("(day 2026-01-10*)") && found.contains("* day that"), "{found}");
    assert_eq!(home.loci(&["list", "--sort", "size"]).status.code(), Some(2));
}
