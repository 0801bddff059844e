//! Secrets never reach the disk: after each refusal or redaction, no file of the home has the value.
//!
//! Not here: which values are secrets (`engine/tests/secrets`).

use crate::home::{Agent, TestHome};
use crate::wire::wait_until;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A token of the right shape; in two parts, so that scanners of repositories leave this file alone.
fn token() -> String {
    ["gh", "p_q7Rk2Zp0vL9sXc4TnB8wYd3MfH6jUa1EgK5i"].concat()
}

/// Another one, for texts that are stored while `allow` is set.
fn other_token() -> String {
    ["glp", "at-Zk4Qw8nV2xTbY6rLm0Pc"].concat()
}

/// A home that logs as much as possible.
fn home() -> TestHome {
    TestHome::without_model().with("LOCI_LOG_LEVEL", "trace")
}

/// Returns the files below a folder that contain the value, in any case: FTS5 stores lower case.
fn files_with(folder: &Path, value: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_with(&path, value));
        } else if let Ok(text) = std::fs::read(&path)
            && String::from_utf8_lossy(&text).to_lowercase().contains(&value.to_lowercase())
        {
            found.push(path);
        }
    }
    found
}

/// Asserts that no file of the home has the value.
fn assert_absent(home: &TestHome, value: &str) {
    let found = files_with(&home.path(".loci"), value);
    assert!(found.is_empty(), "{found:?}");
    assert!(files_with(&home.path("run"), value).is_empty());
}

/// Asserts that a call is refused with kind and position, and without the value.
fn assert_refused(answer: Result<Value, String>, value: &str, position: &str) {
    let refusal = answer.expect_err("the call is refused");
    assert!(refusal.contains("secret_detected"), "{refusal}");
    assert!(refusal.contains(position), "{refusal}");
    assert!(!refusal.contains(value), "{refusal}");
}

fn store(agent: &mut Agent, content: &str) -> Result<Value, String> {
    agent.call("store_memory", json!({"content": content, "type": "semantic"}))
}

fn error_of(home: &TestHome, arguments: &[&str]) -> String {
    let output = home.loci(arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json_of(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

#[test]
fn a_refused_secret_is_in_no_file_whichever_way_it_came() {
    let (home, token) = (home(), token());
    let mut agent = home.session();
    let anna = agent.store("entity", "Anna Berg maintains the shop");
    let shop = agent.store("entity", "The shop sells tea");
    assert_refused(
        store(&mut agent, &format!("The CI token is {token}.")),
        &token,
        "content holds a secret: github-token at characters 16..56",
    );
    let calls = [
        (
            "store_memory",
            json!({"content": "The CI has a token", "type": "semantic", "metadata": {"note": token}}),
            "metadata.note",
        ),
        (
            "store_memory",
            json!({"content": "The CI has a token", "type": "semantic", "metadata": {"a": [{&token: 1}]}}),
            "metadata.a[0]",
        ),
        (
            "store_memory",
            json!({"content": "The CI has a token", "type": "semantic", "group": token}),
            "group",
        ),
        (
            "store_relation",
            json!({"subject_id": anna, "predicate": format!("uses {token}"), "object_id": shop}),
            "predicate",
        ),
        ("forget_memory", json!({"memory_id": shop, "reason": format!("had {token}")}), "reason"),
        (
            "compact_memories",
            json!({"cluster": "2025-W10-5d1f0a9b3c7e2468", "summary": format!("Used {token}")}),
            "summary",
        ),
    ];
    for (tool, arguments, field) in calls {
        assert_refused(agent.call(tool, arguments), &token, field);
    }
    let content = format!("Use {token}");
    for arguments in [
        &["add", &content, "--type", "semantic"][..],
        &["edit", &anna, "--content", &content],
        &["edit", &anna, "--metadata", &format!("{{\"password\": \"{token}\"}}")],
        &["forget", "--where", "text:tea", "--reason", &content, "--yes"],
        &["groups", "alias", "default", &token],
    ] {
        let error = error_of(&home, arguments);
        assert!(error.contains("holds a secret") && !error.contains(&token), "{error}");
    }
    assert_absent(&home, &token);
    drop(agent);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert_absent(&home, &token);
}

#[test]
fn a_query_with_a_secret_is_answered_and_not_kept() {
    let (home, token) = (home(), token());
    let mut agent = home.session();
    let id = agent.store("semantic", "The CI token is in 1Password, item CI");
    for query in [format!("where is the CI token {token}"), "where is the CI token".to_owned()] {
        let answer = agent
            .call("recall_memory", json!({"query": query, "summary_only": true}))
            .expect("is answered");
        assert_eq!(answer["results"][0]["id"], id.as_str());
        agent.call("recall_memory", json!({"ids": [id]})).expect("is answered");
    }
    // The second query is kept, so the first one would have been written by now.
    wait_until("the query is kept", || {
        json_of(&home, &["eval", "--probes", "0", "--json"])["known"] == 1
    });
    assert_absent(&home, &token);
}

#[test]
fn an_import_is_refused_whole_with_the_number_of_the_line() {
    let (home, token) = (home(), token());
    let mut agent = home.session();
    agent.store("semantic", "The ferry leaves at nine");
    agent.store("semantic", "The CI token is PLACE-OF-THE-TOKEN");
    let export = home.path("export.jsonl");
    let name = export.to_str().expect("the path is UTF-8");
    assert!(home.loci(&["export", "--output", name]).status.success());
    assert!(home.loci(&["reset", "--yes"]).status.success());
    let text = std::fs::read_to_string(&export).expect("the file can be read");
    let line = 1 + text.lines().position(|line| line.contains("PLACE-OF")).expect("is exported");
    std::fs::write(&export, text.replace("PLACE-OF-THE-TOKEN", &token)).expect("is written");

    let error = error_of(&home, &["import", name]);
    assert!(
        error.contains(&format!("line {line}: content holds a secret: github-token")),
        "{error}"
    );
    assert!(!error.contains(&token), "{error}");
    assert_eq!(agent.recall("ferry"), [""; 0], "nothing was imported");

    let report = json_of(&home, &["import", name, "--skip-bad", "--json"]);
    assert_eq!((&report["added"], &report["skipped"]), (&json!(1), &json!(1)), "{report}");
    assert_eq!(report["skipped_lines"][0]["line"], line);
    assert_absent(&home, &token);

    home.configure("[privacy]\nsecrets = \"redact\"");
    assert!(home.loci(&["ctl", "reload"]).status.success());
    let report = json_of(&home, &["import", name, "--json"]);
    assert_eq!(report["added"], 1, "{report}");
    let expected = format!("line {line}: github-token at 16..56");
    assert_eq!(report["redacted"], json!([expected]), "{report}");
    assert_eq!(agent.recall("CI token"), ["The CI token is [SECRET:github-token]"]);
    assert_absent(&home, &token);
}

#[test]
fn an_import_of_which_every_memory_is_refused_makes_no_project() {
    let (home, token) = (home(), token());
    home.session().store("semantic", "The CI token is PLACE-OF-THE-TOKEN");
    let export = home.path("export.jsonl");
    let name = export.to_str().expect("the path is UTF-8");
    assert!(home.loci(&["dump", "--output", name]).status.success());
    assert!(home.loci(&["reset", "--yes"]).status.success());
    let text = std::fs::read_to_string(&export).expect("the file can be read");
    std::fs::write(&export, text.replace("PLACE-OF-THE-TOKEN", &token)).expect("is written");
    let report = json_of(&home, &["import", name, "--skip-bad", "--json"]);
    assert_eq!((&report["added"], &report["groups"]), (&json!(0), &json!(0)), "{report}");
    assert_eq!(json_of(&home, &["groups", "list", "--json"])["groups"], json!([]));
}

#[test]
fn redact_stores_the_kind_and_names_it_in_the_reply_and_allow_stores_all() {
    let (home, token) = (home(), token());
    home.configure("[privacy]\nsecrets = \"redact\"");
    let mut agent = home.session();
    let reply = agent.store_with(json!({"content": format!("The CI token is {token}."), "type": "semantic", "metadata": {"password": "hunter2"}}));
    assert_eq!(
        Value::Object(reply)["redacted"],
        json!(["github-token at 16..56", "metadata.password: password at 0..7"])
    );
    assert_eq!(agent.recall("CI token"), ["The CI token is [SECRET:github-token]."]);
    let plain =
        agent.store_with(json!({"content": "The ferry leaves at nine", "type": "semantic"}));
    assert!(!plain.contains_key("redacted"), "{plain:?}");
    assert_absent(&home, &token);
    assert_absent(&home, "hunter2");

    home.configure("[privacy]\nsecrets = \"allow\"");
    assert!(home.loci(&["ctl", "reload"]).status.success());
    store(&mut agent, &format!("The spare token is {token}")).expect("is stored");
    assert_eq!(agent.recall("spare"), [format!("The spare token is {token}")]);
}

#[test]
fn private_parts_html_and_personal_data_are_removed_before_anything_is_stored() {
    let home = home();
    home.configure("[privacy]\nredact = [\"email\", \"phone\", \"iban\"]\nwords = [\"Bluebird\"]");
    let mut agent = home.session();
    for (given, stored) in [
        (
            "Anna likes tea. <private>She is canary4711.</private> Bert too.",
            "Anna likes tea.  Bert too.",
        ),
        ("Bert likes milk. <private>canary4711 and more", "Bert likes milk."),
        ("<p>Chen likes <b>coffee</b> &amp; cake</p>", "Chen likes coffee & cake"),
        ("Dora: dora.canary4711@mail.example.org, +48 601 234 567", "Dora: [EMAIL], [PHONE]"),
        (
            "The project bluebird pays GB82 WEST 1234 5698 7654 32",
            "The project [REDACTED] pays [ID]",
        ),
        ("Vec<String> and a < b stay", "Vec<String> and a < b stay"),
    ] {
        let id = store(&mut agent, given).expect("is stored")["id"].clone();
        let recalled = agent.call("recall_memory", json!({"ids": [id]})).expect("is answered");
        assert_eq!(recalled["results"][0]["content"], stored);
    }
    let refusal = store(&mut agent, "<private>canary4711</private>").expect_err("is refused");
    assert!(refusal.contains("content is empty without its ‹private> parts"), "{refusal}");
    // Long enough not to stand in an id or a time by chance.
    for value in ["canary4711", "601 234 567", "bluebird", "west 1234 5698"] {
        let config = home.path(".loci/config.toml");
        let found = files_with(&home.path(".loci"), value);
        assert!(found.iter().all(|file| *file == config), "{value}: {found:?}");
    }
}

/// Stores a token in every place while `allow` is set; returns the id of a memory that holds it.
fn store_everywhere(home: &TestHome, agent: &mut Agent, token: &str) -> String {
    let id = store(agent, &format!("The CI token is {token}")).expect("is stored")["id"]
        .as_str()
        .expect("has an id")
        .to_owned();
    agent.store_with(
        json!({"content": "The deploy has a key", "type": "semantic", "metadata": {"key": token}}),
    );
    // The journal keeps the text before the edit, the memory keeps the wording as a variant.
    assert!(home.loci(&["edit", &id, "--content", "The CI token is unknown"]).status.success());
    assert!(
        home.loci(&["edit", &id, "--content", &format!("The CI token: {token}!")]).status.success()
    );
    agent.store("semantic", &format!("The CI token: {token}"));
    let other = agent.store("semantic", "The kettle is green");
    agent
        .call("forget_memory", json!({"memory_id": other, "reason": format!("not {token}")}))
        .expect("is forgotten");
    agent
        .call("recall_memory", json!({"query": format!("CI token {token}"), "summary_only": true}))
        .expect("is answered");
    agent.call("recall_memory", json!({"ids": [id]})).expect("is answered");
    wait_until("the query is kept", || {
        json_of(home, &["eval", "--probes", "0", "--json"])["known"] == 1
    });
    id
}

#[test]
fn scan_lists_without_values_and_redact_leaves_no_trace() {
    let (home, token) = (home(), other_token());
    home.configure("[privacy]\nsecrets = \"allow\"");
    let mut agent = home.session();
    let id = store_everywhere(&home, &mut agent, &token);
    home.configure("");
    assert!(home.loci(&["ctl", "reload"]).status.success());

    let listed = home.loci(&["scan", "--json"]);
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.status.success() && !text.contains(&token), "{text}");
    let report: Value = serde_json::from_str(&text).expect("valid JSON");
    for place in ["content", "metadata", "reason", "journal", "query"] {
        let findings = report["findings"].as_array().expect("a JSON array");
        assert!(
            findings.iter().any(|found| found["place"] == place && found["kind"] == "gitlab-token"),
            "{place}: {report}"
        );
    }
    assert!(!files_with(&home.path(".loci"), &token).is_empty());

    let unconfirmed = home.loci(&["scan", "--redact"]);
    assert_eq!(unconfirmed.status.code(), Some(2));
    let (code, screen) = home.at_terminal(&["scan", "--redact"], "[y/N]", "y");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("cannot be undone") && !screen.contains(&token), "{screen}");

    assert_eq!(json_of(&home, &["scan", "--json"])["found"], 0);
    let recalled = agent.call("recall_memory", json!({"ids": [id]})).expect("is answered");
    let content = recalled["results"][0]["content"].as_str().expect("the memory stays");
    assert!(content.contains("[SECRET:gitlab-token]"), "{content}");
    assert_absent(&home, &token);
    drop(agent);
    assert!(home.loci(&["ctl", "stop"]).status.success());
    assert_absent(&home, &token);
    let log = json_of(&home, &["inspect", &id, "--log", "--json"]);
    assert!(log["log"].to_string().contains("\"redact\""), "{log}");
}

#[test]
fn a_redacted_memory_gets_a_vector_of_its_new_text() {
    let token = other_token();
    let home = TestHome::new();
    home.configure("[privacy]\nsecrets = \"allow\"");
    let mut agent = home.session();
    store(&mut agent, &format!("The boat's harbour code is {token}")).expect("is stored");
    assert!(home.loci(&["scan", "--redact", "--yes"]).status.success());
    wait_until("the vector is computed again", || {
        json_of(&home, &["stats", "--json"])["without_vector"].as_u64().unwrap_or(0) == 0
    });
    assert_eq!(
        agent.recall("Where does the ship dock?"),
        ["The boat's harbour code is [SECRET:gitlab-token]"]
    );
}
