//! Bad input: ids that are gone or foreign, cycles, impossible relations, dates out of range, and
//! calls that are cancelled.

use crate::home::{Agent, TestHome};
use crate::wire::wait_until;
use serde_json::{Value, json};

const UNKNOWN: &str = "01953a2b-7c1e-7000-8000-0123456789ab";

fn refused(agent: &mut Agent, tool: &str, arguments: Value) -> String {
    agent.call(tool, arguments).expect_err("the call fails")
}

fn entity(agent: &mut Agent, name: &str) -> String {
    let entity = json!({"content": name, "type": "entity", "metadata": {"name": name}});
    agent.store_with(entity)["id"].as_str().expect("the reply has an id").to_owned()
}

#[test]
fn a_chain_of_replacements_never_becomes_a_cycle() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let replace = |agent: &mut Agent, text: &str, old: &str| {
        agent.call("store_memory", json!({"content": text, "type": "semantic", "supersedes": old}))
    };
    let id = |reply: &Value| reply["id"].as_str().expect("the reply has an id").to_owned();
    let a = agent.store("semantic", "Version A");
    let b = id(&replace(&mut agent, "Version B", &a).expect("the call succeeds"));
    // The text of A again: a new memory, not the replaced one.
    let c = id(&replace(&mut agent, "Version A", &b).expect("the call succeeds"));
    assert!(c != a && c != b);
    for replaced in [&a, &b] {
        let error = replace(&mut agent, "Version D", replaced).expect_err("the call fails");
        assert!(error.starts_with("conflict: supersedes"), "{error}");
    }
    // A memory that would replace itself: its own text, stored again.
    let same = id(&replace(&mut agent, "Version A", &c).expect("the call succeeds"));
    assert_ne!(same, c);
    let shown = agent.call("memory_inspect", json!({"memory_id": a})).expect("the call succeeds");
    let chain = shown["versions"]["chain"].as_array().expect("a JSON array");
    let ids: Vec<&str> = chain.iter().filter_map(|version| version["id"].as_str()).collect();
    assert_eq!(ids, [&a, &b, &c, &same]);
    assert_eq!(agent.recall("version"), ["Version A"]);
}

#[test]
fn forgotten_foreign_and_unknown_ids_are_missing_in_the_same_form() {
    let home = TestHome::without_model();
    let (mut mine, mut theirs) = (home.session_in("mine"), home.session_in("theirs"));
    let kept = mine.store("episodic", "Kept");
    let forgotten = mine.store("episodic", "Forgotten");
    let deleted = mine.store("episodic", "Deleted");
    let foreign = theirs.store("episodic", "Theirs");
    for (id, hard) in [(&forgotten, false), (&deleted, true)] {
        let forget = json!({"memory_id": id, "hard_delete": hard});
        mine.call("forget_memory", forget).expect("the call succeeds");
    }
    let ids = json!({"ids": [forgotten, kept, deleted, foreign, UNKNOWN]});
    let reply = mine.call("recall_memory", ids).expect("the call succeeds");
    assert_eq!(reply["results"].as_array().map(Vec::len), Some(1), "{reply}");
    assert_eq!(reply["results"][0]["id"], json!(kept));
    assert_eq!(reply["missing"], json!([forgotten, deleted, foreign, UNKNOWN]));
}

#[test]
fn an_impossible_relation_is_refused_and_a_repeated_one_is_not_created_again() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let (anna, acme) = (entity(&mut agent, "Anna"), entity(&mut agent, "Acme"));
    let fact = agent.store("semantic", "Not an entity");
    let gone = entity(&mut agent, "Gone");
    agent.call("forget_memory", json!({"memory_id": gone})).expect("the call succeeds");
    let relate = |subject: &str, predicate: &str, object: &str| json!({"subject_id": subject, "predicate": predicate, "object_id": object});
    let cases = [
        (relate(&anna, "knows", &anna), "invalid: object_id is the subject itself"),
        (relate(&anna, "knows", &fact), "invalid: object_id names a memory of type semantic"),
        (relate(&fact, "knows", &anna), "invalid: subject_id names a memory of type semantic"),
        (relate(&anna, "knows", &gone), "invalid: object_id names an entity that is forgotten"),
        (relate(&anna, "knows", UNKNOWN), "not_found: object_id"),
        (relate(&anna, "", &acme), "invalid: predicate is empty"),
        (relate(&anna, " \u{200B}\u{202E} ", &acme), "invalid: predicate is empty"),
        (relate(&anna, "works\nat", &acme), "invalid: predicate contains a control character"),
        (relate(&anna, &"x".repeat(10 * 1024), &acme), "invalid: predicate has 10240 characters"),
    ];
    for (arguments, expected) in cases {
        let error = refused(&mut agent, "store_relation", arguments);
        assert!(error.starts_with(expected), "{error}");
    }
    let first =
        agent.call("store_relation", relate(&anna, "works_at", &acme)).expect("the call succeeds");
    let again =
        agent.call("store_relation", relate(&anna, "works_at", &acme)).expect("the call succeeds");
    assert_eq!((&first["created"], &again["created"]), (&json!(true), &json!(false)));
    assert_eq!(first["id"], again["id"]);
}

#[test]
fn dates_outside_the_years_0001_to_9999_are_refused_by_name() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let outside = [
        "-99999-01-01",
        "-0001-01-01",
        "0000-01-01",
        "+2026-01-01",
        "+12345-01-01",
        "99999-01-01",
        "26-01-01",
        "10000-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
    ];
    for date in outside {
        for field in ["date_from", "date_to"] {
            let error = refused(&mut agent, "recall_memory", json!({"query": "x", field: date}));
            assert!(
                error.starts_with(&format!("invalid: {field} must be a date")),
                "{date}: {error}"
            );
            assert!(error.contains("0001 to 9999"), "{error}");
        }
        let expiring = json!({"content": "x", "type": "semantic", "expires_at": date});
        let error = refused(&mut agent, "store_memory", expiring);
        assert!(error.starts_with("invalid: expires_at"), "{date}: {error}");
        let dated = json!({"content": "x", "type": "episodic", "metadata": {"event_date": date}});
        let error = refused(&mut agent, "store_memory", dated);
        assert!(
            error.starts_with("invalid: metadata.event_date must be a date"),
            "{date}: {error}"
        );
    }
    for date in ["0001-01-01", "9999-12-31", "2026-02-28T23:59:59+14:00"] {
        let query = json!({"query": "x", "date_from": date});
        agent.call("recall_memory", query).expect("the date is supported");
    }
}

#[test]
fn the_same_store_a_thousand_times_is_one_memory_and_is_slowed_down() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    let outcomes: Vec<Result<Value, String>> = (0..1000)
        .map(|_| agent.call("store_memory", json!({"content": "Once more", "type": "semantic"})))
        .collect();
    let busy = outcomes.iter().filter_map(|outcome| outcome.as_ref().err());
    assert!(busy.clone().all(|error| error.starts_with("busy: ")), "{:?}", busy.clone().next());
    // Twenty a minute; the calls may cross into the next minute or two.
    assert!((20..=60).contains(&(1000 - busy.count())));
    assert!(outcomes[..20].iter().all(Result::is_ok) && outcomes[20].is_err());
    let stats = agent.call("memory_stats", json!({})).expect("the call succeeds");
    assert_eq!(stats["total_memories"], 1);
    let id = &outcomes[0].as_ref().expect("the first call succeeds")["id"];
    let shown = agent.call("memory_inspect", json!({"memory_id": id})).expect("the call succeeds");
    assert!(shown["memory"]["confidence"].as_f64().is_some_and(|confidence| confidence <= 1.0));
}

#[test]
fn a_cancelled_store_happens_whole_or_not_at_all() {
    let home = TestHome::without_model();
    let mut agent = home.session();
    agent.store("episodic", "The first");
    for i in 0..50 {
        let arguments = json!({"content": format!("Cancelled {i}"), "type": "episodic"});
        let call = json!({"jsonrpc": "2.0", "id": format!("c{i}"), "method": "tools/call", "params": {"name": "store_memory", "arguments": arguments}});
        let cancel = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": format!("c{i}")}});
        agent.send(&call.to_string());
        agent.send(&cancel.to_string());
    }
    // The session goes on. Calls that were answered before their cancellation must be stored.
    let mut answered = Vec::new();
    agent.send(r#"{"jsonrpc":"2.0","id":"end","method":"ping"}"#);
    loop {
        let answer = agent.receive();
        if answer["id"] == "end" {
            break;
        }
        if answer["result"]["isError"] != true && answer.get("error").is_none() {
            answered.push(answer["result"]["structuredContent"]["id"].clone());
        }
    }
    let mut other = home.session();
    for id in answered {
        let shown = other.call("memory_inspect", json!({"memory_id": id}));
        assert_eq!(shown.expect("it was stored")["memory"]["status"], "active");
    }
    let doctor = || home.loci(&["doctor", "--json"]);
    wait_until("the store agrees with itself", || doctor().status.success());
}
