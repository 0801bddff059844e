//! Names of projects: an invalid name is refused from every source, cleaned by an import, and
//! served if a store already has it.

use crate::home::{Agent, TestHome, printed};
use crate::in_time::OutputInTime;
use serde_json::{Value, json};
use std::process::Output;

/// Names that no new project may have, each with a part of the error text.
fn refused_names() -> [(String, &'static str); 4] {
    [
        ("../..".to_owned(), "must not contain /"),
        ("..".to_owned(), "must not be only dots"),
        ("/".to_owned(), "must not contain /"),
        ("買".repeat(67), "must have at most 200 bytes, not 201"),
    ]
}

const NEXT_STEP: &str = "Choose a name that a file could have";

fn add(home: &TestHome, group: &str) -> Output {
    let mut add = home.command("loci");
    add.args(["add", "The gate code is 12", "--type", "episodic"]).env("LOCI_GROUP", group);
    add.output_in_time().expect("the command runs")
}

fn error(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn assert_names(error_text: &str, field: &str, what: &str) {
    for part in [field, what, NEXT_STEP] {
        assert!(error_text.contains(part), "{part} is not in: {error_text}");
    }
}

/// The ids and display names of all groups.
fn groups(home: &TestHome) -> Vec<(String, String)> {
    let listed = home.loci(&["groups", "list", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).expect("valid JSON");
    let text = |group: &Value, key: &str| group[key].as_str().expect("a JSON string").to_owned();
    let listed = listed["groups"].as_array().expect("a JSON array").clone();
    listed.iter().map(|group| (text(group, "id"), text(group, "name"))).collect()
}

/// The previews of the memories of one group.
fn listed(home: &TestHome, group: &str) -> String {
    let output = home.loci(&["list", "--group", group]);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn an_invalid_new_group_name_is_refused_from_every_source() {
    let home = TestHome::without_model();
    assert!(add(&home, "kept").status.success());
    for (name, what) in &refused_names() {
        assert_names(&error(&add(&home, name)), "LOCI_GROUP", what);
        let arguments: [&[&str]; 4] = [
            &["add", "x", "--type", "episodic", "--group", name],
            &["list", "--group", name],
            &["search", "x", "--group", name],
            &["stats", "--group", name],
        ];
        for arguments in arguments {
            assert_names(&error(&home.loci(arguments)), "group", what);
        }
        let renamed = home.loci(&["groups", "rename", "kept", name]);
        assert_names(&error(&renamed), "to must", what);
        let alias = home.loci(&["groups", "alias", "kept", name]);
        assert_names(&error(&alias), "alias must", what);

        let mut agent = home.session();
        let arguments = json!({"content": "x", "type": "episodic", "group": name});
        assert_names(
            &agent.call("store_memory", arguments).expect_err("the call fails"),
            "group",
            what,
        );

        std::fs::create_dir_all(home.path("evil")).expect("the folder is created");
        let file = home.path("evil/.loci.toml");
        std::fs::write(file, format!("group = \"{name}\"\n")).expect("the file is written");
        home.allow("evil");
        let mut evil = home.session_in("evil");
        let error_text = evil.call("memory_stats", json!({})).expect_err("the call fails");
        assert_names(&error_text, "group in .loci.toml", what);
    }
    assert_eq!(groups(&home), [("kept".to_owned(), "kept".to_owned())]);
    assert!(add(&home, "買い物リスト").status.success(), "Unicode is allowed");
    assert!(listed(&home, "買い物リスト").contains("gate code"));
}

#[test]
fn an_invalid_default_group_is_refused_with_its_position() {
    for (name, what) in &refused_names() {
        let home = TestHome::without_model();
        home.configure_whole(&format!("[storage]\ndefault_group = \"{name}\"\n"));
        let output = home.command("locid").output_in_time().expect("the command runs");
        let error_text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(78), "{error_text}");
        assert_names(&error_text, "config.toml:2:1: storage.default_group", what);
    }
}

#[test]
fn an_import_cleans_invalid_group_names_and_keeps_them_distinct() {
    let (old, new) = (TestHome::without_model(), TestHome::without_model());
    for group in ["first", "second", "x_y"] {
        assert!(add(&old, group).status.success());
    }
    let exported = old.loci(&["export"]);
    let exported = String::from_utf8(exported.stdout).expect("the output is UTF-8");
    let renamed = exported.replace("\"first\"", "\"x/y\"").replace("\"second\"", r#""x\ny""#);
    let file = new.path("odd.jsonl");
    std::fs::write(&file, &renamed).expect("the file is written");
    let import = || {
        let output = new.loci(&["import", file.to_str().expect("the path is UTF-8"), "--json"]);
        assert!(output.status.success(), "{output:?}");
        serde_json::from_slice::<Value>(&output.stdout).expect("valid JSON")
    };
    assert_eq!(import()["added"], 3);
    let imported_groups = groups(&new);
    assert_eq!(imported_groups.len(), 3, "{imported_groups:?}");
    for (id, name) in &imported_groups {
        assert_eq!(id, name);
        assert!(id == "x_y" || id.starts_with("x_y-"), "{id}");
        assert!(listed(&new, id).contains("gate code"), "{id}");
    }
    let again = import();
    assert_eq!((&again["unchanged"], groups(&new)), (&json!(3), imported_groups), "{again}");
}

/// Gives the only group of a stopped store a name that is no longer valid.
fn give_old_name(home: &TestHome, name: &str) {
    let store =
        rusqlite::Connection::open(home.path(".loci/memory.db")).expect("the database opens");
    store.pragma_update(None, "foreign_keys", false).expect("the pragma is set");
    store.execute("UPDATE groups SET id = ?1, name = ?1", [name]).expect("the statement runs");
    store.execute("UPDATE memories SET source_group = ?1", [name]).expect("the statement runs");
}

fn session_of(home: &TestHome, group: &str) -> Agent {
    let mut command = home.command("loci");
    Agent::bare(command.arg("mcp").env("LOCI_GROUP", group))
}

#[test]
fn an_existing_group_with_an_invalid_name_is_served() {
    let home = TestHome::without_model();
    assert!(add(&home, "acme").status.success());
    assert!(home.loci(&["ctl", "stop"]).status.success());
    give_old_name(&home, "acme/shop");
    assert!(listed(&home, "acme/shop").contains("gate code"));
    let mut agent = session_of(&home, "acme/shop");
    agent.store("episodic", "The gate was oiled");
    assert_eq!(agent.recall("gate").len(), 2);
    assert!(home.loci(&["groups", "alias", "acme/shop", "acme-shop"]).status.success());
    assert_eq!(session_of(&home, "acme-shop").recall("gate").len(), 2);
    assert!(home.loci(&["groups", "rename", "acme/shop", "Acme"]).status.success());
    assert_eq!(agent.recall("gate").len(), 2);
    assert!(home.loci(&["export"]).status.success());
}

#[test]
fn names_and_filters_find_letters_with_marks_in_both_forms() {
    let forms = ["caf\u{e9}", "cafe\u{301}"];
    for (stored, typed) in [(forms[0], forms[1]), (forms[1], forms[0])] {
        let home = TestHome::without_model();
        let text = format!("The {stored} opens at nine");
        let metadata = format!("{{\"subject\": \"{stored}\", \"category\": \"{stored}\"}}");
        let added = home.loci(&["add", &text, "--group", stored, "--metadata", &metadata]);
        assert!(added.status.success(), "{}", printed(&added));
        let opened = format!("{} OPENS", typed.to_uppercase());
        let condition = format!("text:\"{typed} opens\" group:{typed}");
        for arguments in [
            vec!["list", "--group", typed],
            vec!["list", "--all-groups", "--text", &opened],
            vec!["list", "--all-groups", "--subject", typed],
            vec!["list", "--all-groups", "--category", typed],
            vec!["search", typed, "--group", typed, "--subject", typed],
            vec!["forget", "--where", &condition],
        ] {
            let found = printed(&home.loci(&arguments));
            assert!(found.contains("opens at nine"), "{arguments:?}: {found}");
        }
        let other = home.loci(&["add", "It shuts at ten", "--group", typed]);
        assert!(!printed(&other).contains("There was no project"), "{}", printed(&other));
    }
}
