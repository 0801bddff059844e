//! Bad input: each invalid call is refused with a clear text, and the session continues.

use crate::home::{Agent, TestHome};
use serde_json::{Value, json};

fn refused(agent: &mut Agent, tool: &str, arguments: Value) -> String {
    agent.call(tool, arguments).expect_err("the call fails")
}

/// Sends a call whose arguments are given as JSON text, so that they may be invalid as values.
fn refused_text(agent: &mut Agent, tool: &str, arguments: &str) -> String {
    agent.send(&format!(r#"{{"jsonrpc":"2.0","id":"raw","method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#));
    let answer = agent.receive();
    assert_eq!(
        (&answer["id"], &answer["result"]["isError"]),
        (&json!("raw"), &json!(true)),
        "{answer}"
    );
    answer["result"]["content"][0]["text"].as_str().expect("a JSON string").to_owned()
}

fn semantic(content: &str) -> Value {
    json!({"content": content, "type": "semantic"})
}

#[test]
fn empty_large_and_nul_content_is_refused() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for nothing in ["", "   ", "\u{200B}"] {
        assert!(
            refused(&mut agent, "store_memory", semantic(nothing))
                .starts_with("invalid: content is empty")
        );
    }
    let error = refused(&mut agent, "store_memory", semantic(&"x".repeat(32 * 1024 + 1)));
    assert!(error.starts_with("too_large: content has 32769 bytes; at most 32768"), "{error}");
    assert!(
        refused(&mut agent, "store_memory", semantic("ab\u{0}c")).contains("U+0000 at character 2")
    );
    assert_eq!(
        agent.call("memory_stats", json!({})).expect("the call succeeds")["total_memories"],
        0
    );
}

#[test]
fn a_lone_surrogate_is_rejected_and_the_session_continues() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.send(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"store_memory","arguments":{"content":"\ud800","type":"semantic"}}}"#);
    let answer = agent.receive();
    assert_eq!(
        (&answer["error"]["code"], &answer["id"]),
        (&json!(-32700), &Value::Null),
        "{answer}"
    );
    agent.store("semantic", "The session continues");
}

#[test]
fn unknown_types_scopes_and_arguments_are_refused() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let error = refused(&mut agent, "store_memory", json!({"content": "x", "type": "fact"}));
    assert_eq!(error, "invalid: type must be episodic, semantic, procedural or entity");
    let error = refused(
        &mut agent,
        "store_memory",
        json!({"content": "x", "type": "semantic", "scope": "GLOBAL"}),
    );
    assert_eq!(error, "invalid: scope must be global or group; did you mean global?");
    let error = refused(&mut agent, "store_memory", json!({"contnet": "x", "type": "semantic"}));
    assert!(error.contains("contnet") && error.contains("Did you mean content?"), "{error}");
}

#[test]
fn invalid_metadata_is_refused() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let with = |metadata: Value| json!({"content": "x", "type": "semantic", "metadata": metadata});
    assert!(
        refused(&mut agent, "store_memory", with(json!([1])))
            .starts_with("invalid: metadata must be an object")
    );
    assert!(
        refused(&mut agent, "store_memory", with(json!("text")))
            .starts_with("invalid: metadata must be an object")
    );
    let deep = (0..8).fold(json!({}), |inner, _| json!({"a": inner}));
    assert!(
        refused(&mut agent, "store_memory", with(deep))
            .starts_with("too_deep: metadata is nested 9 levels")
    );
    assert!(
        refused(&mut agent, "store_memory", with(json!({"a": "x".repeat(17 * 1024)})))
            .starts_with("too_large: metadata")
    );
    let error = refused_text(
        &mut agent,
        "store_memory",
        r#"{"content":"x","type":"semantic","metadata":{"team":"a","team":"b"}}"#,
    );
    assert_eq!(error, "invalid: metadata.team is given twice. Give it once");
}

#[test]
fn supersedes_with_an_unknown_replaced_or_foreign_id_is_refused() {
    let home = TestHome::without_model();
    let (mut agent, mut foreign) = (home.session_in("mine"), home.session_in("theirs"));
    let old = agent.store("semantic", "Version one");
    let new =
        agent.store_with(json!({"content": "Version two", "type": "semantic", "supersedes": old}));
    let theirs = foreign.store("episodic", "Their secret");
    let replace =
        |id: &str| json!({"content": "Version three", "type": "semantic", "supersedes": id});
    let unknown = "01953a2b-7c1e-7000-8000-0123456789ab";
    let error = refused(&mut agent, "store_memory", replace(&old));
    assert!(
        error.starts_with("conflict: ")
            && error.contains("already superseded by")
            && error.contains(new["id"].as_str().expect("the reply has an id")),
        "{error}"
    );
    let (of_unknown, of_theirs) = (
        refused(&mut agent, "store_memory", replace(unknown)),
        refused(&mut agent, "store_memory", replace(&theirs)),
    );
    assert!(of_unknown.starts_with("not_found: "));
    assert_eq!(
        of_unknown.replace(unknown, "ID"),
        of_theirs.replace(&theirs, "ID"),
        "a foreign id looks like an unknown one"
    );
    assert_eq!(agent.recall("version"), ["Version two"]);
}

#[test]
fn recall_needs_a_query_or_ids_and_answers_any_query() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let id = agent.store("semantic", "C++ templates: foo-bar belongs to user's config.toml");
    assert!(
        refused(&mut agent, "recall_memory", json!({})).starts_with("invalid: query is missing")
    );
    let both = agent
        .call("recall_memory", json!({"query": "zzz", "ids": [id]}))
        .expect("the call succeeds");
    assert_eq!(both["results"].as_array().expect("a JSON array").len(), 1);
    assert!(both["note"].as_str().expect("a JSON string").contains("query was ignored"));
    for odd in ["C++", "foo-bar", "user's", "\"", "AND", "NEAR(", "*", "col:x", "🦀", "記憶の宮殿"]
    {
        agent
            .call("recall_memory", json!({"query": odd}))
            .unwrap_or_else(|error| panic!("{odd}: {error}"));
    }
    assert_eq!(agent.recall("foo-bar").len(), 1);
}

#[test]
fn a_query_of_twenty_thousand_words_is_cut_and_says_so() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "word3 is the one that counts");
    let long = (0..20_000).map(|i| format!("word{i}")).collect::<Vec<_>>().join(" ");
    let answer = agent.call("recall_memory", json!({"query": long})).expect("the call succeeds");
    assert_eq!((&answer["truncated"], &answer["total_matched"]), (&json!(true), &json!(1)));
}

#[test]
fn numbers_out_of_range_are_refused() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    for wrong in ["0", "-1", "21", "1e9", "2.5", "\"five\"", "\"2.5\"", "[5]"] {
        let error = refused_text(
            &mut agent,
            "recall_memory",
            &format!(r#"{{"query":"x","max_results":{wrong}}}"#),
        );
        assert_eq!(error, "invalid: max_results must be a whole number in 1..20");
    }
    for wrong in ["1e999", "-1", "2"] {
        let error = refused_text(
            &mut agent,
            "recall_memory",
            &format!(r#"{{"query":"x","min_confidence":{wrong}}}"#),
        );
        assert!(error.starts_with("invalid: min_confidence"), "{error}");
    }
}

#[test]
fn a_token_budget_of_zero_returns_nothing_and_says_so() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("semantic", "The answer is here");
    for budget in [0, 1] {
        let answer = agent
            .call("recall_memory", json!({"query": "answer", "token_budget": budget}))
            .expect("the call succeeds");
        assert_eq!(
            (&answer["results"], &answer["token_budget_too_small"]),
            (&json!([]), &json!(true))
        );
    }
}

#[test]
fn too_many_malformed_and_hostile_ids_are_refused() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let id = agent.store("semantic", "Only once");
    let many: Vec<&str> = std::iter::repeat_n(id.as_str(), 10_000).collect();
    assert!(
        refused(&mut agent, "recall_memory", json!({"ids": many}))
            .starts_with("too_many: ids has 10000 ids")
    );
    for bad in ["not-an-id", "'; DROP TABLE memories; --"] {
        assert!(
            refused(&mut agent, "recall_memory", json!({"ids": [bad]}))
                .starts_with("invalid: ids[0] is not a memory id")
        );
    }
    let fifty: Vec<&str> = std::iter::repeat_n(id.as_str(), 50).collect();
    let answer = agent.call("recall_memory", json!({"ids": fifty})).expect("the call succeeds");
    assert_eq!(answer["results"].as_array().expect("a JSON array").len(), 1);
}

#[test]
fn a_tool_that_does_not_exist_is_a_protocol_error() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let answer =
        agent.request("tools/call", json!({"name": "remember_everything", "arguments": {}}));
    assert_eq!(answer["error"]["code"], -32602);
}
