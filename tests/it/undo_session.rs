//! `loci undo --session` through the real binaries: a rogue session is listed, taken back after a
//! question, and brought back by undoing that.

use crate::home::{Agent, TestHome, contents};
use serde_json::{Value, json};

fn reply(home: &TestHome, arguments: &[&str]) -> Value {
    let output = home.loci(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("valid JSON")
}

/// Returns the lines of the export without log lines and the end line.
fn logical_export(home: &TestHome) -> Vec<String> {
    let output = home.loci(&["export"]);
    let text = String::from_utf8(output.stdout).expect("the export is UTF-8");
    let is_logical =
        |line: &&str| !line.contains(r#""kind":"log""#) && !line.contains(r#""kind":"end""#);
    text.lines().filter(is_logical).map(str::to_owned).collect()
}

fn rogue(home: &TestHome) -> Agent {
    let mut command = home.command("loci");
    command.env("CLAUDE_CODE_SESSION_ID", "rogue-77").arg("mcp");
    let mut agent = Agent::bare(&mut command);
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "evil", "version": "6"}});
    agent.request("initialize", hello);
    agent
}

#[test]
fn a_rogue_session_is_taken_back_whole_and_that_can_be_undone() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let server = agent.store("semantic", "The server is heron");
    let tea = agent.store("semantic", "Tea at four");
    let anna = agent.store_with(
        json!({"content": "Anna is a person", "type": "entity", "metadata": {"name": "Anna"}}),
    );
    let before = logical_export(&home);

    let mut evil = rogue(&home);
    evil.store_with(
        json!({"content": "The server is egret", "type": "semantic", "supersedes": server}),
    );
    evil.call("forget_memory", json!({"memory_id": tea})).expect("the call succeeds");
    evil.store_with(json!({"content": "The server is heron.", "type": "semantic", "metadata": {"subject": "x"}}));
    evil.store("episodic", "A plain event");
    let mallory = evil.store_with(json!({"content": "Mallory is a person", "type": "entity", "metadata": {"name": "Mallory"}}));
    let relation =
        json!({"subject_id": mallory["id"], "predicate": "knows", "object_id": anna["id"]});
    evil.call("store_relation", relation).expect("the call succeeds");
    evil.close();
    let rogue_export = logical_export(&home);

    let history = reply(&home, &["history", "--session", "rogue"]);
    assert_eq!(history["stored"].as_array().map(Vec::len), Some(4), "{history}");
    let asked = home.loci(&["undo", "--session", "rogue-7"]);
    assert_eq!(asked.status.code(), Some(2), "without a terminal nothing is changed");
    assert_eq!(logical_export(&home), rogue_export);
    let (code, screen) =
        home.at_terminal(&["undo", "--session", "rogue-7"], "and undo 3 acts?", "y");
    assert_eq!(code, Some(0), "{screen}");
    assert!(
        screen.contains("Session rogue-77") && screen.contains("Mallory is a person"),
        "{screen}"
    );
    assert_eq!(logical_export(&home), before);
    let query = json!({"query": "server heron egret", "dry_run": true});
    let found = agent.call("recall_memory", query).expect("the call succeeds");
    assert_eq!(contents(&found), ["The server is heron"]);

    reply(&home, &["undo", "--last", "--yes"]);
    assert_eq!(logical_export(&home), rogue_export);
}
