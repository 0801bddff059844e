//! `loci undo` of an import after its memories were confirmed, reviewed or edited, through the real binaries.

use crate::home::TestHome;
use serde_json::{Value, json};
use std::fs;

fn done(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(&[arguments, &["--json"]].concat());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

fn import(home: &TestHome, name: &str, text: &str) -> String {
    let path = home.path(&format!("project/{name}"));
    fs::write(path, text).expect("it is written");
    done(home, &["import", "--from", "markdown", name, "--yes"])["import"]["act"].to_string()
}

fn id_of(home: &TestHome, text: &str) -> String {
    let found = done(home, &["list", "--text", text]);
    found["memories"][0]["id"].as_str().expect("it is listed").to_owned()
}

/// The memories of a dump: text, trust and pin.
fn memories(home: &TestHome) -> Vec<(String, String, bool)> {
    let output = home.loci(&["dump"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("it is UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("valid JSON"));
    let of = |line: Value| {
        let text = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
        (text("content"), text("trust"), line["pinned"] == true)
    };
    let mut found: Vec<_> = lines.filter(|line| line["kind"] == "memory").map(of).collect();
    found.sort();
    found
}

#[test]
fn an_import_is_undone_with_the_reviews_of_its_memories_and_redone_with_them() {
    let home = TestHome::without_model();
    let act = import(&home, "a.md", "- The server is heron\n- Tea is at four\n");
    done(&home, &["confirm", &id_of(&home, "heron")]);
    done(&home, &["pin", &id_of(&home, "heron")]);
    done(&home, &["confirm", "--imported", "--yes"]);
    let before = memories(&home);
    let asked = home.loci(&["undo", &act]);
    let shown = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert_eq!(asked.status.code(), Some(2), "it asks: {shown}");
    assert!(shown.contains("Also takes back 3 later acts on these memories"), "{shown}");
    assert_eq!(memories(&home), before);
    let undone = done(&home, &["undo", &act, "--yes"]);
    assert_eq!(undone["also"].as_array().map(Vec::len), Some(3), "{undone}");
    assert_eq!(memories(&home), []);
    done(&home, &["redo", "--yes"]);
    assert_eq!(memories(&home), before);
    done(&home, &["undo", &act, "--yes"]);
    assert_eq!(memories(&home), []);
}

#[test]
fn a_review_of_other_memories_too_stays_for_them() {
    let home = TestHome::without_model();
    let first = import(&home, "a.md", "- The server is heron\n");
    import(&home, "b.md", "- Tea is at four\n");
    let confirmed = done(&home, &["confirm", "--imported", "--yes"])["act"].to_string();
    let undone = done(&home, &["undo", &first, "--yes"]);
    assert_eq!(undone["in_part"][0]["id"].to_string(), confirmed, "{undone}");
    let tea = |trust: &str| vec![("Tea is at four".to_owned(), trust.to_owned(), false)];
    assert_eq!(memories(&home), tea("person"));
    done(&home, &["redo", "--yes"]);
    assert_eq!(memories(&home).len(), 2);
    done(&home, &["undo", &first, "--yes"]);
    done(&home, &["undo", &confirmed, "--yes"]);
    assert_eq!(memories(&home), tea("import"));
}

#[test]
fn a_later_edit_of_a_text_is_a_conflict_that_names_its_act() {
    let home = TestHome::without_model();
    let act = import(&home, "a.md", "- The server is heron\n- Tea is at four\n");
    let id = id_of(&home, "heron");
    done(&home, &["confirm", &id]);
    let edited = done(&home, &["edit", &id, "--content", "The server is egret"])["act"].to_string();
    let before = memories(&home);
    let refused = home.loci(&["undo", &act, "--yes"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains(&format!("act {edited} (edit)")), "{error}");
    assert_eq!(memories(&home), before, "nothing is undone");
    done(&home, &["undo", &edited, "--yes"]);
    done(&home, &["undo", &act, "--yes"]);
    assert_eq!(memories(&home), []);
}

#[test]
fn the_list_of_an_act_says_that_it_is_cut_and_names_the_project_of_an_import() {
    let home = TestHome::without_model();
    fs::write(home.path("project/a.md"), "- One two\n- Two three\n- Three four\n- Four five\n")
        .expect("it is written");
    done(&home, &["import", "--from", "markdown", "a.md", "--group", "brain", "--yes"]);
    let history = home.loci(&["history"]);
    let shown = String::from_utf8_lossy(&history.stdout).into_owned();
    assert!(shown.contains("… of 4 rows") && shown.contains("brain"), "{shown}");
    let refused = home.loci(&["undo", "abc"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(error.contains("loci history lists them"), "{error}");
    assert_eq!(json!(refused.status.code()), json!(2));
}
